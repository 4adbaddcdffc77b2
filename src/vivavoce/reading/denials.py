"""A word of denial behind an option, "C: nein", or before a list, "Nein: C, D"."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cache

from vivavoce.language.languages import codes, language
from vivavoce.language.tokens import SENTENCE, Doc, cached_doc
from vivavoce.reading import lexicon as words
from vivavoce.reading.negative_questions import denial_words
from vivavoce.reading.options import Options

_DENIED = "the option that it names stands beside a word that denies it"
_SIGNS = frozenset(":.?？：,，=(–—-")


@cache
def _replies() -> frozenset[str]:
    """The words that deny an option as a whole reply, in any language."""
    falses = (word for code in codes() for word in language(code).false if " " not in word)
    return words.NOES | {form for word in falses for form in Doc(word).forms}


def denial(answer: str, options: Options, names: Collection[int], *, lists: bool = False) -> str | None:
    """The reason where the answer itself denies one of these options, which were read as chosen; else null.

    A word of denial stands alone right behind it ("Is it C? No.", "C: nein"), or where the answer `lists`
    options it heads a list with it ("A, B. No: C, D"). Such a word may be or begin the option's own text.
    """
    doc, denials = cached_doc(answer), _replies() | _letters(options, lists=lists)
    replies = [k for k in _places_of(doc, denials) if _is_reply(doc, k)]
    heads = [k for k in _places_of(doc, denials | denial_words()) if lists and _is_head(doc, k)]
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


def _letters(options: Options, *, lists: bool) -> frozenset[str]:
    """The letter that denies in "A. T, B. F", unless it is a label."""
    return frozenset("f" if lists and "F" not in options.labels else "")


def _places_of(doc: Doc, forms: Collection[str]) -> list[int]:
    """Where one of these words stands."""
    return [k for k, form in enumerate(doc.forms) if form in forms]


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
