"""A sheet of SVG: lines, boxes, dots and texts of estimated width, in the order in which they are painted.

Shapes bear names of styles (`vivavoce.report.charts.svg.STYLES`) and places in pixels from the upper left
corner. Every text is escaped here, and nowhere else.
"""

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from vivavoce.core.text import printable
from vivavoce.report.format import number

# Metrics of the first are those of the second and third: text takes the room that was measured for it.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SIZE, SMALL = 12, 11
LINE_HEIGHT, MILLION = 16.0, 1e6
MARGIN = 4.0
"""Around the drawing: room for strokes and letters that lean over its edge."""
Line = tuple[float, float, float, float]
"""x, y and x2, y2, in pixels."""
_UNSEEN = re.compile(r"[\x00-\x1f\ufffe\uffff]")
# Advance widths of Helvetica (Adobe Core 14 AFM), which Arial shares, in 1/1000 of the size.
_WIDTHS = {sign: width for width, signs in {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r", 334: "{}", 355: '"', 389: "*",
    469: "^", 500: "Jcksvxyz", 556: "#$?L_abdeghnopqu0123456789–", 584: "+<=>~−×", 611: "FTZ",
    667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1000: "…", 1015: "@",
}.items() for sign in signs}  # fmt: skip
_OTHER, _SQUARE = 620, 1000


def clean(text: object) -> str:
    """Text that XML can hold: what has no place there is shown as a replacement mark."""
    return _UNSEEN.sub("\ufffd", printable(str(text).encode("utf-8", "replace").decode("utf-8")))


def text_width(text: str, style: str = "") -> float:
    """About how many pixels wide a text is; of letters beyond Latin ones an upper guess."""
    units = sum(_WIDTHS.get(sign) or _unit(sign) for sign in text)
    return units * (SMALL if "small" in style else SIZE) / 1000 * (1.07 if "bold" in style else 1.0)


def widest(texts: Iterable[str], style: str = "") -> float:
    """The width of the widest text, 0 if there is none."""
    return max((text_width(text, style) for text in texts), default=0.0)


def _unit(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return _SQUARE if unicodedata.east_asian_width(sign) in "FW" else _OTHER


def fitting(text: str, room: float, style: str = "") -> str:
    """The text, or as much of its beginning as there is room for and an ellipsis."""
    if text_width(text, style) <= room:
        return text
    end = len(text)
    while end and text_width(text[:end] + "…", style) > room:
        # A step of a letter at a time would be slow for a text of many lines.
        end -= max(1, int((text_width(text[:end], style) - room) / _SQUARE / SIZE * 1000))
    return text[:end].rstrip() + "…"


def wrapped(text: str, room: float, style: str = "", *, most: int = 12) -> list[str]:
    """The text on lines of this room, broken between words; a longer word is cut, and hard spaces hold.

    What has no room on so many lines is left out, and an ellipsis says so.
    """
    lines: list[str] = []
    for word in filter(None, text.split(" ")):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, style) <= room:
            lines[-1] = longer
        elif len(lines) == most:
            lines[-1] = fitting(f"{lines[-1]} …", room, style)
            break
        else:
            lines.append(fitting(word, room, style))
    return lines


class View(NamedTuple):
    """The view of a sheet: its upper left corner and its size, as SVG writes numbers."""

    x: str
    y: str
    width: str
    height: str


