"""Ranking: the published order and its intervals, and what is too little to rank."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import SILENT, made, marked, row, score, twins

from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.comparing.ranking import RankingRow
from vivavoce.studies.study import columns

INTERVALS = {
    "Gemini 2.5 Pro": (1, 5),
    "Claude 3.5 Sonnet": (1, 6),
    "MedGemma 27B": (1, 6),
    "Llama 3.3-70B-Instruct": (1, 6),
    "Med42-70B": (2, 9),
    "Meditron 3-70B": (5, 9),
    "Gemma 3 27B": (1, 9),
    "Llama 3.1-8B-Instruct": (5, 9),
    "NVLM-70B": (5, 9),
    "Llama 3.2-1B-Instruct": (10, 10),
}


def study(run: Run, **settings: Any) -> Finding:
    return run.study("ranking", **settings)["ranking"]


@pytest.fixture(scope="module")
def found(recorded: Run, paper: str) -> Finding:
    return study(recorded, items=paper)


def test_the_ranks_that_paired_tests_leave_open(found: Finding) -> None:
    """Section 5 of docs/statistics.md, best first; 22 of 45 pairs by CR2, 24 by CR1, on 61 questions."""
    own = [r for r in found.rows if r["criterion"] == "comprehension"]
    assert list(INTERVALS.items()) == [
        (r["candidate"], (r["rank_low_observed"], r["rank_high_observed"])) for r in own
    ]
    assert {(10, 61, 41, 22, 45)} == {
        tuple(r[k] for k in ("n_candidates", "n_items", "n_groups", "n_shown", "n_pairs")) for r in own
    }
    assert list(range(1, 11)) == [r["rank"] for r in own]


def test_ranks_that_hold_whatever_failed_scores_were_do_not_depend_on_them(found: Finding) -> None:
    """Med42's 14 failed scores decide no pair that the other scores had told apart."""
    own = {r["candidate"]: r for r in found.rows if r["criterion"] == "comprehension"}
    wider = {name: (r["rank_low"], r["rank_high"]) for name, r in own.items() if r["depends_on_failed"]}
    assert {} == wider
    assert {"Med42-70B": 14} == {name: r["n_failed"] for name, r in own.items() if r["n_failed"]}
    assert found.text.startswith(
        "medgpt by gpt-4o-2024-08-06: comprehension on hivmedqa: Candidates have scores on different "
        "questions, so they are ranked by their means on the 61 questions that all share. 61 questions in 41 "
        "cases, 32.7 effective, by the judge alone; "
    )


def test_means_and_mean_ranks_stand_side_by_side_and_name_different_winners(found: Finding) -> None:
    gemini, claude = (
        row(found, criterion="comprehension", candidate=c) for c in ("Gemini 2.5 Pro", "Claude 3.5 Sonnet")
    )
    assert ("4.126", "4.036") == (f"{gemini['mean']:.3f}", f"{claude['mean']:.3f}")
    assert ("3.631", "3.557") == (f"{gemini['mean_rank_items']:.3f}", f"{claude['mean_rank_items']:.3f}")
    assert claude["mean_rank"] < gemini["mean_rank"]
    assert (
        "61 questions in 41 cases, 32.7 effective, by the judge alone; 22 of 45 pairs told apart; 3 of "
        "them could be undone by whole losses that were not seen; ranks left open (mean; mean rank): "
        "Gemini 2.5 Pro 1-5 (4.13; 3.70), Claude 3.5 Sonnet 1-6 (4.04; 3.39), "
    ) in found.text


def test_friedman_has_cases_for_blocks(found: Finding) -> None:
    r = row(found, criterion="comprehension", candidate="NVLM-70B")
    assert ("149.1435", "27.1347", "2.1155") == tuple(
        f"{r[k]:.4f}" for k in ("friedman_chi2", "friedman_f", "critical_difference")
    )
    own = [r["mean_rank"] for r in found.rows if r["criterion"] == "comprehension"]
    assert pytest.approx(55) == sum(own)


