"""The worst of k answers and the worst share of the questions: what they rest on and leave out."""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import (
    SILENT,
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

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.run.run import open_run

FIGURES = ("estimate", "low", "high", "set_low", "set_high", "bound_low", "bound_high")


def view(folder: Path, answers: Answers, spec: str = "told", **asked: Any) -> dict[str, Any]:
    """The row of A in the view asked for."""
    found = score(made(folder, answers), spec, **asked)
    (bad,) = {r["view"] for r in found.rows} - {"mean"}
    return row(found, candidate="A", view=bad)


def test_only_means_are_shown_unless_more_is_asked(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0, 1]), "B": twins([1, 1])})
    assert ["mean"] * 2 == [r["view"] for r in run.estimates().rows]
    both = run.estimates(worst_at=2, tail=0.25)
    assert ["mean"] * 2 + ["worst@2"] * 2 + ["tail@0.25"] * 2 == [r["view"] for r in both.rows]
    assert run.estimates().rows == tuple(r for r in both.rows if r["view"] == "mean")


# The worst of k


def test_the_worst_of_two_worked_by_hand(tmp_path: Path) -> None:
    """Scores 0, 1, 1: two of three pairs hold the 0, so 1/3; scores 1, 1, 1: 1. Together 2/3."""
    found = view(tmp_path, {"A": {"q1": [0, 1, 1], "q2": [1, 1, 1]}}, worst_at=2)
    assert ("worst@2", 2, 2) == (found["view"], found["n_items"], found["n_groups"])
    assert pytest.approx(2 / 3) == found["estimate"]
    expected = stats.worst_at_k([0, 1, 1, 1, 1, 1], [0] * 3 + [1] * 3, groups=[0] * 3 + [1] * 3, k=2,
                                low=0, high=1)  # fmt: skip
    assert pytest.approx((expected.low, expected.high)) == (found["low"], found["high"])
    assert (found["estimate"], found["low"], found["high"]) == (
        found["set_low"], found["bound_low"], found["bound_high"]
    )  # fmt: skip


def test_where_lower_is_better_the_worst_is_the_highest(tmp_path: Path) -> None:
    answers: Answers = {"A": {"q1": [3, 4], "q2": [1, 0]}}
    found = view(tmp_path / "1", answers, "told(high=5, direction=lower)", worst_at=2)
    assert 2.5 == found["estimate"]
    turned: Answers = {"A": {"q1": [2, 1], "q2": [4, 5]}}
    mirror = view(tmp_path / "2", turned, "told(high=5)", worst_at=2)
    assert pytest.approx((5 - mirror["high"], 5 - mirror["low"])) == (found["low"], found["high"])


def test_one_silence_among_the_answers_is_the_worst_of_them(tmp_path: Path) -> None:
    answers: Answers = {"A": {"q1": [1, SILENT], "q2": [1, 1]}}
    assert 0.5 == view(tmp_path / "1", answers, worst_at=2)["estimate"]
    aside = view(tmp_path / "2", answers, "told(silence=set_aside)", worst_at=2)
    assert (1.0, 1) == (aside["estimate"], aside["n_items"])
    assert "1 of 2 questions left out: fewer than 2 answers" in aside["reason"]


def test_too_few_repeats_leave_no_worst(tmp_path: Path) -> None:
    found = view(tmp_path, {"A": {"q1": [1, 1], "q2": [0, 0]}}, worst_at=3)
    assert (None, None, 0) == (found["estimate"], found["set_low"], found["n_items"])
    assert "no question has 3 answers that count" == found["reason"]


def test_a_failed_repeat_is_filled_at_both_ends(tmp_path: Path) -> None:
    """q1: .8 twice and one that failed; filled with 0 the worst of two is (2*0 + .8)/3, with 1 it is .8."""
    found = view(tmp_path, {"A": {"q1": [0.8, 0.8, "fail"], "q2": [1, 1, 1]}}, worst_at=2)
    assert pytest.approx((0.9, (0.8 / 3 + 1) / 2, 0.9)) == (
        found["estimate"], found["set_low"], found["set_high"]
    )  # fmt: skip
    assert found["bound_low"] <= found["set_low"] <= found["set_high"] <= found["bound_high"]


