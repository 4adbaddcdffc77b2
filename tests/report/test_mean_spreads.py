"""The chart of means with two standard deviations: bars where there are any, and the figures as text."""

from typing import Any

from tests.report.charts import styled

from vivavoce.report.charts import Spreads, mean_spreads
from vivavoce.report.charts.svg import Drawing

OF = Spreads("mixtures", "runs", "between mixtures", "between runs")


def source(name: str, value: float, mixtures: float | None, runs: float | None) -> dict[str, Any]:
    return {"candidate": name, "value": value, "mixtures": mixtures, "runs": runs, "reason": None}


def test_a_broad_and_a_thin_bar_are_one_sd_to_both_sides() -> None:
    chart = mean_spreads([source("a", 0.5, 0.1, 0.05), source("b", 0.4, None, 0.05)], OF)
    assert isinstance(chart, Drawing)
    assert 1 == len(styled(chart, "thick"))
    assert "a 0.500 ± 0.100, 0.050; b 0.400 ± –, 0.050" in str(chart)
    assert "broad: one sd between mixtures, thin: one sd between runs" in str(chart)


def test_one_run_has_no_chart() -> None:
    chart = mean_spreads([source("a", 0.5, None, None)], OF)
    assert "No chart: there are no two runs or mixtures to tell apart." == chart


def test_equal_means_without_any_spread_are_drawn() -> None:
    assert isinstance(mean_spreads([source("a", 0.5, 0.0, 0.0), source("b", 0.5, 0.0, 0.0)], OF), Drawing)


def test_a_name_is_text_and_never_markup() -> None:
    chart = mean_spreads([source("<script>alert(1)</script>", 0.5, 0.1, 0.0)], OF)
    assert "<script>" not in str(chart)
