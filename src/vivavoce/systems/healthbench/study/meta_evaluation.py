"""Graders held against physicians, point by point, as HealthBench's meta-evaluation does.

A grader and a physician who labelled the same completion on the same point are a pair. The figure is the
mean of the F1 of met and the F1 of not met over all pairs (Arora et al. 2025, section 8;
`healthbench_meta_eval.py` of simple-evals). Each physician is held against the others in the same way, but on
other pairs than a grader: points that several labelled may be the hard ones. So a grader also takes each
physician's place, on the pairs of that physician with others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.bounded import Bounded, interval_text
from vivavoce.studies.intervals import ALIKE, NO_T
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.rater_scores import is_judge, is_people, scores_of
from vivavoce.studies.score_table import RESPONSE, ScoreTable
from vivavoce.studies.study import Study
from vivavoce.studies.text import count, listed

EVERYTHING = "all"
SAME = "one side says the same of every point"
NOTHING = (
    "No physicians' labels of points are here: `viva import RUN *_oss_meta_eval.jsonl` brings those of "
    "HealthBench."
)


PLACE = NamingSentence(
    code="meta_evaluation.place",
    templates=(
        (
            "In the place of each of {n}, on the same pairs, {judge} is shown above {above}, and below "
            "{below} (Holm)."
        ),
    ),
    names=("rater",),
    family="all physicians of one grader",
    correction="Holm",
    null="graders",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaRow:
    """A rater on the points of one category, or on all; null figures have a reason.

    Of the kind `place` a judge is in a physician's place (`place`), or in that of each in turn (`all`):
    `physician_f1` is the physician's on the same pairs, and `difference` the judge's less that.
    """

    benchmark: str
    category: str
    metric: str
    rater: str
    kind: str
    balanced_f1: float | None
    low: float | None
    high: float | None
    n_pairs: int
    n_points: int
    n_groups: int
    n_failed: int
    place: str = ""
    physician_f1: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    reason: str | None = None


@study("meta_evaluation")
class MetaEvaluation(Study):
    """Graders held against physicians."""

    about = (
        "How far graders agree with physicians on single points: the balanced F1, beside the physicians' own."
    )
    row = MetaRow
    sentences = (PLACE,)
    special = True
    needs = ("items",)

    def applies_to(self, scores: ScoreTable) -> bool:
        """Where people labelled whether points are met."""
        return any(_labels(measure) for measure in scores.measures.values())

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by benchmark, rater and category (`all`: every point), judges first.

        `balanced_f1` is the mean of both F1 over pairs with physicians, null where the rater or the
        physicians never say met, or never not met; `low` and `high` are its 95 % interval by case, from the
        jackknife. `n_failed` counts the responses that a judge failed to score: they are in no pair. `p`
        tests a `difference` by case, and `p_adjusted` is Holm's over the physicians of a judge.
        """
        labels = _table(scores, [key for key, m in scores.measures.items() if _labels(m)])
        if labels is None or scores.items is None:
            return self.finding((), NOTHING)
        categories = scores.items.select("benchmark", "item", "variant", "category")
        labels = labels.join(
            categories, on=["benchmark", "item", "variant"], how="left", maintain_order="left"
        )
        rows = [*_judge_rows(scores, labels), *_person_rows(scores, labels), *_place_rows(scores, labels)]
        return self.finding(rows, _sentence(rows))


def _judged(scores: ScoreTable) -> Iterator[tuple[int, Measure, pl.DataFrame]]:
    """The judges that scored points, with whether these are met."""
    for key, measure in scores.measures.items():
        judged = _table(scores, [key]) if _judges(measure) else None
        if judged is not None:
            yield key, measure, judged


def _judge_rows(scores: ScoreTable, labels: pl.DataFrame) -> Iterator[MetaRow]:
    """Each judge held against all people."""
    for key, measure, judged in _judged(scores):
        n_failed = scores.scores.filter(measure_id=key, status="failed").height
        yield from _rows(judged, labels, measure, "judge", n_failed)


def _person_rows(scores: ScoreTable, labels: pl.DataFrame) -> Iterator[MetaRow]:
    """Each person held against the others."""
    for key, measure in scores.measures.items():
        rated = _table(scores, [key]) if _labels(measure) else None
        if rated is not None:
            yield from _rows(rated, labels.filter(pl.col("rater") != measure.rater), measure, "person", 0)


def _labels(measure: Measure) -> bool:
    return is_people(measure) and measure.criterion.criterion == "score"


def _judges(measure: Measure) -> bool:
    return is_judge(measure) and measure.criterion.criterion == "score"


