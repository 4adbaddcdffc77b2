"""Entities of a text: by scispaCy's model as published, or by chunks where there is none.

Chunks need no model and are another thing: their values say nothing beside published ones.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from vivavoce.core.errors import MetricError
from vivavoce.core.file_cache import cached_by_file
from vivavoce.systems.hivmedqa.entities.lemmas import Lemma, form_of
from vivavoce.systems.hivmedqa.entities.synonyms import read_dictionary

MODEL = "en_core_sci_lg"
PACKAGES = ("spacy", MODEL)
"""What has to be installed for `scispacy`."""

Term = tuple[str, ...]

_NUMBER = r"(?<![\w.]) \d++(?:[.,]\d++){0,3}+"
_UNITS = (
    "[kmcdnμµ]?(?:g|l|m|mol|eq|iu|u|gy|bq)|mmhg|cmh2o|cc|kcal|cal|log|mm3|mm³|units?|copies|cells?"
    "|tablets?|doses?|s|min|minutes?|h|hrs?|hours?|d|days?|wks?|weeks?|months?|yrs?|years?"
)
_LONGEST = 8


@cache
def _piece() -> re.Pattern[str]:
    """What a line falls into; made at the first use, because it takes 30 ms.

    A unit stands with its number; hyphens, slashes and apostrophes inside a word stay; marks of layout are
    blanks.
    Repeats are bounded or possessive: an answer of nothing but 1,1,1 must not cost its square.
    """
    return re.compile(
        rf"""
        (?P<measure> (?:[<>≤≥±~]=?\s?)? {_NUMBER} (?:\s?(?:[-–]|to\s)\s?{_NUMBER})? \s?
            (?: %|‰|°[cf]\b | (?:{_UNITS}) (?:/[\w³²^]+)* (?![\w-]) ) )
        | (?P<word> [^\W_]+ (?: ['’/&.+-](?=[^\W_]) [^\W_]+ )* (?: \+ | (?<=\d)- (?=[\s.,;)]|$) )? )
        | (?P<gap> \s+ | [*_`#] )
        | (?P<mark> . )
        """,
        re.VERBOSE | re.DOTALL | re.IGNORECASE,
    )


@dataclass(frozen=True, slots=True)
class Chunks:
    """Finds the entities of a text by chunks; two with the same settings are equal.

    `dictionary` is a file of terms that are looked for first, in their base forms.
    """

    dictionary: Path | None
    lemma: Lemma

    def __call__(self, text: str) -> tuple[str, ...]:
        """As `chunks`. Raises `InputError` for a dictionary that cannot be read."""
        terms = _terms(self.dictionary, self.lemma) if self.dictionary else frozenset()
        return chunks(text, terms, form_of(self.lemma, folded=False))


@cached_by_file
def _terms(dictionary: Path, lemma: Lemma) -> frozenset[Term]:
    names = (name for term, synonyms in read_dictionary(dictionary).items() for name in (term, *synonyms))
    return terms_of(names, form_of(lemma, folded=False))


def terms_of(names: Iterable[str], form: Callable[[str], str]) -> frozenset[Term]:
    """Names as `chunks` looks for them: tuples of the `form` of their words, of at most eight."""
    split = (tuple(map(form, _words(name))) for name in names)
    return frozenset(term for term in split if 0 < len(term) <= _LONGEST)


def chunks(text: str, terms: Set[Term], form: Callable[[str], str]) -> tuple[str, ...]:
    """The entities of `text` in lower case, each once, in the order of their first appearance.

    First the `terms` (see `terms_of`), the longest at each place; then numbers with their unit; then what
    stands between stop words and punctuation. Bare numbers are none, in a chunk they stay (type 2 diabetes).
    """
    stop = _stop_words()
    chunks_by_name: dict[str, None] = {}
    for run in _runs(text):
        words: list[str] = []
        forms = [form(word) for word in run]
        place = 0
        while place < len(run):
            size = _longest(forms, place, terms)
            if size:
                _put(chunks_by_name, words)
                chunks_by_name[" ".join(run[place : place + size])] = None
            elif run[place] in stop or run[place].endswith("ly"):
                _put(chunks_by_name, words)
            else:
                words.append(run[place])
            place += size or 1
        _put(chunks_by_name, words)
    return tuple(chunks_by_name)


@cache
def _stop_words() -> frozenset[str]:
    """Words that stand in no chunk: of grammar, and such as every answer has. Written for vivavoce."""
    return frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="ascii").split())


def _put(chunks_by_name: dict[str, None], words: list[str]) -> None:
    """Move a chunk to what was found, unless it is bare numbers."""
    if any(c.isalpha() or c in "%‰°" for word in words for c in word):
        chunks_by_name[" ".join(words)] = None
    words.clear()


def _longest(forms: list[str], place: int, terms: Set[Term]) -> int:
    """How many words from `place` on are the longest of the terms; 0 for none."""
    longest = min(_LONGEST, len(forms) - place) if terms else 0
    return next((n for n in range(longest, 0, -1) if tuple(forms[place : place + n]) in terms), 0)


def _runs(text: str) -> Iterator[list[str]]:
    """Words in lower case between marks of punctuation; a number with its unit is a run of one."""
    run: list[str] = []
    for line in text.lower().splitlines():
        for piece in _piece().finditer(line):
            if piece.lastgroup == "word":
                run.append(piece[0].replace("’", "'"))
            elif piece.lastgroup != "gap":
                yield run
                run = []
                if piece.lastgroup == "measure":
                    yield [_measure(piece[0])]
        yield run
        run = []


def _measure(form: str) -> str:
    """A number with its unit, always spaced alike: 2.5mg is 2.5 mg, < 50 % is <50 %."""
    spaced = re.sub(r"(?<=\d)(?=[^\W\d_]|[%‰°])", " ", form)
    return re.sub(r"(?<=[<>≤≥±~=])\s+", "", " ".join(spaced.split()))


def _words(name: str) -> list[str]:
    return [word for run in _runs(name.replace("_", " ")) for word in run]


def scispacy(text: str) -> tuple[str, ...]:
    """The entities of scispaCy's `en_core_sci_lg` in lower case, each once, in order of first appearance.

    The text is cleaned as published: asterisks go, white space is one blank. Raises `MetricError` where the
    model is not installed.
    """
    clean = " ".join(text.replace("*", "").split())
    return tuple(dict.fromkeys(entity.text.lower() for entity in _pipeline()(clean).ents))


@cache
def _pipeline() -> Any:
    try:
        return import_module("spacy").load(MODEL)
    except (ImportError, OSError) as error:
        raise MetricError(
            f"extractor=scispacy cannot load {MODEL} ({error}): install scispacy and that model, or take "
            "extractor=chunk, which is not comparable with published figures."
        ) from error
