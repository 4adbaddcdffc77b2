"""Scores by axis of the points and by theme of the conversations, each with its interval.

Arora et al. (2025), section 5: the score on an axis is that of its points alone; a response whose rubric has
no point above 0 on an axis is left out there. Means are clipped to 0 to 1, as published.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.intervals import by_holm
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.pooling import clipped_mean
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import MeasureRow, Study, measure_columns
from vivavoce.studies.text import count

_PLACE = ("benchmark", "item", "variant")
_RESPONSE = (*_PLACE, "candidate", "repeat")
NOTHING = (
    'No points of rubrics were scored here: `viva score RUN "judge(rubric=healthbench, model=…)"` does that.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxesRow(MeasureRow):
    """The score of a candidate on the points of one axis, or on the conversations of one theme."""

    candidate: str
    part: str
    name: str
    score: float | None
    low: float | None
    high: float | None
    n_items: int
    n_groups: int
    n_failed: int
    below_others: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    reason: str | None = None

    @property
    def is_lower(self) -> bool:
        """Whether an axis is shown lower than the others."""
        return (self.below_others or 0.0) > 0 and (self.p_adjusted or 0.0) <= stats.ALPHA


class _Points:
    """The case and theme of an item, and the weights of its points, all and by axis."""

    def __init__(self, group: str, theme: str | None, rubric: str, meta: str) -> None:
        self.group = group
        self.weights = {point["unit"]: float(point["weight"] or 0.0) for point in json.loads(rubric)}
        axes: Mapping[str, str] = json.loads(meta or "{}").get("axes") or {}
        self.parts = [
            ("axis", axis, [unit for unit in self.weights if axes.get(unit) == axis])
            for axis in sorted(set(axes.values()))
        ]
        self.parts += [("theme", theme, list(self.weights))] if theme else []

    def scores(self, met: Mapping[str, float]) -> Iterator[tuple[str, str, float]]:
        """By part and name the points met over those above 0, where there are any."""
        for part, name, units in self.parts:
            possible = sum(weight for unit in units if (weight := self.weights[unit]) > 0)
            if possible:
                yield part, name, sum(self.weights[unit] * met.get(unit, 0.0) for unit in units) / possible


LOWEST = NamingSentence(
    code="axes.lowest",
    templates=("{candidate} is lowest on {axis} ({mean}, scored by {rater}).",),
    names=("candidate", "category", "rater"),
    family="all axes and candidates of the call",
    correction="Holm",
    null="axes",
)


NONE_LOWEST = NamingSentence(
    code="axes.none",
    templates=("No axis of {candidate} is shown lower than the others (scored by {rater}).",),
    names=("candidate", "rater"),
    counts="that no test shows a lowest axis",
)


@study("axes")
class Axes(Study):
    """Scores by axis and theme."""

    about = "Scores on rubric points by axis, and by theme of the conversations, each mean clipped to 0 to 1."
    row = AxesRow
    sentences = (LOWEST, NONE_LOWEST)
    special = True
    needs = ("points", "items")

    def applies_to(self, scores: ScoreTable) -> bool:
        """Where points of rubrics were scored."""
        return scores.units is not None

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by measure and candidate: `part` is axis or theme, `name` which one.

        `score` is the mean over items of the mean over repeats, of first passes, clipped; `low` and `high`
        are the 95 % t interval by case, clipped too, null with fewer than 10 effective cases. An unanswered
        conversation reaches no point. A response of which a point failed enters no mean and is counted in
        `n_failed`. Of an axis, `below_others` is the mean of the other axes less this one, inside
        conversations that have both, with the paired test by case and `p_adjusted` by Holm over all axes of
        all candidates and raters.
        """
        if scores.units is None or scores.items is None:
            return self.finding((), NOTHING)
        points = {
            row[:3]: _Points(*row[3:])
            for row in scores.items.select(*_PLACE, "group", "category", "rubric", "meta").iter_rows()
        }
        rows = [
            row
            for key, measure in scores.unit_measures.items()
            for row in _rows_of(scores.units.filter(measure_id=key, edit="", pass_no=1), measure, points)
        ]
        rows = by_holm(rows)
        return self.finding(rows, _sentence(rows))


