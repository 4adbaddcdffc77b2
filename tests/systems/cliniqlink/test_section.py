"""The leaderboard over seven formats on the page, quartiles by measure, and measures against each other."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.report.charts import assert_harmless, boxes, spots, told
from tests.report.test_distributions import table
from tests.studies import test_overall as exams
from tests.studies.making import marked, twins

from vivavoce.core.records import Criterion, Measure
from vivavoce.report.charts.correlation import MOST_MEASURES, MOST_POINTS, _scatter_chart, metric_scatter
from vivavoce.report.data import quartiles, scored_responses
from vivavoce.run.run import Run
from vivavoce.systems.cliniqlink.section import leaderboard


def measure(name: str = "told", **declared: Any) -> Measure:
    return Measure(metric=name, signature=f"{name}()@1", criterion=Criterion(criterion=name, **declared))


# The leaderboard


@pytest.fixture
def ranked(tmp_path: Path) -> Run:
    """B and A are the same, C is behind."""
    best, last = exams.even([0.5, 0.7] * 6), exams.even([0.2, 0.3] * 6)
    run = exams.told(tmp_path, {"C": last, "B": best, "A": best})
    run.study("overall")
    return run


def test_the_page_has_the_leaderboard_as_the_paper_has_it(ranked: Run) -> None:
    page = ranked.report().read_text(encoding="utf-8")
    section = page[page.index("<h3>Overall</h3>") :]
    heads = ("rank", "candidate", "overall", "95 % interval", "not separated from", *exams.SEVEN.values())
    places = [section.index(f">{head}</th>") for head in heads]
    assert sorted(places) == places
    assert "A 1-2: 0.600" in section
    assert section.index(">1–2</td><td>A</td>") < section.index(">1–2</td><td>B</td>")
    assert '<details class="data" open><summary>Table: 3 rows' in section


def test_the_leaderboard_is_drawn_with_intervals_and_ranks(ranked: Run, tmp_path: Path) -> None:
    ranked.report(plots=tmp_path / "plots")
    drawn = {path.name.split("-overall-by")[0]: path for path in (tmp_path / "plots").glob("overall*.svg")}
    assert {"overall", "overall-ranks"} == drawn.keys()
    for path in drawn.values():
        assert_harmless(path.read_text(encoding="utf-8"))
    assert "Ranks left open: A 1–2; B 1–2; C 3" in told(drawn["overall-ranks"].read_text(encoding="utf-8"))


def test_a_row_of_the_leaderboard_joins_a_candidates_columns(ranked: Run) -> None:
    rows = [{**row, "measure": "cliniqlink"} for row in ranked.study("overall")["overall"].rows]
    first = leaderboard(rows)[0]
    assert ("1–2", "A", pytest.approx(0.6), 1) == tuple(
        first[k] for k in ("rank", "candidate", "overall", "not separated from")
    )
    assert [pytest.approx(0.6)] * 7 == [first[name] for name in exams.SEVEN.values()]
    assert "by" not in first


def test_two_rule_books_are_two_boards() -> None:
    whole = dict.fromkeys(exams.COLUMNS) | {
        "benchmark": "e",
        "metric": "cliniqlink",
        "criterion": "score",
        "rater": "",
    }
    rows = [
        whole | {"signature": book, "candidate": "A", "format": form, "estimate": value, "measure": book}
        for book, value in (("one", 0.4), ("other", 0.8))
        for form in ("overall", "list")
    ]
    assert [("one", 0.4, 0.4), ("other", 0.8, 0.8)] == [
        (row["by"], row["overall"], row["list"]) for row in leaderboard(rows)
    ]


# Quartiles


def test_quartiles_of_marks_leave_out_what_is_missing() -> None:
    scores = table({"Ann": [0.0, 0.2, 0.4, 0.6, 1.0, "failed", "unanswered"], "Ben": ["failed"] * 2})
    ann, ben = quartiles(scored_responses(scores, {1: measure()}))
    names = ("n", "n_missing", "least", "lower", "median", "upper", "most")
    assert (5, 2, 0.0, 0.2, 0.4, 0.6, 1.0) == tuple(ann[k] for k in names)
    assert (0, 2, *[None] * 5) == tuple(ben[k] for k in names)
    assert ("exam", "short", "told") == tuple(ann[k] for k in ("benchmark", "format", "measure"))


def test_quartiles_stand_on_the_page_and_in_its_twin(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.1, 0.2, 0.3, 0.4, 0.5])})
    rows = [row for row in run.report_rows() if row["section"] == "quartiles"]
    assert [(0.2, 0.3, 0.4)] == [(row["lower"], row["median"], row["upper"]) for row in rows]
    page = run.report().read_text(encoding="utf-8")
    assert "Table: median and quartiles, 1 row" in page


# Metric against metric


def two(n: int) -> pl.DataFrame:
    """The same answers by two measures, the second being one minus the first; the last has one score only."""
    first = [k / n for k in range(n)]
    return pl.concat([
        table({"Ann": [*first, 0.5]}),
        table({"Ann": [*(1 - v for v in first), "failed"]}, metric=2),
    ])  # fmt: skip


def test_a_point_is_an_answer_with_both_marks() -> None:
    own = scored_responses(two(5), {1: measure("one"), 2: measure("other")})
    points = spots(_scatter_chart(own, 0), "cloud")
    assert 5 == len(points)
    by_x = sorted(points, key=lambda p: p[0])
    assert sorted(y for _, y in points) == [y for _, y in by_x]  # downwards on the page: y is 1 - x


def test_every_pair_of_measures_has_its_place() -> None:
    names = {1: "one", 2: "other", 3: "third"}
    scores = pl.concat([table({"Ann": [0.1, 0.9]}, metric=k) for k in names])
    chart = _scatter_chart(scored_responses(scores, {k: measure(n) for k, n in names.items()}), 0)
    for narrow in (False, True):
        fields = boxes(chart, narrow=narrow)
        assert [1, 2] == sorted(Counter(f["y"] for f in fields).values())
        points = spots(chart, "cloud", narrow=narrow)
        for f in fields:
            assert 2 == sum(f["x"] < x < f["x2"] and f["y"] < y < f["y2"] for x, y in points)


def test_many_answers_and_measures_are_capped_and_it_says_so() -> None:
    scores = pl.concat([table({"Ann": [v / 1000 for v in range(1000)]}, metric=k) for k in range(8)])
    (figure,) = metric_scatter(scored_responses(scores, {k: measure(f"m{k}") for k in range(8)}))
    assert figure.svg is not None
    assert f"a point is an answer, {MOST_POINTS} of 1,000" in figure.svg
    assert f"{8 - MOST_MEASURES} further measures are left out" in figure.svg
    assert_harmless(figure.svg)


def test_one_measure_has_nothing_to_stand_against() -> None:
    scores = table({"Ann": [0.1, 0.9]})
    assert [] == metric_scatter(scored_responses(scores, {1: measure()}))
    pooled = pl.concat([scores, table({"Ann": [0.1, 0.9]}, metric=2)])
    assert [] == metric_scatter(
        scored_responses(pooled, {1: measure(), 2: measure("pooled", pool="micro_f1")})
    )


def test_no_answer_with_two_marks_gives_a_sentence() -> None:
    scores = pl.concat([table({"Ann": [0.1, "failed"]}), table({"Ann": ["failed", 0.1]}, metric=2)])
    (figure,) = metric_scatter(scored_responses(scores, {1: measure("one"), 2: measure("other")}))
    assert (None, "No answer has scores by two of these measures.") == (figure.svg, figure.sentence)


def test_a_scale_without_limits_is_as_wide_as_its_marks() -> None:
    scores = pl.concat([table({"Ann": [5.0, 5.0]}), table({"Ann": [-3.0, 900.0]}, metric=2)])
    open_ = {"low": None, "high": None}
    (figure,) = metric_scatter(
        scored_responses(scores, {1: measure("one", **open_), 2: measure("other", **open_)})
    )
    assert figure.svg is not None
    assert "5 to 5" in figure.svg
    assert "−3 to 900" in figure.svg
