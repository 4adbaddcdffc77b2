"""Charts over benchmarks: columns against a closed mean, maps of one measure, variances by prompt."""

from itertools import combinations
from typing import Any

import pytest
from tests.report.charts import boxes, texts

from vivavoce.report import charts


def crossing(
    b: str, value: float | None, *, n: int = 9, contrast: str = "closed mean", **more: Any
) -> dict[str, Any]:
    """A row of a crossing by Pearson's r with an interval of a tenth on both sides."""
    return {
        "contrast": contrast, "a": "accuracy, weighted by size", "a_benchmark": "medqa + mmlu", "b": "rouge",
        "b_benchmark": b, "value": value, "low": value and value - 0.1, "high": value and value + 0.1, "n": n,
        "n_candidates": n, "subset": "", "coefficient": "pearson", "reason": None,
    } | more  # fmt: skip


def test_columns_lie_between_zero_and_r_with_the_number_of_candidates():
    chart = charts.crossing_columns([crossing("olaph", 0.5), crossing("medtext", -0.25)])
    assert isinstance(chart, charts.Drawing)
    up, down = (box for box in boxes(chart) if box["x2"] - box["x"] > 5)
    assert up["x"] == pytest.approx(down["x2"], abs=0.2)  # both begin at 0
    assert 2 == pytest.approx((up["x2"] - up["x"]) / (down["x2"] - down["x"]), rel=0.01)
    assert {"olaph: rouge", "medtext: rouge", "0.50, n 9", "-0.25, n 9"} <= {
        text.replace("−", "-") for text in texts(chart)
    }


def test_columns_against_ratings_are_named_by_the_side_that_changes():
    rated = {"contrast": "ratings", "a": "bleu", "b": "rating"}
    rows = [crossing("", 0.4) | rated | {"a_benchmark": name} for name in ("one", "two")]
    chart = charts.crossing_columns(rows)
    assert isinstance(chart, charts.Drawing)
    assert {"one: bleu", "two: bleu"} <= set(texts(chart))


def test_one_column_or_none_needs_no_chart():
    for rows in ([], [crossing("olaph", 0.5)], [crossing("olaph", None), crossing("medtext", 0.1)]):
        assert not isinstance(charts.crossing_columns(rows), charts.Drawing)


def test_four_candidates_tell_hardly_anything_from_zero_and_so_it_is_drawn():
    chart = charts.crossing_columns([crossing("olaph", 0.9, n=4), crossing("medtext", 0.1, n=3)])
    assert isinstance(chart, charts.Drawing)


def pairs(*names: str, value: float | None = 0.3) -> list[dict[str, Any]]:
    return [
        crossing(b, value, contrast="benchmarks", a="rouge", a_benchmark=a) | {"by_construction": False}
        for a, b in combinations(names, 2)
    ]


def test_a_map_has_a_cell_for_each_pair_of_benchmarks_in_both_orders():
    chart = charts.benchmark_map(pairs("olaph", "medtext", "careqa_open"))
    assert isinstance(chart, charts.Drawing)
    assert 9 == len(boxes(chart))
    assert 6 == len([box for box in boxes(chart) if "0.30" in box["text"]])


def test_two_benchmarks_or_no_figure_need_no_map():
    for rows in ([], pairs("one", "two"), pairs("one", "two", "three", value=None)):
        assert not isinstance(charts.benchmark_map(rows), charts.Drawing)


def prompts(measure: str, *quartiles: float | None) -> dict[str, Any]:
    names = ("variance_q1", "variance_median", "variance_q3")
    return {"measure": measure, "variance_published": 0.4, "reason": None} | dict(
        zip(names, quartiles, strict=True)
    )


def test_the_bar_of_a_measure_spans_its_quartiles_over_prompts():
    rows = [prompts("rouge", 0.1, 0.2, 0.3), prompts("judge", 0.1, 0.4, 0.5)]
    chart = charts.variance_by_prompt(rows, "variance_published", "variance over repeats")
    rouge, judge = (box for box in boxes(chart) if box["fill"] != "#fff")  # the medians are white
    assert 2 == pytest.approx((judge["x2"] - judge["x"]) / (rouge["x2"] - rouge["x"]), rel=0.01)
    assert isinstance(chart, charts.Drawing)
    assert {"median 0.2", "median 0.4", "variance over repeats"} <= set(texts(chart))


def test_a_measure_without_repeats_has_no_bar_and_equal_answers_a_thin_one():
    rows = [prompts("rouge", 0, 0, 0), prompts("judge", 0, 0, 0.1), prompts("bleu", None, None, None)]
    chart = charts.variance_by_prompt(rows, "variance_published")
    assert 2 == len([box for box in boxes(chart) if box["fill"] == "#fff"])
    assert not isinstance(charts.variance_by_prompt(rows[:1], "variance_published"), charts.Drawing)


def test_hostile_names_stay_text():
    hostile = "<script>alert(1)</script>"
    drawn = [
        charts.benchmark_map(pairs(hostile, "b", "c")),
        charts.crossing_columns([crossing(hostile, 0.5), crossing("b", 0.1)]),
        charts.variance_by_prompt(
            [prompts(hostile, 0.1, 0.2, 0.3), prompts("judge", 0.1, 0.4, 0.5)], "variance_published"
        ),
    ]
    assert all(isinstance(chart, charts.Drawing) and "<script>" not in str(chart) for chart in drawn)