def _table(scores: ScoreTable, keys: list[int]) -> pl.DataFrame | None:
    """Whether points are met by these measures: RESPONSE, group, rater, met; null without a score."""
    tables = [
        scores_of(scores, key).select(
            *RESPONSE, "group", rater=pl.lit(scores.measures[key].rater), met=pl.col("value") >= 0.5
        )
        for key in keys
    ]
    table = pl.concat(tables) if tables else None
    return None if table is None or not table.height else table


def _rows(
    rated: pl.DataFrame, labels: pl.DataFrame, measure: Measure, kind: str, n_failed: int
) -> Iterator[MetaRow]:
    """The rows of one rater: all points, then category by category."""
    pairs = rated.join(labels, on=list(RESPONSE), how="inner", suffix="_label").sort(*RESPONSE, "rater_label")
    for (benchmark,), part in pairs.group_by("benchmark", maintain_order=True):
        parts = [(EVERYTHING, part)]
        parts += [
            (str(name), rows)
            for (name,), rows in part.sort("category").group_by("category", maintain_order=True)
        ]
        for category, rows in parts:
            figure = _balanced_f1(rows)
            yield MetaRow(
                benchmark=str(benchmark), category=category, metric=measure.metric, rater=measure.rater,
                kind=kind, balanced_f1=figure.value, low=figure.low, high=figure.high, n_pairs=rows.height,
                n_points=rows.unique(RESPONSE).height, n_groups=figure.n_groups,
                n_failed=n_failed if category == EVERYTHING else 0, reason=figure.reason,
            )  # fmt: skip


def _label_counts(met: Any, label: Any) -> Any:
    """By pair what the F1 of met and of not met are made of."""
    return np.column_stack(
        [met & label, ~met & ~label, met & ~label, ~met & label, ~met & label, met & ~label]
    ).astype(np.float64)


def _is_flat(values: Any) -> bool:
    return len(set(values.tolist())) < 2


def _place_rows(scores: ScoreTable, labels: pl.DataFrame) -> Iterator[MetaRow]:
    """Each judge in the place of all physicians, by category, and in that of each."""
    physicians = labels.join(labels, on=list(RESPONSE), suffix="_label")
    physicians = physicians.filter(pl.col("rater") != pl.col("rater_label"))
    for _, measure, judged in _judged(scores):
        grades = judged.select(*RESPONSE, judged="met")
        pairs = physicians.join(grades, on=list(RESPONSE)).sort(*RESPONSE, "rater", "rater_label")
        for (benchmark,), part in pairs.group_by("benchmark", maintain_order=True):
            place = partial(_place_row, benchmark=str(benchmark), measure=measure)
            yield place(part)
            yield from (place(rows, category=name) for name, rows in _parts_by(part, "category"))
            yield from _adjusted([place(rows, place=name) for name, rows in _parts_by(part, "rater")])


def _adjusted(rows: Sequence[MetaRow]) -> Iterator[MetaRow]:
    """The rows of one judge with p by Holm over all places that have one."""
    p_values = [row.p for row in rows if row.p is not None]
    adjusted = iter(stats.holm(p_values).tolist() if p_values else ())
    yield from (row if row.p is None else replace(row, p_adjusted=next(adjusted)) for row in rows)


def _parts_by(rows: pl.DataFrame, column: str) -> list[tuple[str, pl.DataFrame]]:
    """The rows by the values of a column, in their order."""
    parts = rows.sort(column, maintain_order=True).group_by(column, maintain_order=True)
    return [(str(name), part) for (name,), part in parts]


def _place_row(
    pairs: pl.DataFrame, benchmark: str, measure: Measure, category: str = EVERYTHING, place: str = EVERYTHING
) -> MetaRow:
    """A judge on pairs of physicians, the first of each pair being the one whose place it takes."""
    met, judged, label = (pairs[name].to_numpy() for name in ("met", "judged", "met_label"))
    groups = pairs["group"].to_numpy()
    of_judge = _balanced_f1(pairs.with_columns(met="judged"))
    row = MetaRow(
        benchmark=benchmark, category=category, metric=measure.metric, rater=measure.rater, kind="place",
        balanced_f1=of_judge.value, low=of_judge.low, high=of_judge.high, n_pairs=pairs.height,
        n_points=pairs.unique(RESPONSE).height, n_groups=of_judge.n_groups, n_failed=0, place=place,
        reason=of_judge.reason,
    )  # fmt: skip
    if any(map(_is_flat, (met, judged, label))):
        return replace(row, reason=SAME)
    judge_counts, physician_counts = (_label_counts(side, label) for side in (judged, met))
    test = stats.pooled_paired(
        judge_counts, physician_counts, groups, stats.macro_f1, sizes=stats.label_sizes(physician_counts)
    )
    if test is None:
        return row
    low, high = test.interval() or (None, None)
    return replace(
        row, physician_f1=_balanced_f1(pairs).value, difference=test.difference, difference_low=low,
        difference_high=high, p=test.p,
        reason=of_judge.reason if low is not None else NO_T if test.se else ALIKE,
    )  # fmt: skip


