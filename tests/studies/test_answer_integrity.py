"""A comparison names a difference in cut answers only where a test within its family finds one."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import polars as pl
from tests.lengths import length

from vivavoce.studies.answer_integrity import DERIVED, differences, integrity_rows

Flags = dict[str, np.ndarray]


def answers(flags: Flags, *, cases: int | None = None, kind: str = "cut") -> pl.DataFrame:
    """The answers of candidates to one question each; `cases` of them, all of one size, else one each."""
    parts = []
    for candidate, values in flags.items():
        n = len(values)
        parts.append(pl.DataFrame({
            "benchmark": "exam", "item": [f"q{i}" for i in range(n)], "variant": "",
            "group": [f"c{i % (cases or n)}" for i in range(n)], "candidate": candidate, "repeat": 1,
            **{name: values.astype(bool) if name == kind else np.zeros(n, bool) for name in DERIVED},
        }))  # fmt: skip
    return pl.concat(parts)


def sentences(frame: pl.DataFrame) -> list[str]:
    pairs = [("exam", a, b) for a, b in combinations(frame["candidate"].unique().sort(), 2)]
    return differences(integrity_rows(frame), answers_of(frame), pairs)


def answers_of(frame: pl.DataFrame) -> Callable[[str, str], pl.DataFrame]:
    return lambda benchmark, candidate: frame.filter(benchmark=benchmark, candidate=candidate)


def flagged(n: int, total: int) -> np.ndarray:
    return np.arange(total) < n


def test_three_of_144_are_no_difference_and_30_are_one() -> None:
    assert [] == sentences(answers({"A": flagged(3, 144), "B": flagged(0, 144)}))
    (sentence,) = sentences(answers({"A": flagged(30, 144), "B": flagged(0, 144)}))
    assert sentence.startswith("exam: 30 of 144 answers (21 %) of A and 0 of 144 answers (0 %) of B were cut")


def test_cut_answers_to_one_case_are_one_observation() -> None:
    frame = answers({"A": np.arange(60) % 6 == 0, "B": flagged(0, 60)}, cases=6)
    assert 10 == frame.filter(candidate="A")["cut"].sum()
    assert [] == sentences(frame)


def test_the_family_are_all_pairs() -> None:
    flags = {"A": flagged(7, 50), **{name: flagged(0, 50) for name in "BCDEFG"}}
    assert 1 == len(sentences(answers({name: flags[name] for name in "AB"})))
    assert [] == sentences(answers(flags))


def test_a_sentence_names_the_kind_and_the_largest_p() -> None:
    flags = {"A": flagged(40, 60), "B": flagged(0, 60), "C": flagged(0, 60)}
    (sentence,) = sentences(answers(flags, kind="like_thinking"))
    assert "look like thinking" in sentence
    assert "(sign flips of cases, Holm-adjusted each p at most 0.0002 over 2 tests)" in sentence


def test_what_nobody_shares_and_an_empty_run_are_no_difference() -> None:
    unshared = answers({"A": flagged(20, 20)}).vstack(
        answers({"B": flagged(0, 20)}).with_columns(item="x" + pl.col("item"))
    )
    assert [] == sentences(unshared)
    assert [] == sentences(answers({"A": flagged(9, 9)}))
    assert [] == differences([], answers_of(answers({"A": flagged(0, 0)})), [("exam", "A", "B")])


def test_equal_candidates_are_named_in_five_percent_at_most() -> None:
    """Shares of cut answers from rare to frequent, by case and question, the same for three candidates."""
    rng, runs = np.random.default_rng(5), length(60, 600)
    n_named = 0
    for draw in range(runs):
        by_case = rng.beta(0.4, 0.4 * (1 + 9 * (draw % 3)), 30)[np.arange(90) % 30]
        flags = {name: rng.random(90) < by_case for name in "ABC"}
        n_named += bool(sentences(answers(flags, cases=30)))
    assert n_named / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


def test_a_tenth_of_one_candidates_answers_is_found_in_most_runs() -> None:
    rng, runs = np.random.default_rng(6), length(20, 200)
    n_named = sum(
        bool(
            sentences(
                answers({"A": rng.random(150) < 0.12, "B": rng.random(150) < 0.01, "C": flagged(0, 150)})
            )
        )
        for _ in range(runs)
    )
    assert n_named >= 0.8 * runs
