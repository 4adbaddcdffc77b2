"""Metric against metric: the heatmap and dendrogram of a correlation study, and scatter plots of scores."""

from collections.abc import Mapping, Sequence
from itertools import combinations, groupby, product
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.report.charts.grid import Cell, Grid
from vivavoce.report.charts.sheet import Line, Sheet, clean, text_width, wrapped
from vivavoce.report.charts.svg import (
    Drawing,
    Figure,
    drawing,
    figure,
    listed,
    mixed,
    no_chart,
    short,
    unique,
)
from vivavoce.report.data import RESPONSE, Rows, ScoredResponses
from vivavoce.report.format import number

TREE, TREE_SHARE, BESIDE_TREE = 130.0, 0.3, 36.0
"""Room for the tree, in pixels, and the most of the sheet's; and what of it is not the tree's depth."""


class Tree(NamedTuple):
    """Measures by average linkage on 1 - Spearman's rho of candidates' means.

    `leaves` are places in the order of the rows; each merger is (left height, right height, height of the
    merger, place of start, place of right, support) with places counted in the order of `leaves`. Support is
    null unless the rows' tree is the one that was drawn again.
    """

    names: tuple[str, ...]
    leaves: tuple[int, ...]
    mergers: tuple[tuple[float, float, float, float, float, float | None], ...]


def correlation_map(rows: Rows) -> Drawing | str:
    """How alike measures order candidates: Spearman's rho of their means, with the dendrogram beside it.

    A cell with a dark corner is alike by construction. The tree joins measures at 1 - rho; figures at its
    joints are the share of bootstrap draws in which the same cluster came back. Without a tree the measures
    keep their order. A phone has room for the tree of a few measures only.
    """
    pairs = [r for r in rows if r["level"] == "system" and r["coefficient"] == "spearman"]
    names = measure_names(pairs) if pairs else []
    if len(pairs) < 2 or not names or all(r["value"] is None for r in pairs):
        return no_chart(pairs, "Fewer than three measures: the sentence says it all.")
    grown = tree(rows)
    order = grown.leaves if grown else tuple(range(len(names)))
    place = _by_places(len(names), pairs)

    def draw(room: float) -> Sheet:
        sheet = Sheet(room)
        keep = min(TREE, TREE_SHARE * room) if grown else 0.0
        grid = Grid(sheet, [names[i] for i in order], widest=46, keep=keep)
        for (down, i), (column, j) in product(enumerate(order), repeat=2):
            rho_cell(sheet, grid.cell(down, column), place.get((i, j)))
        if grown and grid.kept:
            _dendrogram(sheet, grid, grown, keep - BESIDE_TREE)
        sheet.height += 6
        sheet.notes(["Spearman's ρ of candidates' means"], grid.indent)
        if any(row["by_construction"] for row in pairs):
            _corner(sheet, grid.indent + 9, sheet.height + 3)
            sheet.notes(["corner: alike by construction, criteria of one call"], grid.indent + 16)
        grid.list_names()
        return sheet

    says = "Spearman's rho between measures over candidates: " + listed(
        f"{short(names[i])} and {short(names[j])} {_rho_text(place[i, j]['value'])}"
        for i, j in combinations(order, 2)
    )
    return drawing(says, draw)


def _by_places(n: int, pairs: Rows) -> dict[tuple[int, int], Mapping[str, Any]]:
    """The rows of all pairs of `n` measures by the places of the two, in both orders."""
    cells: dict[tuple[int, int], Mapping[str, Any]] = {}
    for (i, j), row in zip(combinations(range(n), 2), pairs, strict=True):
        cells[i, j] = cells[j, i] = row
    return cells


def rho_cell(sheet: Sheet, cell: Cell, row: Mapping[str, Any] | None) -> None:
    """A cell of the map; on the diagonal, where there is no row, it is empty."""
    if row is None or row["value"] is None:
        sheet.box("wash framed", cell.x, cell.y, cell.width - 1, cell.height - 1)
        if row is not None:
            sheet.text(cell.middle, cell.centre, "?", "small middle")
        return
    fill, ink = _shade(row["value"])
    sheet.box("", cell.x, cell.y, cell.width - 1, cell.height - 1, fill=fill)
    text = _rho_text(row["value"])
    if text_width(text, "small") <= cell.width - 2:
        sheet.text(cell.middle - 0.5, cell.centre, text, "small middle", fill=ink)
    if row["by_construction"]:
        _corner(sheet, cell.x + cell.width - 1, cell.y, ink)


def _corner(sheet: Sheet, right: float, top: float, fill: str | None = None) -> None:
    """The mark of a cell that is alike by construction."""
    sheet.curve("corner", [(right - 8, top), (right, top), (right, top + 8)], closed=True, fill=fill)


def _rho_text(value: float | None) -> str:
    return "undefined" if value is None else number(value, ".2f")


