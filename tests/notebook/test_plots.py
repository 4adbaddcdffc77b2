"""`finding.plot()`: drawings that stand alone, and interactive charts of the numbers in the rows."""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.hostile import SHORT

from vivavoce.core.errors import ExtraError, InputError, SelectionError, StoreError
from vivavoce.core.records import Finding
from vivavoce.notebook.markup import shortened


def estimates(*values: float | None, names: tuple[str, ...] = ("one", "two", "three")) -> Finding:
    shared = {"benchmark": "b", "role": "candidate", "metric": "m", "criterion": "c", "rater": "",
              "view": "mean", "n_items": 20, "n_failed": 0, "coverage": 1.0, "reason": None}  # fmt: skip
    rows = tuple(
        {**shared, "candidate": name, "estimate": v, "low": v and v - 0.1, "high": v and v + 0.1}
        for name, v in zip(names, values, strict=False)
    )
    return Finding(study="estimates", rows=rows)


def comparison(difference: float | None, **more: Any) -> Finding:
    row = {"benchmark": "b", "a": "one", "b": "two", "metric": "m", "criterion": "c", "rater": "",
           "n_items": 20, "difference": difference, "low": -0.1, "high": 0.3, "low_family": -0.2,
           "high_family": 0.4, "margin": None, "set_low": 1, "set_high": 1, "verdict": "one is better.",
           "verdict_code": "better", "favours": "a", "reason": None, "scale": None, "family": 1}  # fmt: skip
    return Finding(study="compare", rows=(row | more,))


def test_a_plot_is_an_svg_that_stands_alone(tmp_path: Path) -> None:
    plot = estimates(0.5, 0.7).plot()
    (path,) = plot.save(tmp_path / "plot.svg")
    root = ElementTree.parse(path).getroot()
    assert "{http://www.w3.org/2000/svg}svg" == root.tag
    assert {"one", "two", "0.500 (0.400 to 0.600)"} <= {element.text for element in root.iter()}
    assert "<svg" in plot._repr_html_()
    assert "m: c on b" in repr(plot)


def test_several_drawings_go_into_a_folder(tmp_path: Path) -> None:
    first, second = estimates(0.5, 0.7), estimates(0.1, 0.2)
    both = Finding(study="score", rows=(*first.rows, *(row | {"metric": "other"} for row in second.rows)))
    paths = both.plot().save(tmp_path / "plots")
    assert ["01-estimates-m-c-on-b.svg", "02-estimates-other-c-on-b.svg"] == [path.name for path in paths]
    assert 2 == len(both.plot().svgs)
    with pytest.raises(InputError, match="there are 2 drawings: give a folder"):
        both.plot().save(tmp_path / "both.svg")
    with pytest.raises(InputError, match=r"a drawing is written as SVG: name .*plot.png .svg"):
        first.plot().save(tmp_path / "plot.png")


def test_a_folder_in_the_way_of_a_drawing_is_named(tmp_path: Path) -> None:
    (tmp_path / "plot.svg").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*plot.svg"):
        estimates(0.5, 0.7).plot().save(tmp_path / "plot.svg")


def test_one_comparison_is_drawn_against_zero() -> None:
    (svg,) = comparison(0.1).plot().svgs
    assert "0.100 (−0.200 to 0.400)" in svg


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (estimates(), "estimates has no chart"),
        (estimates(0.5), "Fewer than two figures"),
        (estimates(None, None), "Fewer than two figures"),
        (comparison(None), "Fewer than two figures"),
        (Finding(study="vary", rows=({"a": 1},)), "vary has no chart. Its rows are in finding.table"),
    ],
)
def test_what_cannot_be_drawn_says_why(finding: Finding, words: str) -> None:
    with pytest.raises(SelectionError, match=words):
        finding.plot()


def test_an_interactive_chart_holds_the_rows_numbers() -> None:
    chart = estimates(0.5, None, 0.7).plot(interactive=True).to_dict()
    values = [point for data in chart.get("datasets", {}).values() for point in data] or chart["data"][
        "values"
    ]
    assert [("one", 0.5, 0.4), ("three", 0.7, pytest.approx(0.6))] == [
        (p["name"], p["value"], p["low"]) for p in values
    ]
    chart = comparison(0.1).plot(interactive=True).to_dict()
    assert "one − two" in str(chart)
    assert "-0.2" in str(chart)
    assert "zero" in str(chart)


def test_a_figure_that_is_not_finite_is_not_drawn() -> None:
    with pytest.raises(SelectionError, match="no row has a figure"):
        estimates(float("nan"), float("inf")).plot(interactive=True)
    assert "Infinity" not in str(comparison(0.1, low_family=float("-inf")).plot(interactive=True).to_json())


def test_other_studies_have_no_interactive_chart_and_say_so() -> None:
    with pytest.raises(
        SelectionError, match=r"not ranking: finding.plot\(\) draws those whose report has a chart"
    ):
        Finding(study="ranking", rows=()).plot(interactive=True)


def test_without_altair_a_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(
        ExtraError, match=r'an interactive chart needs altair: pip install "vivavoce\[plots\]"'
    ):
        estimates(0.5, 0.7).plot(interactive=True)
    assert estimates(0.5, 0.7).plot().svgs


def test_hostile_names_in_charts_are_text() -> None:
    finding = estimates(*(n / 30 for n in range(len(SHORT))), names=SHORT)
    (svg,) = finding.plot().svgs
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "title", "rect", "text", "path", "circle", "g", "ellipse", "tspan"}
    chart = finding.plot(interactive=True).to_dict()
    points = next(iter(chart.get("datasets", {"": []}).values()), None) or chart["data"]["values"]
    assert [shortened(name, 80) for name in SHORT] == [point["name"] for point in points]


def test_a_saved_drawing_is_its_owners_alone(tmp_path: Path) -> None:
    (path,) = estimates(0.5, 0.7).plot().save(tmp_path / "plot.svg")
    assert 0o600 == path.stat().st_mode & 0o777
