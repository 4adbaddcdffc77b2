"""The section of the study of facts: precision by category, by what an error would do, and by temperature."""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.charts.facts import temperature_curve
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Rows
from vivavoce.report.section import Section

FIRST = ("precision", "category", "severity", "temperature", "length")
"""The parts that stand first in the table; a page shows so many rows and no more."""


@section("facts")
class Facts(Section):
    """What the facts of long answers show."""

    methods = (
        "Long answers were split into facts, each was checked, and the share of right facts among those with "
        "a verdict was averaged over answers, with cases as unit; units without a verdict enter no figure "
        "and bound it from both sides. This measures conflict with facts only."
    )
    order = 72

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """By candidate the precision of categories, kinds of facts and draws; by model its temperatures."""
        yield from _forests(rows, "category", "Precision by category")
        yield from _forests(rows, "severity", "Precision by kind of fact")
        for (benchmark, rater, model, _), of_model in _by(rows, "temperature", "contrast").items():
            heading = f"Precision of {model} by temperature on {benchmark}{_by_rater(rater)}"
            yield figure(heading, temperature_curve(of_model), "facts-temperature", benchmark, model, rater)
        yield from _draw_figures(rows)

    def table(self, rows: Rows) -> Rows:
        """The figures first, the counts after them, without the text of a fact."""
        place = {part: n for n, part in enumerate(FIRST)}
        ordered = sorted(rows, key=lambda row: place.get(row["part"], len(FIRST)))
        return [
            {key: row[key] for key in row if key not in ("measure", "signature", "text")} for row in ordered
        ]


def _forests(rows: Rows, part: str, title: str) -> Iterator[Figure]:
    for (benchmark, rater, name, _), of_name in _by(rows, part, "candidate").items():
        lines = [{**row, "candidate": ""} for row in of_name if row["value"] is not None]
        heading = f"{title} of {name} on {benchmark}{_by_rater(rater)}"
        yield figure(heading, charts.forest(lines), "facts", part, benchmark, name, rater)


def _draw_figures(rows: Rows) -> Iterator[Figure]:
    for (benchmark, rater, name, _), of_name in _by(rows, "draw", "candidate").items():
        lines = list(_draws([row for row in of_name if row["figure"] == "precision"]))
        heading = f"Draws of {name} on {benchmark} against all questions{_by_rater(rater)}"
        if lines:
            yield figure(heading, charts.forest(lines), "facts-draws", benchmark, name, rater)


def _draws(rows: Rows) -> Iterator[dict[str, Any]]:
    """All questions first, then the draws, as lines of a forest."""
    with_value = [row for row in rows if row["value"] is not None]
    for row in with_value[:1]:
        ends = {"low": None, "high": None, "bound_low": None, "bound_high": None}
        yield {**row, **ends, "candidate": "all questions", "contrast": "", "value": row["full"]}
    yield from ({**row, "candidate": ""} for row in with_value)


def _by_rater(rater: str) -> str:
    return f", by {rater}" if rater else ""


def _by(rows: Rows, part: str, column: str) -> dict[tuple[str, str, str, str], list[Mapping[str, Any]]]:
    """The rows of a part by benchmark, rater, a column and signature: two measures may share a rater."""
    groups: dict[tuple[str, str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["part"] == part:
            key = (row["benchmark"], row["rater"] or "", row[column], row.get("signature") or "")
            groups.setdefault(key, []).append(row)
    return groups
