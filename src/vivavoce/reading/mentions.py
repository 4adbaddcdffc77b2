"""Where a response names options: by text, by label, or by both, and which of them belong together."""

from collections.abc import Mapping, Sequence
from typing import Literal

from vivavoce.language.characters import CIRCLED
from vivavoce.language.tokens import CLAUSE, COMMA, NONE, SENTENCE, Doc, has_any
from vivavoce.reading import lexicon as words
from vivavoce.reading.label_places import after_label_noun
from vivavoce.reading.labels import closing, joining, label_nouns
from vivavoce.reading.options import Mention, Options

Verdict = Literal["chosen", "named", "not wrong", "tentative", "of the case", "rejected"]
WINDOW = 9
"""How many words before or behind an option can say something of it."""
ARTICLES = frozenset("AEIO")
"""Labels that are also words that begin a sentence."""
_ENTRY = 4
"""Words of an entry in brackets."""
_REMARK = 7
"""How many words a remark in brackets behind a letter may have."""


def mentions_in(
    doc: Doc, options: Options, texts: Sequence[Mention], i: int, j: int, *, claimed: bool
) -> list[Mention]:
    """The options named in tokens i to j-1, by text or label; `texts` are those named there by their text."""
    starts = {mention.i: mention for mention in texts}
    mentions: list[Mention] = []
    end = i
    for k in options.places(doc, i, j, starts):
        if k < end:
            continue
        text = starts.get(k)
        if text is not None and text.j <= j:
            mentions.append(_place_or_text(doc, options, text) or _text_then_label(doc, options, text, j))
            end = mentions[-1].j
            continue
        in_list = bool(mentions) and mentions[-1].by == "label" and _follows(doc, mentions[-1].j, k)
        in_list = in_list or _opens_list(doc, options, starts, k, j)
        option = options.label_at(doc, k, claimed=claimed or in_list, i=i)
        if option is None and claimed and k == i < len(doc) - 1:
            option = _before_sentence(doc, options, k, starts)
        if option is None and in_list and _joined_label(doc, options, k):
            option = options.labels[doc.surface(k, k + 1)]
        if option is None and in_list and doc.tokens[k].kind == "n":
            option = options.number_joined(doc, k, mentions[-1])
        if option is None or (doc.forms[k] in CIRCLED and k + 1 in starts):
            continue
        mentions.append(
            _label_of_text(doc, options, k, j) or _label_then_text(doc, options, k, option, starts, j)
        )
        end = mentions[-1].j
    return mentions


def _before_sentence(doc: Doc, options: Options, k: int, starts: Mapping[int, Mention]) -> int | None:
    """The option of a letter that a sentence follows without a sign: "B Heparin is slow", "B Option A is".

    Null where the text is the letter's own option; -1 for a letter that may be an article.
    """
    letter = doc.surface(k, k + 1)
    option = options.labels.get(letter)
    if option is None or not begins_sentence(doc, k + 1) or not options.may_stand(doc, k):
        return None
    if doc.forms[k + 1] in label_nouns():
        return option
    text = starts.get(k + 1)
    if text is None or option in text.names or not _is_subject(doc, text):
        return None
    return -1 if letter in ARTICLES and doc.gap(k + 1) == " " else option


def begins_sentence(doc: Doc, k: int) -> bool:
    """True for a capital or a number at token k, as a sentence begins with."""
    return doc.surface(k, k + 1)[:1].isupper() or doc.tokens[k].kind == "n"


def _is_subject(doc: Doc, text: Mention) -> bool:
    """True if a verb follows a text."""
    return not doc.ends(text.j) and doc.forms[text.j] in words.PREDICATE


def _place_or_text(doc: Doc, options: Options, text: Mention) -> Mention | None:
    """A number behind "option" that is one option's text and another's place; null for any other text."""
    k = text.i
    if doc.tokens[k].kind != "n" or text.j != k + 1 or not after_label_noun(doc, k):
        return None
    option = options.label_at(doc, k)
    return None if option is None or option in text.names else Mention(k, k + 1, (), "label")


def _label_of_text(doc: Doc, options: Options, k: int, j: int) -> Mention | None:
    """A label with its text, which is a label too: "B. C" where C is the text of option B."""
    if k + 1 >= j or doc.gap(k + 1).strip() not in {".", ")", ":", "="}:
        return None
    option = options.labelled.places.get(doc.surface(k, k + 1))
    if option is None or options.labelled.texts.get(doc.surface(k + 1, k + 2)) != option:
        return None
    return Mention(k, k + 2, (option,), "both")


def _follows(doc: Doc, j: int, k: int) -> bool:
    """True if a list goes on from token j to token k: "A, B or C"."""
    return k - j <= 2 and doc.breaks[k] <= COMMA and joining().issuperset(doc.forms[j:k])


