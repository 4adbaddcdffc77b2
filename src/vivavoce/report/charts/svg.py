"""What all charts share: colours that stay apart in grey, one typeface, and SVG for files and for pages.

A chart is drawn in the light colours of `PALETTE` and stands alone on white. Put into a page (`__html__`) its
colours become the page's CSS variables of the same names, so that it turns with the page in the dark and in
print. Cells are filled with a colour at most as strong as `STRONGEST`, so that `INK` can be read on them.
"""

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.core.text import one_line, printable

if TYPE_CHECKING:
    import altair as alt


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
INK, SOFT, LINE, PAPER, WASH, MARK, BAND, GOOD, BAD = (light for light, _ in PALETTE.values())
STRONGEST = 0.45
DOT: Mapping[str, Any] = {"shape": "circle", "fill": MARK, "stroke": PAPER, "strokeWidth": 1.5, "opacity": 1}
"""The paper around it keeps the dot apart from the band it lies on."""
# Metrics of the first are those of the second and third: text takes the room that was measured for it.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
LONGEST_NAME, LONGEST_TELLING = 60, 1_500
Line = tuple[float, float, float, float]
"""x, y and x2, y2, in pixels."""
_TAG = re.compile(r"<[^<>]*>")
_IDLE = re.compile(
    r' (?:pointer-events|aria-roledescription|aria-hidden|role|class|xmlns:xlink)="[^"]*"| opacity="1"'
    rf'| font-family="{FONT}"'
)
_NOTHING = re.compile(r'<path(?: d="(?:M0,0h0v0h0Z)?"| display="none")+/>|<path d="[^"]*"/>')
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
_COLOUR = re.compile(r' (fill|stroke)="(#[0-9a-f]{6})"')
_VARIABLE = {light: f"var({name},{light})" for name, (light, _) in PALETTE.items()}
_UNSEEN = re.compile(r"[\x00-\x1f\ufffe\uffff]")


class Drawing(str):
    """A chart as SVG that stands alone; put into a page by a template, it takes the page's colours."""

    __slots__ = ()

    def __html__(self) -> str:
        """The drawing for a page: colours as CSS variables, and no title that would hover over it."""
        return _TAG.sub(_turning, re.sub(r"(<svg [^<>]*>)<title>[^<>]*</title>", r"\1", self, count=1))


def _turning(tag: re.Match[str]) -> str:
    """A tag with its colours as a style, where the page has a variable for them."""
    colours = [(what, _VARIABLE[colour]) for what, colour in _COLOUR.findall(tag[0]) if colour in _VARIABLE]
    if not colours:
        return tag[0]
    bare = _COLOUR.sub(lambda colour: "" if colour[2] in _VARIABLE else colour[0], tag[0])
    style = ";".join(f"{what}:{colour}" for what, colour in colours)
    return re.sub(r"(/?>)$", rf' style="{style}"\1', bare)


def clean(text: object) -> str:
    """Text that XML can hold: what has no place there is shown as a replacement mark."""
    return _UNSEEN.sub("\ufffd", printable(str(text).encode("utf-8", "replace").decode("utf-8")))


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
        again, n = name, 2
        while again in result:
            again, n = f"{name} ({n})", n + 1
        result.append(again)
    return result


def table(rows: Sequence[dict[str, Any]]) -> "alt.Chart":
    """A chart without marks on these rows."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def composed(layers: Sequence["alt.Chart"], *, width: float, height: Any, says: str) -> "alt.LayerChart":
    """Layers as one chart in the report's style; `says` describes it for screen readers."""
    import altair as alt

    words: dict[str, Any] = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    chart: alt.LayerChart = (
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
    return chart


def places(x: str = "x", y: str = "y") -> dict[str, Any]:
    """Places in pixels from the upper left corner, without scale or axis."""
    import altair as alt

    return {"x": alt.X(f"{x}:Q", scale=None, axis=None), "y": alt.Y(f"{y}:Q", scale=None, axis=None)}


def strokes(lines: Sequence[Line], **style: Any) -> "alt.Chart":
    """A straight line each."""
    import altair as alt

    rows = [{"x": x, "y": y, "x2": x2, "y2": y2} for x, y, x2, y2 in lines]
    ends = {"x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q")}
    chart: alt.Chart = table(rows).mark_rule(**style).encode(**places(), **ends)
    return chart


def words(rows: Sequence[dict[str, Any]], **style: Any) -> "alt.Chart":
    """A text at each place: rows with `x`, `y` and `text`."""
    style = {"align": "center", "baseline": "middle"} | style
    chart: alt.Chart = table(rows).mark_text(**style).encode(**places(), text="text:N")
    return chart


def boxes(rows: Sequence[dict[str, Any]], **style: Any) -> "alt.Chart":
    """A rectangle each: rows with `x`, `x2`, `y`, `y2`, and `fill` and `strength` if these differ."""
    import altair as alt

    channels: dict[str, Any] = {}
    if any("fill" in row for row in rows):
        channels = {"fill": alt.Fill("fill:N", scale=None)}
    if any("strength" in row for row in rows):
        channels["fillOpacity"] = alt.FillOpacity("strength:Q", scale=None)
    chart: alt.Chart = (
        table(rows).mark_rect(**style).encode(**places(), x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), **channels)
    )
    return chart


def mixed(light: tuple[int, int, int], dark: tuple[int, int, int], share: float) -> str:
    """The colour so far on the way from light, 0, to dark, 1; beyond the ends it is theirs."""
    share = min(1.0, max(0.0, share))
    rgb = (round(a + (b - a) * share) for a, b in zip(light, dark, strict=True))
    return "#" + "".join(f"{part:02x}" for part in rgb)


def svg(chart: "alt.LayerChart", title: str = "") -> Drawing:
    """The chart as SVG, the same each time; texts are escaped, nothing in it is fetched or run."""
    import vl_convert

    spec = json.dumps(chart.to_dict(validate=False), sort_keys=True, allow_nan=False)
    raw = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
    slim = _TAG.sub(lambda tag: _LONG_NUMBER.sub(_rounded, _IDLE.sub("", tag[0])), raw)
    slim = _NOTHING.sub("", slim)
    description = chart.description if isinstance(chart.description, str) else ""
    says = ". ".join(filter(None, (clean(title), description)))
    named = f"<title>{html.escape(clean(title))}</title>" if title else ""
    root = f'<svg role="img" aria-label="{html.escape(says)}" font-family="{FONT}" '
    return Drawing(re.sub(r"<svg ([^<>]*>)", lambda tag: f"{root}{tag[1]}{named}", slim, count=1))


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


class Figure(NamedTuple):
    """A chart as SVG with a safe file name, or the sentence in its place."""

    name: str
    title: str
    svg: Drawing | None
    sentence: str | None = None


def figure(title: str, chart: "alt.LayerChart | str", *words: str) -> Figure:
    """The chart drawn; `words` make its file name."""
    name = "-".join(filter(None, map(_slug, words)))
    if isinstance(chart, str):
        return Figure(name, title, None, chart)
    return Figure(name, title, svg(chart, title))


def _slug(text: str) -> str:
    """Letters a to z and digits of a text, the rest as single hyphens; at most 60."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].rstrip("-")


def no_chart(rows: Iterable[Mapping[str, Any]], otherwise: str) -> str:
    """The sentence in a chart's place: the reasons that the rows give, each once, or else another."""
    reasons = dict.fromkeys(clean(row["reason"]) for row in rows if row.get("reason"))
    return f"No chart: {'; '.join(reasons)}." if reasons else otherwise
