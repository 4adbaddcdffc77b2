"""Grids: names against names, in cells with numbered columns.

The names of the rows stand beside them. Where that would take too much of the room, as on a phone, rows are
numbered too and their names listed below.
"""

from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.report.charts.lanes import tick_labels
from vivavoce.report.charts.sheet import Sheet, clean, text_width

HEAD = 24.0
MOST_BESIDE, LEAST_CELL, LEAST_WITH_KEPT = 0.4, 24.0, 32.0
"""The most of the room that names take beside their rows; the least width of a cell beside names, and beside
what else the room is kept for."""


class Cell(NamedTuple):
    """A cell's upper left corner and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The middle of its width."""
        return self.x + self.width / 2

    @property
    def centre(self) -> float:
        """The middle of its height."""
        return self.y + self.height / 2


class Grid:
    """Rows and as many columns on a sheet, from its present height on; cells are at most `widest` wide.

    `kept` says whether so much room as `keep` is left to the right of them. Names stand beside them if cells
    can be as wide as `least`.
    """

    def __init__(
        self,
        sheet: Sheet,
        names: Sequence[object],
        *,
        widest: float,
        tall: float | None = None,
        keep: float = 0,
        least: float = LEAST_CELL,
    ) -> None:
        self.sheet, self.names = sheet, [clean(name) for name in names]
        number = text_width(str(len(names))) + 10
        gutter = max(map(text_width, self.names)) + number + 8
        self.beside = gutter <= min(MOST_BESIDE * sheet.room, sheet.room - least * len(names))
        self.left = gutter if self.beside else number
        size = (sheet.room - self.left - keep) / len(names)
        self.kept = size >= LEAST_WITH_KEPT
        self.size = min(widest, size if self.kept else (sheet.room - self.left) / len(names))
        self.indent = self.left if self.beside else 0.0
        self.tall, self.top = tall or self.size, sheet.height + HEAD
        places = range(len(names))
        numbers = [str(k + 1) for k in places]
        tick_labels(sheet, lambda k: self.cell(0, k).middle, places, self.top - 10, numbers, "soft middle")
        stride = 1 if self.tall >= 2 * text_width("0") else 5
        for k in places[::stride]:
            sheet.text(self.left - 8, self.cell(k, 0).centre, numbers[k], "end")
        for k in places if self.beside else ():
            sheet.text(self.left - 8 - number, self.cell(k, 0).centre, self.names[k], "end")
        self.bottom = sheet.height = self.top + len(names) * self.tall
        self.right = self.left + len(names) * self.size

    def cell(self, row: int, column: float) -> Cell:
        """The cell of a row and a column, counted from 0."""
        return Cell(self.left + column * self.size, self.top + row * self.tall, self.size, self.tall)

    def list_names(self) -> None:
        """The names of the rows below everything, unless they stand beside them."""
        self.sheet.height += 4
        if not self.beside:
            for k, name in enumerate(self.names, 1):
                self.sheet.text(0, self.sheet.height + 8, f"{k}  {name}", room=self.sheet.room)
                self.sheet.height += 16
