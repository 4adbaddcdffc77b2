"""Who is an examiner, what it marked, and the rows in which its card is written.

An examiner is a judge model, a jury's member or a rater, with everything that its signature fixes: the same
rubric under another model, or another version of it, is another examiner.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.records import Measure
from vivavoce.specs import signed
from vivavoce.studies.figures import Row
from vivavoce.studies.grids import key_of, labels

if TYPE_CHECKING:
    import polars as pl

    from vivavoce.studies import Marks

__all__ = [
    "COLUMNS",
    "RESPONSE",
    "Examiner",
    "Part",
    "called",
    "examined",
    "examiners",
    "is_judge",
    "marked",
    "model_of",
    "places",
    "row",
    "whole",
]

COLUMNS = (
    *("part", "benchmark", "metric", "signature", "rater", "criterion", "contrast", "other", "candidate"),
    *("figure", "value", "low", "high", "se", "n_units", "n_groups", "n_raters", "n_ratings", "n_dropped"),
    *("n_changed", "margin", "saturated", "stamp", "reason"),
)
RESPONSE = ("benchmark", "item", "variant", "candidate", "repeat")


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


def model_of(examiner: Examiner) -> str:
    """The model that marks; of a jury's member or a person its name as rater."""
    return str(signed(examiner.signature).spec.settings.get("model") or examiner.rater)


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
