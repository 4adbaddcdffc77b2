"""Scores by axis of the points and by theme of the conversations, each with its interval.

Arora et al. (2025), section 5: the score on an axis is that of its points alone; a response whose rubric has
no point above 0 on an axis is left out there. Means are clipped to 0 to 1, as published.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.leaderboard.pooling import clipped_mean
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
    """The weights of an item's points, and those by axis."""

    def __init__(self, rubric: str, meta: str) -> None:
        self.weights = {point["unit"]: float(point["weight"] or 0.0) for point in json.loads(rubric)}
        axes: Mapping[str, str] = json.loads(meta or "{}").get("axes") or {}
        self.axes = {axis: [u for u in self.weights if axes.get(u) == axis] for axis in set(axes.values())}

    def score(self, met: Mapping[str, float], units: list[str]) -> float | None:
        """The points met among these over those above 0; null where there are none to reach."""
        possible = sum(weight for unit in units if (weight := self.weights[unit]) > 0)
        return sum(self.weights[unit] * met.get(unit, 0.0) for unit in units) / possible if possible else None


@study("axes")
class Axes(Study):
    """Scores by axis and theme."""

    about = "Scores on rubric points by axis, and by theme of the conversations, each mean clipped to 0 to 1."
    row = AxesRow
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
            row[:3]: (row[3], row[4], _Points(*row[5:]))
            for row in scores.items.select(*_PLACE, "group", "category", "rubric", "meta").iter_rows()
        }
        rows = [
            row
            for key, measure in scores.unit_measures.items()
            for row in _rows_of(scores.units.filter(measure_id=key, edit="", pass_no=1), measure, points)
        ]
        return self.finding(rows, _sentence(rows))


def _rows_of(
    units: pl.DataFrame, measure: Measure, points: Mapping[tuple[str, ...], tuple[str, str | None, _Points]]
) -> Iterator[AxesRow]:
    """The rows of one measure, by benchmark and candidate."""
    values: dict[tuple[str, str, str, str], dict[tuple[str, ...], list[float]]] = {}
    failed: dict[tuple[str, str], int] = {}
    for place, part in units.sort(_RESPONSE).group_by(_RESPONSE, maintain_order=True):
        benchmark, candidate = str(place[0]), str(place[3])
        item = tuple(map(str, place[:3]))
        if item not in points:
            continue
        _, theme, rubric = points[item]
        if "failed" in part["status"]:
            failed[benchmark, candidate] = failed.get((benchmark, candidate), 0) + 1
            continue
        met = {unit: value for unit, value in part.select("unit", "value").iter_rows() if value is not None}
        parts = [("axis", axis, units_of) for axis, units_of in rubric.axes.items()]
        parts += [("theme", theme, list(rubric.weights))] if theme else []
        for kind, name, units_of in parts:
            score = rubric.score(met, units_of)
            if score is not None:
                values.setdefault((benchmark, candidate, kind, name), {}).setdefault(item, []).append(score)
    for (benchmark, candidate, kind, name), by_item in sorted(values.items()):
        means = [sum(scores) / len(scores) for scores in by_item.values()]
        groups = [f"{item[0]}\0{points[item][0]}" for item in by_item]
        figure = clipped_mean(stats.pooled([[mean, 1.0] for mean in means], groups, stats.sum_ratio))
        yield AxesRow(
            benchmark=benchmark, **measure_columns(measure), candidate=candidate, part=kind, name=name,
            score=figure.value, low=figure.low, high=figure.high, n_items=len(means),
            n_groups=figure.n_groups,
            n_failed=failed.get((benchmark, candidate), 0), reason=figure.reason,
        )  # fmt: skip


def _sentence(rows: list[AxesRow]) -> str:
    """How many axes and themes there are, and where each candidate is lowest."""
    if not rows:
        return "No point has an axis, and no conversation a theme."
    kinds = {kind: len({row.name for row in rows if row.part == kind}) for kind in ("axis", "theme")}
    lowest: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in rows:
        if row.part == "axis" and row.score is not None:
            lowest.setdefault((row.candidate, row.rater), []).append((row.score, row.name))
    ends = [
        f"{candidate} is lowest on {min(scores)[1]} ({min(scores)[0]:.2f}, scored by {rater})"
        for (candidate, rater), scores in sorted(lowest.items())
    ]
    axes = f"{kinds['axis']} {'axis' if kinds['axis'] == 1 else 'axes'}"
    return f"{axes} and {count(kinds['theme'], 'theme')}. {'; '.join(ends)}{'.' if ends else ''}".rstrip()