def test_the_ceiling_is_not_ranked(found: Finding) -> None:
    assert {10} == {r["n_candidates"] for r in found.rows}
    assert "Rephrased Gold Answers" not in found.text


def test_lower_is_better_turns_the_order_and_not_the_means(tmp_path: Path) -> None:
    """Twelve cases, A always 0.2 below B by more or less, and B 0.2 below C."""
    run = marked(
        tmp_path,
        {"A": twins([0.1, 0.2] * 6), "B": twins([0.3, 0.5] * 6), "C": twins([0.6, 0.7] * 6)},
        "told(direction=lower)",
    )
    found = study(run)
    assert [("A", 1, 1, 1, 0.15), ("B", 2, 2, 2, 0.4), ("C", 3, 3, 3, 0.65)] == [
        (r["candidate"], r["rank"], r["rank_low"], r["rank_high"], round(r["mean"], 9)) for r in found.rows
    ]
    assert [1.0, 2.0, 3.0] == [r["mean_rank"] for r in found.rows]
    assert found.text.endswith("A 1 (0.150; 1.00), B 2 (0.400; 2.00), C 3 (0.650; 3.00).")


def test_a_pair_is_in_doubt_where_whole_losses_that_were_not_seen_could_undo_it(tmp_path: Path) -> None:
    """Of 12 cases up to 22 % may be lost whole: (1 - .22) .2 is less than .22, (1 - .22) .4 is more."""
    close = study(marked(tmp_path / "1", {"A": twins([0.5, 0.6] * 6), "B": twins([0.3, 0.4] * 6)}))
    assert {(1, 1)} == {(r["n_shown"], r["n_doubtful"]) for r in close.rows}
    doubt = "{} could be undone by whole losses that were not seen"
    assert f"1 of 1 pairs told apart; {doubt.format('1 of them')})" in close.text
    assert close.headline.endswith(f"; {doubt.format('it')}.")
    far = study(marked(tmp_path / "2", {"A": twins([0.7, 0.8] * 6), "B": twins([0.3, 0.4] * 6)}))
    assert {(1, 0)} == {(r["n_shown"], r["n_doubtful"]) for r in far.rows}
    assert "undone" not in far.text + far.headline


def test_ties_everywhere_leave_every_rank_open(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {name: twins([0.5] * 12) for name in "ABC"}))
    assert {(2.0, 1, 3, 2.0, 0)} == {
        (r["rank"], r["rank_low"], r["rank_high"], r["mean_rank"], r["n_shown"]) for r in found.rows
    }
    assert {(None, None, None)} == {
        (r["friedman_chi2"], r["friedman_f"], r["friedman_p"]) for r in found.rows
    }
    assert "0 of 3 pairs told apart" in found.text


