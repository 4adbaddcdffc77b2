"""Consistency: the published components, a budget in words, and tables worked by hand."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.making import made, marked, row, score, twins

from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.reliability.consistency import NO_INTERVAL, ConsistencyRow
from vivavoce.studies.study import columns

Panel = Callable[..., Run]


def study(run: Run, **settings: Any) -> Finding:
    return run.study("consistency", **settings)["consistency"]


def near(expected: str, value: float) -> bool:
    """To the last digit printed."""
    return expected == f"{value:.{len(expected) - 1}f}".removeprefix("0")


@pytest.fixture(scope="module")
def found(recorded: Run, paper: str) -> Finding:
    return study(recorded, items=paper)


@pytest.mark.parametrize(
    ("criterion", "item", "interaction", "repeat"),
    [
        ("comprehension", ".18630", ".27082", ".29038"),
        ("harm", ".11125", ".14462", ".23591"),
        ("f1", ".01018", ".00219", ".00313"),
    ],
)
def test_eight_models_that_vary(
    found: Finding, criterion: str, item: str, interaction: str, repeat: str
) -> None:
    """Section 4 of docs/statistics.md: without the two whose repeats are the same text."""
    r = row(found, criterion=criterion, candidate="")
    assert (8, 63, 42, 5) == tuple(r[k] for k in ("n_candidates", "n_items", "n_groups", "repeats"))
    for expected, name in ((item, "item"), (interaction, "interaction"), (repeat, "repeat")):
        assert near(expected, r[f"s2_{name}"])
    assert r["raw_item"] == r["s2_item"]


def test_what_five_repeats_are_worth(found: Finding) -> None:
    r = row(found, criterion="comprehension", candidate="")
    assert ("1.706", 1) == (f"{r['worth']:.3f}", r["best_repeats"])
    assert (
        "medgpt by gpt-4o-2024-08-06: comprehension on hivmedqa (8 candidates, 63 questions in 42 cases): 5 "
        "repeats are worth 1.7 (1.6 to 1.9) times the questions, at 5 times the calls: buy questions; ask "
        "each 1 time."
    ) in found.text
    assert found.text.endswith(
        "All repeats of Med42-70B, NVLM-70B are the same text; what varies between them is the examiner."
    )


@pytest.mark.parametrize(
    ("candidate", "group", "item", "repeat", "questions", "cases"),
    [
        ("Gemini 2.5 Pro", ".27905", ".02675", ".15317", 63, 42),
        ("Claude 3.5 Sonnet", ".24660", ".20889", ".19365", 63, 42),
        ("Llama 3.1-8B-Instruct", ".49432", ".02349", ".48730", 63, 42),
        ("MedGemma 27B", ".15435", ".09127", ".29603", 63, 42),
        ("NVLM-70B", ".71126", ".65365", ".06508", 63, 42),
        ("Med42-70B", ".61973", ".33533", ".05833", 60, 40),
    ],
)
def test_one_model(
    found: Finding, candidate: str, group: str, item: str, repeat: str, questions: int, cases: int
) -> None:
    """Section 4: groups, items, repeats nested; where the text is the same, repeats are the judge's noise."""
    r = row(found, criterion="comprehension", candidate=candidate)
    same = candidate in ("NVLM-70B", "Med42-70B")
    within, other = ("s2_pass", "s2_repeat") if same else ("s2_repeat", "s2_pass")
    assert near(group, r["s2_group"])
    assert near(item, r["s2_item"])
    assert near(repeat, r[within])
    assert None is r[other]
    assert (same, questions, cases, 5) == tuple(r[k] for k in ("identical", "n_items", "n_groups", "repeats"))


def test_the_ceiling_is_no_candidate(found: Finding) -> None:
    assert "Rephrased Gold Answers" not in {r["candidate"] for r in found.rows}
    assert 10 + 1 == len([r for r in found.rows if r["criterion"] == "harm"])
    assert {columns(ConsistencyRow)} == {tuple(r) for r in found.rows}


