"""Who is an examiner, what it marked, and the rows in which its card is written.

An examiner is a judge model, a jury's member or a rater, with everything that its signature fixes: the same
rubric under another model, or another version of it, is another examiner.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.specs import signed
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

    from vivavoce.studies import Marks

__all__ = [
    "COLUMNS",
    "LEAST_GROUPS",
    "RESPONSE",
    "Examiner",
    "Part",
    "by_jackknife",
    "by_mean",
    "called",
    "ends",
    "examined",
    "examiners",
    "is_judge",
    "marked",
    "places",
    "row",
    "too_few",
    "whole",
]

COLUMNS = (
    *("part", "benchmark", "metric", "signature", "rater", "criterion", "contrast", "other", "candidate"),
    *("figure", "value", "low", "high", "se", "n_units", "n_groups", "n_raters", "n_ratings", "n_dropped"),
    *("n_changed", "margin", "saturated", "stamp", "reason"),
)
RESPONSE = ("benchmark", "item", "variant", "candidate", "repeat")
LEAST_GROUPS = 10

Row = dict[str, Any]
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Part(NamedTuple):
    """A part of the card: its rows, and the sentences that say them."""

    rows: list[Row]
    said: list[str]


class Examiner(NamedTuple):
    """One examiner: `keys` are the ids of its measures by criterion."""

    signature: str
    rater: str
    keys: Mapping[str, int]


def examined(measure: Measure) -> bool:
    """True if a judge or a person marked, not a rule."""
    return measure.rater != "" or is_judge(measure)


def is_judge(measure: Measure) -> bool:
    """True if the metric is a judge model or a jury of them."""
    return signed(measure.signature).spec.name in ("judge", "jury")


def examiners(marks: "Marks") -> list[Examiner]:
    """The examiners of some marks in the order they came; people whose marks are labels are none."""
    made: dict[tuple[str, str], dict[str, int]] = {}
    for key, m in marks.measures.items():
        if examined(m) and key not in marks.people:
            made.setdefault((m.signature, m.rater), {})[m.criterion.criterion] = key
    return [Examiner(*name, keys) for name, keys in made.items()]


def called(marks: "Marks", examiner: Examiner) -> str:
    """The shortest name of an examiner in a run, without any criterion."""
    criterion, key = next(iter(examiner.keys.items()))
    return labels(marks.measures)[key_of(marks.measures[key])].replace(f": {criterion}", "", 1)


def whole(scores: "pl.DataFrame") -> "pl.DataFrame":
    """The rows that mark whole answers as they were given: no edits, no pieces, no ballots."""
    import polars as pl

    return scores.filter((pl.col("edit") == "") & (pl.col("unit") == "") & (pl.col("ballot") == ""))


def marked(marks: "Marks", key: int) -> "pl.DataFrame":
    """The marks of one measure, the first pass that is ok of each response, as RESPONSE, group, role, value.

    Sorted by response, so that nothing depends on the order in which rows came.
    """
    import polars as pl

    own = whole(marks.scores).filter((pl.col("measure_id") == key) & (pl.col("status") == "ok"))
    return (
        own.sort(*RESPONSE, "pass_no")
        .unique(RESPONSE, keep="first", maintain_order=True)
        .select(*RESPONSE, "group", "role", "value")
    )


def places(marks: "Marks", examiner: Examiner) -> Iterator[tuple[str, str, Measure, "pl.DataFrame"]]:
    """By criterion and benchmark of an examiner: both names, the measure and its `marked` rows."""
    for criterion, key in examiner.keys.items():
        for (benchmark,), part in marked(marks, key).group_by("benchmark", maintain_order=True):
            yield criterion, str(benchmark), marks.measures[key], part


def row(part: str, benchmark: str, measure: Measure, **values: Any) -> Row:
    """A row of the card, with `COLUMNS` in their order; what is not given is null."""
    return dict.fromkeys(COLUMNS) | {
        "part": part,
        "benchmark": benchmark,
        "metric": measure.metric,
        "signature": measure.signature,
        "rater": measure.rater,
        "criterion": measure.criterion.criterion,
        "candidate": "",
        **values,
    }


def too_few(groups: Iterable[Any]) -> str | None:
    """Why nothing is said of so few groups; null where there are enough."""
    n = len(set(groups))
    return f"{count(n, 'case')}: too few to tell" if n < LEAST_GROUPS else None


def by_jackknife(
    statistic: Callable[[Any], float | None],
    groups: Any,
    *,
    scale: Any = "z",
    level: float = 0.95,
    undefined: str = "the marks do not vary",
) -> Row:
    """Value, interval and counts of a statistic of rows, each group left out in turn; null below 10 groups.

    `statistic` takes the positions of the rows to keep. `undefined` is the reason where it has no value.
    """
    n = {"n_units": len(groups), "n_groups": len(set(groups.tolist()))}
    if few := too_few(groups.tolist()):
        return {**n, "reason": few}
    found = stats.by_group_jackknife(statistic, groups, scale=scale, level=level)
    reason = undefined if found.value is None else None
    if found.value is not None and found.low is None:
        reason = "leaving a case out makes it undefined or perfect: no interval"
    return {
        **n,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "se": found.se,
        "reason": reason,
    }


def by_mean(values: Any, groups: Any, *, low: float | None = None, high: float | None = None) -> Row:
    """Mean, interval by group and counts, in the units of the values; null below 10 groups.

    The interval is Wilson's where the values have the two limits `low` and `high`, else t.
    """
    n = {"n_units": len(values), "n_groups": len(set(groups.tolist()))}
    if few := too_few(groups.tolist()):
        return {**n, "reason": few}
    mean = stats.estimate_mean(values, groups, low=low, high=high)
    return {**n, "value": mean.value, "low": mean.low, "high": mean.high, "se": mean.se}


def ends(row: Mapping[str, Any], form: str = ".2f") -> str:
    """The interval of a row for a sentence, with a blank before it; nothing where there is none."""
    return "" if row["low"] is None else f" ({row['low']:{form}} to {row['high']:{form}})"
