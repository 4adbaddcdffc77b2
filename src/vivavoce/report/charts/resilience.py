"""Charts of the resilience study: variance over wordings by measure, and candidates before and after."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from vivavoce.report.charts.lanes import Lanes
from vivavoce.report.charts.sheet import LINE_HEIGHT, Sheet, nice_ticks, text_width, widest
from vivavoce.report.charts.svg import Drawing, drawing, listed, no_chart, short, unique
from vivavoce.report.data import Rows
from vivavoce.report.format import number

LEAST_SLOPE, MOST_SLOPE = 60.0, 260.0
"""The least and the most room between the two orders, in pixels."""
BEFORE, AFTER = "as answered", "in other words"


def wording_shares(rows: Rows) -> Drawing | str:
    """Variance over wordings as a multiple of that between candidates, a line per measure and rephraser.

    Rows are those of all candidates and wordings on one benchmark.
    """
    with_share = [row for row in rows if row["wording_share"] is not None]
    if len(with_share) < 2:
        return no_chart(rows, "Fewer than two measures: the sentence says it all.")
    names = unique(_name(row) for row in with_share)
    texts = [_share_text(row) for row in with_share]
    ends = [row[key] for row in with_share for key in ("wording_share", "wording_share_high") if row[key]]
    ticks = nice_ticks(0.0, max(ends, default=1.0))

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        lanes = Lanes(sheet, names, texts, tall=26)
        scale = lanes.scale(ticks[0], ticks[-1])
        sheet.lines("grid", lanes.across([scale(tick) for tick in ticks]))
        for row, y in zip(with_share, lanes.at, strict=True):
            low, high = row["wording_share_low"], row["wording_share_high"]
            if low is not None and high is not None:
                sheet.lines("thin", [(scale(low), y, scale(high), y)])
            sheet.dot("dot", scale(row["wording_share"]), y)
        lanes.axis(scale, ticks)
        sheet.notes(["variance over wordings / variance between candidates; 0 is resilient"], lanes.left)
        return sheet

    says = listed(f"{short(name)} {text}" for name, text in zip(names, texts, strict=True))
    return drawing(f"Variance over wordings as a multiple of that between candidates: {says}", draw)


def order_before_and_after(rows: Rows) -> Drawing | str:
    """Candidates by their means as first answered, joined to their places in other words.

    Rows are those of the candidates by one measure and rephraser; the highest mean stands at the top.
    """
    complete = [row for row in rows if row["mean_before"] is not None]
    if len(complete) < 3:
        return no_chart(rows, "Fewer than three candidates: the sentence says it all.")
    original, reworded = (_Order.by(complete, column) for column in ("mean_before", "mean_after"))
    moves = [(name, place, reworded.names.index(name)) for place, name in enumerate(original.names)]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width, 2 * LINE_HEIGHT)
        names_room, figures_room = widest(original.names), widest(original.figures)
        right_room = max(widest(reworded.figures), text_width(AFTER))
        slope = max(LEAST_SLOPE, min(MOST_SLOPE, width - right_room - names_room - figures_room - 24))
        start = min(names_room + 12 + figures_room, width - right_room - slope - 12)
        stop = start + slope + 12
        sheet.text(0, 8, BEFORE, "soft")
        sheet.text(stop, 8, AFTER, "soft")
        for name, place, new_place in moves:
            y = _height(place)
            sheet.lines(
                "fine" if place == new_place else "half", [(start + 6, y, stop - 6, _height(new_place))]
            )
            sheet.text(0, y, name, room=start - figures_room - 8)
            sheet.text(start, y, original.figures[place], "soft end")
            sheet.text(stop, y, reworded.figures[place], "soft")
        sheet.height = _height(len(moves))
        sheet.notes(["means, the highest at the top; a thick line changes its place"])
        return sheet

    says = listed(f"{short(name)} from {a + 1} to {b + 1}" for name, a, b in moves if a != b)
    return drawing(f"Places before and after rewording: {says or 'all keep theirs'}", draw)


class _Order(NamedTuple):
    """Candidates from the highest mean to the lowest, and their means as texts."""

    names: list[str]
    figures: list[str]

    @classmethod
    def by(cls, rows: Rows, column: str) -> "_Order":
        """The order by a column."""
        names = unique(row["candidate"] for row in rows)
        order = sorted(zip(names, rows, strict=True), key=lambda pair: (-pair[1][column], pair[0]))
        return cls([name for name, _ in order], [number(row[column], ".3g") for _, row in order])


def _height(place: int) -> float:
    return 2 * LINE_HEIGHT + 22 * place


def _name(row: Mapping[str, Any]) -> str:
    """The measure, and who wrote the wordings where that is known."""
    label = row["edits"].partition("@")[2] or row["rephraser"]
    return f"{row['measure']}, {label}" if label else str(row["measure"])


def _share_text(row: Mapping[str, Any]) -> str:
    low, high = row["wording_share_low"], row["wording_share_high"]
    ends = "" if low is None or high is None else f" ({number(low, '.2g')} to {number(high, '.2g')})"
    return f"{number(row['wording_share'], '.2g')}{ends}"
