"""One mean per candidate: what counts, what is missing, and what that could change."""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import (
    SILENT,
    UNREADABLE,
    Answers,
    answer_rows,
    exam,
    made,
    marked,
    row,
    score,
    twins,
    write_lines,
)

from vivavoce.run.run import open_run
from vivavoce.studies.comparing.estimates import COLUMNS

FIGURES = ("estimate", "low", "high", "set_low", "set_high", "bound_low", "bound_high", "coverage")


def estimate(folder: Path, answers: Answers, spec: str = "told", **settings: Any) -> dict[str, Any]:
    """The row of A."""
    run = made(folder, answers, **settings)
    return row(score(run, spec), candidate="A")


def test_a_mean_worked_by_hand(tmp_path: Path) -> None:
    """Scores 0 and 1 over four cases: Wilson with t(3) and n* = 4, since m(1-m)/SE^2 = .25/.0833 = 3."""
    found = estimate(tmp_path, {"A": twins([0, 0, 1, 1])})
    t2 = 3.182446305**2
    half = t2**0.5 / (1 + t2 / 4) * (0.25 / 4 + t2 / 64) ** 0.5
    assert pytest.approx((0.5, 0.5 - half, 0.5 + half)) == (found["estimate"], found["low"], found["high"])
    assert (4, 4, 4, 1.0) == tuple(found[k] for k in ("n_items", "n_groups", "n_responses", "coverage"))


def test_the_columns_stand_in_their_order(tmp_path: Path) -> None:
    assert COLUMNS == tuple(estimate(tmp_path, {"A": twins([0, 1])}))


