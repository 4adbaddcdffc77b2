"""What an answer denies or takes back itself: "C: nein", "Nein: C, D", "C. Actually, B.", "C。更正：B。"."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TypeVar

from vivavoce.language.languages import codes, language
from vivavoce.language.tokens import COMMA, NONE, SENTENCE, Doc, cached_doc, has_any, recent_doc
from vivavoce.reading import lexicon as words
from vivavoce.reading.answer_markers import cue_word
from vivavoce.reading.claims import ClaimReader
from vivavoce.reading.label_places import without_particle
from vivavoce.reading.labels import conclusions, joining, label_articles, label_nouns
from vivavoce.reading.negative_questions import denial_words
from vivavoce.reading.options import Options
from vivavoce.reading.word_roles import by_head, width

_Reader = TypeVar("_Reader", bound=ClaimReader)

TURNS_TO_ANOTHER = "it takes its answer back and ends with another option"
_DENIED = "the option that it names stands beside a word that denies it"
_SIGNS = frozenset(":.?？：,，=(–—-")
_REPLIES = words.NOES - {"wrong", "incorrect", "错误", "错"}
_SAYS_MORE = frozenset(":=?？؟")
_FAULTS = frozenset({"mistake", "bad", "erreur", "ошибка", "λαθοσ", "pomylka", "nham", "了", "아니"})
_NO_LEADS = frozenset({"as", "would", "maybe", "perhaps", "and", "both", "isnt", "arent"})
_LONGEST = 16
"""Tokens of a correction up to the option that is meant."""


@cache
def _replies(*, with_letter: bool) -> frozenset[str]:
    """The words that deny an option as a whole reply, in any language; the letter of "A. T, B. F" as well."""
    falses = (word for code in codes() for word in language(code).false if " " not in word)
    replies = words.NOES | {form for word in falses for form in Doc(word).forms}
    return replies | {"f"} if with_letter else replies


@cache
def _heads(*, with_letter: bool) -> frozenset[str]:
    """The words that deny what a list names under them."""
    return _replies(with_letter=with_letter) | denial_words()


def denial(doc: Doc, options: Options, names: Collection[int], *, lists: bool = False) -> str | None:
    """The reason where the answer itself denies one of these options, which were read as chosen; else null.

    A word of denial stands alone right behind it ("Is it C? No.", "C: nein"), or where the answer `lists`
    options it heads a list with it ("A, B. No: C, D"). Such a word may be or begin the option's own text.
    """
    with_letter = lists and "F" not in options.labels
    replies = _places_of(doc, _replies(with_letter=with_letter), _is_reply)
    heads = _places_of(doc, _heads(with_letter=with_letter), _is_head) if lists else []
    if not (replies or heads):
        return None
    denied = _denied(doc, options, replies, heads)
    return None if denied.isdisjoint(names) else _DENIED


def _denied(doc: Doc, options: Options, replies: Sequence[int], heads: Sequence[int]) -> set[int]:
    """The options right before these replies, and those under these heads."""
    places = _Places(doc, options)
    denied = {
        name for k in replies for name in places.end_at(k) if doc.forms[k] not in _beginning(options, name)
    }
    return denied.union(*(places.names(k + 1, doc.sentence_end(k)) for k in heads))


def _places_of(doc: Doc, forms: frozenset[str], holds: Callable[[Doc, int], bool]) -> list[int]:
    """Where one of these words stands, and `holds` is true of it."""
    if forms.isdisjoint(doc.forms):
        return []
    return [k for k, form in enumerate(doc.forms) if form in forms and holds(doc, k)]


def _beginning(options: Options, name: int) -> list[str]:
    """The first word of an option."""
    return cached_doc(options.texts[name]).forms[:1]


class _Places:
    """Where the response names options, by label and by text."""

    def __init__(self, doc: Doc, options: Options) -> None:
        self._starts: dict[int, set[int]] = defaultdict(set)
        self._ends: dict[int, set[int]] = defaultdict(set)
        self._inside: set[int] = set()
        for k in range(len(doc)):
            name = options.labels.get(doc.surface(k, k + 1))
            if name is not None:
                self._starts[k].add(name)
                self._ends[k + 1].add(name)
        for mention in options.names(doc):
            self._starts[mention.i].update(mention.names)
            self._ends[mention.j].update(mention.names)
            self._inside.update(range(mention.i, mention.j))

    def end_at(self, k: int) -> set[int]:
        """The options named right before token k; none where the token belongs to the text of an option."""
        return set() if k in self._inside else self._ends[k]

    def names(self, i: int, j: int) -> set[int]:
        """The options named from token i to token j-1."""
        return {name for k in range(i, j) for name in self._starts[k]}


def _is_reply(doc: Doc, k: int) -> bool:
    """Whether a sign stands before token k, its clause ends behind it, and it heads nothing.

    "A, F" lists an entry that is no option.
    """
    signs = _SIGNS - {",", "，"} if doc.forms[k] == "f" else _SIGNS
    return k > 0 and not signs.isdisjoint(doc.gap(k)) and doc.ends(k + 1) and ":" not in doc.gap(k + 1)


def _is_head(doc: Doc, k: int) -> bool:
    return doc.breaks[k] >= SENTENCE and ":" in doc.gap(k + 1)


# --- conditions

_OTHERWISE = words.pairs(
    "si no, or else, caso contrario, lo contrario, cas contraire, caso contrari, anders dan, 否 则, 不 然"
)
_OTHERWISE_ALONE = words.forms(
    "otherwise sonst andernfalls ansonsten sinon autrement senao altrimenti иначе وإلا अन्यथा"
)
_BEHIND_OTHERWISE = 5
"""Tokens behind "otherwise" among which the other option stands."""


def is_conditional(reader: ClaimReader, names: Collection[int]) -> bool:
    """True if another option than these is meant under a condition: "B if pregnant, otherwise E"."""
    doc = reader.doc
    marks = [k for k in range(1, len(doc) - 1) if _says_otherwise(doc, k)] if names else []
    if not marks:
        return False
    places = _Places(doc, reader.options)
    for k in marks:
        following = places.names(k + 1, min(len(doc), k + _BEHIND_OTHERWISE))
        preceding = places.names(doc.last_break(k - 1, SENTENCE), k)
        if following and preceding and not following | preceding <= set(names):
            return True
    return False


def _says_otherwise(doc: Doc, k: int) -> bool:
    return doc.forms[k] in _OTHERWISE_ALONE or (doc.forms[k], doc.forms[k + 1]) in _OTHERWISE


# --- corrections


@cache
def _corrections() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """What takes an answer back, in any language, by its first word."""
    return by_head(lambda part: part.corrections)


def behind_corrections(reader: _Reader) -> _Reader:
    """A reader of what stands behind the last correction; the reader itself where the answer has none.

    A correction begins a clause behind another option, and leads to nothing but the one that is meant: in
    "B. Actually, this is a classic sign" none does.
    """
    place = _corrected_place(reader, _stands_alone)
    if place is None:
        return reader
    return type(reader)(reader.doc.text[reader.doc.tokens[place].start :], reader.options)


def corrected_list(reader: ClaimReader) -> tuple[str, str] | None:
    """What stands before the last correction that leads to options, and from these on; null without one.

    "A, B and E. Wait, A, B and D." A correction that adds, "Actually, C too.", takes nothing back.
    """
    doc = reader.doc
    place = _corrected_place(reader, _opens_list)
    place = _later_list(reader) if place is None else place
    if place is None:
        return None
    start = doc.tokens[place].start
    return doc.text[:start], doc.text[start:]


def _later_list(reader: ClaimReader) -> int | None:
    """The token of the sentence that is a list, behind one that takes a list back; null without one.

    "A, B and D... wait, D is no enzyme. A, B and C."
    """
    doc, is_taken_back = reader.doc, False
    if not doc.places(_corrects_alone, _corrects_alone):
        return None
    ends = {mention.i: mention.j for mention in reader.texts}
    for i, j in doc.sentences():
        end = _name_end(reader, i, ends) if is_taken_back else 0
        if end and end < j and _opens_list(reader, i, end):
            return i
        is_taken_back = is_taken_back or any(_corrects_alone(doc, k) for k in range(max(i, 1), j))
    return None


def _corrected_place(reader: ClaimReader, holds: Callable[[ClaimReader, int, int], bool]) -> int | None:
    """The token of the option that the last correction leads to, if `holds` of it; null without one."""
    starts = reader.doc.places(_corrections, _begins_correction)
    if not starts:
        return None
    ends = {mention.i: mention.j for mention in reader.texts}
    first = next(filter(lambda k: _name_end(reader, k, ends), range(starts[-1])), starts[-1])
    options = (_option_place(reader, k, ends, holds) for k in reversed(starts) if k > first)
    return next((place for place in options if place is not None), None)


def _begins_correction(doc: Doc, k: int) -> bool:
    """True if a correction, or a "no", begins a clause at token k."""
    if doc.forms[k] not in _REPLIES and doc.forms[k] not in _corrections():
        return False
    return _begins(doc, k) and (doc.forms[k] in _REPLIES or width(_corrections(), doc, k) > 0)


def _opens_list(reader: ClaimReader, k: int, end: int) -> bool:
    """True if the options named from token k on are not added to those before, and no verdict follows."""
    doc = reader.doc
    clause = doc.forms[k : doc.sentence_end(k)]
    if has_any(clause, words.ADDS | words.AS_WELL) or doc.gap_has(end, "?？"):
        return False
    return end == len(doc) or doc.breaks[end] > NONE or doc.forms[end] in joining()


def corrects(answer: str) -> bool:
    """True if words that take an answer back begin a clause of `answer`."""
    return bool(recent_doc(answer).places(_corrections, _begins_correction))


def turns_to_another(reader: ClaimReader, names: Collection[int]) -> bool:
    """True if a correction ends with another option than these: "D. Hold on, the INR is high, so B."."""
    doc = reader.doc
    if not doc.places(_corrections, _begins_correction):
        return False
    texts = {mention.i: mention for mention in reader.texts}
    ends = {mention.i: mention.j for mention in reader.texts}
    return any(
        names
        and reader.options.labels.get(without_particle(doc.surface(k, k + 1))) not in names
        and not (k in texts and set(names) & set(texts[k].names))
        for k in _corrected_places(reader, ends)
    )


def _corrected_places(reader: ClaimReader, ends: Mapping[int, int]) -> Sequence[int]:
    """Where sentences that correct end with an option; behind the last of them the last option counts."""
    places, later, is_taken_back = list[int](), 0, False
    for i, j in reader.doc.sentences():
        place, corrects = _last_place(reader, i, j, ends)
        if corrects and place:
            places.append(place)
        later, is_taken_back = (place or later) if is_taken_back else 0, is_taken_back or corrects
    return [*places, later] if later else places


def _last_place(reader: ClaimReader, i: int, j: int, ends: Mapping[int, int]) -> tuple[int, bool]:
    """Where the sentence of tokens i to j-1 ends with an option, 0 if it does not; and if it corrects."""
    doc = reader.doc
    start = next((k for k in range(max(i, 1), j) if _corrects_alone(doc, k)), j)
    first = i if start == j else start + 1
    return next((k for k in range(j - 1, first - 1, -1) if _name_end(reader, k, ends) == j), 0), start < j


def _corrects_alone(doc: Doc, k: int) -> bool:
    """True for words of correction at token k that are a clause by themselves: "wait, ..."."""
    phrase = width(_corrections(), doc, k) if _begins_correction(doc, k) else 0
    return phrase > 0 and doc.ends(k + phrase)


def _begins(doc: Doc, k: int) -> bool:
    """True if a clause begins at token k, or a character without spaces stands before it."""
    return doc.breaks[k] >= COMMA or "…" in doc.gap(k) or ".." in doc.gap(k)


def _option_place(
    reader: ClaimReader,
    begin: int,
    ends: Mapping[int, int],
    holds: Callable[[ClaimReader, int, int], bool],
) -> int | None:
    """The token of the option to which the correction at token `begin` leads, if `holds` of it.

    A "no" leads to none in another sentence, or behind a colon: "A. No. B. Yes." goes through the options.
    """
    doc = reader.doc
    k, takes_back = _behind_lead(reader, begin, ends)
    is_reply = doc.forms[begin] in _REPLIES and k < doc.sentence_end(begin)
    is_reply = is_reply and not any(doc.gap_has(n, ":：") for n in range(begin + 1, k + 1))
    takes_back = takes_back or (is_reply and holds is _stands_alone)
    end = _name_end(reader, k, ends) if begin < k < len(doc) and takes_back else 0
    return k if end and holds(reader, k, end) else None


def _behind_lead(reader: ClaimReader, k: int, ends: Mapping[int, int]) -> tuple[int, bool]:
    """The token behind the words of a correction, and whether they take an answer back.

    They lead nowhere where a denial or a fault stands right before what is named: "no C", "my mistake: C".
    """
    doc, takes_back, denied = reader.doc, False, False
    begin, limit = k, min(len(doc), k + _LONGEST)
    while k < limit:
        is_set_off = doc.breaks[k] >= COMMA and not doc.gap_has(k, ":：")
        denied &= not is_set_off
        phrase = width(_corrections(), doc, k)
        if not phrase and (not _leads(doc.forms[k]) or _name_end(reader, k, ends)):
            break
        takes_back |= phrase > 0
        k += max(phrase, 1)
        leads_on = phrase > 1 and k < limit and doc.gap_has(k, ":：")  # "wait, no: C"
        denied |= doc.forms[k - 1] in (_FAULTS if leads_on else words.NOES | _FAULTS)
    return begin if denied else k, takes_back


def _leads(form: str) -> bool:
    """True for what may stand between a correction and the option that is meant."""
    if form in _NO_LEADS:
        return False
    if form in words.LIGHT or form in words.RETRACTING or form in words.COPULA or cue_word(form):
        return True
    return form in label_nouns() or form in label_articles() or form in conclusions() or form in words.NOES


def _name_end(reader: ClaimReader, k: int, ends: Mapping[int, int]) -> int:
    """The token behind the option that is named at token k; 0 where none is."""
    doc, options = reader.doc, reader.options
    if k in ends:
        return ends[k]
    is_label = without_particle(doc.surface(k, k + 1)) in options.labels and options.may_stand(doc, k)
    return k + 1 if is_label and not doc.surface(k, k + 1).islower() else 0


def _stands_alone(reader: ClaimReader, k: int, end: int) -> bool:
    """True if the option named from token k on ends its clause, and no verdict on it follows."""
    doc = reader.doc
    if not _SAYS_MORE.isdisjoint(doc.gap(end)):
        return False
    if end == len(doc):
        return True
    if doc.forms[end] in words.YESES | words.NOES:
        return False
    return doc.breaks[end] > COMMA or doc.forms[end] in words.REASONS or _is_particle(doc, end)


def _is_particle(doc: Doc, k: int) -> bool:
    """True for what is written with a label and ends its clause: the copula of "Cです", "C입니다"."""
    return not doc.gap(k) and doc.forms[k].startswith(words.AFTER_LETTER)