def varied(n: int, at: float = 0.5) -> dict[str, Sequence[float]]:
    """So many cases of two repeats each; repeats differ by 0.2 throughout, questions alternate."""
    return {f"q{k:02}": [at + 0.1 * (k % 2), at + 0.2 + 0.1 * (k % 2)] for k in range(n)}


def test_a_table_worked_by_hand(tmp_path: Path) -> None:
    """A and B are crossed: MS of the interaction 0, of repeats 0.02; no repeat is too many then."""
    found = study(marked(tmp_path, {"A": varied(12), "B": varied(12, 0.1)}))
    r = row(found, candidate="")
    assert pytest.approx(0.02) == r["s2_repeat"]
    assert (0.0, pytest.approx(-0.01)) == (r["s2_interaction"], r["raw_interaction"])
    assert (pytest.approx(2.0), None) == (r["worth"], r["best_repeats"])
    assert (None, None, NO_INTERVAL) == (r["worth_low"], r["worth_high"], r["reason"])
    assert (
        "2 repeats are worth 2.0 times the questions, at 2 times the calls: no interval, so no advice."
        in found.text
    )


def scattered(n: int, repeats: int, spread: float) -> dict[str, dict[str, list[float]]]:
    """Two candidates whose answers vary by .1 inside questions, and by `spread` between repeats."""
    rng = np.random.default_rng(7)
    means = 0.5 + 0.1 * rng.standard_normal((2, n))
    values = np.clip(means[:, :, None] + spread * rng.standard_normal((2, n, repeats)), 0, 1)
    return {name: {f"q{k:03}": list(values[c, k]) for k in range(n)} for c, name in enumerate("AB")}


@pytest.mark.parametrize(
    ("n", "spread", "advice"),
    [
        (60, 0.02, "buy questions; ask each 1 time"),
        (150, 0.35, "repeats are worth their calls"),
        (14, 0.2, "too few cases to tell whether questions or repeats help more"),
    ],
)
def test_what_to_add_is_said_where_both_ends_of_the_interval_say_so(
    tmp_path: Path, n: int, spread: float, advice: str
) -> None:
    result = study(marked(tmp_path, scattered(n, 2, spread)))
    r = row(result, candidate="")
    assert 1 <= r["worth_low"] < r["worth"] < r["worth_high"] <= 2
    assert f"({r['worth_low']:.1f} to {r['worth_high']:.1f}) times the questions, at 2 times the calls: " in (
        result.text
    )
    assert result.text.endswith(f": {advice}.")


def test_passes_are_told_from_repeats(panel: Panel) -> None:
    """Scores 1, 2 of one answer and 4, 5 of the next: s2_pass .5, between means 4.5, less .5 / 2."""
    marks = [
        ("A", f"q{n:02}#{repeat}", "Ann", pass_no, value)
        for n in range(12)
        for repeat, values in ((1, (1, 2)), (2, (4, 5)))
        for pass_no, value in enumerate(values, 1)
    ]
    r = row(study(panel(marks, texts={"A": ["x", "y"]})), candidate="A")
    assert pytest.approx((0.5, 4.25)) == (r["s2_pass"], r["s2_repeat"])


def test_passes_over_one_repeat_show_the_examiners_noise(panel: Panel) -> None:
    marks = [("A", f"q{n:02}", "Ann", p, p) for n in range(12) for p in (1, 2)]
    r = row(study(panel(marks)), candidate="A")
    assert (0.5, None) == (r["s2_pass"], r["s2_repeat"])
    assert "one repeat only: nothing tells repeats apart from questions" == r["reason"]


def test_two_examiners_have_rows_of_their_own(panel: Panel) -> None:
    marks = [
        ("A", f"q{n:02}#{r}", who, 1, value)
        for n in range(12)
        for who, values in (("Ann", (1, 2)), ("Bob", (1, 5)))
        for r, value in enumerate(values, 1)
    ]
    found = study(panel(marks, texts={"A": ["x", "y"]}))
    assert {"Ann": 0.5, "Bob": 8.0} == {r["rater"]: r["s2_repeat"] for r in found.rows if r["candidate"]}
    assert "panel: worth by Bob on exam: it takes two candidates" in found.text


