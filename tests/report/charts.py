"""What tests of charts share: the rows behind a chart, and the texts of a drawing."""

from typing import Any
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def data(chart: Any, mark: str) -> list[list[dict[str, Any]]]:
    """The rows of each layer with this mark."""
    spec = chart.to_dict(validate=False)
    sets = spec.get("datasets", {})

    def rows(layer: dict[str, Any]) -> list[dict[str, Any]]:
        own = layer["data"]
        return own["values"] if "values" in own else sets[own["name"]]

    return [rows(layer) for layer in spec["layer"] if layer["mark"]["type"] == mark]


def texts(svg: str | None) -> list[str]:
    """Every text of a drawing."""
    assert svg is not None
    return [" ".join(t.itertext()) for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def told(svg: str | None) -> str:
    """What a drawing says to those who do not see it."""
    assert svg is not None
    return ElementTree.fromstring(svg).attrib["aria-label"]


def assert_harmless(svg: str | None) -> None:
    """Nothing but shapes and texts, no handler and no address."""
    assert svg is not None
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag.removeprefix(SVG) in (
            *("svg", "g", "path", "rect", "line", "text", "tspan", "title"),
        )
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
