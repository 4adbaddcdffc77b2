"""Metric against metric: how the marks of the same answers by several measures go together."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from vivavoce.report.drawing import (
    BAND,
    INK,
    LINE,
    SOFT,
    WASH,
    Figure,
    Line,
    boxes,
    clean,
    composed,
    figure,
    listed,
    places,
    short,
    strokes,
    table,
    words,
)
from vivavoce.report.singles import ANSWER, Part
from vivavoce.report.wording import number

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = ["MOST_MEASURES", "MOST_POINTS", "against"]

MOST_MEASURES, MOST_POINTS = 6, 300
"""So many measures of a format are set against each other, on so many answers."""
SIDE, STEP = 96.0, 106.0


def against(parts: Sequence[Part]) -> list[Figure]:
    """A figure for each benchmark and format that two measures or more marked: every pair as a scatter plot.

    A point is an answer with a mark by both. Measures that are pooled over answers are left out, those of
    probabilities, which mark no answer, and those beyond the first six; of many answers some are drawn, the
    same each time.
    """

    def place(part: Part) -> tuple[str, str]:
        return part.benchmark, part.format

    made = []
    single = [
        p for p in parts if p.measure.criterion.pool == "mean" and p.answers["value"].count() and not p.told
    ]
    for (benchmark, form), group in groupby(sorted(single, key=place), key=place):
        own = list(group)
        if len(own) > 1:
            title = f"Measures against each other: {form} answers on {benchmark}"
            shown = own[:MOST_MEASURES]
            made.append(figure(title, _chart(shown, len(own) - len(shown)), "against", title))
    return made


def _together(parts: Sequence[Part]) -> "pl.DataFrame":
    """A row for each answer that two of the measures marked: `m0`, `m1`, … are its marks."""
    import polars as pl

    marks = [f"m{k}" for k in range(len(parts))]
    found = parts[0].answers.select(*ANSWER, m0="value")
    for k, part in enumerate(parts[1:], 1):
        own = part.answers.select(*ANSWER, pl.col("value").alias(f"m{k}"))
        found = found.join(own, on=ANSWER, how="full", coalesce=True, validate="1:1")
    two = pl.sum_horizontal(pl.col(marks).is_not_null()) > 1
    return found.filter(two).sort(ANSWER)


def _chart(parts: Sequence[Part], left_out: int) -> "alt.LayerChart | str":
    together = _together(parts)
    if not together.height:
        return "No answer has marks by two of these measures."
    drawn = together.sample(min(MOST_POINTS, together.height), seed=1)
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
            left = column * STEP
            cells.append({"x": left, "x2": left + SIDE, "y": top, "y2": top + SIDE, "fill": WASH})
            frames += [(left, top + SIDE, left + SIDE, top + SIDE), (left, top, left, top + SIDE)]
            points += [
                {
                    "x": left + _along(x, ends[column]),
                    "y": top + SIDE - _along(y, ends[row]),
                    "across": column,
                    "up": row,
                }
                for x, y in drawn.select(f"m{column}", f"m{row}").drop_nulls().iter_rows()
            ]
    bottom = len(parts) * STEP
    notes = [
        f"a point is an answer, {drawn.height:,} of {together.height:,}; across: the measure named above, "
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


def _ends(part: Part) -> tuple[float, float]:
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