def test_repeats_are_averaged_before_questions(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": {"q1": [1, 1, 1, 1], "q2": [0]}})
    assert 0.5 == found["estimate"]


def test_silence_in_one_repeat_counts_in_that_question_only(tmp_path: Path) -> None:
    """(1 + 0) / 2 and 1: .75 as worst; 1 and 1 set aside; the same as correct."""
    answers = {"A": {"q1": [1, SILENT], "q2": [1, 1]}}
    found = {
        rule: estimate(tmp_path / rule, answers, f"told(silence={rule})")["estimate"]
        for rule in ("worst", "set_aside", "correct")
    }
    assert {"worst": 0.75, "set_aside": 1.0, "correct": 1.0} == found


@pytest.mark.parametrize(
    ("direction", "silence", "expected"),
    [
        ("higher", "worst", 1.0),
        ("higher", "correct", 3.0),
        ("higher", "set_aside", 2.0),
        ("lower", "worst", 3.0),
        ("lower", "correct", 1.0),
        ("lower", "set_aside", 2.0),
    ],
)
def test_what_silence_is_worth(tmp_path: Path, direction: str, silence: str, expected: float) -> None:
    """Scores 2 and silence on a scale from 0 to 4: the worst is 0 if higher is better, 4 if lower is."""
    spec = f"told(high=4, direction={direction}, silence={silence})"
    found = estimate(tmp_path, {"A": {"q1": 2, "q2": SILENT}}, spec)
    assert expected == found["estimate"]
    assert (1, 0, 0.5) == (found["n_unanswered"], found["n_failed"], found["coverage"])
    assert found["estimate"] == found["set_low"] == found["set_high"]


def test_unreadable_counts_as_silence_and_is_told_apart(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": {"q1": 1, "q2": UNREADABLE}})
    assert (0.5, 0, 1) == (found["estimate"], found["n_unanswered"], found["n_unreadable"])


def test_a_failed_mark_is_in_no_mean_and_gives_bounds(tmp_path: Path) -> None:
    """Scores 1, 1, 0 and one that failed: 2/3 as seen; 2/4 to 3/4 by what it could be."""
    found = estimate(tmp_path, {"A": twins([1, 1, 0, "fail"])})
    assert pytest.approx((2 / 3, 0.5, 0.75)) == (found["estimate"], found["set_low"], found["set_high"])
    assert (3, 3, 1, 0.75) == tuple(found[k] for k in ("n_items", "n_groups", "n_failed", "coverage"))
    assert found["bound_low"] < found["set_low"] < found["set_high"] < found["bound_high"]


def test_a_failed_repeat_is_filled_within_its_question(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": {"q1": [1, "fail"], "q2": [1, 1]}})
    assert (1.0, 0.75, 1.0) == (found["estimate"], found["set_low"], found["set_high"])


def test_an_answer_that_never_arrived_is_ours_and_not_the_candidates(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": {"q1": 1, "q2": None, "q3": 1}})
    assert (1.0, 1, 0) == (found["estimate"], found["n_failed"], found["n_unanswered"])


def test_every_mark_failed_leaves_no_estimate_and_the_widest_bounds(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins(["fail", "fail"])})
    assert (None, "no result: no answer could be scored (2 failed)", 0, 0.0) == tuple(
        found[k] for k in ("estimate", "reason", "n_items", "coverage")
    )
    assert (0.0, 1.0) == (found["set_low"], found["set_high"])


@pytest.mark.parametrize("silence", ["worst", "correct", "set_aside"])
def test_a_figure_made_of_refusals_alone_is_no_result(tmp_path: Path, silence: str) -> None:
    """Coverage is 0 %, whatever silence is worth; a dead endpoint is silent too."""
    found = estimate(tmp_path, {"A": twins([SILENT, SILENT, UNREADABLE])}, f"told(silence={silence})")
    assert "no result: no answer could be scored (2 unanswered, 1 unreadable)" == found["reason"]
    assert (0.0, 0, 2) == (found["coverage"], found["n_items"], found["n_unanswered"])
    assert {None} == {found[k] for k in (*FIGURES[:-1], "estimate_common")}


def test_silence_beside_scores_that_all_failed_is_no_result_and_keeps_the_bounds(tmp_path: Path) -> None:
    """Two silent answers count 0 and two failed ones are anything: a mean from 0 to a half."""
    found = estimate(tmp_path, {"A": twins([SILENT, SILENT, "fail", "fail"])})
    assert (None, "no result: no answer could be scored (2 unanswered, 2 failed)") == (
        found["estimate"], found["reason"],
    )  # fmt: skip
    assert (0.0, 0.5) == (found["set_low"], found["set_high"])


def test_who_has_no_result_takes_no_common_question_from_the_others(tmp_path: Path) -> None:
    answers = {"A": twins([0.2, 0.4]), "B": twins([0.6, 0.8]), "C": twins([SILENT, "fail"])}
    found = score(made(tmp_path, answers))
    assert [("B", 2), ("A", 2), ("C", 2)] == [(r["candidate"], r["n_common"]) for r in found.rows]
    assert "different questions" not in found.text


def test_candidates_are_ordered_by_the_questions_that_all_share(tmp_path: Path) -> None:
    """A was asked two hard questions more, and is ahead on what both were asked."""
    answers = {
        "A": {"easy1": 0.9, "easy2": 0.8, "hard1": 0.1, "hard2": 0.2},
        "B": {"easy1": 0.7, "easy2": 0.8},
    }
    found = score(made(tmp_path, answers))
    assert [("A", 0.5, 0.85, 2), ("B", 0.75, 0.75, 2)] == [
        (r["candidate"], round(r["estimate"], 9), round(r["estimate_common"], 9), r["n_common"])
        for r in found.rows
    ]
    first = found.text.splitlines()[0]
    assert (
        "told: worth on exam: Candidates have scores on different questions, so they are ordered by their "
        "means on the 2 questions that all share. Means over their own questions: A 0.500 on 4, B 0.750 on 2."
    ) == first
    assert found.text.endswith("; 2 never asked.")


def test_without_a_common_question_candidates_stand_by_name(tmp_path: Path) -> None:
    found = score(made(tmp_path, {"B": {"q1": 0.9, "q2": 0.8}, "A": {"q3": 0.1}, "C": {"q4": 0.95}}))
    assert [("A", None, 0), ("B", None, 0), ("C", None, 0)] == [
        (r["candidate"], r["estimate_common"], r["n_common"]) for r in found.rows
    ]
    assert found.text.startswith(
        "told: worth on exam: No question has scores of all candidates, so their means cannot be compared "
        "and they are not ordered. Means over their own questions: A 0.100 on 1, B 0.850 on 2, C 0.950 on 1."
    )


def test_every_view_is_ordered_on_its_own_common_questions(tmp_path: Path) -> None:
    """The worst of two: only q1 has two answers of both, and B's worst there is better."""
    answers = {"A": {"q1": [0.1, 0.9], "q2": [0.9, 0.9]}, "B": {"q1": [0.3, 0.5], "q2": [0.2]}}
    run = marked(tmp_path, answers)
    rows = {(r["view"], r["candidate"]): r for r in run.estimates(worst_at=2, tail=0.5).rows}
    assert {2: ["A", "B"], 1: ["B", "A"]} == {
        n: [c for (view, c), r in rows.items() if view == name] for n, name in ((2, "mean"), (1, "worst@2"))
    }
    assert {1} == {r["n_common"] for (view, _), r in rows.items() if view == "worst@2"}
    assert (0.1, 0.3) == tuple(round(rows["worst@2", c]["estimate_common"], 9) for c in "AB")


def test_floor_and_ceiling_take_no_question_from_the_candidates(tmp_path: Path) -> None:
    answers = {"A": twins([0.2, 0.4, 0.6]), "B": twins([0.3, 0.5, 0.7]), "C": twins([1, 1])}
    found = score(made(tmp_path, answers, role={"C": "ceiling"}))
    assert [("B", 3), ("A", 3), ("C", 3)] == [(r["candidate"], r["n_common"]) for r in found.rows]
    assert found.rows[2]["estimate_common"] is None
    assert "different questions" not in found.text


def test_what_was_never_asked_is_counted(tmp_path: Path) -> None:
    """Three questions, two repeats of each were to be expected, and three answers came."""
    found = estimate(tmp_path, {"A": {"q1": [1, 1], "q2": [1]}}, items=["q1", "q2", "q3"])
    assert (3, 0, 0.5) == (found["n_never_asked"], found["n_unscored"], found["coverage"])


def test_one_case_has_a_mean_and_no_interval(tmp_path: Path) -> None:
    answers = {"A": {"q1": 1, "q1|bias:recency": 0}}
    found = estimate(tmp_path, answers)
    assert (0.5, None, None) == (found["estimate"], found["low"], found["high"])
    assert (2, 1, "one case only: no interval") == (found["n_items"], found["n_groups"], found["reason"])


def test_a_scale_without_limits_has_no_bounds_and_says_why(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins([3, 5, "fail"])}, "told(low=null, high=null, silence=set_aside)")
    assert 4.0 == found["estimate"]
    assert {None} == {found[k] for k in ("set_low", "set_high", "bound_low", "bound_high")}
    assert "without a limit" in found["reason"]


def test_coverage_counts_questions_that_were_never_answered(tmp_path: Path) -> None:
    """Three questions, two repeats: six answers were to be expected, three came."""
    found = estimate(tmp_path, {"A": {"q1": [1, 1], "q2": [1]}}, items=["q1", "q2", "q3"])
    assert (0.5, 3, 2) == (found["coverage"], found["n_responses"], found["n_items"])


def test_coverage_expects_only_questions_of_the_formats_marked(tmp_path: Path) -> None:
    items = ["q1", {"item": "long", "format": "longform"}]
    assert 1.0 == estimate(tmp_path, {"A": {"q1": 1}}, items=items)["coverage"]


def test_two_benchmarks_are_never_pooled(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([1, 1])}, name="one")
    made(tmp_path, {"A": twins([0, 0, 0])}, name="two", run=run)
    found = score(run)
    assert [("one", 1.0, 2), ("two", 0.0, 3)] == [
        (r["benchmark"], r["estimate"], r["n_items"]) for r in found.rows
    ]


@pytest.mark.parametrize(("direction", "order"), [("higher", ["B", "A", "C"]), ("lower", ["A", "B", "C"])])
def test_the_best_stands_first_and_who_has_no_estimate_last(
    tmp_path: Path, direction: str, order: list[str]
) -> None:
    answers = {"C": twins(["fail"] * 2), "A": twins([0.2] * 2), "B": twins([0.4] * 2)}
    found = score(made(tmp_path, answers), f"told(direction={direction})")
    assert order == [r["candidate"] for r in found.rows]


def test_every_null_has_a_reason_and_nothing_is_nan(tmp_path: Path) -> None:
    kinds = [[1, 0], ["fail", "fail"], [SILENT, SILENT], [1, "fail"], ["fail", SILENT], [1], [UNREADABLE, 1]]
    specs = ["told", "told(silence=set_aside)", "told(low=null, high=null, silence=set_aside)"]
    for number, (values, spec) in enumerate(product(kinds, specs)):
        found = estimate(tmp_path / str(number), {"A": twins(values)}, spec)
        json.dumps(found, allow_nan=False)
        if any(found[k] is None for k in FIGURES):
            assert found["reason"], (values, spec)


def test_the_order_of_rows_changes_no_digit(tmp_path: Path) -> None:
    """Answers shuffled in the file: every figure equal to the last bit, for estimates and comparisons."""
    draw = random.Random(7)
    answers: Answers = {
        name: {f"q{n}": [draw.choice([0.1, 0.3, 0.7, SILENT, "fail"]) for _ in range(5)] for n in range(30)}
        for name in ("A", "B")
    }
    spec = exam(tmp_path, [f"q{n}" for n in range(30)])
    rows = answer_rows(answers)
    made_rows = []
    for number in range(4):
        draw.shuffle(rows)
        file = write_lines(tmp_path / f"{number}.jsonl", rows)
        run = open_run(tmp_path / f"{number}.viva")
        run.import_answers(file, benchmark=spec)
        made_rows.append((score(run).rows, run.compare("A", "B", metric="told", margin=0.1).rows))
    assert all(made_rows[0] == other for other in made_rows[1:])


def test_items_restrict_what_is_estimated(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1, "q2": 0}})
    part = exam(tmp_path / "part" if (tmp_path / "part").mkdir() is None else tmp_path, ["q1"])
    found = row(run.estimates("told", items=part), candidate="A")
    assert (1.0, 1, 1.0) == (found["estimate"], found["n_items"], found["coverage"])


