"""Labels saved by drawing where they tell most: four cells of bench/label_draws.py, with fewer draws.

A figure may miss what is promised by two Monte-Carlo errors; draws are seeded: it changes only with the code.
"""

import importlib.util
import sys

import pytest
from tests.lengths import length

pytestmark = pytest.mark.slow

DRAWS = length(60, 1_000)


@pytest.fixture(scope="module")
def bench(root):
    spec = importlib.util.spec_from_file_location("label_draws", root / "bench" / "label_draws.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


CELLS = [(1, "good", 3, 25), (1, "wrong", 3, -5), (5, "good", 1, 15), (5, "random", 3, -5)]


@pytest.mark.parametrize(("top", "judge", "passes", "least"), length(CELLS[:2], CELLS))
def test_a_good_judge_saves_labels_and_a_wrong_one_costs_few(bench, top, judge, passes, least):
    """Ties in 70 % of the cases; the interval holds the truth in 93 to 97 % all along."""
    figures = bench.savings(bench.Cell(top, judge, 0.7, passes), DRAWS)
    twice = figures["twice"]
    assert twice.saved + 2 * twice.saved_error >= least
    assert figures["once"].saved + 2 * figures["once"].saved_error >= min(least, 10)
    for figure in figures.values():
        assert figure.left_out < 5
        assert 93 - 2 * figure.coverage_error <= figure.coverage <= 97 + 2 * figure.coverage_error


def test_a_uniform_draw_saves_nothing(bench, monkeypatch):
    """A check of the bench itself: without any prediction both ways of drawing are the simple one."""
    monkeypatch.setattr(bench, "simulated", lambda cell, rng: _unseen(bench, cell, rng))
    figures = bench.savings(bench.Cell(5, "wrong", 0.3, 1), DRAWS)
    assert abs(figures["once"].saved) <= 2 * figures["once"].saved_error + 2


def _unseen(bench, cell, rng):
    """People's differences spread alike, and a judge that sees none."""
    people = rng.normal(size=bench.CASES)
    return bench.Benchmark(people, people * 0 + (rng.random(bench.CASES) < 0.5), None)
