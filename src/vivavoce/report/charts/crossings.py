"""Charts of correlations over benchmarks: columns against a closed mean, and maps of one measure."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from vivavoce import stats
from vivavoce.report.charts.correlation import rho_cell
from vivavoce.report.charts.grid import Grid
from vivavoce.report.charts.lanes import Lanes
from vivavoce.report.charts.sheet import Line, Sheet
from vivavoce.report.charts.svg import Drawing, drawing, listed, no_chart, short, unique
from vivavoce.report.data import Rows
from vivavoce.report.format import number

TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
LEAST_BENCHMARKS = 3


def crossing_columns(rows: Rows) -> Drawing | str:
    """Pearson's r of every measure with one side, a bar from 0 each, with Fisher's interval.

    `rows` are those of one contrast (a closed mean, or ratings) and one coefficient. Dashed: the least |r|
    that so many candidates can tell from 0 at 5 %.
    """
    with_value = [row for row in rows if row["value"] is not None]
    if len(with_value) < 2:
        return no_chart(rows, "Fewer than two measures: the sentence says it all.")
    names = unique(_side_name(row) for row in with_value)
    texts = [f"{number(row['value'], '.2f')}, n {row['n']}" for row in with_value]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        lanes = Lanes(sheet, names, texts, tall=24)
        scale = lanes.scale(-1.0, 1.0)
        sheet.lines("grid", lanes.across([scale(tick) for tick in TICKS]))
        limits: list[Line] = []
        for row, y in zip(with_value, lanes.at, strict=True):
            start, end = sorted((scale(0.0), scale(row["value"])))
            sheet.box("span", start, y - 7, max(end - start, 1.0), 14)
            if row["low"] is not None:
                sheet.lines("thin", [(scale(row["low"]), y, scale(row["high"]), y)])
            critical = stats.critical_r(row["n"])
            places = [scale(side * critical) for side in (-1, 1)] if critical is not None else []
            limits += [(x, y - 10, x, y + 10) for x in places]
        sheet.lines("open", limits)
        sheet.lines("axis", lanes.across([scale(0.0)]))
        lanes.axis(scale, TICKS)
        sheet.notes(["r over candidates; dotted: what so few can tell from 0"], lanes.left)
        return sheet

    says = listed(f"{short(name)} {text}" for name, text in zip(names, texts, strict=True))
    return drawing(f"Correlation over candidates: {says}", draw)


def _side_name(row: Mapping[str, Any]) -> str:
    """The side of a crossing that changes from row to row."""
    side = "a" if row["contrast"] == "ratings" else "b"
    label, benchmark = row[side], row[f"{side}_benchmark"]
    return f"{benchmark}: {label}" if benchmark else str(label)


def benchmark_map(rows: Rows) -> Drawing | str:
    """How alike benchmarks order candidates by one measure: Pearson's r of its means, a cell per pair.

    `rows` are those of one measure on every pair of benchmarks, by one coefficient.
    """
    benchmarks = list(dict.fromkeys(row[side] for row in rows for side in ("a_benchmark", "b_benchmark")))
    if len(benchmarks) < LEAST_BENCHMARKS or all(row["value"] is None for row in rows):
        return no_chart(rows, "Fewer than three benchmarks: the sentences say it all.")
    place = {(row["a_benchmark"], row["b_benchmark"]): row for row in rows}
    place |= {(b, a): row for (a, b), row in place.items()}

    def draw(room: float) -> Sheet:
        sheet = Sheet(room)
        grid = Grid(sheet, benchmarks, widest=46)
        for (down, a), (column, b) in product(enumerate(benchmarks), repeat=2):
            rho_cell(sheet, grid.cell(down, column), place.get((a, b)))
        sheet.height += 6
        n_candidates = sorted({row["n_candidates"] for row in rows})
        of_n = "–".join(map(str, dict.fromkeys((n_candidates[0], n_candidates[-1]))))
        sheet.notes([f"Pearson's r of candidates' means, n {of_n}"], grid.indent)
        grid.list_names()
        return sheet

    says = listed(
        f"{short(row['a_benchmark'])} and {short(row['b_benchmark'])} "
        f"{'undefined' if row['value'] is None else number(row['value'], '.2f')}"
        for row in rows
    )
    return drawing(f"Correlation between benchmarks over candidates: {says}", draw)
