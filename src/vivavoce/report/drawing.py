"""What all charts share: colours that stay apart in grey, one typeface, and SVG that a page can hold.

The colours of lines and texts are those of `page.html`, which turns them around in the dark by name; a file
of its own stands on its light panel.
"""

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    *("BAND", "INK", "LINE", "MARK", "PAPER", "SOFT", "WASH"),
    *("Line", "clean", "composed", "places", "strokes", "svg", "table", "unique", "words"),
]

INK, SOFT, LINE, PAPER = "#1b2430", "#5b6675", "#dde3ea", "#ffffff"
WASH, MARK, BAND = "#f5f7fa", "#0b6e75", "#9fd0d3"
# Metrics of the first are those of the second and third: text takes the room that was measured for it.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
Line = tuple[float, float, float, float]
"""x, y and x2, y2, in pixels."""
_TAG = re.compile(r"<[^<>]*>")
_IDLE = re.compile(r' (?:pointer-events|aria-roledescription|role|xmlns:xlink)="[^"]*"| opacity="1"')
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


def clean(text: object) -> str:
    """Text that XML can hold: what has no place there is shown as a replacement mark."""
    return _UNSEEN.sub("\ufffd", str(text).encode("utf-8", "replace").decode("utf-8"))


def unique(names: Iterable[object]) -> list[str]:
    """The names, cleaned, with a number after those that come again: charts place rows by name."""
    made: list[str] = []
    for name in map(clean, names):
        again, n = name, 2
        while again in made:
            again, n = f"{name} ({n})", n + 1
        made.append(again)
    return made


def table(rows: Sequence[dict[str, Any]]) -> "alt.Chart":
    """A chart without marks on these rows."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def composed(layers: Sequence["alt.Chart"], *, width: float, height: Any, says: str) -> "alt.LayerChart":
    """Layers as one chart in the report's style; `says` is what a reader who sees nothing is told."""
    import altair as alt

    words: dict[str, Any] = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    made: alt.LayerChart = (
        alt.layer(*layers)
        .properties(width=width, height=height, description=clean(says), background=PAPER)
        .configure(font=FONT, aria=False, padding=8)
        .configure_view(stroke=None)
        .configure_axis(
            **words, labelColor=INK, titleColor=SOFT, gridColor=LINE, domainColor=SOFT, tickColor=SOFT
        )
        .configure_legend(**words, labelColor=INK, labelLimit=0, symbolStrokeColor=SOFT)
        .configure_text(color=INK, fontSize=12)
    )
    return made


def places(x: str = "x", y: str = "y") -> dict[str, Any]:
    """Places in pixels from the upper left corner, without scale or axis."""
    import altair as alt

    return {"x": alt.X(f"{x}:Q", scale=None, axis=None), "y": alt.Y(f"{y}:Q", scale=None, axis=None)}


def strokes(lines: Sequence[Line], **style: Any) -> "alt.Chart":
    """A straight line each."""
    import altair as alt

    rows = [{"x": x, "y": y, "x2": x2, "y2": y2} for x, y, x2, y2 in lines]
    ends = {"x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q")}
    made: alt.Chart = table(rows).mark_rule(**style).encode(**places(), **ends)
    return made


def words(rows: Sequence[dict[str, Any]], **style: Any) -> "alt.Chart":
    """A text at each place: rows with `x`, `y` and `text`."""
    style = {"align": "center", "baseline": "middle"} | style
    made: alt.Chart = table(rows).mark_text(**style).encode(**places(), text="text:N")
    return made


def svg(chart: "alt.LayerChart") -> str:
    """The chart as SVG, the same each time; texts are escaped, nothing in it is fetched or run."""
    import vl_convert

    spec = json.dumps(chart.to_dict(validate=False), sort_keys=True, allow_nan=False)
    drawn = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    says = html.escape(chart.description if isinstance(chart.description, str) else "")
    slim = _TAG.sub(lambda tag: _IDLE.sub("", tag[0]), drawn)
    return slim.replace("<svg ", f'<svg role="img" aria-label="{says}" ', 1)
