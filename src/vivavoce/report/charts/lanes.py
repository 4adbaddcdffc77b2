"""Lanes: charts in which each row has a name, a field and a text.

On a desk the three stand beside each other. Where names and texts would leave the field too little room, as
on a phone, they stand above it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vivavoce.report.charts.sheet import LINE_HEIGHT, Line, Sheet, clean, text_width, tick_texts, wrapped

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
    left: float
    right: float

    def __call__(self, value: float) -> float:
        """The place of a value, in pixels."""
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)


class Lanes:
    """The rows of a chart on a sheet, from its present height on; `at` has the middles of their fields."""

    def __init__(
        self, sheet: Sheet, names: Sequence[object], texts: Sequence[str], *, tall: float, style: str = ""
    ) -> None:
        self.sheet, self.tall = sheet, tall
        cleaned = [clean(name) for name in names]
        name_width = max(map(text_width, cleaned), default=0.0)
        beside = [wrapped(text, MOST_TEXT, style) for text in texts]
        text_room = max((text_width(line, style) for text in beside for line in text), default=0.0)
        self.left, self.right = name_width + 8, sheet.room - (text_room + GAP if text_room else 8)
        self.top = sheet.height
        if self.right - self.left >= LEAST_FIELD:
            self.at = [self.top + (k + 0.5) * tall for k in range(len(names))]
            for y, name, lines in zip(self.at, cleaned, beside, strict=True):
                sheet.text(self.left - 8, y, name, "end")
                for k, line in enumerate(lines):
                    sheet.text(self.right + GAP, y + 13 * (k - (len(lines) - 1) / 2), line, style)
            sheet.height += tall * len(names)
            return
        text_room = max((text_width(text, style) for text in texts), default=0.0)
        self.left, self.right = 14.0, sheet.room - 14
        rest = sheet.room - text_room - GAP
        both = rest >= min(name_width, ENOUGH)
        head = LINE_HEIGHT * (1 if both or not text_room else 2)
        self.at = [self.top + k * (head + tall + 2) + head + tall / 2 for k in range(len(names))]
        for y, name, text in zip(self.at, cleaned, texts, strict=True):
            over = y - tall / 2 - head + LINE_HEIGHT / 2
            sheet.text(0, over, name, room=rest if both else sheet.room)
            if text and both:
                sheet.text(sheet.room, over, text, f"{style} end".strip())
            elif text:
                sheet.text(0, over + LINE_HEIGHT, text, style, room=sheet.room)
        sheet.height += (head + tall + 2) * len(names)

    def scale(self, low: float, high: float) -> Scale:
        """A scale along the fields."""
        return Scale(low, high, self.left, self.right)

    def across(self, places: Sequence[float]) -> list[Line]:
        """Lines through the field of every row, but not through names and texts that stand above it."""
        half = self.tall / 2
        if len(self.at) > 1 and self.at[1] - self.at[0] <= self.tall:
            return [(x, self.at[0] - half, x, self.at[-1] + half) for x in places]
        return [(x, y - half, x, y + half) for x in places for y in self.at]

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
    widest = max(map(text_width, labels), default=0.0) + 8
    gap = (x(ticks[-1]) - x(ticks[0])) / max(1, len(ticks) - 1) or 1.0
    every = max(1, math.ceil(widest / gap))
    for tick, label in list(zip(ticks, labels, strict=True))[::every]:
        sheet.text(x(tick), y, label, style)
