"""The ladder of reviews: shares of items that at least one, two and three of three raters call correct."""

from vivavoce.report.charts.lanes import Lanes
from vivavoce.report.charts.sheet import Sheet
from vivavoce.report.charts.svg import Drawing, drawing, listed, short, unique
from vivavoce.report.data import Rows
from vivavoce.report.format import number

_STEPS = ("one", "two", "three")


def review_ladder(rows: Rows) -> Drawing | str:
    """A line per category and one for all: the share by all three with its interval, then two and one.

    Rows are those of categories and of all on one benchmark; 0 to 1 from left to right.
    """
    with_three = [row for row in rows if row["three_of_three"] is not None]
    if not with_three:
        return "No item was reviewed by three raters."
    names = unique(row["category"] if row["about"] == "category" else "all together" for row in with_three)
    texts = [" / ".join(number(row[f"{step}_of_three"], ".2f") for step in _STEPS) for row in with_three]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        lanes = Lanes(sheet, names, texts, tall=26)
        ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
        scale = lanes.scale(0.0, 1.0)
        sheet.lines("grid", lanes.across([scale(tick) for tick in ticks]))
        for row, y in zip(with_three, lanes.at, strict=True):
            ends = [scale(row[f"{step}_of_three"]) for step in _STEPS]
            sheet.lines("fine", [(min(ends), y, max(ends), y)])
            if row["three_low"] is not None:
                sheet.lines("thin", [(scale(row["three_low"]), y, scale(row["three_high"]), y)])
            sheet.lines("half", [(x, y - 6, x, y + 6) for x in ends[:2]])
            sheet.dot("dot", ends[2], y)
        lanes.axis(scale, ticks)
        sheet.notes(
            ["dot and interval: correct to all three; ticks: to two at least, to one at least"], lanes.left
        )
        return sheet

    says = listed(f"{short(name)} {text}" for name, text in zip(names, texts, strict=True))
    return drawing(f"Items called correct by at least one / two / three of three raters: {says}", draw)
