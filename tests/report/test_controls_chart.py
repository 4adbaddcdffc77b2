"""The chart of control cases: a sign for each verdict, never colour alone, and names as text."""

from typing import Any

from tests.report.charts import styled

from vivavoce.report import charts
from vivavoce.report.charts.svg import Drawing

VERDICTS = {"padded": "fooled", "noise": "not_fooled", "praise": None}


def control(measure: str, kind: str, **more: Any) -> dict[str, Any]:
    """A row of the study with what the chart reads."""
    return {"measure": measure, "benchmark": "exam", "control": kind, "p_greater": 0.25, "difference": 0.1,
            "verdict": VERDICTS.get(kind, "not_shown"), "reason": None, **more}  # fmt: skip


def texts(chart: Drawing | str, **form: Any) -> list[str]:
    return [e.text or "" for style in ("bold", "middle", "soft") for e in styled(chart, style, **form)]


def test_each_verdict_has_its_own_sign_and_the_text_says_it() -> None:
    chart = charts.controls_grid([control("judge", kind) for kind in ("padded", "noise", "praise", "empty")])
    assert {"✗", "✓", "–", "?"} == {text for text in texts(chart) if text in "✗✓–?"}
    assert "judge: padded fooled; judge: noise not fooled; judge: praise no verdict" in str(chart)


def test_a_phone_goes_on_in_a_further_grid() -> None:
    rows = [control("judge", f"kind{k}") for k in range(12)]
    chart = charts.controls_grid([*rows, control("judge", "all")])
    assert isinstance(chart, Drawing)
    assert chart._narrow is not None
    assert chart._narrow.width <= 322
    assert chart._narrow.height > chart._wide.height


def test_without_a_score_there_is_a_sentence() -> None:
    row = control("judge", "padded", difference=None, reason="not scored")
    assert "No chart: not scored." == charts.controls_grid([row])


def test_a_hostile_name_stays_text() -> None:
    row = control("<script>alert(1)</script>", "<b>padded</b>")
    drawing = str(charts.controls_grid([row]))
    assert "<script>" not in drawing
    assert "<b>" not in drawing
