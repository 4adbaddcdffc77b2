"""Lanes: charts in which each row has a name, a field and a text.

On a desk the three stand beside each other. Where names and texts would leave the field too little room, as
on a phone, they stand above it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vivavoce.report.charts.sheet import LINE_HEIGHT, Line, Sheet, clean, tick_texts, widest, wrapped

LEAST_FIELD, MOST_TEXT = 200.0, 180.0
"""The least room for a field beside names, and the most for a line of text beside it."""
ENOUGH = 400.0
"""A longer name is cut rather than set above its text."""
GAP = 12.0


@dataclass(frozen=True)
class Scale:
    """Where values lie between the ends of the fields."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """The place of a value, in pixels."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)


class Lanes:
    """The rows of a chart on a sheet, from its present height on; `at` has the middles of their fields."""

    def __init__(
        self, sheet: Sheet, names: Sequence[object], texts: Sequence[str], *, tall: float, style: str = ""
    ) -> None:
        self.sheet, self.tall, self.style = sheet, tall, style
        cleaned = [clean(name) for name in names]
        columns = [wrapped(text, MOST_TEXT, style, most=2) for text in texts]
        text_room = widest((line for lines in columns for line in lines), style)
        self.left, self.right = widest(cleaned) + 8, sheet.room - (text_room + GAP if text_room else 8)
        self.above = self.right - self.left < LEAST_FIELD
        if self.above:
            self.at = self._over_fields(cleaned, texts)
        else:
            self.at = self._at_sides(cleaned, columns)

    def _at_sides(self, names: Sequence[str], columns: Sequence[Sequence[str]]) -> list[float]:
        """Names and the lines of texts at the sides of the fields."""
        sheet, top = self.sheet, self.sheet.height
        middles = [top + (k + 0.5) * self.tall for k in range(len(names))]
        for y, name, lines in zip(middles, names, columns, strict=True):
            sheet.text(self.left - 8, y, name, "end")
            for k, line in enumerate(lines):
                sheet.text(self.right + GAP, y + 13 * (k - (len(lines) - 1) / 2), line, self.style)
        sheet.height += self.tall * len(names)
        return middles

    def _over_fields(self, names: Sequence[str], texts: Sequence[str]) -> list[float]:
        """Names above the fields, and texts at the end of the same line or on one of their own."""
        sheet, text_room = self.sheet, widest(texts, self.style)
        self.left, self.right = 14.0, sheet.room - 14
        width = sheet.room - text_room - GAP
        one_line = not text_room or width >= min(widest(names), ENOUGH)
        head = LINE_HEIGHT if one_line else 2 * LINE_HEIGHT
        middles = []
        for name, text in zip(names, texts, strict=True):
            y = sheet.height + LINE_HEIGHT / 2
            sheet.text(0, y, name, room=width if one_line else sheet.room)
            if one_line:
                sheet.text(sheet.room, y, text, f"{self.style} end".strip())
            else:
                sheet.text(0, y + LINE_HEIGHT, text, self.style, room=sheet.room)
            middles.append(sheet.height + head + self.tall / 2)
            sheet.height += head + self.tall + 2
        return middles

    def scale(self, low: float, high: float) -> Scale:
        """A scale along the fields."""
        return Scale(low, high, self.left, self.right)

    def across(self, places: Sequence[float]) -> list[Line]:
        """Lines through the field of every row, but not through names and texts that stand above it."""
        half = self.tall / 2
        if self.above:
            return [(x, y - half, x, y + half) for x in places for y in self.at]
        return [(x, self.at[0] - half, x, self.at[-1] + half) for x in places]

    def axis(self, scale: Scale, ticks: Sequence[float], texts: Sequence[str] = ()) -> None:
        """The line of the axis below the rows, its ticks and, as far as there is room, their texts."""
        sheet, y = self.sheet, self.sheet.height
        sheet.lines("axis", [(self.left, y, self.right, y), *((scale(t), y, scale(t), y + 5) for t in ticks)])
        tick_labels(sheet, scale, ticks, y + 13, texts)
        sheet.height += 22


def tick_labels(
    sheet: Sheet,
    x: Callable[[float], float],
    ticks: Sequence[float],
    y: float,
    texts: Sequence[str] = (),
    style: str = "middle",
) -> None:
    """The texts of the ticks at a height: of every first, second, … as far as they stay apart."""
    labels = list(texts or tick_texts(ticks))
    gap = (x(ticks[-1]) - x(ticks[0])) / max(1, len(ticks) - 1) or 1.0
    stride = max(1, math.ceil((widest(labels) + 8) / gap))
    for tick, label in list(zip(ticks, labels, strict=True))[::stride]:
        sheet.text(x(tick), y, label, style)
