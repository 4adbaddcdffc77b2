"""What tests of charts share: the shapes and texts of a drawing, and where they are."""

import re
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from vivavoce.report.charts.distributions import HARD_SPACE
from vivavoce.report.charts.svg import Drawing

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = r"(-?[\d.]+)"


def sheets(drawing: str | None) -> list[Element]:
    """What a page holds of a drawing: its wide form and, unless that is narrow enough, a narrow one."""
    assert isinstance(drawing, Drawing)
    return list(ElementTree.fromstring(drawing.__html__().replace(HARD_SPACE, " ")))


def styled(drawing: str | None, *styles: str, narrow: bool = False) -> list[Element]:
    """The shapes and texts that bear all of these styles, in the order in which they are painted."""
    wanted = {f"v-{style}" for style in styles}
    return [e for e in sheets(drawing)[narrow] if wanted <= set(e.get("class", "").split())]


def segments(drawing: str | None, style: str, **form: Any) -> list[tuple[float, float, float, float]]:
    """The straight lines of a style: x, y and x2, y2."""
    lines = []
    for path in styled(drawing, style, **form):
        for x, y, to, end, end_y in re.findall(
            rf"M{NUMBER} {NUMBER}([HVL]){NUMBER}(?: {NUMBER})?", path.get("d", "")
        ):
            x2 = x if to == "V" else end
            y2 = {"H": y, "V": end, "L": end_y}[to]
            lines.append((float(x), float(y), float(x2), float(y2)))
    return lines


def spots(drawing: str | None, style: str, **form: Any) -> list[tuple[float, float]]:
    """The middles of the dots or points of a style."""
    found = styled(drawing, style, **form)
    return [(float(e.attrib["cx"]), float(e.attrib["cy"])) for e in found if "cx" in e.attrib] + [
        (float(x), float(y)) for e in found for x, y in re.findall(rf"M{NUMBER} {NUMBER}h0", e.get("d", ""))
    ]


def corners(drawing: str | None, style: str, **form: Any) -> list[list[tuple[float, float]]]:
    """The corners of each curve or area of a style."""
    return [
        [(float(x), float(y)) for x, y in re.findall(rf"{NUMBER} {NUMBER}", path.get("d", ""))]
        for path in styled(drawing, style, **form)
    ]


def boxes(drawing: str | None, **form: Any) -> list[dict[str, Any]]:
    """The rectangles: `x`, `x2`, `y`, `y2`, `style`, `fill`, `strength`, and the `text` on each."""
    sheet = sheets(drawing)[form.get("narrow", False)]
    found = []
    for e in sheet.iter("rect"):
        x, y, width, height = (float(e.attrib[key]) for key in ("x", "y", "width", "height"))
        text = " ".join(
            t.text or ""
            for t in sheet.iter("text")
            if x < float(t.attrib["x"]) < x + width and y < float(t.attrib["y"]) < y + height + 1
        )
        found.append({"x": x, "x2": x + width, "y": y, "y2": y + height, "fill": e.get("fill"), "text": text,
                      "style": e.get("class", "").replace("v-", ""),
                      "strength": float(e.get("fill-opacity", 1))})  # fmt: skip
    return found


def place(
    drawing: str | None, text: str, *, narrow: bool = False, first: bool = False
) -> tuple[float, float]:
    """Where a text begins, or its middle or end, by its style; and its base line. It stands there once."""
    found, *more = (e for e in sheets(drawing)[narrow].iter("text") if e.text == text)
    assert first or not more
    return float(found.attrib["x"]), float(found.attrib["y"])


def texts(svg: str | None) -> list[str]:
    """Every text of a drawing, hard spaces as spaces."""
    assert svg is not None
    return [
        " ".join(t.itertext()).replace(HARD_SPACE, " ")
        for t in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ]


def told(svg: str | None) -> str:
    """What a drawing says to those who do not see it."""
    assert svg is not None
    return ElementTree.fromstring(svg).attrib["aria-label"]


def width(svg: str | None) -> float:
    """How wide the file of a drawing is, in pixels."""
    assert svg is not None
    return float(ElementTree.fromstring(svg).attrib["width"])


def assert_harmless(svg: str | None) -> None:
    """Nothing but shapes and texts, no handler and no address, in the file and on the page."""
    assert svg is not None
    page = svg.__html__() if isinstance(svg, Drawing) else svg
    for element in (*ElementTree.fromstring(svg).iter(), *ElementTree.fromstring(page).iter()):
        assert element.tag.removeprefix(SVG) in ("svg", "div", "path", "rect", "circle", "text", "title")
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]


def reworded(name: str, k: int, *, edits: str = "rephrase") -> dict[str, Any]:
    """A row of the resilience study: of the measure `name`, or of the candidate."""
    share = {
        "wording_share": 0.1 * abs(k),
        "wording_share_low": 0.05 * abs(k),
        "wording_share_high": 0.2 * abs(k),
    }
    means = {"mean_before": 0.1 * k, "mean_after": 0.1 * ((k * 7) % 3)}
    return {
        "measure": name,
        "candidate": name,
        "edits": edits,
        "rephraser": None,
        "reason": None,
        **share,
        **means,
    }