def test_a_failed_repeat_where_lower_is_better_is_filled_the_other_way(tmp_path: Path) -> None:
    answers: Answers = {"A": {"q1": [0.2, 0.2, "fail"], "q2": [0, 0, 0]}}
    found = view(tmp_path, answers, "told(direction=lower)", worst_at=2)
    assert pytest.approx((0.1, 0.1, (2.2 / 3) / 2)) == (
        found["estimate"], found["set_low"], found["set_high"]
    )  # fmt: skip


def test_a_question_that_only_failures_make_long_enough_is_in_the_bounds_alone(tmp_path: Path) -> None:
    found = view(tmp_path, {"A": {"q1": [1, "fail"], "q2": [1, 1]}}, worst_at=2)
    assert (1.0, 1, 0.5, 1.0) == tuple(found[k] for k in ("estimate", "n_items", "set_low", "set_high"))
    assert "1 of 2 questions left out" in found["reason"]


def test_without_a_limit_one_side_is_open(tmp_path: Path) -> None:
    answers: Answers = {"A": {"q1": [1, "fail"], "q2": [1, 1]}}
    found = view(tmp_path, answers, "told(high=null)", worst_at=2)
    assert (0.5, None) == (found["set_low"], found["set_high"])
    assert "no bound" in found["reason"]


