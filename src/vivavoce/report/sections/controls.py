"""The section of control cases: one grid of examiners against kinds of control for each benchmark."""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Rows
from vivavoce.report.format import number
from vivavoce.report.section import Quote, Section, SideBySide

COLUMNS = (
    *("measure", "benchmark", "control", "expects", "verdict", "p_greater", "difference", "low", "high"),
    *("margin", "p_adjusted", "n_items", "n_groups", "n_failed", "n_needed", "reason"),
)
MOST_PAIRS = 5
"""Examiners of which the page shows a real text beside its control."""


@section("controls")
class Controls(Section):
    """Who is fooled by what."""

    heading = "Control cases"
    methods = (
        "Examiners were put before control cases: edits of the answers that a fair examiner scores lower, or "
        "not higher. Answers of candidates and ceilings were paired with their controls, with cases as unit "
        "(CR2 with Satterthwaite's degrees of freedom); an examiner is not fooled where the interval of the "
        "difference clears the margin, fooled where it falls short of it and Holm's p over its kinds agrees, "
        "and not fooled by all only if by each."
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

    def side_by_side(self, rows: Rows) -> Iterator[SideBySide]:
        """For a few examiners, the fooled ones first, the pair in which the control gained most."""
        pairs = [row for row in rows if row["example_item"] and row["verdict"] != "not_fooled"]
        furthest = sorted(pairs, key=lambda row: (row["verdict"] != "fooled", row["difference"] or 0.0))
        examiners: dict[tuple[str, ...], Mapping[str, Any]] = {}
        for row in furthest:
            examiners.setdefault((row["benchmark"], row["metric"], row["rater"]), row)
        for row in list(examiners.values())[:MOST_PAIRS]:
            item = row["example_item"], row["example_variant"]
            answer = row["benchmark"], *item, row["example_candidate"], row["example_repeat"]
            name = "|".join(filter(None, item))
            yield SideBySide(
                f"{row['measure']} before {row['control']}, {name}",
                (
                    Quote(f"{row['example_candidate']}: {number(row['example_real'])}", *answer),
                    Quote(
                        f"{row['control']}: {number(row['example_control'])}", *answer, row["example_edit"]
                    ),
                ),
            )

    def table(self, rows: Rows) -> Rows:
        """What a reader compares; every column is in the finding."""
        return [{name: row.get(name) for name in COLUMNS} for row in rows]
