"""The second layer: the grid, categories, what is missing, costs, examples and earlier dates."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.report.test_report import report
from tests.studies.making import SILENT, UNREADABLE, made, marked, score, twins, write_lines

from vivavoce.core.records import Criterion, Measure
from vivavoce.report.sections.earlier import scores_by_day
from vivavoce.report.sections.examples import leading_pair
from vivavoce.report.sections.grids import overall_row
from vivavoce.run.run import Run
from vivavoce.store.call_log import response_days
from vivavoce.studies.primary import Primary


def rows(run: Run, section: str, **settings: Any) -> list[dict[str, Any]]:
    return [row for row in run.report_rows(**settings) if row["section"] == section]


def test_the_grid_has_each_criterion_and_candidate_and_the_primary_first(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.9] * 12)})
    run.score("rouge(n=1)")
    grid = rows(run, "grid")
    assert ["B", "A"] == [row["candidate"] for row in grid[:2]]
    assert [True, True] == [row["primary"] for row in grid[:2]]
    assert {"A", "B"} == {row["candidate"] for row in grid if not row["primary"]}
    assert pytest.approx([0.9, 0.6]) == [row["estimate"] for row in grid[:2]]


def test_a_candidate_without_scores_has_a_blank_cell_and_no_zero(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins(["fail"] * 12)})
    blank = next(row for row in rows(run, "grid") if row["candidate"] == "B")
    assert (None, "no figure") == (blank["estimate"], blank["reason"])
    assert 'class="blank"></td>' in report(run).source


def test_a_crowd_is_counted_where_the_grid_has_no_room(tmp_path: Path) -> None:
    run = marked(tmp_path, {f"m{k:02}": twins([0.02 * k] * 10) for k in range(12)})
    grid = rows(run, "grid")
    assert [f"m{k:02}" for k in range(11, 3, -1)] == [row["candidate"] for row in grid]
    assert "Not shown here: 4 further candidates; all are in the" in report(run).text


def categories(sizes: dict[str, int]) -> list[dict[str, Any]]:
    return [{"item": f"{name}{n:03}", "category": name} for name, size in sizes.items() for n in range(size)]


def of_items(items: list[dict[str, Any]], value: float) -> dict[str, Any]:
    return {item["item"]: str(value + 0.01 * (n % 3)) for n, item in enumerate(items)}


def test_a_category_under_ten_cases_has_no_cell(tmp_path: Path) -> None:
    items = categories({"large": 12, "just": 10, "small": 9})
    run = marked(tmp_path, {"A": of_items(items, 0.5), "B": of_items(items, 0.2)}, items=items)
    found = rows(run, "category")
    assert ["large", "large", "just", "just"] == [row["category"] for row in found]
    assert "1 with fewer than 10 cases in each cell" in report(run).text


def test_a_cell_is_blank_where_one_candidate_answered_too_little_of_a_category(tmp_path: Path) -> None:
    items = categories({"one": 12, "two": 12})
    few = {item: text for n, (item, text) in enumerate(of_items(items, 0.2).items()) if n < 15}
    run = marked(tmp_path, {"A": of_items(items, 0.5), "B": few}, items=items)
    blank = [row for row in rows(run, "category") if row["estimate"] is None]
    assert [("two", "B")] == [(row["category"], row["candidate"]) for row in blank]
    assert "A blank cell has fewer than ten cases." in report(run).text


def test_forty_small_categories_are_one_line(tmp_path: Path) -> None:
    items = categories({f"c{k:02}": 1 for k in range(40)})
    run = marked(tmp_path, {"A": of_items(items, 0.5)}, items=items)
    assert [] == rows(run, "category")
    assert "All 40 categories have fewer than 10 cases: too few for a figure." in report(run).text


def test_what_is_missing_is_counted_by_its_state(tmp_path: Path) -> None:
    answers = {
        "A": {"q0": "0.5", "q1": SILENT, "q2": UNREADABLE, "q3": None, "q4": "fail"},
        "B": {"q0": "0.5"},
    }
    run = marked(tmp_path, answers)
    a, b = sorted(rows(run, "missing"), key=lambda row: row["candidate"])
    states = ("n_responses", "n_ok", "n_unanswered", "n_unreadable", "n_failed", "n_never_asked")
    assert (5, 1, 1, 1, 2, 0) == tuple(a[name] for name in states)
    assert (1, 1, 0, 0, 0, 4) == tuple(b[name] for name in states)


def test_before_scoring_what_is_missing_is_plain_and_the_rest_is_not_scored(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q0": "text", "q1": SILENT, "q2": None}})
    (row,) = rows(run, "missing")
    assert (1, 1, 1) == (row["n_unscored"], row["n_unanswered"], row["n_failed"])
    assert [] == rows(run, "grid") == rows(run, "example")
    assert "Nothing has been scored yet." in report(run).text


def with_costs(folder: Path, costs: list[float | None]) -> Run:
    run = made(folder, {"A": {"q0": "0.1"}})
    lines = [
        {"candidate": "P", "item": "q0", "repeat": n + 1, "text": "0.5", "tokens": 10, "cost": cost}
        for n, cost in enumerate(costs)
    ]
    run.import_answers(
        write_lines(folder / "paid.jsonl", lines), benchmark=f"jsonl(path='{folder}/exam.jsonl')"
    )
    score(run)
    return run


def test_a_cost_is_that_of_a_thousand_answers_and_null_where_a_price_is_missing(tmp_path: Path) -> None:
    (paid,) = rows(with_costs(tmp_path / "all", [0.01, 0.03]), "cost")
    assert pytest.approx((20.0, 10.0)) == (paid["cost"], paid["tokens"])
    (part,) = rows(with_costs(tmp_path / "part", [0.01, None]), "cost")
    assert (None, "no price is known of 1 answer") == (part["cost"], part["reason"])


def test_a_run_without_costs_says_so_in_one_line(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5])})
    assert "The run knows neither costs nor tokens nor seconds of these answers." in report(run).text


def losing(folder: Path) -> Run:
    """A wins, and loses on q00 by 0.9, on q01 and q02 by 0.5, in this order of size and name."""
    a = twins([0.0, 0.4, 0.4] + [1.0] * 17)
    b = twins([0.9, 0.9, 0.9] + [0.2, 0.3] * 8 + [0.2])
    run = marked(folder, {"A": a, "B": b})
    run.compare("A", "B", metric="told")
    return run


def test_examples_are_those_where_the_winner_loses_most(tmp_path: Path) -> None:
    run = losing(tmp_path)
    found = rows(run, "example")
    assert ["q00", "q00", "q01", "q01", "q02", "q02"] == [row["item"] for row in found]
    assert ["A", "B"] * 3 == [row["candidate"] for row in found]
    assert [0.0, 0.9] == [row["score"] for row in found[:2]]
    text = report(run).text
    assert "Where A loses A scores lower than B on 3 of 20 questions that both have scores on" in text
    assert "the largest difference first, then by name." in text


def test_without_a_winner_examples_show_where_the_two_best_differ(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.9]), "B": twins([0.9, 0.5]), "C": twins([0.1, 0.1])})
    assert ["A", "B"] * 2 == [row["candidate"] for row in rows(run, "example")]
    assert "No verdict names a winner. A and B differ on 2 of 2 questions" in report(run).text


def test_a_winner_that_never_loses_has_no_example(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.8, 0.9] * 10), "B": twins([0.1] * 20)})
    run.compare("A", "B", metric="told")
    assert [] == rows(run, "example")
    assert "A scores lower than B on none of 20 questions that both have scores on." in report(run).text


def test_lower_is_better_turns_who_loses(tmp_path: Path) -> None:
    run = marked(
        tmp_path,
        {"A": twins([0.9] + [0.0, 0.1] * 9), "B": twins([0.1] + [0.8] * 18)},
        "told(direction=lower)",
    )
    run.compare("A", "B", metric="told")
    assert ["q00", "q00"] == [row["item"] for row in rows(run, "example")]


def test_a_single_candidate_has_no_example(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5])})
    assert "There are no two candidates with scores to set side by side." in report(run).text


def test_hostile_and_long_answers_in_examples_are_cut_text(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> \u202e" + "long " * 400 + "0.1"
    run = made(tmp_path, {"A": {"q": hostile}, "B": {"q": "the key of שלום"}})
    run.score("rouge(n=1)")
    page = report(run)
    assert "<script>alert" not in page.source.partition('<h2 id="examples"')[2]
    assert "\u202e" not in page.source
    assert 'dir="auto">the key of שלום' in page.source
    long = next(row for row in rows(run, "example") if row["candidate"] == "A")
    assert len(long["text"]) <= 260
    assert long["text_cut"]
    assert 'data-item="q"' in page.source


def test_a_redacted_report_shows_no_text_in_its_examples(tmp_path: Path) -> None:
    run = losing(tmp_path)
    text = rows(run, "example", redact=True)[0]["text"]
    assert text.startswith("[redacted: ")


def pair(a: str, b: str, favours: str | None) -> dict[str, Any]:
    return {"a": a, "b": b, "favours": favours, "verdict_code": "better" if favours else "cannot_tell"}


def scored(*names: str) -> list[dict[str, Any]]:
    return [{"candidate": name, "role": "candidate", "estimate": 1 - 0.1 * n} for n, name in enumerate(names)]


def test_the_leading_pair_is_the_winner_and_the_best_it_beat() -> None:
    verdicts = [pair("C", "A", "b"), pair("B", "A", "b"), pair("B", "C", "a")]
    assert ("A", "B", True) == leading_pair(scored("A", "B", "C"), verdicts)
    assert ("A", "C", True) == leading_pair(
        scored("A", "B", "C"), [pair("A", "B", None), pair("A", "C", "a")]
    )
    assert ("A", "B", False) == leading_pair(scored("A", "B"), [pair("A", "B", None)])
    assert leading_pair(scored("A"), ()) is None


def test_a_later_comparison_leaves_the_earlier_one_in_sight(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    run.compare("A", "B", metric="told")
    assert [] == rows(run, "earlier")
    assert "The run holds no earlier date" in report(run).text
    run.compare("B", "A", metric="told", margin=0.1)
    (row,) = rows(run, "earlier")
    assert ("A", "B") == (row["a"], row["b"])
    assert pytest.approx(0.2) == row["difference"]


def test_scores_by_day_rest_on_the_questions_of_every_day() -> None:
    """Day one: q1 and q2 with 1.0 and 0.0; day two: q1 alone with 0.5. Only q1 counts."""
    key = {"benchmark": "b", "variant": "", "candidate": "A"}
    asked = [("q1", 1, 1.0, "2026-01-01"), ("q2", 1, 0.0, "2026-01-01"), ("q1", 2, 0.5, "2026-01-02")]
    scores = pl.DataFrame(
        [{**key, "item": item, "repeat": repeat, "group": item, "role": "candidate", "edit": "",
          "status": "ok", "value": value} for item, repeat, value, _ in asked]
    )  # fmt: skip
    days = pl.DataFrame([{**key, "item": i, "repeat": repeat, "day": day} for i, repeat, _, day in asked])
    measure = Measure(metric="m", signature="m [x]", criterion=Criterion(criterion="c"))
    found = scores_by_day(scores, measure, days, "b")
    assert [("2026-01-01", 1.0, 1), ("2026-01-02", 0.5, 1)] == [
        (row["day"], row["estimate"], row["n_items"]) for row in found
    ]
    assert [] == scores_by_day(scores, measure, days.filter(pl.col("repeat") == 1), "b")
    assert [] == scores_by_day(scores, measure, None, "b")


def test_imported_answers_have_no_day(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([0.5])})
    with run.file.reading() as db:
        assert response_days(db) is None


def test_eighteen_criteria_are_sixteen_rows_and_a_count(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([0.5, 0.7]), "B": twins([0.9, 0.1])})
    score(run, f"told(criteria_named=[{', '.join(f'c{k}' for k in range(18))}])")
    assert 16 == len({row["criterion"] for row in rows(run, "grid")})
    assert "2 further criteria" in report(run).text


def test_all_failed_or_one_item_makes_a_page_without_a_number_of_its_own(tmp_path: Path) -> None:
    failed = marked(tmp_path / "failed", {"A": twins(["fail"] * 3), "B": twins(["fail"] * 3)})
    assert {None} == {row["estimate"] for row in rows(failed, "grid")}
    assert [] == rows(failed, "example")
    single = marked(tmp_path / "single", {"A": {"q": "0.2"}, "B": {"q": "0.8"}})
    assert ["B", "A"] == [row["candidate"] for row in rows(single, "example")]
    assert "B and A differ on 1 of 1 question that both have scores on" in report(single).text


def test_a_selection_of_items_narrows_every_part(tmp_path: Path) -> None:
    run = losing(tmp_path)
    (tmp_path / "part").mkdir()
    part = f"jsonl(path='{tmp_path}/part/exam.jsonl')"
    lines = (tmp_path / "exam.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "part" / "exam.jsonl").write_text(lines[1] + "\n", encoding="utf-8")
    narrow = [row for row in run.report_rows(items=part) if row["section"] == "grid"]
    assert {1} == {row["n_items"] for row in narrow}


def test_an_overall_leads_the_grid_though_it_has_no_leaderboard() -> None:
    figures = {"low": 0.4, "high": 0.9, "n_items": 4, "n_groups": 4}
    scores = [{"candidate": name, "estimate": 0.6, **figures} for name in ("B", "A")]
    primary = Primary("exam", "overall", "overall", "", "overall", "stated in the plan")
    row = overall_row(primary, scores, ["A", "B", "C"])
    assert row is not None
    assert (True, [0.6, 0.6, None]) == (row.is_primary, [cell and cell["estimate"] for cell in row.cells])
    assert (0.0, 1.0) == row.scale
    assert overall_row(primary, [], ["A"]) is None
