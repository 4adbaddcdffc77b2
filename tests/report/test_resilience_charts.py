"""Charts of resilience: a line per measure, and candidates' places before and after."""

from typing import Any

import pytest
from tests.report.charts import reworded

from vivavoce.report.charts.resilience import order_before_and_after, wording_shares
from vivavoce.report.charts.svg import Drawing


def told(chart: Drawing | str) -> str:
    return str(chart)


def test_a_measure_has_its_share_and_its_interval() -> None:
    chart = wording_shares([reworded("BLEU", 1), reworded("judge", 4, edits="rephrase@qwen")])
    assert isinstance(chart, Drawing)
    assert "BLEU" in told(chart)
    assert "0.1 (0.05 to 0.2)" in told(chart)
    assert "judge, qwen" in told(chart)


def test_a_measure_without_a_share_gives_the_reason() -> None:
    rows = [reworded("BLEU", 1), reworded("judge", 2) | {"wording_share": None, "reason": "one candidate"}]
    assert "No chart: one candidate." == wording_shares(rows)
    assert "Fewer than two measures: the sentence says it all." == wording_shares(rows[:1])


def test_candidates_that_change_places_are_said() -> None:
    rows: list[dict[str, Any]] = [
        reworded("A", 0) | {"mean_before": 0.3, "mean_after": 0.1},
        reworded("B", 0) | {"mean_before": 0.2, "mean_after": 0.2},
        reworded("C", 0) | {"mean_before": 0.1, "mean_after": 0.05},
    ]
    assert "A from 1 to 2; B from 2 to 1" in told(order_before_and_after(rows))
    alike = [row | {"mean_after": row["mean_before"]} for row in rows]
    assert "all keep theirs" in told(order_before_and_after(alike))


@pytest.mark.parametrize("n", [0, 2])
def test_two_candidates_need_no_chart(n: int) -> None:
    rows = [reworded(name, 1) for name in "AB"[:n]]
    assert "Fewer than three candidates: the sentence says it all." == order_before_and_after(rows)


def test_a_hostile_name_stays_text() -> None:
    rows = [reworded(f"<script>{k}</script>", k) for k in range(3)]
    assert "<script>" not in told(order_before_and_after(rows)) + told(wording_shares(rows))
