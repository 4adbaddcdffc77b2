"""What all charts share: colours that stay apart in grey, one typeface, and SVG for files and for pages.

A drawing as a file bears its colours itself and stands alone on white. Put into a page (`__html__`) it bears
classes instead, whose colours are the page's CSS variables (`CHART_CSS`): it turns with the page in the dark
and in print, and it comes in two widths, of which a phone shows the narrow one. Cells are filled with a
colour at most as strong as `STRONGEST`, so that `INK` can be read on them.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self

from vivavoce.core.text import one_line
from vivavoce.report.charts.sheet import FONT, SIZE, SMALL, Sheet, clean

PALETTE = {
    "--ink": ("#1b2430", "#e6ebf1"),  # texts and thin lines
    "--soft": ("#566171", "#a9b5c3"),  # texts and lines of less weight
    "--grid": ("#dde3ea", "#34404e"),  # lines that only guide the eye
    "--paper": ("#ffffff", "#131a22"),
    "--wash": ("#f5f7fa", "#1b242e"),
    "--mark": ("#0b6e75", "#6fd3d9"),
    "--band": ("#4f9a9f", "#3f8a90"),
    "--good": ("#1f5fa8", "#7db4f0"),  # blue and orange stay apart for every kind of colour vision
    "--bad": ("#b3510a", "#f0a35e"),
}
"""The CSS variables of a page that holds charts: each with its light and its dark colour."""
INK, SOFT, LINE, PAPER, WASH, MARK, BAND, GOOD, BAD = PALETTE
STRONGEST = 0.45


def _line(colour: str, width: float, **attributes: object) -> dict[str, object]:
    return {"stroke": colour, "stroke-width": width, "fill": "none", **attributes}


STYLES: Mapping[str, Mapping[str, object]] = {
    # Texts
    "soft": {"fill": SOFT},
    "small": {"font-size": SMALL},
    "bold": {"font-weight": "bold"},
    "middle": {"text-anchor": "middle"},
    "end": {"text-anchor": "end"},
    # A text on a line is read by the paper around it.
    "halo": {"stroke": PAPER, "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke"},
    # Lines
    "grid": _line(LINE, 1),
    "axis": _line(SOFT, 1),
    "thin": _line(INK, 1.5),
    "fine": _line(INK, 1),
    "thick": _line(BAND, 8),
    "half": _line(BAND, 6),  # the middle half of the scores
    "error": _line(BAND, 4),
    "open": _line(SOFT, 1.5, **{"stroke-dasharray": "2 3"}),
    "diagonal": _line(INK, 1, **{"stroke-dasharray": "4 4"}),
    "promise": _line(BAD, 1.5, **{"stroke-dasharray": "6 4"}),
    "joined": _line(MARK, 5),
    "curve": _line(MARK, 2),
    "points": _line(BAND, 4.8, **{"stroke-linecap": "round"}),
    "cloud": _line(BAND, 4.2, **{"stroke-linecap": "round", "stroke-opacity": 0.6}),
    "dust": _line(BAND, 2.6, **{"stroke-linecap": "round", "stroke-opacity": 0.6}),
    "winner": _line(GOOD, 2),
    "loser": _line(BAD, 2),
    # Shapes. The paper around a dot keeps it apart from the band it lies on.
    "dot": {"fill": MARK, "stroke": PAPER, "stroke-width": 1.5},
    "hollow": {"fill": PAPER, "stroke": MARK, "stroke-width": 1.8},
    "chosen": {"fill": INK, "stroke": PAPER, "stroke-width": 1.5},
    "outlined": {"stroke": SOFT, "stroke-width": 0.5},
    "span": {"fill": BAND, "stroke": SOFT, "stroke-width": 0.5},
    "area": {"fill": BAND},
    "corner": {"fill": INK},
    "haze": {"fill": BAND, "fill-opacity": 0.3},
    "framed": {"stroke": LINE, "stroke-width": 0.5},
    "blank": {"fill": LINE, "fill-opacity": 0.5},
    "wash": {"fill": WASH},
    "mark": {"fill": MARK},
    "good": {"fill": GOOD},
    "bad": {"fill": BAD},
}
"""What a class of a shape or text means: as attributes in a file, as a rule of CSS in a page."""
LONGEST_NAME, LONGEST_TELLING = 60, 1_500
_CLASS = re.compile(r' class="([a-z ]+)"')


def _css() -> str:
    rules = [
        f".v-chart{{font:{SIZE}px {FONT};fill:var(--ink,{PALETTE[INK][0]})}}",
        ".v-chart svg{display:block;max-width:100%;height:auto}.v-chart .v-narrow{display:none}",
        # A sheet of A4 has room for the wide one.
        "@media screen and (max-width:44rem){"
        ".v-chart .v-wide{display:none}.v-chart .v-narrow{display:block}}",
    ]
    for name, style in STYLES.items():
        values = (f"{key}:{_in_css(key, value)}" for key, value in style.items())
        rules.append(f".v-{name}{{{';'.join(values)}}}")
    return "\n".join(rules) + "\n"


def _in_css(key: str, value: object) -> str:
    if value in PALETTE:
        return f"var({value},{PALETTE[str(value)][0]})"
    return f"{value}px" if key == "font-size" else str(value)


CHART_CSS = _css()
"""The rules of CSS that a page with charts needs; without its variables the light colours hold."""


class Drawing(str):
    """A chart as SVG that stands alone; in a page it takes the page's colours and width."""

    __slots__ = ("_narrow", "_says", "_title", "_wide")
    _wide: Sheet
    _narrow: Sheet | None
    _says: str
    _title: str

    def __new__(cls, wide: Sheet, narrow: Sheet | None, says: str, title: str = "") -> Self:
        """The drawing in its widths, with what it says to those who do not see it."""
        label = html.escape(". ".join(filter(None, (clean(title), clean(says)))))
        named = f"<title>{html.escape(clean(title))}</title>" if title else ""
        x, y, width, height = wide.view
        shapes = _CLASS.sub(_attributes, wide.shapes)
        drawing = super().__new__(
            cls,
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" width="{width}" '
            f'height="{height}" viewBox="{x} {y} {width} {height}" font-family="{FONT}" font-size="{SIZE}" '
            f'fill="{PALETTE[INK][0]}">{named}<rect x="{x}" y="{y}" width="{width}" height="{height}" '
            f'fill="{PALETTE[PAPER][0]}"/>{shapes}</svg>',
        )
        drawing._wide, drawing._narrow, drawing._says, drawing._title = wide, narrow, says, title
        return drawing

    def titled(self, title: str) -> "Drawing":
        """The same under a title, which is said first."""
        return Drawing(self._wide, self._narrow, self._says, title)

    def __html__(self) -> str:
        """The drawing for a page that has `CHART_CSS`: an image with a text, in the width that fits."""
        label = html.escape(". ".join(filter(None, (clean(self._title), clean(self._says)))))
        if self._narrow is None:
            svgs = _in_page(self._wide, "")
        else:
            svgs = _in_page(self._wide, ' class="v-wide"') + _in_page(self._narrow, ' class="v-narrow"')
        return f'<div class="v-chart" role="img" aria-label="{label}">{svgs}</div>'


