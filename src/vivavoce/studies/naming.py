"""Sentences of studies that name somebody or something: what they name, and how often they do so wrongly.

    DIFFERS = NamingSentence(
        code="gaps.differs",
        templates=("Of {n} tested (Holm; {basis}), these differ between categories: {profiles}.",),
        names=("candidate", "metric"),
        family="all candidates and criteria of the call",
        correction="Holm",
        null="gaps",
    )

A study declares them in `sentences` and writes its text from them where that is simple:
`DIFFERS.text(n=…, basis=…, profiles=…)`. A sentence either infers, and then has a family, a correction over
it and a simulation in which nothing is there (`null`, a name in `bench/false_alarms.py`), or `counts` says
what it states instead: a mean, a count, a definition.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

_SLOT = re.compile(r"\{\w+\}")
_END = re.compile(r"(?<=[.!?])\s+|\n+")
LEAST_WORDS = 2
"""Words of a template outside its slots: fewer would match sentences of others."""


@dataclass(frozen=True, kw_only=True)
class NamingSentence:
    """One kind of sentence; each template is all of it, with slots in braces that may be empty.

    `names` says what its slots can name, such as "candidate" or "category". `family` is everything of a
    call that is tested together, `correction` how it is corrected, `null` the simulation in which nothing is
    there. A sentence that infers nothing has none of these, and `counts` says what it states. Raises
    `ValueError` where it has both, neither, no name, or a template that would match sentences of others.
    """

    code: str
    templates: tuple[str, ...]
    names: tuple[str, ...]
    family: str = ""
    correction: str = ""
    null: str = ""
    counts: str = ""

    def __post_init__(self) -> None:
        inference = (self.family, self.correction, self.null)
        if any(inference) if self.counts else not all(inference):
            raise ValueError(
                f"{self.code}: a sentence that infers has a family, a correction and a null; one that infers "
                "nothing has `counts` alone."
            )
        if not self.names or not self.templates:
            raise ValueError(f"{self.code}: give the templates, and what they name.")
        for template in self.templates:
            if len(re.findall(r"[^\W\d_]+", _SLOT.sub(" ", template))) < LEAST_WORDS:
                raise ValueError(
                    f"{self.code}: the template {template!r} has fewer than {LEAST_WORDS} words outside its "
                    "slots, so it would match sentences of others."
                )

    def text(self, **slots: object) -> str:
        """The first template with these values in its slots; raises `KeyError` for a slot without one."""
        return self.templates[0].format(**slots)

    def matches(self, sentence: str) -> bool:
        """Whether the sentence is of this kind, from its first to its last letter."""
        return any(_pattern(template).fullmatch(sentence) for template in self.templates)


@lru_cache(maxsize=1_000)
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(part) for part in _SLOT.split(template)), re.DOTALL)


def sentences_in(text: str) -> list[str]:
    """The sentences of a text; a line ends one."""
    return [sentence for part in _END.split(text) if (sentence := part.strip())]


def undeclared(
    texts: Iterable[str], names: Iterable[str], declared: Iterable[NamingSentence]
) -> Iterator[str]:
    """The sentences that hold one of the names as a word of its own and match no declared template."""
    kinds, name_in = tuple(declared), _any_of(frozenset(names))
    for text in texts:
        for sentence in sentences_in(text):
            if name_in.search(sentence) and not any(kind.matches(sentence) for kind in kinds):
                yield sentence


@lru_cache(maxsize=256)
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    # The longest first, so that "model-a" is not taken for "model".
    choices = "|".join(re.escape(name) for name in sorted(names, key=lambda n: (-len(n), n)) if name)
    return re.compile(rf"(?<!\w)(?:{choices})(?!\w)" if choices else r"(?!)")