def test_repeats_need_not_be_numbered_from_one(tmp_path: Path) -> None:
    spec = exam(tmp_path, ["q1"])
    lines = [{"candidate": "A", "item": "q1", "repeat": n, "text": "1"} for n in (3, 7)]
    run = open_run(tmp_path / "run.viva")
    run.import_answers(write_lines(tmp_path / "answers.jsonl", lines), benchmark=spec)
    found = row(score(run), candidate="A")
    assert (1.0, 2) == (found["coverage"], found["n_responses"])


def test_coverage_expects_the_questions_of_its_own_benchmark(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([1, 1])}, name="one")
    made(tmp_path, {"A": twins([0, 0, 0])}, name="two", run=run)
    assert [1.0, 1.0] == [r["coverage"] for r in score(run).rows]


def test_edited_answers_are_in_no_mean_and_no_comparison(tmp_path: Path) -> None:
    """They are for studies of the examiner; what the candidate said itself is what counts."""
    spec = exam(tmp_path, [f"q{n}" for n in range(12)])
    lines = [
        {"candidate": name, "item": f"q{n}", "edit": edit, "text": worth}
        for name in ("A", "B")
        for n in range(12)
        for edit, worth in (("", "0.8" if name == "A" else f"0.{n % 3 + 3}"), ("control:noise", "0.0"))
    ]
    run = open_run(tmp_path / "run.viva")
    run.import_answers(write_lines(tmp_path / "answers.jsonl", lines), benchmark=spec)
    found = row(score(run), candidate="A")
    assert 24 * 2 == run.scores.height
    assert (0.8, 1.0, 12) == (round(found["estimate"], 12), found["coverage"], found["n_responses"])
    compared = run.compare("A", "B", metric="told").rows[0]
    assert (0.4, 12) == (round(compared["difference"], 12), compared["n_items"])