def _attributes(classes: re.Match[str]) -> str:
    """The attributes of classes, in the light colours."""
    merged: dict[str, object] = {}
    for name in classes[1].split():
        merged |= STYLES[name]
    return "".join(
        f' {key}="{PALETTE[str(value)][0] if value in PALETTE else value}"' for key, value in merged.items()
    )


def _in_page(sheet: Sheet, page: str) -> str:
    x, y, width, height = sheet.view
    shapes = _CLASS.sub(lambda m: f' class="{" ".join("v-" + name for name in m[1].split())}"', sheet.shapes)
    return f'<svg{page} width="{width}" height="{height}" viewBox="{x} {y} {width} {height}">{shapes}</svg>'


WIDE, NARROW = 632.0, 322.0
"""Room for a drawing on a desk and on a phone, in pixels."""


def drawing(says: str, draw: Callable[[float], Sheet]) -> Drawing:
    """What `draw` makes of the room on a desk and, unless the first is as narrow, on a phone."""
    wide = draw(WIDE)
    return Drawing(wide, draw(NARROW) if wide.width > NARROW else None, says)


def short(name: object) -> str:
    """A name for a sentence: cleaned, on one line, cut where it is long."""
    return one_line(clean(name), LONGEST_NAME)


def listed(parts: Iterable[str]) -> str:
    """The parts of a chart's description, as far as there is room, and how many more there are."""
    fitting: list[str] = []
    room, all_parts = LONGEST_TELLING, list(parts)
    for part in all_parts:
        room -= len(part) + 2
        if room < 0 and fitting:
            return f"{'; '.join(fitting)}; and {len(all_parts) - len(fitting)} more"
        fitting.append(part)
    return "; ".join(fitting)


def unique(names: Iterable[object]) -> list[str]:
    """The names, cleaned, with a number after those that come again: charts place rows by name."""
    result: list[str] = []
    for name in map(clean, names):
        new_name, n = name, 2
        while new_name in result:
            new_name, n = f"{name} ({n})", n + 1
        result.append(new_name)
    return result


def mixed(light: tuple[int, int, int], dark: tuple[int, int, int], share: float) -> str:
    """The colour so far on the way from light, 0, to dark, 1; beyond the ends it is theirs."""
    share = min(1.0, max(0.0, share))
    rgb = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return "#" + "".join(f"{part:02x}" for part in rgb)


class Figure(NamedTuple):
    """A chart as SVG with a safe file name, or the sentence in its place."""

    name: str
    title: str
    svg: Drawing | None
    sentence: str | None = None


def figure(title: str, chart: Drawing | str, *words: str) -> Figure:
    """The chart under its title; `words` make its file name."""
    name = "-".join(filter(None, map(_slug, words)))
    if isinstance(chart, Drawing):
        return Figure(name, title, chart.titled(title))
    return Figure(name, title, None, chart)


def _slug(text: str) -> str:
    """Letters a to z and digits of a text, the rest as single hyphens; at most 60."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].rstrip("-")


def no_chart(rows: Iterable[Mapping[str, Any]], otherwise: str) -> str:
    """The sentence in a chart's place: the reasons that the rows give, each once, or else another."""
    reasons = dict.fromkeys(clean(row["reason"]) for row in rows if row.get("reason"))
    return f"No chart: {'; '.join(reasons)}." if reasons else otherwise
