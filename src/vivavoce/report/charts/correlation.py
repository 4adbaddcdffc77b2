"""Metric against metric: the heatmap and dendrogram of a correlation study, and scatter plots of scores."""

from collections.abc import Mapping, Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.report.charts.svg import (
    BAND,
    INK,
    LINE,
    PAPER,
    SOFT,
    WASH,
    Figure,
    Line,
    boxes,
    clean,
    composed,
    figure,
    listed,
    mixed,
    no_chart,
    places,
    short,
    strokes,
    table,
    unique,
    words,
)
from vivavoce.report.data import RESPONSE, Rows, ScoredResponses
from vivavoce.report.format import number

if TYPE_CHECKING:
    import altair as alt

NOTE_WIDTH = 200


class Tree(NamedTuple):
    """Measures by average linkage on 1 - Spearman's rho of candidates' means.

    `leaves` are places in the order of the rows; each merger is (left height, right height, height of the
    merger, place of left, place of right, support) with places counted in the order of `leaves`. Support is
    null unless the rows' tree is the one that was drawn again.
    """

    names: tuple[str, ...]
    leaves: tuple[int, ...]
    mergers: tuple[tuple[float, float, float, float, float, float | None], ...]


def correlation_map(rows: Rows) -> "alt.LayerChart | str":
    """How alike measures order candidates: Spearman's rho of their means, with the dendrogram beside it.

    A cell with a dark corner is alike by construction. The tree joins measures at 1 - rho; figures at its
    joints are the share of bootstrap draws in which the same cluster came back. Without a tree the measures
    keep their order.
    """
    pairs = [r for r in rows if r["level"] == "system" and r["coefficient"] == "spearman"]
    names = measure_names(pairs) if pairs else []
    if len(pairs) < 2 or not names or all(r["value"] is None for r in pairs):
        return no_chart(pairs, "Fewer than three measures: the sentence says it all.")
    n = len(names)
    grown = tree(rows)
    order = grown.leaves if grown else tuple(range(n))
    place = _by_places(n, pairs)
    size = float(max(32, min(46, 420 // n)))
    top, end = 22.0, 22.0 + n * size
    cells = [
        _rho_cell(place.get((i, j)), names[i], names[j], x=at_x * size, y=top + at_y * size, size=size)
        for at_y, i in enumerate(order)
        for at_x, j in enumerate(order)
    ]
    marks = [
        {"x": cell["x2"] - 4, "y": cell["y"] + 4, "on": cell["on"], "a": cell["a"], "b": cell["b"]}
        for cell, row in zip(cells, (place.get((i, j)) for i in order for j in order), strict=True)
        if row is not None and row["by_construction"]
    ]
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
        layers += _dendrogram(grown, x0=n * size + 12, top=top, size=size, end=end)
    says = "Spearman's rho between measures over candidates: " + listed(
        f"{short(names[i])} and {short(names[j])} {_rho_text(place[i, j]['value'])}"
        for i, j in combinations(order, 2)
    )
    return composed(layers, width=width, height=line + (24 if marks else 6), says=says)


def _by_places(n: int, pairs: Rows) -> dict[tuple[int, int], Mapping[str, Any]]:
    """The rows of all pairs of `n` measures by the places of the two, in both orders."""
    by: dict[tuple[int, int], Mapping[str, Any]] = {}
    for (i, j), row in zip(combinations(range(n), 2), pairs, strict=True):
        by[i, j] = by[j, i] = row
    return by


def _rho_cell(
    row: Mapping[str, Any] | None, a: str, b: str, *, x: float, y: float, size: float
) -> dict[str, Any]:
    """A cell of the map; on the diagonal, where there is no row, it is empty."""
    value = row["value"] if row else None
    fill, on = _shade(value)
    text = ""
    if row is not None:
        text = "?" if value is None else _rho_text(value)
    return {"x": x, "x2": x + size - 1, "y": y, "y2": y + size - 1, "fill": fill, "on": on, "text": text,
            "mx": x + 0.5 * size, "my": y + 0.5 * size, "a": a, "b": b}  # fmt: skip


def _rho_text(value: float | None) -> str:
    return "undefined" if value is None else number(value, ".2f")


def _dendrogram(grown: Tree, *, x0: float, top: float, size: float, end: float) -> list["alt.Chart"]:
    """The tree to the right of the map, its leaves at the rows."""
    deepest = max(m[2] for m in grown.mergers) or 1.0

    def x(height: float) -> float:
        return x0 + height / deepest * 110

    def y(middle: float) -> float:
        return top + (middle + 0.5) * size

    lines: list[Line] = []
    shares = []
    for k, (h_left, h_right, height, m_left, m_right, support) in enumerate(grown.mergers, 1):
        joint, y_left, y_right = x(height), y(m_left), y(m_right)
        lines += [(x(h_left), y_left, joint, y_left), (x(h_right), y_right, joint, y_right),
                  (joint, y_left, joint, y_right)]  # fmt: skip
        if support is not None and k < len(grown.mergers):  # the last holds all measures by construction
            shares.append({"x": joint + 4, "y": (y_left + y_right) / 2 - 1, "text": f"{100 * support:.0f}"})
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
        {"x": x0, "y": top - 10, "text": "joined at 1 − ρ; support in %" if shares else "joined at 1 − ρ"}
    ]
    layers = [
        strokes(lines, color=INK, strokeWidth=1.2),
        strokes(scale, color=SOFT, strokeWidth=1),
        words(ends, color=SOFT),
        words(note, align="left", color=SOFT),
    ]
    if not shares:
        return layers
    style = {"align": "left", "fontSize": 11}
    # A figure on a line is read by the paper around it.
    return [
        *layers,
        words(shares, **style, stroke=PAPER, strokeWidth=4, color=PAPER),
        words(shares, **style),
    ]


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
    chart: alt.Chart = table(cells).mark_rect(stroke=LINE, strokeWidth=0.5).encode(
        **places(), x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), fill=fill)  # fmt: skip
    return chart


def _figures(cells: Sequence[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    filled = [cell for cell in cells if cell["text"]]
    chart: alt.Chart = table(filled).mark_text(fontSize=11, baseline="middle").encode(
        **places("mx", "my"), text="text:N", color=alt.Color("on:N", scale=None))  # fmt: skip
    return chart


def _corners(marks: Sequence[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    chart: alt.Chart = table(marks).mark_point(
        shape="M-1,-1L1,-1L1,1Z", filled=True, size=60, opacity=1, strokeWidth=0
    ).encode(**places(), fill=alt.Fill("on:N", scale=None))  # fmt: skip
    return chart


def tree(rows: Rows) -> Tree | None:
    """The dendrogram of a correlation finding's rows of one benchmark; null if a correlation is undefined."""
    pairs = [r for r in rows if r["level"] == "system" and r["coefficient"] == "spearman"]
    names = measure_names(pairs)
    n = len(names)
    if n < 3 or any(r["value"] is None for r in pairs):
        return None
    place = _by_places(n, pairs)
    distances = [[0.0 if i == j else max(0.0, 1 - place[i, j]["value"]) for j in range(n)] for i in range(n)]
    linkage = stats.average_linkage(distances)
    members: list[tuple[int, ...]] = [(k,) for k in range(n)]
    for row in linkage:
        members.append(members[int(row[0])] + members[int(row[1])])
    leaves = members[-1]
    supports = _supports(rows, n, [(members[int(r[0])], members[int(r[1])]) for r in linkage])
    heights, middles = [0.0] * n, [float(leaves.index(k)) for k in range(n)]
    mergers = []
    for row, support in zip(linkage, supports, strict=True):
        i, j = int(row[0]), int(row[1])
        mergers.append((heights[i], heights[j], float(row[2]), middles[i], middles[j], support))
        heights.append(float(row[2]))
        middles.append((middles[i] + middles[j]) / 2)
    return Tree(tuple(names), leaves, tuple(mergers))


def _supports(
    rows: Rows, n: int, mergers: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
) -> list[float | None]:
    """The support of each merger, from that of its pairs; none at all if the pairs of one disagree.

    Rows hold each pair's own questions, the study's tree those that all measures share: the trees may differ,
    and then the support belongs to another one.
    """
    place = _by_places(n, [r for r in rows if r["level"] == "system" and r["coefficient"] == "kendall"])
    supports = []
    for left_members, right_members in mergers:
        of_pairs = {place[i, j]["cluster_support"] for i in left_members for j in right_members}
        if len(of_pairs) != 1 or None in of_pairs:
            return [None] * len(mergers)
        supports.append(of_pairs.pop())
    return supports


def measure_names(rows: Rows) -> list[str]:
    """The measures of rows that hold every pair of them once, in the study's order."""
    first = [r for r in rows if r["a"] == rows[0]["a"]]
    n = 1
    while n * (n - 1) // 2 < len(rows):
        n += 1
    if n * (n - 1) // 2 != len(rows) or len(first) < n - 1:
        return []
    return unique([rows[0]["a"], *(r["b"] for r in rows[: n - 1])])


MOST_MEASURES, MOST_POINTS = 6, 300
"""The most measures of a format that are plotted against each other, and the most answers."""
SIDE, STEP = 96.0, 106.0


def metric_scatter(parts: Sequence[ScoredResponses]) -> list[Figure]:
    """A figure per benchmark and format with scores by two or more measures: a scatter plot of every pair.

    A point is an answer with a mark by both. Measures that are pooled over answers are left out, those of
    probabilities, which mark no answer, and those beyond the first six; of many answers some are drawn, the
    same each time.
    """

    def place(part: ScoredResponses) -> tuple[str, str]:
        return part.benchmark, part.format

    figures = []
    single = [
        p
        for p in parts
        if p.measure.criterion.pool == "mean" and p.answers["value"].count() and not p.of_logprobs
    ]
    for (benchmark, form), group in groupby(sorted(single, key=place), key=place):
        measures = list(group)
        if len(measures) > 1:
            title = f"Measures against each other: {form} answers on {benchmark}"
            first = measures[:MOST_MEASURES]
            figures.append(figure(title, _scatter_chart(first, len(measures) - len(first)), "against", title))
    return figures


def _together(parts: Sequence[ScoredResponses]) -> pl.DataFrame:
    """A row for each answer that two of the measures scored: `m0`, `m1`, … are its scores."""
    marks = [f"m{k}" for k in range(len(parts))]
    together = parts[0].answers.select(*RESPONSE, m0="value")
    for k, part in enumerate(parts[1:], 1):
        scores = part.answers.select(*RESPONSE, pl.col("value").alias(f"m{k}"))
        together = together.join(scores, on=RESPONSE, how="full", coalesce=True, validate="1:1")
    two = pl.sum_horizontal(pl.col(marks).is_not_null()) > 1
    return together.filter(two).sort(RESPONSE)


def _scatter_chart(parts: Sequence[ScoredResponses], left_out: int) -> "alt.LayerChart | str":
    together = _together(parts)
    if not together.height:
        return "No answer has marks by two of these measures."
    sample = together.sample(min(MOST_POINTS, together.height), seed=1)
    ends = [_ends(part) for part in parts]
    cells: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    frames: list[Line] = []
    for row, part in enumerate(parts):
        top = row * STEP
        low, high = (number(end, ".3g") for end in ends[row])
        names += [
            {"x": row * STEP + 4, "y": top + SIDE / 2 - 8, "text": clean(part.label)},
            {"x": row * STEP + 4, "y": top + SIDE / 2 + 8, "text": f"{low} to {high}"},
        ]
        for column in range(row):
            left_edge = column * STEP
            cells.append({"x": left_edge, "x2": left_edge + SIDE, "y": top, "y2": top + SIDE, "fill": WASH})
            frames += [
                (left_edge, top + SIDE, left_edge + SIDE, top + SIDE),
                (left_edge, top, left_edge, top + SIDE),
            ]
            points += [
                {
                    "x": left_edge + _along(x, ends[column]),
                    "y": top + SIDE - _along(y, ends[row]),
                    "across": column,
                    "up": row,
                }
                for x, y in sample.select(f"m{column}", f"m{row}").drop_nulls().iter_rows()
            ]
    bottom = len(parts) * STEP
    notes = [
        f"a point is an answer, {sample.height:,} of {together.height:,}; across: the measure named above, "
        "up: the one named on the right",
        *([f"{left_out} further measures are left out"] if left_out else []),
    ]
    layers = [
        boxes(cells),
        strokes(frames, color=LINE, strokeWidth=1),
        table(points).mark_point(shape="circle", fill=BAND, size=14, opacity=0.6, strokeWidth=0).encode(
            **places()
        ),
        words(names, align="left", color=INK, fontSize=11, limit=260),
        words([{"x": 0.0, "y": bottom + 8 + 16 * k, "text": line} for k, line in enumerate(notes)],
              align="left", color=SOFT),
    ]  # fmt: skip
    says = f"Marks of the same answers, pair by pair, by {listed(short(part.label) for part in parts)}"
    return composed(layers, width=bottom + 160, height=bottom + 4 + 16 * len(notes), says=says)


def _ends(part: ScoredResponses) -> tuple[float, float]:
    """The declared range, or where a side has no limit the least or greatest mark."""
    c, values = part.measure.criterion, part.answers["value"]
    low = float(values.min()) if c.low is None else c.low  # type: ignore[arg-type]
    high = float(values.max()) if c.high is None else c.high  # type: ignore[arg-type]
    return low, high


def _along(value: float, ends: tuple[float, float]) -> float:
    """Where a mark lies on a side, a little inside its ends; the middle of a range without width."""
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return 4 + share * (SIDE - 8)