def _dendrogram(sheet: Sheet, grid: Grid, grown: Tree, depth: float) -> None:
    """The tree to the right of the map, its leaves at the rows."""
    deepest = max(m[2] for m in grown.mergers) or 1.0

    def x(height: float) -> float:
        return grid.right + 12 + height / deepest * depth

    def y(middle: float) -> float:
        return grid.top + (middle + 0.5) * grid.tall

    lines: list[Line] = []
    shares: list[tuple[float, float, str]] = []
    for k, (h_left, h_right, height, m_left, m_right, support) in enumerate(grown.mergers, 1):
        joint, y_left, y_right = x(height), y(m_left), y(m_right)
        lines += [(x(h_left), y_left, joint, y_left), (x(h_right), y_right, joint, y_right),
                  (joint, y_left, joint, y_right)]  # fmt: skip
        if support is not None and k < len(grown.mergers):  # the last holds all measures by construction
            shares.append((joint + 4, (y_left + y_right) / 2, printed(100 * support, ".0f")))
    sheet.lines("fine", lines)
    for at, middle, text in shares:
        sheet.text(at, middle, text, "small halo")
    end = grid.bottom + 4
    sheet.lines(
        "axis", [(x(0), end, x(deepest), end), *((at, end - 3, at, end + 3) for at in (x(0), x(deepest)))]
    )
    sheet.text(x(0), end + 12, "0", "soft middle")
    sheet.text(x(deepest), end + 12, printed(deepest), "soft middle")
    words = ["joined at 1 − ρ", *(["support in %"] if shares else [])]
    # One line above the other: the numbers of the columns stand beside the lower one.
    for k, word in enumerate(reversed(words)):
        sheet.text(x(0), grid.top - 10 - 14 * k, word, "soft small")
    sheet.height = max(sheet.height, end + 18)


def _shade(value: float) -> tuple[str, str]:
    """The fill of a cell, darker as rho grows from -1 to 1, and the colour of the text on it."""
    share = min(1.0, max(0.0, (value + 1) / 2)) ** 2  # more room for the shades that occur most
    fill = mixed((0xFC, 0xFE, 0xFE), (0x0A, 0x5C, 0x62), share)
    return fill, "#fff" if share > 0.785 else "#000"


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
WIDEST, SMALL_FIELD, SPACE, FIRST_ROW, LABEL = 96.0, 60.0, 10.0, 44.0, 84.0
"""The sides of a field, and of one with finer points; the space between two; the height of the first row,
which has no field; the least room for the name of the last measure."""


def metric_scatter(parts: Sequence[ScoredResponses]) -> list[Figure]:
    """A figure per benchmark and format with scores by two or more measures: a scatter plot of every pair.

    A point is an answer with a score by both. Measures that are pooled over answers are left out, those of
    probabilities, which score no answer, and those beyond the first six; of many answers some are drawn, the
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
    joined = parts[0].answers.select(*RESPONSE, m0="value")
    for k, part in enumerate(parts[1:], 1):
        scores = part.answers.select(*RESPONSE, pl.col("value").alias(f"m{k}"))
        joined = joined.join(scores, on=RESPONSE, how="full", coalesce=True, validate="1:1")
    two = pl.sum_horizontal(pl.col(marks).is_not_null()) > 1
    return joined.filter(two).sort(RESPONSE)


def _scatter_chart(parts: Sequence[ScoredResponses], left_out: int) -> Drawing | str:
    joined = _together(parts)
    if not joined.height:
        return "No answer has scores by two of these measures."
    sample = joined.sample(min(MOST_POINTS, joined.height), seed=1)
    ends = [_ends(part) for part in parts]
    shares = [[_share(value, pair) for value in sample[f"m{k}"]] for k, pair in enumerate(ends)]
    notes = [
        f"a point is an answer, {sample.height:,} of {joined.height:,}; across: the measure named above, "
        "up: the one named on the right",
        *([f"{left_out} further measures are left out"] if left_out else []),
    ]

    def draw(room: float) -> Sheet:
        sheet = Sheet(room)
        side = min(WIDEST, (room - LABEL) / (len(parts) - 1) - SPACE)
        for row, part in enumerate(parts):
            top = FIRST_ROW + (row - 1) * (side + SPACE) if row else 0.0
            height = side if row else FIRST_ROW - SPACE
            for column in range(row):
                _draw_field(sheet, column * (side + SPACE), top, side, shares[column], shares[row])
            start = row * (side + SPACE) + 4
            low, high = (number(end, ".3g") for end in ends[row])
            lines = [*wrapped(clean(part.label), room - start, "small", most=3), f"{low} to {high}"]
            for k, line in enumerate(lines):
                y = top + height / 2 + 14 * (k - (len(lines) - 1) / 2)
                sheet.text(start, y, line, "small" if k < len(lines) - 1 else "small soft")
            sheet.height = top + height
        sheet.height += SPACE
        sheet.notes(notes)
        return sheet

    return drawing(
        f"Scores of the same answers, pair by pair, by {listed(short(part.label) for part in parts)}", draw
    )


def _draw_field(
    sheet: Sheet,
    x: float,
    y: float,
    side: float,
    x_ticks: Sequence[float | None],
    y_ticks: Sequence[float | None],
) -> None:
    """The field of two measures, with a point for each answer that both scored."""
    sheet.box("wash", x, y, side, side)
    sheet.lines("grid", [(x, y + side, x + side, y + side), (x, y, x, y + side)])
    points = [
        (x + 4 + a * (side - 8), y + side - 4 - b * (side - 8))
        for a, b in zip(x_ticks, y_ticks, strict=True)
        if a is not None and b is not None
    ]
    # Points of one path do not darken each other: four paths show where they lie close.
    for layer in range(4):
        sheet.points("cloud" if side > SMALL_FIELD else "dust", points[layer::4])


def _ends(part: ScoredResponses) -> tuple[float, float]:
    """The declared range, or where a side has no limit the least or greatest score."""
    c, values = part.measure.criterion, part.answers["value"]
    low = float(values.min()) if c.low is None else c.low  # type: ignore[arg-type]
    high = float(values.max()) if c.high is None else c.high  # type: ignore[arg-type]
    return low, high


def _share(value: float | None, ends: tuple[float, float]) -> float | None:
    """Where a score lies between the ends; the middle of a range without width."""
    low, high = ends
    if value is None:
        return None
    return (value - low) / (high - low) if high > low else 0.5