def _opens_list(doc: Doc, options: Options, starts: Mapping[int, Mention], k: int, j: int) -> bool:
    """True if token k is a letter that another option is joined to: "A or B", "B (if pregnant) or C"."""
    if doc.surface(k, k + 1) not in options.labels:
        return False
    first = _after_bracket(doc, k + 1, j)
    end = min(first + 3, j)
    position = next((p for p in range(first, end) if p in starts or not _joiner(doc, options, p)), end)
    if position >= j:
        return False
    if not has_any(doc.forms[first:position], words.HEDGES) and doc.breaks[position] != COMMA:
        return False
    return position in starts or options.label_at(doc, position, claimed=True) is not None


def _joined_label(doc: Doc, options: Options, k: int) -> bool:
    """True for the last of "A or B depending on", whatever follows, and of "A and B ruled out"."""
    joined = doc.forms[k - 1] in words.HEDGES
    if not joined and doc.forms[k - 1] in closing():
        joined = has_any(doc.forms[k + 1 : k + 2], words.NOT_RIGHT)
    return joined and _is_capital_label(doc, options, k)


def _is_capital_label(doc: Doc, options: Options, k: int) -> bool:
    surface = doc.surface(k, k + 1)
    return surface in options.labels and surface.isupper() and options.may_stand(doc, k)


def _joiner(doc: Doc, options: Options, k: int) -> bool:
    """True for a word that joins options; an option "Y" is none, although it is "and" in Spanish."""
    return doc.forms[k] in joining() and doc.surface(k, k + 1) not in options.labels


def _after_bracket(doc: Doc, k: int, j: int) -> int:
    """The token behind a short remark in brackets that token k begins; else k."""
    start = k
    if k < j and doc.gap(k).strip() == "(":
        while k < j and k - start < _REMARK and ")" not in doc.gap(k):
            k += 1
    return k


def _text_then_label(doc: Doc, options: Options, text: Mention, j: int) -> Mention:
    """A text with its letter, "Heparin (B)": they must agree."""
    k = text.j
    if k >= j or doc.gap(k).strip(" *_") not in {"(", "["}:
        return text
    if doc.forms[k] in words.LABEL_NOUNS and k + 1 < j:
        k += 1
    if doc.gap(k + 1)[:1] not in {")", "]", "）"}:
        return text
    option = options.label_at(doc, k, claimed=True)
    if option is None:
        return text
    return Mention(text.i, k + 1, text.names if option in text.names else (), "both")


def _label_then_text(
    doc: Doc, options: Options, k: int, option: int, starts: Mapping[int, Mention], j: int
) -> Mention:
    """A letter with its text, "B. Heparin", "B (Heparin)", "B: Heparin": they must agree.

    A sentence about another option after the letter is no contradiction: "C. Aspirin is not enough".
    """
    names = (option,) if option >= 0 else ()
    position = k + 1
    while position < j and doc.forms[position] in {"(-)", "=", "→", "(+)"}:
        position += 1
    text = starts.get(position)
    if text is not None and text.j <= j and doc.breaks[position] in {NONE, CLAUSE, SENTENCE}:
        if option in text.names:
            return Mention(k, text.j, names, "both")
        if _appositive(doc, text):
            return Mention(k, text.j, (), "both")
    elif option >= 0 and position < j and _other_quantity(doc, options, position, option):
        return Mention(k, position + 1, (), "both")
    return Mention(k, k + 1, names, "label")


def _appositive(doc: Doc, text: Mention) -> bool:
    """True if the text stands by the letter as its name, not as the subject of a sentence."""
    return text.j >= len(doc) or doc.breaks[text.j] > NONE or doc.forms[text.j] not in words.PREDICATE


def _other_quantity(doc: Doc, options: Options, position: int, option: int) -> bool:
    """True for "B. 25 mg" where option B is another quantity."""
    if doc.breaks[position] not in {NONE, CLAUSE} or doc.tokens[position].kind != "n":
        return False
    if doc.forms[position] in options.numbers[option]:
        return False  # "B. 25"
    return options.texts[option].strip()[:1].isdigit() and (doc.ends(position + 1) or doc.ends(position + 2))


def only_quotes(doc: Doc, k: int) -> bool:
    """True if the break is made of brackets and quotes around single entries: "(A) and (B)"."""
    gap = doc.gap(k)
    closes = ")," in gap and "(" not in gap  # "(A and C do not fit), so B"
    if gap.endswith("(") and not any(
        doc.gap_has(n, ")") for n in range(k + 1, min(k + _ENTRY, len(doc)) + 1)
    ):
        return False  # "A, B (C and D are benign)"
    return doc.breaks[k] == CLAUSE and not closes and not any(c in ";:–—|-." for c in gap)
