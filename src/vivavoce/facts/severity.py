"""How grave an error in a fact would be, by what it is about: word lists, a convention and no measure."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from vivavoce.core.errors import InputError
from vivavoce.core.text import SIGNS
from vivavoce.core.yaml_files import read_mapping

SeverityKind = Literal[
    "allergy", "contraindication", "dose", "route", "treatment", "diagnosis", "other", "date", "place"
]
"""The kinds of facts, the gravest first. `other` is what fits none."""
FILE = Path(__file__).with_name("severity.yaml")


class Severity(NamedTuple):
    """The kind of a fact, and the weight of an error in it; `other` weighs 1."""

    kind: SeverityKind
    weight: float


class _Kind(NamedTuple):
    severity: Severity
    patterns: tuple[re.Pattern[str], ...]


@cache
def weights() -> dict[SeverityKind, float]:
    """The weight of each kind, the gravest first."""
    return {kind.severity.kind: kind.severity.weight for kind in _kinds()}


@lru_cache(maxsize=8_192)  # the facts of an answer are asked for again, and many answers share some
def severity(text: str) -> Severity:
    """The gravest kind that the words of a text show; `other` where they show none.

    A text that fits `date` or `place` alone weighs less than `other`: it is about little else. Pure: equal
    texts have equal weights. Words are English; a text in another language is mostly `other`.
    """
    plain = " ".join(text.translate(SIGNS).replace("’", "'").split())
    kinds = _kinds()
    fitting = (kind.severity for kind in kinds if any(p.search(plain) for p in kind.patterns))
    default = next(kind.severity for kind in kinds if kind.severity.kind == "other")
    return next(fitting, default)


@cache
def _kinds() -> tuple[_Kind, ...]:
    content = read_mapping(FILE, "severity", InputError)
    drug = "".join(content["drug"].split())

    def pattern(source: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{source.replace('{drug}', drug)})", re.IGNORECASE)

    return tuple(
        _Kind(
            Severity(name, float(content["kinds"][name]["weight"])),
            tuple(map(pattern, content["kinds"][name]["patterns"])),
        )
        for name in get_args(SeverityKind)
    )