def test_one_candidate_has_no_rank(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": twins([0.5, 0.6] * 6)}))
    (only,) = found.rows
    assert (None, "one candidate has no rank", pytest.approx(0.55)) == (
        only["rank"], only["reason"], only["mean"],
    )  # fmt: skip
    assert "told: worth on exam: one candidate has no rank." == found.text


@pytest.mark.parametrize(("n_cases", "ranks"), [(5, {(None, None, None)}), (6, {(1, 1, 1), (2, 2, 2)})])
def test_six_cases_are_the_least_however_many_questions(tmp_path: Path, n_cases: int, ranks: Any) -> None:
    items = [{"item": f"q{n:02}", "group": f"g{n % n_cases}"} for n in range(18)]
    b = [0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 0.3, 0.1, 0.2] * 2
    found = study(marked(tmp_path, {"A": twins([0.5] * 18), "B": twins(b)}, items=items))
    assert ranks == {(r["rank"], r["rank_low"], r["rank_high"]) for r in found.rows}
    few = "5 cases that all candidates have scores on: too few to rank"
    assert {few if n_cases == 5 else None} == {r["reason"] for r in found.rows}


def test_orders_that_lack_the_same_share_one_line(tmp_path: Path) -> None:
    """Two benchmarks of 5 cases and one of 12: what is too little is said once, each order keeps its rows."""
    few = {"A": twins([0.5] * 5), "B": twins([0.1] * 5)}
    run = marked(tmp_path, few, name="first")
    marked(tmp_path, few, name="second", run=run)
    marked(tmp_path, {"A": twins([0.5, 0.6] * 6), "B": twins([0.1, 0.2] * 6)}, name="third", run=run)
    found = study(run)
    lines = found.text.splitlines()
    why = "5 cases that all candidates have scores on: too few to rank"
    assert f"told: worth on first and second: {why}." == lines[0]
    assert (2, True) == (len(lines), lines[1].startswith("told: worth on third (12 questions"))
    assert ["first", "second"] == sorted({r["benchmark"] for r in found.rows if r["reason"] == why})


def test_questions_that_one_lacks_are_left_out_for_all(tmp_path: Path) -> None:
    """A was better on what B was not asked, and that does not count."""
    answers = {"A": twins([0.1, 0.2] * 6 + [1] * 8), "B": twins([0.3, 0.5] * 6)}
    found = study(marked(tmp_path, answers))
    assert ["B", "A"] == [r["candidate"] for r in found.rows]
    assert {12} == {r["n_items"] for r in found.rows}
    assert [("B", 0.4, 12), ("A", 0.49, 20)] == [
        (r["candidate"], round(r["mean_own"], 9), r["n_items_own"]) for r in found.rows
    ]
    assert found.text.startswith(
        "told: worth on exam: Candidates have scores on different questions, so they are ranked by their "
        "means on the 12 questions that all share. Means over their own questions: B 0.400 on 12, A 0.490 on "
        "20. "
    )


def decided_by_failures(folder: Path, spec: str = "told", **more: list[Any]) -> Finding:
    """A is 0.3 or 0.2 ahead of B in 12 cases; in 8 others A has 0.6 and B's score failed."""
    answers = {"A": [0.6, 0.7] * 6 + [0.6] * 8, "B": [0.3, 0.5] * 6 + ["fail"] * 8, **more}
    return study(marked(folder, {name: twins(values) for name, values in answers.items()}, spec))


def test_a_pair_is_told_apart_only_under_both_fillings(tmp_path: Path) -> None:
    """As observed A is first and B second; with B's failed scores at 1 the mean difference is below 0."""
    found = decided_by_failures(tmp_path)
    assert [("A", 1, 2, 1, 1, True, 0), ("B", 1, 2, 2, 2, True, 8)] == [
        (r["candidate"], r["rank_low"], r["rank_high"], r["rank_low_observed"], r["rank_high_observed"],
         r["depends_on_failed"], r["n_failed"])
        for r in found.rows
    ]  # fmt: skip
    assert {0} == {r["n_shown"] for r in found.rows}
    assert found.text.startswith(
        "told: worth on exam: The ranks of A and B depend on the 8 scores that failed: score them again "
        "before deciding. Candidates have scores on different questions"
    )


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_a_pair_that_no_filling_turns_stays_told_apart(tmp_path: Path, direction: str) -> None:
    """One failed score of twenty cannot close a gap of .6, in either direction of the scale."""
    answers = {"A": twins([0.7, 0.8] * 10), "B": twins([0.1, 0.2] * 9 + [0.1, "fail"])}
    found = study(marked(tmp_path, answers, f"told(direction={direction})"))
    order = ["A", "B"] if direction == "higher" else ["B", "A"]
    assert [(order[0], 1, 1, False), (order[1], 2, 2, False)] == [
        (r["candidate"], r["rank_low"], r["rank_high"], r["depends_on_failed"]) for r in found.rows
    ]
    assert "depend" not in found.text


def test_failures_of_one_leave_the_ranks_of_others_alone(tmp_path: Path) -> None:
    found = decided_by_failures(tmp_path, C=[0.05, 0.0] * 10)
    assert {"A": (1, 2), "B": (1, 2), "C": (3, 3)} == {
        r["candidate"]: (r["rank_low"], r["rank_high"]) for r in found.rows
    }


def test_a_failed_score_without_a_limit_tells_no_pair_apart(tmp_path: Path) -> None:
    found = decided_by_failures(tmp_path, "told(low=null, high=null, silence=set_aside)")
    assert {(1, 2, True)} == {(r["rank_low"], r["rank_high"], r["depends_on_failed"]) for r in found.rows}
    assert (
        "The ranks of A and B depend on the 8 scores that failed: score them again before deciding. Scores "
        "failed, and a scale without a limit has no bound for what they could be."
    ) in found.text


def test_a_score_that_failed_where_others_have_none_decides_nothing(tmp_path: Path) -> None:
    answers = {"A": twins([0.1, 0.2] * 6), "B": twins([0.3, 0.5] * 6 + ["fail"] * 9)}
    found = study(marked(tmp_path, answers))
    assert {(0, False)} == {(r["n_failed"], r["depends_on_failed"]) for r in found.rows}


def test_who_only_refused_has_no_rank(tmp_path: Path) -> None:
    """Nothing but silence, or silence and failures, is no result, and costs the others none."""
    answers = {"A": [0.1, 0.2] * 6, "B": [0.3, 0.5] * 6, "C": [SILENT] * 12, "D": ["fail", SILENT] * 6}
    found = study(marked(tmp_path, {name: twins(values) for name, values in answers.items()}))
    assert [("B", 1), ("A", 2)] == [(r["candidate"], r["rank"]) for r in found.rows]
    assert ("Left out of told: worth on exam, no result (no score is ok): C, D.",) == found.notes


def test_no_question_in_common(tmp_path: Path) -> None:
    found = study(marked(tmp_path, {"A": {"q1": 0.5}, "B": {"q2": 0.5}}))
    assert {(None, "0 cases that all candidates have scores on: too few to rank")} == {
        (r["mean"], r["reason"]) for r in found.rows
    }


def test_floor_and_ceiling_are_left_out(tmp_path: Path) -> None:
    answers = {name: twins([0.1 * n, 0.1 * n + 0.05] * 6) for n, name in enumerate("FABC")}
    found = study(marked(tmp_path, answers, role={"F": "floor", "C": "ceiling"}))
    assert ["B", "A"] == [r["candidate"] for r in found.rows]


def test_two_benchmarks_are_kept_apart(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([0.1, 0.2] * 6), "B": twins([0.3, 0.5] * 6)}, name="one")
    made(tmp_path, {"A": twins([0.8, 0.9] * 6), "B": twins([0.3, 0.5] * 6)}, name="two", run=run)
    score(run)
    found = study(run)
    assert [("one", "B"), ("one", "A"), ("two", "A"), ("two", "B")] == [
        (r["benchmark"], r["candidate"]) for r in found.rows
    ]


def test_two_raters_rank_apart(panel: Callable[..., Run]) -> None:
    marks = [
        (c, f"q{n:02}", who, 1, base + n % 2)
        for who, bases in (("Ann", (0, 2)), ("Bob", (3, 1)))
        for c, base in zip("AB", bases, strict=True)
        for n in range(12)
    ]
    found = study(panel(marks))
    assert [("Ann", "B"), ("Ann", "A"), ("Bob", "A"), ("Bob", "B")] == [
        (r["rater"], r["candidate"]) for r in found.rows
    ]
    assert "panel: worth by Ann on exam (12 questions in 12 cases" in found.text
    assert {tuple(columns(RankingRow))} == {tuple(r) for r in found.rows}
