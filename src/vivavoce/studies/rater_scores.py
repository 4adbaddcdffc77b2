"""Who rates, the scores and labels that raters gave, and the rows of a rater's card.

A rater is a judge model, a member of a jury or a person, with everything that its signature fixes: the same
rubric under another model, or another version of it, is another rater.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import polars as pl

from vivavoce.core.records import Criterion, Measure
from vivavoce.core.specs import signed
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.scale import scale_of
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import RESPONSE, ScoreTable
from vivavoce.studies.study import measure_columns

if TYPE_CHECKING:
    from vivavoce.studies.intervals import Estimate


INSIDE = "pearson_inside"
"""The figure of differences between answers to one question: r of scores less their mean there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterRow:
    """A row of the card: a figure of one rater by one criterion."""

    part: str
    benchmark: str
    metric: str
    signature: str
    rater: str
    criterion: str
    contrast: str | None = None
    other: str | None = None
    candidate: str = ""
    figure: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    n_units: int | None = None
    n_groups: int | None = None
    n_raters: int | None = None
    n_ratings: int | None = None
    n_dropped: int | None = None
    n_changed: int | None = None
    n_right: int | None = None
    p: float | None = None
    p_adjusted: float | None = None
    n_tests: int | None = None
    margin: float | None = None
    saturated: bool | None = None
    stamp: str | None = None
    people: float | None = None
    people_low: float | None = None
    people_high: float | None = None
    r_inside: float | None = None
    r_inside_low: float | None = None
    r_inside_high: float | None = None
    reason: str | None = None


def rater_row(part: str, benchmark: str, measure: Measure, **values: Any) -> RaterRow:
    """A row of a measure's rater; what `values` do not name is null."""
    return RaterRow(
        part=part,
        benchmark=benchmark,
        **measure_columns(measure),
        signature=measure.signature,
        **values,
    )


class CardPart(NamedTuple):
    """A part of the card: its rows, and the sentences about them."""

    rows: list[RaterRow]
    sentences: list[str]


_Call = ParamSpec("_Call")
Entries = Iterator[RaterRow | str]
"""Rows and sentences of a card, in any order."""


def card_part(part: Callable[_Call, Entries]) -> Callable[_Call, CardPart]:
    """A part of the card from a function that yields its rows and its sentences."""

    @wraps(part)
    def collected(*args: _Call.args, **kwargs: _Call.kwargs) -> CardPart:
        entries = list(part(*args, **kwargs))
        rows = [entry for entry in entries if isinstance(entry, RaterRow)]
        return CardPart(rows, [entry for entry in entries if isinstance(entry, str)])

    return collected


class Rater(NamedTuple):
    """One rater: `keys` are the ids of its measures by criterion."""

    signature: str
    rater: str
    keys: Mapping[str, int]


def is_rated(measure: Measure) -> bool:
    """True if a judge or a person gave the scores, not a rule."""
    return measure.rater != "" or is_judge(measure)


def is_judge(measure: Measure) -> bool:
    """True if the metric is a judge model or a jury of them, or an overall with scores of such."""
    name = signed(measure.signature).spec.name
    return name in ("judge", "jury") or (name == OVERALL and measure.rater != "")


def scale_columns(measure: Measure, estimate_kind: str = "scores") -> dict[str, Any]:
    """The columns that say whose scale a figure is on: `estimate_kind`, `judge_alone` and `scale`."""
    judge_alone = is_judge(measure) and estimate_kind == "scores"
    scale = scale_of(estimate_kind, judge_alone=judge_alone)
    return {"estimate_kind": estimate_kind, "judge_alone": judge_alone, "scale": scale}


def is_people(measure: Measure) -> bool:
    """True if people gave the scores, outside of this program: no judge, no jury and no other model."""
    source = signed(measure.signature)
    by_model = is_judge(measure) or "model" in source.spec.settings
    return measure.rater != "" and source.recorded and not by_model


def raters_of(scores: ScoreTable) -> list[Rater]:
    """The raters of a table in the order they came, without people whose scores are labels."""
    keys: dict[tuple[str, str], dict[str, int]] = {}
    for key, m in scores.measures.items():
        # Labels are the yardstick here, so the people who gave them are not themselves examined.
        if is_rated(m) and key not in scores.people:
            keys.setdefault((m.signature, m.rater), {})[m.criterion.criterion] = key
    return [Rater(*name, by_criterion) for name, by_criterion in keys.items()]


def rater_name(scores: ScoreTable, rater: Rater) -> str:
    """The shortest name of a rater in a run, without any criterion."""
    criterion, key = next(iter(rater.keys.items()))
    return labels(scores.measures)[key_of(scores.measures[key])].replace(f": {criterion}", "", 1)


def model_of(rater: Rater) -> str:
    """The model of a judge; for a member of a jury or a person its name as rater."""
    return str(signed(rater.signature).spec.settings.get("model") or rater.rater)


def whole_responses(rows: pl.DataFrame) -> pl.DataFrame:
    """The score rows of whole responses as they were given: no edits, no pieces, no ballots."""
    return rows.filter((pl.col("edit") == "") & (pl.col("unit") == "") & (pl.col("ballot") == ""))


