"""Words for outcomes that are no scores: who is faster, and who is more confident, which is not better."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from vivavoce.core.records import Measure
from vivavoce.stats import Verdict
from vivavoce.stats.verdict import Code
from vivavoce.studies.score_table import SECONDS_MEASURE, is_confidence

HIGHER = ("higher", "higher_by_margin")
WITH, ALONE = "people with ", "people alone"
"""How people with the help of a candidate, and without, are called where they are compared."""
_WITHOUT_END: Mapping[Code, Code] = {
    "better": "higher",
    "better_by_margin": "higher_by_margin",
    "not_worse": "cannot_tell",
}


def verdict_on(measure: Measure, verdict: Verdict) -> Verdict:
    """The verdict on a measure: on a scale without a better end nobody is better, or not worse."""
    code = _WITHOUT_END.get(verdict.code) if is_confidence(measure) else None
    return replace(verdict, code=code) if code else verdict


def comparative(code: Code | None, signature: str | None) -> str:
    """What the first is of two that differ: better, faster, or more confident."""
    if code in HIGHER:
        return "more confident"
    return "faster" if signature == SECONDS_MEASURE.signature else "better"


def opposite(word: str) -> str:
    """What the second is."""
    return {"better": "worse", "faster": "slower", "more confident": "less confident"}[word]


def side_of(row: Mapping[str, Any]) -> Literal["a", "b"] | None:
    """Which of the two a row puts first: whom it favours; without a better end, whose figure is higher."""
    if row["verdict_code"] in HIGHER:
        return "a" if row["difference"] > 0 else "b"
    side: Literal["a", "b"] | None = row["favours"]
    return side


def is_or_are(*names: str) -> str:
    """The verb behind the names of candidates, one of which may be that of people."""
    return "are" if len(names) != 1 or are_people(names[0]) else "is"


def are_people(name: str) -> bool:
    """Whether a name is that of people with help, or without."""
    return name == ALONE or name.startswith(WITH)
