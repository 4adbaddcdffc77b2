"""What is in a run, what is missing, and why."""

from pathlib import Path

from tests.studies.making import SILENT, UNREADABLE, made, marked, row, score, twins

from vivavoce.studies.comparing.status import COLUMNS


def test_counts_by_status_and_their_causes(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, SILENT, UNREADABLE, "fail", "fail", None])})
    found = row(run.status(), about="marks", candidate="A")
    assert COLUMNS == tuple(found)
    assert (6, 1, 1, 1, 3) == tuple(
        found[k] for k in ("responses", "ok", "unanswered", "unreadable", "failed")
    )
    assert {
        "the judge said nothing": 2,
        "blank: no letter and no digit": 1,
        "no answer was recorded": 1,
        "the thinking was never closed and no answer stands outside it": 1,
    } == found["causes"]


def test_before_marking_answers_are_counted_without_a_metric(tmp_path: Path) -> None:
    found = row(made(tmp_path, {"A": twins([1, None])}).status(), about="marks", candidate="A")
    assert (None, None, 2, 1, 1) == tuple(
        found[k] for k in ("metric", "criterion", "responses", "ok", "failed")
    )
    assert {"no answer was recorded": 1} == found["causes"]


def test_a_blank_is_unanswered_before_and_after_marking(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([1, SILENT, None])})
    before = row(run.status(), about="marks", candidate="A")
    score(run)
    after = row(run.status(), about="marks", candidate="A")
    for name in ("ok", "unanswered", "failed", "causes"):
        assert before[name] == after[name], name
    assert (1, 1, 1) == (before["ok"], before["unanswered"], before["failed"])


def test_answers_that_came_after_marking_are_not_marked_yet(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 1])}, items=["q00", "q01", "q02"])
    made(tmp_path, {"A": twins([1, 1, 0])}, items=["q00", "q01", "q02"], run=run)
    found = row(run.status(), about="marks", candidate="A")
    assert (3, 2, {"not scored yet": 1}) == (found["responses"], found["ok"], found["causes"])
    score(run)
    assert {} == row(run.status(), about="marks", candidate="A")["causes"]


def test_a_metric_and_its_criteria_have_a_row_each(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1]), "B": twins([1])}, "told(criteria_named=[x, y])")
    assert [("A", "x"), ("A", "y"), ("B", "x"), ("B", "y")] == [
        (r["candidate"], r["criterion"]) for r in run.status().rows if r["about"] == "marks"
    ]
