"""A forest plot in characters: a row for each value with its interval, on one axis."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import NamedTuple

from vivavoce.core.short_names import cell_width

NARROWEST = 50
"""Places of the narrowest terminal that has a plot."""
NO_RESULT = "no result"
POINT, HOLLOW, LINE, LEFT_END, RIGHT_END, ZERO, CROSSING = "●○─├┤│┼"


class PlotRow(NamedTuple):
    """A value with its interval. What is null or no number is not drawn; an end without limit is an arrow."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    mark: str = POINT


class _Axis(NamedTuple):
    """From the lowest to the highest number that is drawn, over so many places."""

    low: float
    high: float
    places: int

    def place(self, value: float) -> int:
        """The place of a value, counted from 0; of one beyond the axis that of its end."""
        # Halves, because the distance of two large numbers may be infinite.
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return round(min(max(share, 0.0), 1.0) * (self.places - 1))


def forest_plot(
    rows: Sequence[PlotRow],
    width: int,
    *,
    write: Callable[[float], str],
    zero: bool = False,
    most: int = 40,
) -> list[str]:
    """The lines of a plot, at most `width` wide; none below 50 places, or where no row has a value.

    Names must fit into half of the width. With `zero` a line marks it. Rows behind the first `most` are
    counted. `write` gives the figures under the axis.
    """
    visible = rows[: max(most, 1)]
    numbers = [number for row in visible for number in _numbers(row)]
    names = max((cell_width(row.name) for row in visible), default=0)
    if width < NARROWEST or not numbers or names > width // 2:
        return []
    axis = _axis([*numbers, 0.0] if zero else numbers, width - names - 2)
    lines = [f"{row.name}{' ' * (names - cell_width(row.name))}  {_bar(row, axis, zero)}" for row in visible]
    lines.append(f"{' ' * names}  {_figures(axis, write, zero)}")
    n_more = len(rows) - len(visible)
    return [*map(str.rstrip, lines), *([f"… and {n_more:,} more in the table"] if n_more else [])]


def _numbers(row: PlotRow) -> list[float]:
    """What is drawn of a row: its value, if that is a number, and the limits of its interval that are."""
    if row.value is None or not isfinite(row.value):
        return []
    return [number for number in (row.value, row.low, row.high) if number is not None and isfinite(number)]


def _axis(numbers: Sequence[float], places: int) -> _Axis:
    low, high = min(numbers), max(numbers)
    if high / 2 - low / 2 <= 0:  # one value has an axis around it
        pad = abs(low) / 10 or 0.5
        low, high = low - pad, high + pad
    return _Axis(low, high, places)


def _bar(row: PlotRow, axis: _Axis, zero: bool) -> str:
    """A row without its name: the interval with the value in it, over the line of zero."""
    marks = [" "] * axis.places
    if zero:
        marks[axis.place(0.0)] = ZERO
    if not _numbers(row) or row.value is None:
        return f"{NO_RESULT}{''.join(marks[len(NO_RESULT) :])}"
    middle = axis.place(row.value)
    ends = [end for end in (_end(row.low, -1, axis), _end(row.high, 1, axis)) if end]
    places = [middle, *(place for place, _ in ends)]
    for n in range(min(places), max(places) + 1):
        marks[n] = CROSSING if marks[n] == ZERO else LINE
    for place, mark in ends:
        marks[place] = mark
    marks[middle] = row.mark
    return "".join(marks)


def _end(limit: float | None, side: int, axis: _Axis) -> tuple[int, str] | None:
    """Where an end of an interval lies, and its mark; null where it is unknown."""
    if limit is None or limit != limit:
        return None
    if isfinite(limit):
        return axis.place(limit), LEFT_END if side < 0 else RIGHT_END
    return (0, "<") if limit < 0 else (axis.places - 1, ">")


def _figures(axis: _Axis, write: Callable[[float], str], zero: bool) -> str:
    """The figures under the axis: its ends, and zero where it has room between them."""
    low, high = write(axis.low), write(axis.high)
    text = low + " " * max(axis.places - len(low) - len(high), 1) + high
    place = axis.place(0.0)
    if zero and len(low) < place < axis.places - len(high) - 1:
        text = f"{text[:place]}0{text[place + 1 :]}"
    return text