def test_repeats_that_are_one_text_are_named(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": [1, 1], "q2": [0, 0]}, "B": {"q1": [1, 0], "q2": [0, 0]}})
    found = run.estimates(worst_at=2)
    assert "one text" in row(found, candidate="A", view="worst@2")["reason"]
    assert row(found, candidate="A", view="mean")["reason"] is None
    assert row(found, candidate="B", view="worst@2")["reason"] is None


def test_the_worst_is_never_above_the_mean_and_falls_with_k(tmp_path: Path) -> None:
    draw = random.Random(5)
    answers: Answers = {"A": {f"q{n}": [round(draw.random(), 3) for _ in range(5)] for n in range(12)}}
    run = marked(tmp_path, answers)
    means = run.estimates().rows[0]["estimate"]
    worst = [run.estimates(worst_at=k).rows[1]["estimate"] for k in (2, 3, 4, 5)]
    assert means > worst[0] > worst[1] > worst[2] > worst[3]


# The worst share


def test_the_worst_quarter_worked_by_hand(tmp_path: Path) -> None:
    """Of eight questions the two worst: (.1 + .3) / 2."""
    values = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    found = view(tmp_path, {"A": twins(values)}, tail=0.25)
    assert ("tail@0.25", 8) == (found["view"], found["n_items"])
    expected = stats.lower_tail_mean(values, range(8), share=0.25, low=0, high=1)
    assert pytest.approx((0.2, expected.low, expected.high)) == (
        found["estimate"], found["low"], found["high"]
    )  # fmt: skip


def test_where_lower_is_better_the_tail_is_the_high_end(tmp_path: Path) -> None:
    found = view(tmp_path, {"A": twins([0, 1, 2, 4] * 5)}, "told(high=5, direction=lower)", tail=0.5)
    assert 3 == found["estimate"]
    assert found["low"] < 3 < found["high"]


def test_a_tail_of_fewer_than_ten_cases_has_no_interval(tmp_path: Path) -> None:
    found = view(tmp_path, {"A": twins([0] + [1] * 38)}, tail=0.25)
    few = "fewer than 10 effective cases in the tail: no interval"
    assert (pytest.approx(1 - 1 / (0.25 * 39)), None, few) == (
        found["estimate"], found["low"], found["reason"]
    )  # fmt: skip


def test_failed_marks_bound_the_tail(tmp_path: Path) -> None:
    """Worst half of .2, .4, .6 and one that failed: with 0 it is .1, with 1 it is .3; as seen .2666…"""
    found = view(tmp_path, {"A": twins([0.2, 0.4, 0.6, "fail"])}, tail=0.5)
    assert pytest.approx(((0.2 + 0.4 / 2) / 1.5, 0.1, 0.3)) == (
        found["estimate"], found["set_low"], found["set_high"]
    )  # fmt: skip
    turned = view(tmp_path / "2", {"A": twins([0.8, 0.6, 0.4, "fail"])}, "told(direction=lower)", tail=0.5)
    assert pytest.approx((0.7, 0.9)) == (turned["set_low"], turned["set_high"])


def test_a_ceiling_has_a_tail_at_the_ceiling(tmp_path: Path) -> None:
    found = view(tmp_path, {"A": twins([1] * 40)}, tail=0.25)
    assert (1.0, 1.0) == (found["estimate"], found["high"])
    assert found["low"] < 0.7


# All of them


def test_every_null_of_a_bad_end_has_a_reason_and_nothing_is_nan(tmp_path: Path) -> None:
    kinds: list[Any] = [
        {"q1": [1, 0], "q2": [1, 1]},
        {"q1": ["fail", "fail"]},
        {"q1": [SILENT, SILENT], "q2": [SILENT, 1]},
        {"q1": [1, "fail"], "q2": ["fail", "fail"]},
        {"q1": [1]},
        {},
    ]
    specs = ["told", "told(silence=set_aside)", "told(low=null, high=null, silence=set_aside)"]
    for number, (answers, spec) in enumerate(product(kinds, specs)):
        folder = tmp_path / str(number)
        run = made(folder, {"A": answers or {"q9": [SILENT]}})
        for found in score(run, spec, worst_at=2, tail=0.5).rows:
            json.dumps(found, allow_nan=False)
            if any(found[k] is None for k in FIGURES):
                assert found["reason"], (answers, spec, found["view"])


def test_the_order_of_rows_changes_no_digit_of_a_bad_end(tmp_path: Path) -> None:
    draw = random.Random(7)
    names = [f"q{n}" for n in range(20)]
    answers: Answers = {
        "A": {q: [draw.choice([0.1, 0.3, 0.7, SILENT, "fail"]) for _ in range(5)] for q in names}
    }
    spec, rows = exam(tmp_path, names), answer_rows(answers)
    found = []
    for number in range(3):
        draw.shuffle(rows)
        run = open_run(tmp_path / f"{number}.viva")
        run.import_answers(write_lines(tmp_path / f"{number}.jsonl", rows), benchmark=spec)
        found.append(score(run, worst_at=3, tail=0.2).rows)
    assert found[0] == found[1] == found[2]
    assert 3 == len(found[0])


def test_a_pooled_criterion_has_no_bad_end_and_a_note(tmp_path: Path) -> None:
    found = score(made(tmp_path, {"A": twins(["tp=1 fp=0 fn=1"] * 2)}), "counted", worst_at=2, tail=0.5)
    assert ["pooled"] == [r["view"] for r in found.rows]
    assert "counted, counts" in " ".join(found.notes)


@pytest.mark.parametrize("asked", [{"worst_at": 1}, {"worst_at": 0}, {"tail": 0}, {"tail": 1}, {"tail": 10}])
def test_what_is_no_bad_end_is_refused_before_anything_is_marked(tmp_path: Path, asked: Any) -> None:
    run = made(tmp_path, {"A": twins([1, 0])})
    with pytest.raises(SelectionError, match=r"--worst-at|--tail"):
        score(run, **asked)
    assert not run.scores.height


def test_the_sentences_name_the_view(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": [1, 0], "q2": [1]}})
    said = str(run.estimates(worst_at=2, tail=0.5))
    assert "told: worth on exam, worst@2: A 0.000, 1 question" in said
    assert "1 of 2 questions left out" in said
    assert "told: worth on exam, tail@0.5: A 0.500" in said


def test_ids_with_line_ends_are_no_other_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined by a line end, the two questions 'q' + 'a\\nb' and 'q\\na' + 'b' would have one name.

    No import takes them, but a stranger's run may hold them.
    """
    for module in ("vivavoce.benchmarks", "vivavoce.run.exchange.rows"):
        monkeypatch.setattr(f"{module}.refuse_line_ends", lambda name, where: None)
    questions = [{"item": "q", "variant": "a\nb"}, {"item": "q\na", "variant": "b"}]
    spec = exam(tmp_path, ["other", *questions])
    lines = [
        {**q, "candidate": "A", "repeat": n, "text": text}
        for q, texts in zip(questions, (("0", "1"), ("1", "1")), strict=True)
        for n, text in enumerate(texts, 1)
    ]
    run = open_run(tmp_path / "run.viva")
    run.import_answers(write_lines(tmp_path / "answers.jsonl", lines), benchmark=spec)
    found = row(score(run, worst_at=2), view="worst@2")
    assert (2, 0.5) == (found["n_items"], found["estimate"])
