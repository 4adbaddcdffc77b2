"""One family for one state of the data: all pairs by the primary criterion, whoever makes the test first."""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from tests.lengths import length
from tests.studies.making import marked, score, twins

from vivavoce.run.run import Run

RUNS, CASES = length(1, 100), 20
CALLS: dict[str, Callable[[Run], object]] = {
    "a pair": lambda run: run.compare("A", "B", metric="told"),
    "another pair": lambda run: run.compare("C", "B", metric="told"),
    "the family": lambda run: run.compare(),
}


def equal_candidates(folder: Path, seed: int) -> Run:
    """A run of three candidates whose scores are drawn from one distribution."""
    values = np.random.default_rng(seed).random((3, CASES)).round(2)
    return marked(folder, {name: twins(list(row)) for name, row in zip("ABC", values.tolist(), strict=True)})


def headline(run: Run) -> str:
    return next(str(row["words"]) for row in run.report_rows() if row["section"] == "answer")


@pytest.mark.slow
def test_the_headline_is_one_whatever_is_compared_before_and_in_whatever_order(tmp_path: Path) -> None:
    named_better = 0
    for seed in range(RUNS):
        words = set()
        for number, order in enumerate(permutations(CALLS)):
            run = equal_candidates(tmp_path / f"{seed} {number}", seed)
            for call in order[: 1 + number % 3]:
                CALLS[call](run)
            words.add(headline(run))
        assert 1 == len(words)
        named_better += "better" in words.pop()
    # 5 % and two Monte-Carlo errors of 100 runs
    assert named_better <= length(1, 9)


def test_a_narrower_comparison_is_counted_and_takes_no_headline(tmp_path: Path) -> None:
    values = [0.5, 0.7, 0.1, 0.3]
    run = marked(
        tmp_path,
        {
            "A": twins(values * 6),
            "B": twins([round(value - 0.02 - 0.05 * (k % 2), 2) for k, value in enumerate(values * 6)]),
            "C": twins([0.3, 0.2, 0.6, 0.1] * 6),
        },
    )
    words = headline(run)
    (pair,) = run.compare("A", "B", metric="told").rows
    assert 1 == pair["family"]
    assert words == headline(run)
    assert {1: 3, 2: 1} == {
        test: sum(row["test"] == test for row in run.interim().rows)
        for test in {row["test"] for row in run.interim().rows}
    }


def test_all_items_under_another_name_are_the_same_family(tmp_path: Path) -> None:
    run = equal_candidates(tmp_path, 0)
    words = headline(run)
    spec = f"jsonl(path='{tmp_path}/exam.jsonl')"
    assert words == next(str(r["words"]) for r in run.report_rows(items=spec) if r["section"] == "answer")
    assert {1} == {row["test"] for row in run.interim().rows}


def test_all_candidates_named_are_the_family_in_any_order(tmp_path: Path) -> None:
    run = equal_candidates(tmp_path, 0)
    run.compare("C", "A", "B", metric="told")
    run.compare()
    headline(run)
    assert {1} == {row["test"] for row in run.interim().rows}


def test_new_scores_are_another_state_and_another_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6 + ["fail 0.6"]), "B": twins([0.4] * 13)})
    first = headline(run)
    monkeypatch.setenv("TOLD_MENDED", "1")
    score(run)
    assert first != headline(run)
    assert {1, 2} == {row["test"] for row in run.interim().rows}


def test_a_plan_of_interim_analyses_is_the_family_that_counts(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    run.compare("A", "B", metric="told", sequential=True, analyses=3)
    headline(run)
    assert 1 == len(run.interim().rows)
