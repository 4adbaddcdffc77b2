"""The section of control cases: one grid of examiners against kinds of control for each benchmark."""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Rows
from vivavoce.report.section import Section

COLUMNS = (
    *("measure", "benchmark", "control", "expects", "verdict", "p_greater", "difference", "low", "high"),
    *("margin", "p_adjusted", "n_items", "n_groups", "n_failed", "n_needed", "reason"),
)


@section("controls")
class Controls(Section):
    """Who is fooled by what."""

    heading = "Control cases"
    methods = (
        "Examiners were put before control cases: edits of the answers that a fair examiner scores lower, or "
        "not higher. Real text and control of the same question were paired, with cases as unit (CR2 with "
        "Satterthwaite's degrees of freedom); an examiner is not fooled where the interval of the difference "
        "clears the margin, fooled where it falls short of it and Holm's p over its kinds agrees, and not "
        "fooled by all only if by each."
    )
    order = 72

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """A grid for each benchmark."""
        by_benchmark: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            by_benchmark.setdefault(row["benchmark"], []).append(row)
        for benchmark, of_benchmark in by_benchmark.items():
            title = f"Examiners against control cases on {benchmark}"
            yield figure(title, charts.controls_grid(of_benchmark), "controls", benchmark)

    def table(self, rows: Rows) -> Rows:
        """What a reader compares; every column is in the finding."""
        return [{name: row.get(name) for name in COLUMNS} for row in rows]
