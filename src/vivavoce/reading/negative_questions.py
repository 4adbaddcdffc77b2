"""Questions that ask for the statement that is wrong: "Statement B is incorrect" then chooses B.

Only words that judge, "incorrect" or "not true", are taken so. A question that asks for an exception in other
words, "which is NOT a sign", leaves open whether "B is wrong" speaks of the statement or of the option.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal

from vivavoce.core.text import lazy_pattern
from vivavoce.language.languages import codes, language
from vivavoce.language.tokens import COMMA, NONE, Doc
from vivavoce.reading import lexicon as words
from vivavoce.reading.choice import ChoiceReader

Judgement = Literal["wrong", "right", "not wrong", "unlikely"]
_TRUE = frozenset(
    ("true", "accurate", "wahr", "vrai", "vraie", "verdadera", "verdadero", "cierta", "vera", "vero", "waar")
)
"""Words that only a statement is called, and no answer."""
_LONGEST = 400
"""Characters at the end of a question that say what it asks."""
_LEFT_OUT = frozenset({"than", "over", "beyond", "aside", "besides", "rule", "rules", "hold"})
_STEM = lazy_pattern(r"[.!?。！？؟।:：]+\s*(?=\S)")


@lru_cache(maxsize=4096)
def asked_judgement(question: str) -> Judgement | None:
    """What the last sentence of a question asks for: "wrong", "unlikely"; null for any other question."""
    judgement = _judgement(Doc(_STEM.split(question[-_LONGEST:].strip())[-1]).forms)
    return judgement if judgement in {"wrong", "unlikely"} else None


def called(reader: ChoiceReader, judgement: Judgement) -> set[int]:
    """The options that a clause calls so, each in a clause that names no other, or in one of several."""
    options: set[int] = set()
    for forms, names in _clauses(reader):
        if (len(names) == 1 or judgement == "unlikely") and _judgement(forms) == judgement:
            options |= names
    return options


def called_true(reader: ChoiceReader) -> set[int]:
    """The options that a clause calls true statements, each in a clause that names no other."""
    clauses = [(forms, names) for forms, names in _clauses(reader) if _judgement(forms) == "right"]
    return {
        name for forms, names in clauses if len(names) == 1 and not _TRUE.isdisjoint(forms) for name in names
    }


def _clauses(reader: ChoiceReader) -> Iterator[tuple[list[str], set[int]]]:
    """The clauses that name options: their words, and the options."""
    doc = reader.doc
    for i, j in doc.sentences():
        starts = [i, *(k for k in range(i + 1, j) if _begins(doc, k))]
        for a, b in zip(starts, [*starts[1:], j], strict=True):
            names = {name for mention in reader.texts if a <= mention.i < b for name in mention.names}
            names |= set(_labels(reader, a, b))
            if names:
                yield doc.forms[a:b], names


def _begins(doc: Doc, k: int) -> bool:
    """True if a comma, a semicolon or a reason begins a clause at token k."""
    return doc.breaks[k] == COMMA or ";" in doc.gap(k) or doc.forms[k] in words.REASONS


def _labels(reader: ChoiceReader, a: int, b: int) -> Iterator[int]:
    """The options that tokens a to b-1 name by a label, also right before a word that judges."""
    doc, options = reader.doc, reader.options
    for k in options.places(doc, a, b, ()):
        option = options.label_at(doc, k, claimed=True, i=a)
        if (
            option is None
            and k + 1 < b
            and doc.breaks[k + 1] == NONE
            and _judgement(doc.forms[k + 1 : k + 4])
        ):
            option = options.labels.get(doc.surface(k, k + 1))
        if option is not None and option >= 0:
            yield option


def _judgement(forms: Sequence[str]) -> Judgement | None:
    """What words call something; null for neither. "Not incorrect" is a denial."""
    text = f" {' '.join(forms)} "
    kinds: tuple[tuple[tuple[str, ...], Judgement, Judgement | None], ...] = (
        (_unlikely(), "unlikely", None),
        (_wrong(), "wrong", "not wrong"),
    )
    for phrases, judgement, opposite in kinds:
        spoken = [phrase for phrase in phrases if phrase in text]
        for phrase in spoken:
            text = text.replace(phrase, "  ")
        if spoken:
            return opposite if denial_words() & set(text.split()) else judgement
    return "right" if any(phrase in text for phrase in _right()) else None


@cache
def _wrong() -> tuple[str, ...]:
    return _phrases(word for code in codes() for word in language(code).wrong)


@cache
def _unlikely() -> tuple[str, ...]:
    return _phrases(word for code in codes() for word in language(code).unlikely)


@cache
def _right() -> tuple[str, ...]:
    return _phrases(word for code in codes() for word in language(code).right)


def _phrases(listed: Iterable[str]) -> tuple[str, ...]:
    """The words in their comparable form, the longest first, with a blank around each."""
    phrases = {" ".join(Doc(word).forms) for word in listed}
    return tuple(f" {phrase} " for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


@cache
def denial_words() -> frozenset[str]:
    """The words that deny what is said of an option."""
    denials = {form for code in codes() for word in language(code).not_ for form in Doc(word).forms}
    return words.NOT_LEFT - _LEFT_OUT | denials
