"""Where a response names an option: by its text, by its label, or by both.

The longest fitting text wins, never a part of a number, a unit or a hyphenated word. A letter counts where it
can only be a label: "I", the article "A", "vitamin B" and "T cells" are none.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from vivavoce.core.text import label
from vivavoce.language.spelling import one_spelling
from vivavoce.language.tokens import CLAUSE, COMMA, LINE, NONE, SENTENCE, Doc, cached_doc, has_any
from vivavoce.reading import lexicon as words

WINDOW = 9
"""How many words before or behind an option can say something of it."""
HEAD = 5
"""Letters that a word shares with one of an option where both may be one word in two languages."""
_REMARK = 7
"""How many words a remark in brackets behind a letter may have."""
_NO_SPECIES = words.AFTER_LABEL | words.FILLERS | words.PROSE | words.CHOSEN_RIGHT | words.LIGHT


class Mention(NamedTuple):
    """Tokens i to j-1 name the options in `names`: one, several (equal up to case or accents), or none.

    `by` is 'text', 'label' or 'both'. None are named by a label that stands with another option's text, or by
    one that no option has.
    """

    i: int
    j: int
    names: tuple[int, ...]
    by: str


class Options:
    """The options of an item, ready to be found in responses."""

    def __init__(
        self,
        options: Sequence[str],
        labels: Sequence[str] | None = None,
        synonyms: Sequence[Sequence[str]] = (),
    ) -> None:
        self.texts = tuple(options)
        self.plain = {" ".join(text.split()): k for k, text in reversed(list(enumerate(options)))}
        self.labels = {name: k for k, name in enumerate(labels or map(label, range(len(options))))}
        self._cores: list[str] = []
        self._forms: list[list[str]] = []
        self._index: dict[str, list[tuple[tuple[str, ...], list[int]]]] = {}
        # the longest first, so that "acute renal failure" is not read as "acute"
        by_forms = self._by_forms()
        for k, synonyms_of_option in enumerate(synonyms):
            by_forms.update(
                {tuple(map(one_spelling, cached_doc(text).forms)): [k] for text in synonyms_of_option}
            )
        for forms, options_of_form in sorted(by_forms.items(), key=lambda entry: -len(entry[0])):
            self._index.setdefault(forms[0], []).append((forms, options_of_form))
        self.lower = {name.lower(): k for name, k in self.labels.items()}
        self.vocabulary = self._vocabulary()

    def __len__(self) -> int:
        return len(self.texts)

    def _vocabulary(self) -> set[str]:
        """The words of the options in ASCII, and how the longer ones begin."""
        forms = {form for forms in self._forms for form in forms if form.isascii()}
        return forms | {form[:HEAD] for form in forms if len(form) > HEAD}

    def _by_forms(self) -> dict[tuple[str, ...], list[int]]:
        """The options by the tokens that name them, in one spelling."""
        labelled = len(self.texts) > 1 and all(_has_own_label(text, k) for k, text in enumerate(self.texts))
        by_forms: dict[tuple[str, ...], list[int]] = {}
        for k, text in enumerate(self.texts):
            doc, bare = cached_doc(text), text.strip()
            self._cores.append(doc.surface(0, len(doc)))
            self._forms.append(doc.forms)
            forms = tuple(map(one_spelling, doc.forms))
            if len(doc) == 1 and len(bare) <= 2 and _is_capital(bare):
                # an option "A" or "AB" is found as labels are; its text comes before its place
                self.labels[bare] = k
            elif forms:
                by_forms.setdefault(forms, []).append(k)
                if labelled and len(doc) > 1:
                    # options that carry their labels, "B: B cells", are named without them too
                    by_forms.setdefault(forms[1:], []).append(k)
        return by_forms

    def exactly(self, text: str) -> int | None:
        """The option that `text` is, white space aside."""
        return self.plain.get(" ".join(text.split()))

    def names(self, doc: Doc) -> list[Mention]:
        """The options named by their text, left to right, without overlap."""
        mentions: list[Mention] = []
        k, forms, index = 0, [*map(one_spelling, doc.forms)], self._index
        while k < len(forms):
            for option, numbers in index.get(forms[k], ()):
                j = k + len(option)
                # the last token is compared first: most candidates fail there, and slicing is dear
                if j > len(forms) or forms[j - 1] != option[-1]:
                    continue
                if tuple(forms[k:j]) == option and _is_whole(doc, k, j):
                    mentions.append(Mention(k, j, self._exact(doc, k, j, numbers), "text"))
                    k = j
                    break
            else:
                k += 1
        return mentions

    def _exact(self, doc: Doc, i: int, j: int, numbers: list[int]) -> tuple[int, ...]:
        """Of the options that tokens i to j-1 can name the one spelt alike; all of them if none is."""
        if len(numbers) == 1:
            return (numbers[0],)
        surface, forms = doc.surface(i, j), doc.forms[i:j]
        for exact in (
            [k for k in numbers if self._cores[k] == surface],
            [k for k in numbers if self._cores[k].casefold() == surface.casefold()],
            [k for k in numbers if self._forms[k] == forms],  # as it stands, and not in American spelling
        ):
            if len(exact) == 1:
                return (exact[0],)
        return tuple(numbers)

    def label_at(self, doc: Doc, k: int, *, claimed: bool = False, i: int = 0) -> int | None:
        """The option whose label token k is, or -1 for a letter beyond the labels; None if it is no label.

        `claimed`: the token stands where an answer is expected, so that a bare capital is enough; in running
        text a label needs brackets, emphasis, a word like "option" before it or a verdict after it. `i` is
        where the clause begins.
        """
        token = doc.tokens[k]
        if token.kind != "w" or token.end - token.start > 3:
            return None
        text = doc.text[token.start : token.end]
        option = self.labels.get(text)
        if option is None:
            return self._other_letter(doc, k, text, i, claimed=claimed)
        if _is_glued(doc, k) or _noun_before(doc, k) or _species(doc, k, self.texts[option]):
            return None
        return option if _stands_as_label(doc, k, text, claimed=claimed) else None

    def _other_letter(self, doc: Doc, k: int, text: str, i: int, *, claimed: bool) -> int | None:
        """What a text that is no label may be all the same: a small letter, or one beyond the labels."""
        if len(text) != 1:
            return None
        lower = self.lower.get(text)
        if lower is not None and _small_label(doc, k, i, claimed=claimed):
            return lower
        is_letter = claimed and text.isascii() and text.isupper() and k == i
        return -1 if is_letter and _closed(doc, k) and not _is_glued(doc, k) else None


@lru_cache(maxsize=4096)
def options_of(
    options: tuple[str, ...],
    labels: tuple[str, ...] | None = None,
    synonyms: tuple[tuple[str, ...], ...] = (),
) -> Options:
    """The options, prepared once; `synonyms` are further words for each, in their order."""
    return Options(options, labels, synonyms)


# --- by text


def _is_capital(text: str) -> bool:
    return text.isalpha() and text.isupper()


def _has_own_label(text: str, k: int) -> bool:
    name = label(k)
    return text.startswith((f"{name}. ", f"{name}: ", f"{name}) "))


def _is_whole(doc: Doc, i: int, j: int) -> bool:
    """True if tokens i to j-1 are no part of a longer number, quantity or hyphenated word."""
    if doc.glued(i) or doc.glued(j):
        return False
    if i > 0 and doc.breaks[i] == NONE and (_of_a_name(doc, i, j) or _after_sign(doc, i)):
        return False
    if doc.tokens[i].kind == "n" and i > 0 and doc.breaks[i] <= CLAUSE and _number_before(doc, i):
        return False
    return j >= len(doc) or doc.breaks[j] > NONE or not _goes_on(doc, i, j)


def _after_sign(doc: Doc, i: int) -> bool:
    """True for the second sign of "<<" or "=>"."""
    return doc.tokens[i].form in {"<", ">"} and doc.forms[i - 1] in {"<", ">", "="}


def _number_before(doc: Doc, i: int) -> bool:
    """True if the number at token i is part of a comparison or a range: "> 50", "25-50"."""
    preceding = doc.forms[i - 1]
    if doc.breaks[i] <= NONE and (preceding in words.COMPARATORS or preceding in {"-", "/", "x", "^"}):
        return True
    range_sign = doc.gap_has(i, "-–—") or preceding in {"to", "(-)"}
    range_sign = range_sign or (preceding == "and" and "between" in doc.forms[max(0, i - 4) : i])
    return range_sign and any(t.kind == "n" for t in doc.tokens[max(0, i - 3) : i])


def _goes_on(doc: Doc, i: int, j: int) -> bool:
    """True if token j continues tokens i to j-1: a unit, a sign, the rest of a fraction or a power."""
    following, gap = doc.forms[j], doc.gap(j)
    if following in {"(+)", "(-)"}:
        return not gap
    is_number = doc.tokens[j - 1].kind == "n"
    if is_number and _is_unit(doc, j):
        return True
    quantity = is_number or any(t.kind == "n" for t in doc.tokens[max(i, j - 2) : j])
    return quantity and not gap and (following in {"/", "-"} or following[0] == "^")


def _is_unit(doc: Doc, j: int) -> bool:
    return doc.forms[j] in words.UNITS or (doc.forms[j][0] in "%^°-x±" and doc.tokens[j].kind == "s")


def _of_a_name(doc: Doc, i: int, j: int) -> bool:
    """True for "cells" in "B cells", and for the "no" of "because no other drug works"."""
    if doc.forms[i] in words.LETTERED_HEADS:
        preceding = doc.surface(i - 1, i)
        return len(preceding) <= 2 and _is_capital(preceding)
    if doc.forms[i:j] != ["no"] or doc.ends(j) or doc.surface(i, j) != "no":
        return False
    return doc.tokens[j].kind == "w" and doc.forms[j] not in words.AFTER_LABEL


# --- by label


def _stands_as_label(doc: Doc, k: int, text: str, *, claimed: bool) -> bool:
    """True if a capital that is a label stands where it can only be one."""
    preceding = doc.forms[k - 1] if k > 0 and doc.breaks[k] <= NONE else ""
    if _bracketed(doc, k) or _line_label(doc, k) or preceding in words.LABEL_NOUNS:
        return True
    following = doc.forms[k + 1] if k + 1 < len(doc) else ""
    if text == "I" and following in words.AFTER_I:
        return False
    closed = _closed(doc, k) or following in words.AFTER_LABEL
    return closed if claimed else _label_in_prose(doc, k, preceding, following, closed=closed)


def _label_in_prose(doc: Doc, k: int, preceding: str, following: str, *, closed: bool) -> bool:
    """True if a capital in running text is a label: "so B", "B is right"."""
    if closed and (preceding in words.BEFORE_LABEL or _emphasised(doc, k)):
        return True
    return following in words.VERDICT_VERBS and doc.breaks[k + 1] == NONE


def _small_label(doc: Doc, k: int, i: int, *, claimed: bool) -> bool:
    """True if a small letter is a label: "(c)", "c)" at the head of a line, "c" alone, "option c"."""
    if not claimed:
        return _line_label(doc, k) and doc.gap(k + 1)[:1] == ")"
    named = k > 0 and doc.breaks[k] == NONE and doc.forms[k - 1] in words.LABEL_NOUNS
    return _bracketed(doc, k) or _line_label(doc, k) or ((k == i or named) and _closed(doc, k))


def _is_glued(doc: Doc, k: int) -> bool:
    return doc.glued(k) or doc.glued(k + 1)


def _species(doc: Doc, k: int, text: str) -> bool:
    """True for a capital that begins the name of a species, "C. difficile", which option `text` is not."""
    if k + 1 >= len(doc) or doc.gap(k + 1) != ". " or doc.sentence_end(k) - k > 4:
        return False
    if has_any(doc.forms[k + 2 : doc.sentence_end(k)], words.PREDICATE):
        return False
    word = doc.surface(k + 1, k + 2)
    latin = word.islower() and len(word) >= 4 and word.endswith(words.SPECIES_ENDS)
    if not latin or word in _NO_SPECIES:
        return False
    # "A. aspirin" where option A is "Aspirin" is the option with its letter
    return not any(form[:4] == word[:4] for form in cached_doc(text).forms)


def _closed(doc: Doc, k: int) -> bool:
    """True if nothing of the same clause follows token k, or a sign that ends a label."""
    if doc.ends(k + 1) or (doc.forms[k + 1].startswith(words.AFTER_LETTER) and not doc.gap(k + 1)):
        return True
    if doc.tokens[k + 1].kind == "n" and doc.gap(k + 2)[:1] in {".", ")"}:
        return True  # "1. A 2. B"
    return doc.forms[k + 1] in {"+", "&", "/", "→", "(-)", "(+)", "=", "<", ">"}


def _bracketed(doc: Doc, k: int) -> bool:
    opening, closing = doc.gap(k)[-1:], doc.gap(k + 1)[:1]
    return opening in {"(", "[", "（", "{"} and closing in {")", "]", "）", "}"}


def _emphasised(doc: Doc, k: int) -> bool:
    opening, closing = doc.gap(k)[-1:], doc.gap(k + 1)[:1]
    return (opening == closing and opening in {"*", "_", "`", '"', "'"}) or (opening, closing) == ("“", "”")


def _line_label(doc: Doc, k: int) -> bool:
    """True for the label at the head of a line: "B)", "B. text", "B: text"."""
    if doc.breaks[k] < LINE:
        return False
    return doc.gap(k + 1).lstrip("*_")[:1] in {")", ".", ":", "）", "、"}


def _noun_before(doc: Doc, k: int) -> bool:
    """True if a word that takes letters stands before: vitamin B, hepatitis B, group A."""
    first = max(2, k - 8)
    while k > first and _second_letter(doc, k):
        k -= 2  # "vitamin A or B"
    if k == 0 or doc.breaks[k] >= SENTENCE or doc.gap_has(k, ":([,"):
        return False
    return doc.breaks[k] < COMMA and doc.forms[k - 1].startswith(words.LETTERED_NOUNS)


def _second_letter(doc: Doc, k: int) -> bool:
    """True if "or" or "and" joins token k to a capital: the B of "A or B"."""
    if doc.forms[k - 1] not in {"or", "and"} or doc.breaks[k - 1] != NONE:
        return False
    return len(doc.forms[k - 2]) == 1 and doc.surface(k - 2, k - 1).isupper()


# --- by text and label


def mentions_in(
    doc: Doc, options: Options, texts: Sequence[Mention], i: int, j: int, *, claimed: bool
) -> list[Mention]:
    """The options named in tokens i to j-1, by text or label; `texts` are those named there by their text."""
    starts = {mention.i: mention for mention in texts}
    mentions: list[Mention] = []
    k = i
    while k < j:
        text = starts.get(k)
        if text is not None and text.j <= j:
            mentions.append(_text_then_label(doc, options, text, j))
            k = mentions[-1].j
            continue
        in_list = bool(mentions) and mentions[-1].by == "label" and _follows(doc, mentions[-1].j, k)
        in_list = in_list or _opens_list(doc, options, starts, k, j)
        option = options.label_at(doc, k, claimed=claimed or in_list, i=i)
        if option is None:
            k += 1
            continue
        mentions.append(_label_then_text(doc, options, k, option, starts, j))
        k = mentions[-1].j
    return mentions


def _follows(doc: Doc, j: int, k: int) -> bool:
    """True if a list goes on from token j to token k: "A, B or C"."""
    return k - j <= 2 and doc.breaks[k] <= COMMA and words.JOINERS.issuperset(doc.forms[j:k])


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


def _joiner(doc: Doc, options: Options, k: int) -> bool:
    """True for a word that joins options; an option "Y" is none, although it is "and" in Spanish."""
    return doc.forms[k] in words.JOINERS and doc.surface(k, k + 1) not in options.labels


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
    return options.texts[option].strip()[:1].isdigit() and (doc.ends(position + 1) or doc.ends(position + 2))
