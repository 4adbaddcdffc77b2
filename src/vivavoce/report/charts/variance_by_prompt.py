"""Variance distributions: how the variance over repeats, or over wordings, spreads over prompts."""

from vivavoce.report.charts.lanes import Lanes
from vivavoce.report.charts.sheet import Sheet, nice_ticks
from vivavoce.report.charts.svg import Drawing, drawing, listed, no_chart, short, unique
from vivavoce.report.data import Rows
from vivavoce.report.format import number

QUARTILES = ("variance_q1", "variance_median", "variance_q3")


def variance_by_prompt(rows: Rows, mean: str, *words: str) -> Drawing | str:
    """A measure per line: from the lower to the upper quartile over prompts, the median, and the mean.

    `mean` is the column of the mean; `words` say below what is drawn.
    """
    with_quartiles = [row for row in rows if row.get("variance_median") is not None]
    if len(with_quartiles) < 2:
        return no_chart(rows, "Fewer than two measures: the sentence says it all.")
    names = unique(row["measure"] for row in with_quartiles)
    texts = [f"median {number(row['variance_median'], '.2g')}" for row in with_quartiles]
    ticks = nice_ticks(0.0, max(row[key] for row in with_quartiles for key in (*QUARTILES, mean)) or 1.0)

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        lanes = Lanes(sheet, names, texts, tall=26)
        scale = lanes.scale(ticks[0], ticks[-1])
        sheet.lines("grid", lanes.across([scale(tick) for tick in ticks]))
        for row, y in zip(with_quartiles, lanes.at, strict=True):
            low, median, high = (scale(row[key]) for key in QUARTILES)
            sheet.box("span", low, y - 7, max(high - low, 1.0), 14)
            sheet.box("", median - 1, y - 7, 2, 14, fill="#fff")
            sheet.dot("dot", scale(row[mean]), y)
        lanes.axis(scale, ticks)
        sheet.notes([*words, "bar: quartiles over prompts; white line: median; dot: mean"], lanes.left)
        return sheet

    says = listed(f"{short(name)} {text}" for name, text in zip(names, texts, strict=True))
    return drawing(f"Variance by prompt: {says}", draw)