def test_an_answer_withheld_by_a_filter_is_the_candidates_silence(tmp_path: Path) -> None:
    spec = exam(tmp_path, ["q1", "q2"])
    lines = [
        {"candidate": "A", "item": "q1", "text": None, "status": "filtered"},
        {"candidate": "A", "item": "q2", "text": "1", "status": "ok"},
    ]
    run = open_run(tmp_path / "run.viva")
    run.import_answers(write_lines(tmp_path / "answers.jsonl", lines), benchmark=spec)
    found = row(score(run), candidate="A")
    assert (0.5, 1, 0) == (found["estimate"], found["n_unanswered"], found["n_failed"])
    assert {"withheld by the provider's content filter": 1} == row(run.status(), candidate="A")["causes"]


def test_a_question_that_nobody_was_asked_again_is_no_gap(tmp_path: Path) -> None:
    """The exam repeats q1 only, so three answers of each were to be expected; D lacks q2."""
    both = {"q1": [1, 1], "q2": [1]}
    run = made(tmp_path, {"A": both, "B": both, "C": {"q1": [1], "q2": [0]}, "D": {"q1": [1, 1]}})
    rows = score(run, "told")
    assert {"A": 1.0, "B": 1.0, "C": 1.0, "D": 2 / 3} == {r["candidate"]: r["coverage"] for r in rows.rows}


@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize(
    "answers", [[0, 0, 0, 1, "fail"], [1, 1, 1, 0, "fail"], [1, 0, 0, 0, 0, "fail", "fail"]]
)
def test_a_failed_mark_never_adds_certainty(tmp_path: Path, direction: str, answers: list[Any]) -> None:
    """The bounds hold the interval, though it is Wilson's and they are t."""
    run = marked(
        tmp_path, {"A": {f"q{n}": [a, a] for n, a in enumerate(answers * 4)}}, f"told(direction={direction})"
    )
    for found in run.estimates(worst_at=2, tail=0.8).rows:
        assert found["low"] is not None, found["view"]
        assert found["bound_low"] <= found["low"], found["view"]
        assert found["bound_high"] >= found["high"], found["view"]


def test_an_open_side_stays_open_around_an_interval(tmp_path: Path) -> None:
    found = estimate(tmp_path, {"A": twins([1, 0, 0, 1, "fail"] * 5)}, "told(high=null)")
    assert found["high"] is not None
    assert found["bound_high"] is None