def _balanced_f1(pairs: pl.DataFrame) -> stats.Pooled:
    """The mean of the F1 of met and of not met: a macro F1 of two labels, over pairs."""
    met, label = pairs["met"].to_numpy(), pairs["met_label"].to_numpy()
    counts = _label_counts(met, label)
    groups = pairs["group"].to_numpy()
    sizes = stats.label_sizes(counts)
    figure = stats.pooled(counts, groups, stats.macro_f1, sizes=sizes, low=0.0, high=1.0)
    if _is_flat(met) or _is_flat(label):
        return figure._replace(value=None, low=None, high=None, reason=SAME)
    return figure


def _sentence(rows: list[MetaRow]) -> str:
    """Each judge with physicians, and in their places; their own range is of other pairs."""
    lines = [line for row in _overall(rows, "judge") for line in _judge_lines(row, rows)]
    people = [row.balanced_f1 or 0.0 for row in _overall(rows, "person")]
    if people and not lines:
        lines = [f"Physicians among themselves have a balanced F1 of {min(people):.2f} to {max(people):.2f}."]
    return " ".join(lines) or "Nobody labelled a point that somebody else scored."


def _overall(rows: list[MetaRow], kind: str) -> list[MetaRow]:
    """The rows about all points that have a figure, of judges or of people."""
    of_kind = [row for row in rows if row.kind == kind and row.category == EVERYTHING]
    return [row for row in of_kind if row.balanced_f1 is not None]


def _judge_lines(row: MetaRow, rows: Sequence[MetaRow]) -> Iterator[str]:
    """A judge with physicians, in the place of all of them, and of each."""
    figure = f"{printed(row.balanced_f1)}{interval_text(row)}"
    yield f"{row.rater} has a balanced F1 of {figure} over {count(row.n_pairs, 'pair')} with physicians."
    yield from _place_lines(row.rater, [r for r in rows if _is_place_of(r, row) and r.difference is not None])


def _is_place_of(place: MetaRow, judge: MetaRow) -> bool:
    """Whether a row has this judge in a physician's place, on all points."""
    same = (place.benchmark, place.metric, place.rater) == (judge.benchmark, judge.metric, judge.rater)
    return same and (place.kind, place.category) == ("place", EVERYTHING)


def _place_lines(judge: str, places: Sequence[MetaRow]) -> Iterator[str]:
    if not places:
        yield "No two physicians labelled the same points and differ in what they say: no place to put it in."
    for r in places:
        if r.place == EVERYTHING:
            ends = Bounded(r.difference, r.difference_low, r.difference_high)
            yield (
                f"In physicians' places, on the same {count(r.n_pairs, 'pair')}, {judge} has "
                f"{printed(r.balanced_f1)} and they have {printed(r.physician_f1)} (difference "
                f"{printed(r.difference, '+.2f')}{interval_text(ends, '+.2f')})."
            )
    if of_each := [r for r in places if r.place != EVERYTHING]:
        yield _each_text(judge, of_each)


def _each_text(judge: str, places: Sequence[MetaRow]) -> str:
    """Whom a judge is shown to be above and below, or how many it is higher than."""
    n = count(len(places), "physician")
    clear = [r for r in places if r.p_adjusted is not None and r.p_adjusted <= stats.ALPHA]
    n_above = len(_names(places, 1))
    if not clear:
        return (
            f"In the place of each of {n} {judge} is higher than {n_above}, and shown above or below none of "
            "them (Holm)."
        )
    higher, lower = (listed(_names(clear, sign)) or "none" for sign in (1, -1))
    return PLACE.text(n=n, judge=judge, above=higher, below=lower)


def _names(places: Sequence[MetaRow], sign: int) -> list[str]:
    """The physicians that a judge is higher than, or lower with -1, each with the difference."""
    return [
        f"{r.place} ({printed(r.difference, '+.2f')})" for r in places if sign * (r.difference or 0.0) > 0
    ]