def _rows_of(
    units: pl.DataFrame, measure: Measure, points: Mapping[tuple[str, ...], _Points]
) -> Iterator[AxesRow]:
    """The rows of one measure, by benchmark and candidate."""
    values: dict[tuple[str, str, str, str], dict[tuple[str, ...], list[float]]] = {}
    failed: Counter[tuple[str, str]] = Counter()
    for place, part in units.sort(_RESPONSE).group_by(_RESPONSE, maintain_order=True):
        benchmark, candidate, item = str(place[0]), str(place[3]), tuple(map(str, place[:3]))
        if "failed" in part["status"]:
            failed[benchmark, candidate] += 1
        elif item in points:
            met = {unit: value or 0.0 for unit, value in part.select("unit", "value").iter_rows()}
            for kind, name, score in points[item].scores(met):
                values.setdefault((benchmark, candidate, kind, name), {}).setdefault(item, []).append(score)
    gaps = _axis_gaps(values, points)
    for (benchmark, candidate, kind, name), by_item in sorted(values.items()):
        figure = _mean(by_item, [points[item].group for item in by_item])
        yield AxesRow(
            benchmark=benchmark, **measure_columns(measure), candidate=candidate, part=kind, name=name,
            score=figure.value, low=figure.low, high=figure.high, n_items=len(by_item),
            n_groups=figure.n_groups, n_failed=failed[benchmark, candidate], reason=figure.reason,
            **gaps.get((benchmark, candidate, kind, name), _Gap())._asdict(),
        )  # fmt: skip


class _Gap(NamedTuple):
    """The mean of the other axes less this one, with its p."""

    below_others: float | None = None
    p: float | None = None


_Place = tuple[str, str, str, str]
"""Benchmark, candidate, part and name."""


def _axis_gaps(
    values: Mapping[_Place, Mapping[tuple[str, ...], list[float]]], points: Mapping[tuple[str, ...], _Points]
) -> dict[_Place, _Gap]:
    """Of each axis, how far it lies below the candidate's other axes; of conversations that have both."""
    of_candidates: dict[tuple[str, str], dict[str, dict[tuple[str, ...], float]]] = {}
    for (benchmark, candidate, kind, name), by_item in values.items():
        if kind == "axis":
            means = {item: math.fsum(scores) / len(scores) for item, scores in by_item.items()}
            of_candidates.setdefault((benchmark, candidate), {})[name] = means
    return {
        (*place, "axis", name): _axis_gap(axes, name, points)
        for place, axes in of_candidates.items()
        for name in axes
    }


def _axis_gap(
    axes: Mapping[str, Mapping[tuple[str, ...], float]], name: str, points: Mapping[tuple[str, ...], _Points]
) -> _Gap:
    """How far an axis lies below the mean of the candidate's other axes, inside conversations."""
    gaps = {}
    for item, mean in axes[name].items():
        scores = [axes[axis][item] for axis in axes if axis != name and item in axes[axis]]
        if scores:
            gaps[item] = math.fsum(scores) / len(scores) - mean
    if not gaps:
        return _Gap()
    test = stats.paired(list(gaps.values()), [points[item].group for item in gaps])
    return _Gap(test.difference, test.p)


def _mean(by_item: Mapping[tuple[str, ...], list[float]], groups: list[str]) -> stats.Pooled:
    """The clipped mean over items of the means over repeats, with its interval by case."""
    means = [[math.fsum(scores) / len(scores), 1.0] for scores in by_item.values()]
    return clipped_mean(stats.pooled(means, groups, stats.sum_ratio))


def _sentence(rows: list[AxesRow]) -> str:
    """How many axes and themes there are, and where each candidate is lowest."""
    if not rows:
        return "No point has an axis, and no conversation a theme."
    names = {kind: {row.name for row in rows if row.part == kind} for kind in ("axis", "theme")}
    axes = f"{len(names['axis'])} {'axis' if len(names['axis']) == 1 else 'axes'}"
    return " ".join([f"{axes} and {count(len(names['theme']), 'theme')}.", *_lowest(rows)])


def _lowest(rows: list[AxesRow]) -> list[str]:
    """For each candidate and rater the axis with the lowest score, where a test shows it."""
    of_raters: dict[tuple[str, str], list[AxesRow]] = {}
    for row in rows:
        if row.part == "axis" and row.score is not None:
            of_raters.setdefault((row.candidate, row.rater), []).append(row)
    sentences = []
    for (candidate, rater), axes in sorted(of_raters.items()):
        row = min(axes, key=lambda axis: (axis.score or 0.0, axis.name))
        sentences.append(
            LOWEST.text(candidate=candidate, axis=row.name, mean=f"{printed(row.score)}", rater=rater)
            if row.is_lower
            else NONE_LOWEST.text(candidate=candidate, rater=rater)
        )
    return sentences