def test_one_candidate_has_no_budget(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": varied(12)}))
    r = row(found, candidate="")
    assert (None, 1) == (r["worth"], r["n_candidates"])
    assert "told on exam" not in found.text
    assert (
        "told: worth on exam: it takes two candidates whose answers vary, with two repeats each."
        == found.text
    )


def test_one_repeat_says_so(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": twins([0.1, 0.2] * 6), "B": twins([0.3, 0.1] * 6)}))
    assert {"one repeat only: nothing tells repeats apart from questions"} == {
        r["reason"] for r in found.rows if r["candidate"]
    }
    assert (
        "it takes two candidates whose answers vary, with two repeats each"
        == row(found, candidate="")["reason"]
    )


def test_nine_cases_are_too_few(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": varied(9), "B": varied(9, 0.1)}))
    assert {"9 cases with two repeats: too few to tell"} == {
        r["reason"] for r in found.rows if r["candidate"]
    }
    assert "9 cases that all of them have in full: too few to tell" == row(found, candidate="")["reason"]


def test_twins_do_not_make_enough_cases(tmp_path: Path) -> None:
    """Twelve questions in six cases are six."""
    items = [{"item": f"q{n:02}", "group": f"g{n // 2}"} for n in range(12)]
    found = study(marked(tmp_path, {"A": varied(12), "B": varied(12, 0.1)}, items=items))
    assert [(12, 6)] * 3 == [(r["n_items"], r["n_groups"]) for r in found.rows]
    assert {None} == {r["worth"] for r in found.rows}


def test_questions_that_one_lacks_are_left_out_of_the_whole(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": varied(14), "B": varied(12, 0.1)}))
    assert (12, 12) == tuple(row(found, candidate="")[k] for k in ("n_items", "n_groups"))
    assert 14 == row(found, candidate="A")["n_items"]


def test_a_failed_repeat_takes_its_question_out_of_the_whole(tmp_path: Path) -> None:
    answers = {"A": varied(13) | {"q00": ["fail", 0.5]}, "B": varied(13, 0.1)}
    found = study(marked(tmp_path, answers))
    assert 12 == row(found, candidate="")["n_items"]
    assert 12 == row(found, candidate="A")["n_items"]


def test_who_repeats_himself_more_often_leaves_the_others_their_table(tmp_path: Path) -> None:
    answers = {"A": varied(12), "B": varied(12, 0.1), "C": {f"q{n:02}": [0.5] * 4 for n in range(12)}}
    r = row(study(marked(tmp_path, answers)), candidate="")
    assert (2, 12, 2, NO_INTERVAL) == (r["n_candidates"], r["n_items"], r["repeats"], r["reason"])


def test_where_nothing_varies_there_is_no_budget(tmp_path: Path) -> None:
    """Texts that differ, and are all worth the same."""
    same = {f"q{n:02}": ["0.5", "0.50"] for n in range(12)}
    found = study(marked(tmp_path, {"A": same, "B": same}))
    assert "told: worth on exam: nothing varies but the questions: there is no budget to part." == found.text


def test_direction_does_not_matter(tmp_path: Path) -> None:
    answers = {"A": varied(12), "B": varied(12, 0.1)}
    run = marked(tmp_path, answers, "told(direction=lower)")
    score(run, "told")
    lower, higher = (
        [
            {k: r[k] for k in columns(ConsistencyRow) if k != "metric"}
            for r in study(run).rows
            if r["metric"] == m
        ]
        for m in ("told(direction=lower)", "told")
    )
    assert lower == higher


def test_two_benchmarks_are_kept_apart(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": varied(12), "B": varied(12, 0.1)}, name="one")
    made(tmp_path, {"A": varied(11), "B": varied(11, 0.1)}, name="two", run=run)
    score(run)
    found = study(run)
    assert [("one", 12), ("two", 11)] == [
        (r["benchmark"], r["n_items"]) for r in found.rows if not r["candidate"]
    ]
    assert "on one (2 candidates, 12 questions" in found.text
    assert "on two (2 candidates, 11 questions" in found.text


def test_where_every_mark_failed_there_are_no_marks(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": twins(["fail"] * 3), "B": twins(["fail"] * 3)}))
    assert "told: worth on exam: no scores." == found.text
    (only,) = found.rows
    assert ("", "no scores", None) == (only["candidate"], only["reason"], only["worth"])


def test_without_a_candidate_it_says_so(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": twins([1, 0])}, role={"A": "floor"}))
    assert ("No candidate was scored: there is no spread to part.", ()) == (found.text, found.rows)


def test_the_published_figures_are_numpys(tmp_path: Path) -> None:
    """Variance with ddof 0 by prompt, over candidates, then prompts; its root over the mean."""
    answers = {
        "A": {"q1": [0.2, 0.4], "q2": [0.0, 0.0]},
        "B": {"q1": [0.5, 0.5], "q2": [0.1, 0.9]},
        "C": {"q2": [1, 1]},
    }
    found = study(marked(tmp_path, answers))
    r = row(found, candidate="")
    assert pytest.approx(((0.01 + 0) / 2 + (0 + 0.16 + 0) / 3) / 2) == r["variance_published"]
    assert pytest.approx(((0.1 / 0.3 + 0) / 2 + (0.4 / 0.5 + 0) / 2) / 2) == r["cv_published"]
    # over prompts .005 and .16 / 3
    quartiles = [0.005 + share * (0.16 / 3 - 0.005) for share in (0.25, 0.5, 0.75)]
    assert pytest.approx(quartiles) == [r["variance_q1"], r["variance_median"], r["variance_q3"]]
    own = row(found, candidate="A")
    assert pytest.approx((0.005, 0.1 / 0.3)) == (own["variance_published"], own["cv_published"])
    assert (1, None) == (own["n_cv_items"], own["cv_reason"]), "a mean of 0 has no coefficient of variation"


def test_silence_is_no_consistency(tmp_path: Path) -> None:
    """A candidate whose answers are all blank has no published figure, and takes nothing from the others'."""
    spoken = {"A": {"q1": [0.2, 0.4], "q2": [0.1, 0.3]}}
    alone = row(study(marked(tmp_path / "alone", spoken)), candidate="")
    beside = study(marked(tmp_path / "beside", spoken | {"B": {"q1": ["", ""], "q2": ["", ""]}}))
    assert alone["variance_published"] == row(beside, candidate="")["variance_published"]
    silent = row(beside, candidate="B")
    assert (None, None) == (silent["variance_published"], silent["variance_median"])


def test_a_criterion_that_may_be_negative_has_no_coefficient_of_variation(panel: Panel) -> None:
    marks = [("A", f"q1#{r}", "Ann", 1, v) for r, v in ((1, 1), (2, 3))]
    r = row(study(panel(marks, texts={"A": ["x", "y"]})), candidate="A")
    assert (1.0, None if r["cv_reason"] else 0.5) == (r["variance_published"], r["cv_published"])


def test_one_repeat_and_zeros_have_no_published_figures(tmp_path: Path) -> None:
    one = row(study(marked(tmp_path / "one", {"A": {"q1": 0.5}})), candidate="A")
    assert (None, None) == (one["variance_published"], one["cv_published"])
    zeros = row(study(marked(tmp_path / "zeros", {"A": {"q1": ["0", "0.0"]}})), candidate="A")
    assert (0.0, None, 0) == (zeros["variance_published"], zeros["cv_published"], zeros["n_cv_items"])
    assert "all means are 0: no coefficient of variation" == zeros["cv_reason"]


def test_tables_that_lack_the_same_share_one_line(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5] * 3)}, name="first")
    marked(tmp_path, {"A": twins([0.5] * 3)}, name="second", run=run)
    text = (
        "told: worth on first and second: it takes two candidates whose answers vary, with two repeats each."
    )
    assert text == study(run).text
