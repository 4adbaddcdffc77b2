"""The cells of bench/judge.py that tell most, with fewer draws: verdicts on people's scale.

A rate may miss its promise by two Monte-Carlo errors; draws are seeded, so a figure changes only with code.
"""

import importlib.util
import sys

import numpy as np
import pytest
from tests.lengths import length

from vivavoce import stats

pytestmark = pytest.mark.slow

DRAWS = length(150, 2_000)


@pytest.fixture(scope="module")
def bench(root):
    """The modules of the bench, by name."""
    modules = {}
    for file in ("coverage_cells", "coverage_rates", "judge"):
        spec = importlib.util.spec_from_file_location(file, root / "bench" / f"{file}.py")
        modules[file] = sys.modules[file] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[file])
    yield modules
    for file in modules:
        del sys.modules[file]


@pytest.fixture(autouse=True)
def few_flips(bench, monkeypatch):
    """Sign flips rest on 999 draws, and only in these tests."""
    for function in (stats.sign_flips, stats.pooled_swaps):
        monkeypatch.setattr(sys.modules[function.__module__], function.__name__, function)
    bench["coverage_rates"].draw_few_flips()


@pytest.fixture
def figures(bench):
    """`figures(block, …)`: the rates of one cell."""
    judge = bench["judge"]
    return lambda block, *cell, draws=DRAWS: judge.BLOCKS[block].figures(judge.Cell(*cell), draws)


@pytest.fixture
def meets(bench):
    """Whether a rate meets a goal, but for two Monte-Carlo errors."""
    return lambda rate, **goal: rate.n > 0 and rate.miss(bench["coverage_rates"].Goal(**goal)) != "!"


# verdicts


KIND = [
    ("grades 0-5", "good", "fives", 400, 100),
    ("grades 0-5", "good", "single", 200, 50, "where they tell most"),
    ("grades 0-5", "good", "single", 200, 50),
    ("continuous", "weak", "single", 200, 15),
]


@pytest.mark.parametrize("cell", length(KIND[:2], KIND))
def test_a_kind_judge_makes_no_verdict_once_people_labelled_a_part(figures, meets, cell):
    """By the judge alone most benchmarks tell two equal candidates apart."""
    result = figures("verdicts", *cell)
    assert result["judge"].percent > 60
    assert meets(result["both"], most=6)
    assert result["both, width"] < 1


@pytest.mark.parametrize("labels", length([10], [10, 50]))
def test_a_random_judge_makes_no_verdict_and_hardly_widens(figures, meets, labels):
    result = figures("labels", "continuous", "random", "single", 200, labels)
    assert meets(result["both"], most=6)
    assert result["both, width"] <= 1.02


def test_a_judge_that_prefers_the_worse_one_still_helps_to_find_the_better(figures):
    result = figures("power", "continuous", "good", "single", 200, 50)
    assert result["judge"].percent < 10
    assert result["both"].percent > result["labels"].percent + 10


# shares


RATES = [(".03", 20), (".1", 100), (".3", 50)]


@pytest.mark.parametrize(("share", "labels"), length(RATES[:2], RATES))
def test_a_share_is_held_93_percent_down_to_a_rare_harm(figures, meets, share, labels):
    result = figures("rates", share, "good", "single", 400, labels)
    assert meets(result["both"], least=93)
    assert result["both, width"] <= 1.02


# the simulation itself


def test_whole_cases_are_labelled_as_often_as_their_probability_says(bench):
    judge = bench["judge"]
    rng, draws = np.random.default_rng(1), length(200, 800)
    cases = np.repeat(np.arange(40), 5)
    for design in ("alike", "where they tell most", "three to one"):
        cell, share = judge.Cell("continuous", "good", "fives", 200, 50, design), np.zeros(40)
        d = np.random.default_rng(2).normal(size=200) ** 3
        probability = np.zeros(40)
        for _ in range(draws):
            at, p = judge.labelled(cell, d, cases, rng)
            chosen = np.unique(cases[at])
            assert len(at) == 5 * len(chosen) == 50
            share[chosen] += 1 / draws
            probability[chosen] = 0.25 if p is None else p[::5]
        assert abs(share - probability).max() < 2 / np.sqrt(draws), design
        assert bool(np.ptp(probability) > 0.05) is (design != "alike"), design


def test_equal_candidates_are_equal_and_the_judge_is_kinder_to_the_first(bench):
    judge = bench["judge"]
    cell = judge.Cell("grades 0-5", "good", "single", 200, 50)
    made = list(judge.benchmarks(cell, 300))
    people = np.array([b.people.mean() for b in made])
    judged = np.array([b.judged.mean() for b in made])
    assert abs(people.mean()) < 3 * people.std() / np.sqrt(300)
    assert judged.mean() > 0.2
    assert 0.6 < np.corrcoef(made[0].people, made[0].judged)[0, 1] < 0.95


def test_an_entry_marks_what_misses_its_promise(bench):
    judge, rates = bench["judge"], bench["coverage_rates"]
    goals = {"both": rates.Goal(most=6)}
    found = {"both": rates.Rate(90, 1_000), "labels": rates.Rate(90, 1_000), "both, width": 1.03}
    assert "**9.0 ± 0.9**" == judge.entry("both", found, goals)
    assert "9.0 ± 0.9" == judge.entry("labels", found, goals)
    assert "**1.030**" == judge.entry("both, width", found, goals)
    assert "–" == judge.entry("CJE", found, goals)