class Sheet:
    """What is drawn in a room of so many pixels from left to right, and how far it reaches."""

    def __init__(self, room: float, height: float = 0.0) -> None:
        self.room, self.width, self.height = room, 0.0, height
        self._parts: list[str] = []

    @property
    def shapes(self) -> str:
        """Everything drawn, as elements of SVG."""
        return "".join(self._parts)

    @property
    def view(self) -> View:
        """The view that holds it all."""
        sides = (-MARGIN, -MARGIN, math.ceil(self.width + 2 * MARGIN), math.ceil(self.height + 2 * MARGIN))
        return View(*map(_place, sides))

    def lines(self, style: str, lines: Iterable[Line]) -> None:
        """Straight lines of one style."""
        lines = list(lines)
        self._path(
            style, "".join(_segment(*line) for line in lines), [max(line[0], line[2]) for line in lines]
        )

    def points(self, style: str, points: Iterable[tuple[float, float]]) -> None:
        """A round point at each place: the style gives its size as the width of a line with round ends."""
        points = list(points)
        self._path(style, "".join(f"M{_place(x)} {_place(y)}h0" for x, y in points), [x for x, _ in points])

    def curve(
        self,
        style: str,
        points: Sequence[tuple[float, float]],
        *,
        closed: bool = False,
        fill: str | None = None,
    ) -> None:
        """A line through the places, or the area they enclose."""
        ends = "L".join(f"{_place(x)} {_place(y)}" for x, y in points)
        self._path(style, f"M{ends}{'Z' if closed else ''}", [x for x, _ in points], fill)

    def _path(self, style: str, d: str, xs: Sequence[float], fill: str | None = None) -> None:
        if xs:
            self.width = max(self.width, *xs)
            painted = f'fill="{fill}"' if fill else f'class="{style}"'
            self._parts.append(f'<path {painted} d="{d}"/>')

    def box(
        self, style: str, x: float, y: float, width: float, height: float, **more: str | float | None
    ) -> None:
        """A rectangle; `more` are attributes: `fill`, `fill_opacity`, `rx` (round corners, in pixels)."""
        attributes = "".join(
            f' {key.replace("_", "-")}="{value if isinstance(value, str) else f"{value:.3g}"}"'
            for key, value in more.items()
            if value is not None
        )
        named = f' class="{style}"' if style else ""
        self.width = max(self.width, x + width)
        self._parts.append(
            f'<rect{named} x="{_place(x)}" y="{_place(y)}" width="{_place(width)}" height="{_place(height)}"'
            f"{attributes}/>"
        )

    def dot(self, style: str, x: float, y: float, radius: float = 4.8) -> None:
        """A dot."""
        self.width = max(self.width, x + radius)
        self._parts.append(
            f'<circle class="{style}" cx="{_place(x)}" cy="{_place(y)}" r="{_place(radius)}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: object,
        style: str = "",
        *,
        room: float = math.inf,
        fill: str | None = None,
    ) -> None:
        """A text whose middle line is at `y`; it is cut where it would take more than `room`."""
        words = clean(text)
        if not words:
            return
        if room < math.inf:
            words = fitting(words, room, style)
        share = 0.0 if "end" in style else 0.5 if "middle" in style else 1.0
        self.width = max(self.width, x + share * text_width(words, style))
        # Capital letters and figures are 0.72 of the size tall: this puts their middle at `y`.
        base = y + 0.36 * (SMALL if "small" in style else SIZE)
        named = f' class="{style}"' if style else ""
        filled = f' fill="{fill}"' if fill else ""
        self._parts.append(
            f'<text x="{_place(x)}" y="{_place(base)}"{named}{filled}>{html.escape(words)}</text>'
        )

    def notes(self, notes: Iterable[str], x: float = 0.0, style: str = "soft", *, most: int = 12) -> None:
        """Texts below everything drawn so far, each on lines that end with the room, so many at most."""
        for note in notes:
            for line in wrapped(clean(note), self.room - x, style, most=most):
                self.text(x, self.height + LINE_HEIGHT / 2, line, style)
                self.height += LINE_HEIGHT

    def legend(self, fills: Mapping[str, str], x: float = 0.0) -> None:
        """Squares with words, next to each other as far as there is room, below everything drawn so far."""
        left_edge = x
        for word, fill in fills.items():
            width = 17 + text_width(word)
            if left_edge > x and left_edge + width > self.room:
                left_edge, self.height = x, self.height + LINE_HEIGHT + 2
            self.box("outlined", left_edge, self.height + 2, 12, 12, fill=fill)
            self.text(left_edge + 17, self.height + 8, word)
            left_edge += width + 16
        self.height += LINE_HEIGHT + 2


def _segment(x: float, y: float, x2: float, y2: float) -> str:
    """A line as a part of a path."""
    if y == y2:
        return f"M{_place(x)} {_place(y)}H{_place(x2)}"
    if x == x2:
        return f"M{_place(x)} {_place(y)}V{_place(y2)}"
    return f"M{_place(x)} {_place(y)}L{_place(x2)} {_place(y2)}"


def _place(value: float) -> str:
    """A length with at most one decimal."""
    return f"{value + 0.0:.1f}".removesuffix(".0") if abs(value) >= 0.05 else "0"


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers at even steps of 1, 2 or 5, from `low` or below it to `high` or above it.

    About `most` of them. One value alone stands between its neighbours a tenth of its size away.
    """
    if not high > low:
        room = abs(low) / 10 or 1.0
        low, high = low - room, high + room
    rough = (high - low) / max(1, most - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """The ticks with the same number of decimals, as few as tell them apart."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else abs(ticks[0]) or 1.0
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if max(map(abs, ticks)) >= MILLION:
        return [number(tick, ".3g") for tick in ticks]
    return [f"{tick + 0.0:,.{decimals}f}".replace("-", "−") for tick in ticks]
