"""The critical-difference diagram: candidates by mean rank, and who is not told apart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.report.boards import Rows
from vivavoce.report.drawing import (
    INK,
    MARK,
    SOFT,
    Line,
    clean,
    composed,
    listed,
    places,
    short,
    strokes,
    table,
    words,
)
from vivavoce.report.wording import because

if TYPE_CHECKING:
    import altair as alt

__all__ = ["JOINED", "cliques", "critical_difference"]

JOINED = ("Joined: not told apart by mean ranks,", "a weaker test than that of the means.")
"""What the bars of the diagram mean, beside rank intervals that may tell the same candidates apart."""


def cliques(mean_ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """First and last place of each largest run of sorted mean ranks less than `distance` apart."""
    runs: list[tuple[int, int]] = []
    for first, low in enumerate(mean_ranks):
        last = max(
            k for k, rank in enumerate(mean_ranks) if k == first or (rank - low < distance and k > first)
        )
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def critical_difference(rows: Rows) -> "alt.LayerChart | str":
    """Candidates by mean rank; bars join those that Nemenyi's test does not tell apart.

    Mean ranks say how often a candidate is ahead, not by how much: the order may differ from that by mean.
    """

    lines = sorted((r for r in rows if r["mean_rank"] is not None), key=lambda r: r["mean_rank"])
    if len(lines) < 2 or lines[0]["critical_difference"] is None:
        return because(rows, "Fewer than two ranked candidates.")
    n, distance = len(lines), float(lines[0]["critical_difference"])
    ranks = [float(r["mean_rank"]) for r in lines]
    joined = cliques(ranks, distance)
    width, step, axis = 340.0, 20.0, 36.0
    below = axis + 14 + 9 * len(joined) + 10
    half = (n + 1) // 2
    height = below + step * max(half - 1, 0) + 10

    def x(rank: float) -> float:
        return (rank - 1) / (n - 1) * width

    leaders: list[Line] = []
    names: dict[str, list[dict[str, Any]]] = {"left": [], "right": []}
    for place, (row, rank) in enumerate(zip(lines, ranks, strict=True)):
        left = place < half
        y = below + step * (place if left else n - 1 - place)
        end = -8.0 if left else width + 8
        leaders += [(x(rank), axis, x(rank), y), (x(rank), y, end, y)]
        name = clean(row["candidate"])
        names["left" if left else "right"].append(
            {"x": end + (-4 if left else 4), "y": y,
             "text": f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"}
        )  # fmt: skip
    ticks = [(x(k), axis - 5, x(k), axis) for k in range(1, n + 1)]
    bars = [
        {"x": x(ranks[i]) - 3, "x2": x(ranks[j]) + 3, "y": axis + 12 + 9 * k, "first": i, "last": j}
        for k, (i, j) in enumerate(joined)
    ]
    span = x(1 + distance)
    layers = [
        strokes(leaders, color=SOFT, strokeWidth=1),
        strokes([(0, axis, width, axis), *ticks], color=INK, strokeWidth=1),
        strokes([(0, 4, span, 4), (0, 0, 0, 8), (span, 0, span, 8)], color=INK, strokeWidth=1.5),
        table(bars).mark_rule(color=MARK, strokeWidth=5).encode(**places(), x2="x2:Q") if bars else None,
        words([{"x": x(k), "y": axis - 13, "text": str(k)} for k in range(1, n + 1)
                if n <= 20 or k % 5 == 0 or k == 1]),
        words([{"x": span + 8, "y": 5, "text": f"critical difference {distance:.2f}"}], align="left"),
        words(names["left"], align="right", limit=260),
        words(names["right"], align="left", limit=260),
    ]  # fmt: skip
    if bars:
        layers.append(words([{"x": 0.0, "y": height + 8 + 16 * k, "text": line}
                             for k, line in enumerate(JOINED)], align="left", color=SOFT))  # fmt: skip
        height += 16 * len(JOINED)
    told = listed(f"{short(r['candidate'])} {k:.2f}" for r, k in zip(lines, ranks, strict=True))
    says = f"Mean ranks, critical difference {distance:.2f}: {told}"
    return composed([layer for layer in layers if layer is not None], width=width, height=height, says=says)
