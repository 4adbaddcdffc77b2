"""The heat map of measures over candidates, ordered by its dendrogram.

Places are pixels from the upper left corner, so that cells, names and branches meet where they should.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from vivavoce.report.boards import Rows
from vivavoce.report.drawing import (
    INK,
    LINE,
    PAPER,
    SOFT,
    WASH,
    Line,
    composed,
    listed,
    mixed,
    places,
    short,
    strokes,
    table,
    words,
)
from vivavoce.report.tree import Tree, measures, tree
from vivavoce.report.wording import because, number

if TYPE_CHECKING:
    import altair as alt

__all__ = ["correlation_map"]

NOTE_WIDTH = 200


def correlation_map(rows: Rows) -> "alt.LayerChart | str":
    """How alike measures order candidates: Spearman's rho of their means, with the dendrogram beside it.

    A cell with a dark corner is alike by construction. The tree joins measures at 1 - rho; figures at its
    joints are the share of bootstrap draws in which the same cluster came back. Without a tree the measures
    keep their order.
    """
    own = [r for r in rows if r["level"] == "system" and r["coefficient"] == "spearman"]
    names = measures(own) if own else []
    if len(own) < 2 or not names or all(r["value"] is None for r in own):
        return because(own, "Fewer than three measures: the sentence says it all.")
    n = len(names)
    grown = tree(rows)
    order = grown.leaves if grown else tuple(range(n))
    place = dict(zip(combinations(range(n), 2), own, strict=True))
    size = float(max(32, min(46, 420 // n)))
    top, end = 22.0, 22.0 + n * size
    cells, marks = [], []
    for at_y, i in enumerate(order):
        for at_x, j in enumerate(order):
            row = place.get((min(i, j), max(i, j)))
            spot = {"x": at_x * size, "x2": (at_x + 1) * size - 1, "y": top + at_y * size,
                    "y2": top + (at_y + 1) * size - 1}  # fmt: skip
            value = row["value"] if row else None
            fill, on = _shade(value)
            text = "" if row is None else "?" if value is None else _told(value)
            cells.append({**spot, "fill": fill, "on": on, "text": text, "mx": (at_x + 0.5) * size,
                          "my": top + (at_y + 0.5) * size, "a": names[i], "b": names[j]})  # fmt: skip
            if row is not None and row["by_construction"]:
                marks.append(
                    {"x": spot["x2"] - 4, "y": spot["y"] + 4, "on": on, "a": names[i], "b": names[j]}
                )
    labels = [
        {"x": -8.0, "y": top + (k + 0.5) * size, "text": f"{names[i]}  {k + 1}"} for k, i in enumerate(order)
    ]
    heads = [{"x": (k + 0.5) * size, "y": top - 10, "text": str(k + 1)} for k in range(n)]
    # Below the scale of the tree where that would meet it.
    line = end + (16 if not grown or n * size > NOTE_WIDTH else 34)
    notes = [{"x": 0.0, "y": line, "text": "Spearman's ρ of candidates' means"}]
    layers = [_cells(cells), _figures(cells)]
    if marks:
        layers.append(_corners(marks))
        layers.append(_corners([{"x": 5.0, "y": line + 18, "on": INK}]))
        notes.append(
            {"x": 16.0, "y": line + 18, "text": "corner: alike by construction, criteria of one call"}
        )
    layers += [
        words(labels, align="right", limit=280),
        words(heads, color=SOFT),
        words(notes, align="left", color=SOFT),
    ]
    width = n * size
    if grown:
        width += 170
        layers += _dendrogram(grown, left=n * size + 12, top=top, size=size, end=end)
    says = "Spearman's rho between measures over candidates: " + listed(
        f"{short(names[i])} and {short(names[j])} {_told(place[min(i, j), max(i, j)]['value'])}"
        for i, j in combinations(order, 2)
    )
    return composed(layers, width=width, height=line + (24 if marks else 6), says=says)


def _told(value: float | None) -> str:
    return "undefined" if value is None else number(value, ".2f")


def _dendrogram(grown: Tree, *, left: float, top: float, size: float, end: float) -> list["alt.Chart"]:
    """The tree to the right of the map, its leaves at the rows."""
    deepest = max(m[2] for m in grown.mergers) or 1.0

    def x(height: float) -> float:
        return left + height / deepest * 110

    def y(middle: float) -> float:
        return top + (middle + 0.5) * size

    lines: list[Line] = []
    shares = []
    for k, (h_left, h_right, height, one, other, support) in enumerate(grown.mergers, 1):
        lines += [(x(h_left), y(one), x(height), y(one)), (x(h_right), y(other), x(height), y(other)),
                  (x(height), y(one), x(height), y(other))]  # fmt: skip
        if support is not None and k < len(grown.mergers):  # the last holds all measures by construction
            shares.append(
                {"x": x(height) + 4, "y": (y(one) + y(other)) / 2 - 1, "text": f"{100 * support:.0f}"}
            )
    scale = [
        (x(0), end + 4, x(deepest), end + 4),
        (x(0), end + 1, x(0), end + 7),
        (x(deepest), end + 1, x(deepest), end + 7),
    ]
    ends = [
        {"x": x(0), "y": end + 16, "text": "0"},
        {"x": x(deepest), "y": end + 16, "text": f"{deepest:.2f}"},
    ]
    note = [
        {"x": left, "y": top - 10, "text": "joined at 1 − ρ; support in %" if shares else "joined at 1 − ρ"}
    ]
    made = [
        strokes(lines, color=INK, strokeWidth=1.2),
        strokes(scale, color=SOFT, strokeWidth=1),
        words(ends, color=SOFT),
        words(note, align="left", color=SOFT),
    ]
    if not shares:
        return made
    style = {"align": "left", "fontSize": 11}
    # A figure on a line is read by the paper around it.
    return [*made, words(shares, **style, stroke=PAPER, strokeWidth=4, color=PAPER), words(shares, **style)]


def _shade(value: float | None) -> tuple[str, str]:
    """The fill of a cell, darker as rho grows from -1 to 1, and the colour of the text on it."""
    if value is None:
        return WASH, INK
    share = min(1.0, max(0.0, (value + 1) / 2)) ** 2  # more room for the shades that occur most
    fill = mixed((0xFC, 0xFE, 0xFE), (0x0A, 0x5C, 0x62), share)
    return fill, "#fff" if share > 0.785 else "#000"


def _cells(cells: Sequence[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    fill = alt.Fill("fill:N", scale=None)
    made: alt.Chart = table(cells).mark_rect(stroke=LINE, strokeWidth=0.5).encode(
        **places(), x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), fill=fill)  # fmt: skip
    return made


def _figures(cells: Sequence[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    own = [cell for cell in cells if cell["text"]]
    made: alt.Chart = table(own).mark_text(fontSize=11, baseline="middle").encode(
        **places("mx", "my"), text="text:N", color=alt.Color("on:N", scale=None))  # fmt: skip
    return made


def _corners(marks: Sequence[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    made: alt.Chart = table(marks).mark_point(
        shape="M-1,-1L1,-1L1,1Z", filled=True, size=60, opacity=1, strokeWidth=0
    ).encode(**places(), fill=alt.Fill("on:N", scale=None))  # fmt: skip
    return made
