"""Scores by axis of the points and by theme of the conversations, each with its interval.

Arora et al. (2025), section 5: the score on an axis is that of its points alone; a response whose rubric has
no point above 0 on an axis is left out there. Means are clipped to 0 to 1, as published.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
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
    reason: str | None = None


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
    family="all axes of a candidate",
    correction="none",
    unmeasured="no simulation yet",
)


@study("axes")
class Axes(Study):
    """Scores by axis and theme."""

    about = "Scores on rubric points by axis, and by theme of the conversations, each mean clipped to 0 to 1."
    row = AxesRow
    sentences = (LOWEST,)
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
        `n_failed`.
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
    for (benchmark, candidate, kind, name), by_item in sorted(values.items()):
        figure = _mean(by_item, [points[item].group for item in by_item])
        yield AxesRow(
            benchmark=benchmark, **measure_columns(measure), candidate=candidate, part=kind, name=name,
            score=figure.value, low=figure.low, high=figure.high, n_items=len(by_item),
            n_groups=figure.n_groups, n_failed=failed[benchmark, candidate], reason=figure.reason,
        )  # fmt: skip


def _mean(by_item: Mapping[tuple[str, ...], list[float]], groups: list[str]) -> stats.Pooled:
    """The clipped mean over items of the means over repeats, with its interval by case."""
    means = [[sum(scores) / len(scores), 1.0] for scores in by_item.values()]
    return clipped_mean(stats.pooled(means, groups, stats.sum_ratio))


def _sentence(rows: list[AxesRow]) -> str:
    """How many axes and themes there are, and where each candidate is lowest."""
    if not rows:
        return "No point has an axis, and no conversation a theme."
    names = {kind: {row.name for row in rows if row.part == kind} for kind in ("axis", "theme")}
    axes = f"{len(names['axis'])} {'axis' if len(names['axis']) == 1 else 'axes'}"
    return " ".join([f"{axes} and {count(len(names['theme']), 'theme')}.", *_lowest(rows)])


def _lowest(rows: list[AxesRow]) -> list[str]:
    """For each candidate and rater the axis with the lowest score."""
    scores: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in rows:
        if row.part == "axis" and row.score is not None:
            scores.setdefault((row.candidate, row.rater), []).append((row.score, row.name))
    return [
        f"{candidate} is lowest on {min(of_axes)[1]} ({min(of_axes)[0]:.2f}, scored by {rater})."
        for (candidate, rater), of_axes in sorted(scores.items())
    ]
