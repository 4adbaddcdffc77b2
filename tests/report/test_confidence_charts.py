"""The reliability diagram and the curve of risk against coverage: what they hold, and where they are."""

from typing import Any

import pytest
from tests.report.charts import assert_harmless, boxes, corners, segments, sheets, spots, texts, told
from tests.studies.test_calibration import RIGHT, SURE, boastful, scores, sharp

from vivavoce.report.charts import reliability_diagram, risk_coverage_curve
from vivavoce.report.charts.confidence import LEFT, SIDE, TOP
from vivavoce.report.charts.svg import figure
from vivavoce.report.section import section_of
from vivavoce.studies.reliability.calibration import Calibration

Rows = list[dict[str, Any]]


def rows(candidate: str = "B", **options: Any) -> Rows:
    values = {"A": boastful(), "B": sharp()}
    found = Calibration(**options).findings(scores({candidate: values.get(candidate, sharp())}))
    return [dict(r) | {"measure": "accuracy"} for r in found.rows]


def x(share: float) -> float:
    return LEFT + share * SIDE


def y(share: float, top: float = 1.0) -> float:
    return TOP + (1 - share / top) * SIDE


def close(place: float) -> Any:
    """Drawings have places to a tenth of a pixel."""
    return pytest.approx(place, abs=0.06)


def test_a_bin_is_a_dot_at_its_confidence_and_share_right_with_its_interval() -> None:
    """Half right at 50 %, all right at 95 %."""
    bins = [r for r in rows() if r["figure"] == "bin"]
    chart = reliability_diagram(rows())
    assert [(close(x(0.5)), close(y(0.5))), (close(x(0.95)), close(y(1)))] == spots(chart, "dot")
    for span, row in zip(segments(chart, "error"), bins, strict=True):
        assert (close(y(row["low"])), close(y(row["high"]))) == (span[1], span[3])


def test_the_diagonal_runs_from_corner_to_corner_and_the_strip_counts_answers() -> None:
    chart = reliability_diagram(rows())
    assert [(LEFT, y(0), x(1), y(1))] == segments(chart, "diagonal")
    one, other = boxes(chart)
    assert one["y2"] - one["y"] == pytest.approx(other["y2"] - other["y"])
    assert "answers by confidence, 200 in all" in texts(chart)


def test_the_curve_marks_the_threshold_and_the_promise() -> None:
    chart = risk_coverage_curve(rows())
    (line,) = corners(chart, "curve")
    assert [close(x(0.5)), close(x(1))] == [across for across, _ in line]
    (band,) = corners(chart, "haze")
    half = len(band) // 2
    assert all(high < low for (_, high), (_, low) in zip(band[:half], reversed(band[half:]), strict=True))
    (diamond,) = corners(chart, "chosen")
    assert (close(x(0.5)), close(y(0))) == (diamond[1][0], diamond[0][1])
    assert [(LEFT, close(y(0.1, top=0.4)), x(1), close(y(0.1, top=0.4)))] == segments(chart, "promise")
    words = texts(chart)
    assert "dashed: the promise, errors below 10 %" in words
    assert "diamond: confidence of 0.95 or more answers 50 %" in words


def test_both_are_narrow_enough_for_a_phone_and_drawn_once() -> None:
    assert [1, 1] == [
        len(sheets(draw(rows("x" * 200)))) for draw in (reliability_diagram, risk_coverage_curve)
    ]


def test_without_a_threshold_the_curve_says_so() -> None:
    words = texts(risk_coverage_curve(rows("A")))
    assert "no threshold keeps it with confidence" in words
    assert not [word for word in words if word.startswith("diamond")]


def test_those_who_do_not_see_are_told_every_point() -> None:
    assert "at 50 % right in 50 %, 0.40" in told(reliability_diagram(rows()))
    says = told(risk_coverage_curve(rows()))
    assert "50 % answered, 0.000 wrong; 100 % answered, 0.250 wrong" in says


def test_a_candidate_without_figures_has_a_sentence_in_place_of_charts() -> None:
    finding = Calibration().findings(scores({"A": (boastful(40)[0][:8], boastful(40)[1][:8])}))
    few = [dict(r) for r in finding.rows]
    assert "No chart: 8 cases: too few to tell." == reliability_diagram(few) == risk_coverage_curve(few)


def test_hostile_names_stay_names() -> None:
    name = "</text><script>alert(1)</script>"
    for draw in (reliability_diagram, risk_coverage_curve):
        drawing = figure(name, draw(rows(name)), "x").svg
        assert_harmless(drawing)
        assert any("alert(1)" in text for text in texts(drawing))


def test_the_section_draws_both_charts_of_each_candidate_and_tables_no_points() -> None:
    found = Calibration().findings(scores({"A": boastful(), "B": sharp()}, measures=(RIGHT, SURE)))
    own = section_of("calibration")
    labelled = [dict(r) | {"measure": "accuracy"} for r in found.rows]
    figures = list(own.charts(labelled))
    assert 4 == len(figures)
    assert {"Stated confidence on exam"} == {one.title for one in figures}
    assert 4 == len({one.name for one in figures})
    table = own.table(labelled)
    assert not {"bin", "curve"} & {row["figure"] for row in table}
    assert "calibration error" in own.methods


def test_more_candidates_than_fit_are_left_to_the_table() -> None:
    found = Calibration().findings(scores({f"model {k:02}": sharp(60) for k in range(14)}))
    figures = list(section_of("calibration").charts([dict(r) | {"measure": "accuracy"} for r in found.rows]))
    assert 25 == len(figures)
    assert "2 further candidates are in the table alone." == figures[-1].sentence
