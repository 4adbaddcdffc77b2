"""Means, each with two standard deviations: a broad bar around it, and a line."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.report.charts.lanes import Lanes
from vivavoce.report.charts.sheet import Sheet, nice_ticks
from vivavoce.report.charts.svg import Drawing, drawing, listed, no_chart, short, unique
from vivavoce.report.data import Rows
from vivavoce.report.format import number


class Spreads(NamedTuple):
    """The columns of the two standard deviations, and what they are in words."""

    broad: str
    thin: str
    broad_words: str
    thin_words: str


def mean_spreads(rows: Rows, spreads: Spreads) -> Drawing | str:
    """The mean of each candidate (`value`), with one standard deviation to both sides for each column.

    A null standard deviation has no bar. Without any there is a sentence.
    """
    with_spread = [row for row in rows if any(row[name] is not None for name in spreads[:2])]
    if not with_spread:
        return no_chart(rows, "No chart: there are no two runs or mixtures to tell apart.")
    names = unique(row["candidate"] for row in rows)
    texts = [_text(row, spreads) for row in rows]
    ends = [end for row in rows for end in _ends(row, spreads)]
    ticks = nice_ticks(min(ends), max(ends))

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        lanes = Lanes(sheet, names, texts, tall=26)
        scale = lanes.scale(ticks[0], ticks[-1])
        sheet.lines("grid", lanes.across([scale(tick) for tick in ticks]))
        for row, y in zip(rows, lanes.at, strict=True):
            for style, (low, high) in _bars(row, spreads).items():
                sheet.lines(style, [(scale(low), y, scale(high), y)])
            sheet.dot("dot", scale(row["value"]), y)
        lanes.axis(scale, ticks)
        sheet.notes(
            [f"mean; broad: one sd {spreads.broad_words}, thin: one sd {spreads.thin_words}"], lanes.left
        )
        return sheet

    says = listed(f"{short(name)} {text}" for name, text in zip(names, texts, strict=True))
    return drawing(f"Means with two standard deviations: {says}", draw)


def _text(row: Mapping[str, Any], spreads: Sequence[str]) -> str:
    return f"{number(row['value'])} ± {number(row[spreads[0]])}, {number(row[spreads[1]])}"


def _bars(row: Mapping[str, Any], spreads: Spreads) -> dict[str, tuple[float, float]]:
    """The ends of each bar that there is, by its style."""
    columns = {"thick": row[spreads.broad], "thin": row[spreads.thin]}
    return {k: (row["value"] - sd, row["value"] + sd) for k, sd in columns.items() if sd is not None}


def _ends(row: Mapping[str, Any], spreads: Spreads) -> list[float]:
    """The mean, and both ends of its bars."""
    return [row["value"], *(end for bar in _bars(row, spreads).values() for end in bar)]