def scores_of(scores: ScoreTable, key: int) -> pl.DataFrame:
    """The scores of one measure, the first pass that is ok of each response, as RESPONSE, group, role, value.

    Sorted by response, so that nothing depends on the order in which rows came.
    """
    ok = (pl.col("measure_id") == key) & (pl.col("status") == "ok")
    return (
        whole_responses(scores.scores)
        .filter(ok)
        .sort(*RESPONSE, "pass_no")
        .unique(RESPONSE, keep="first", maintain_order=True)
        .select(*RESPONSE, "group", "role", "value")
    )


class RaterScores(NamedTuple):
    """The `scores_of` one measure on one benchmark; `name` is the shortest of the measure."""

    benchmark: str
    measure: Measure
    rows: pl.DataFrame
    name: str

    def row(self, part: str, estimate: "Estimate | None" = None, **values: Any) -> RaterRow:
        """A row of the rater's card, with the figure of an estimate."""
        figures = estimate._asdict() if estimate else {}
        return rater_row(part, self.benchmark, self.measure, **figures | values)

    def means(self) -> pl.DataFrame:
        """The means over repeats by item and candidate."""
        keys = ("item", "variant", "group", "candidate", "role")
        return self.rows.group_by(*keys, maintain_order=True).agg(exact_mean(pl.col("value")))


def by_benchmark(scores: ScoreTable, rater: Rater) -> Iterator[RaterScores]:
    """What a rater gave, by criterion and benchmark."""
    short = labels(scores.measures)
    for key in rater.keys.values():
        measure = scores.measures[key]
        for (benchmark,), rows in scores_of(scores, key).group_by("benchmark", maintain_order=True):
            yield RaterScores(str(benchmark), measure, rows, short[key_of(measure)])


def rated(scores: ScoreTable) -> Iterator[RaterScores]:
    """What all raters gave, by criterion and benchmark."""
    for rater in raters_of(scores):
        yield from by_benchmark(scores, rater)


class LabelledScores(NamedTuple):
    """A rater's scores on one benchmark, each with people's labels of the same response.

    `single` has a row per response and person (RESPONSE, group, person, judge, label); `double` one per
    response and ordered pair of people (judge, first, second, group), empty where nobody was labelled twice.
    """

    benchmark: str
    single: pl.DataFrame
    double: pl.DataFrame


def labels_of(scores: ScoreTable, criterion: str) -> pl.DataFrame:
    """Everybody's labels of a criterion: RESPONSE, group, person, label; the first if a person gave two."""
    tables = [
        scores_of(scores, key).select(*RESPONSE, "group", person=pl.lit(m.rater), label="value")
        for key, m in scores.measures.items()
        if key in scores.people and m.criterion.criterion == criterion
    ]
    if not tables:
        return pl.DataFrame()
    return pl.concat(tables).unique([*RESPONSE, "person"], keep="first", maintain_order=True)


def label_mismatch(scores: ScoreTable, measure: Measure) -> str | None:
    """Why a measure cannot be compared with the labels of its criterion; null where it can.

    They need a criterion of the same name, and the same range where both declare one.
    """
    c = measure.criterion
    criteria = [m.criterion for key, m in scores.measures.items() if key in scores.people]
    criteria = [label for label in criteria if label.criterion == c.criterion]
    if not criteria:
        return f"no labels of {c.criterion}" if scores.people else "no labels: nobody was named with --labels"
    return next(filter(None, (declared_unlike(label, c) for label in criteria)), None)


def declared_unlike(label: Criterion, judged: Criterion) -> str | None:
    """How the declarations of a criterion differ between people and the judge; null where they agree."""
    people, judge = (label.low, label.high), (judged.low, judged.high)
    if None not in (*people, *judge) and people != judge:
        (low, high), (a, b) = people, judge
        return f"people scored {low:g} to {high:g} and the judge {a:g} to {b:g}: bring them to one scale"
    if label.direction != judged.direction:
        return f"{judged.direction} is better for the judge and {label.direction} for people"
    return None


def labelled_scores(scores: ScoreTable, key: int) -> Iterator[LabelledScores]:
    """The scores of a measure and the labels of the same responses, by benchmark."""
    measure = scores.measures[key]
    if label_mismatch(scores, measure):
        return
    single = (
        scores_of(scores, key)
        .select(*RESPONSE, "role", judge="value")
        .join(labels_of(scores, measure.criterion.criterion), on=list(RESPONSE), validate="1:m")
        .sort(*RESPONSE, "person")
    )
    for (benchmark,), part in single.group_by("benchmark", maintain_order=True):
        # Both orders of each pair stay in: no person is the yardstick of another.
        second = part.select(*RESPONSE, second_person="person", second="label")
        double = (
            part.rename({"label": "first"})
            .join(second, on=list(RESPONSE))
            .filter(pl.col("person") != pl.col("second_person"))
            .sort(*RESPONSE, "person", "second_person")
        )
        yield LabelledScores(str(benchmark), part, double)
