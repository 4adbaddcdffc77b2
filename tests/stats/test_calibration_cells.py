"""Cells of bench/calibration.py with fewer draws: intervals hold the truth, and promises are kept.

A rate may miss its goal by two Monte-Carlo errors; draws are seeded, so a figure changes only with the code.
"""

import importlib.util
import math
import sys

import numpy as np
import pytest
from tests.lengths import length

from vivavoce.stats import answer_threshold

pytestmark = pytest.mark.slow

DRAWS = length(100, 1_000)
KINDS = [("likelihood", "overconfident"), ("stated", "calibrated"), ("repeats", "nearly all right")]


@pytest.fixture(scope="module")
def bench(root):
    """The module of the bench, under another name than that of the statistics."""
    spec = importlib.util.spec_from_file_location("bench_calibration", root / "bench" / "calibration.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def error(rate, draws):
    return 2 * math.sqrt(rate * (1 - rate) / draws)


@pytest.mark.parametrize("cases", length(["lognormal"], ["one", "threes alike", "lognormal"]))
@pytest.mark.parametrize(("confidence", "right"), length(KINDS[:1], KINDS))
def test_intervals_hold_the_truth(bench, cases, confidence, right):
    rates = bench.intervals(bench.Cell(100, cases, confidence, right), DRAWS)
    for name in ("error", "brier", "resolution", "aurc"):
        assert rates[name] >= 0.93 - error(0.93, DRAWS), name


def test_the_plain_error_of_a_calibrated_model_is_far_from_zero_and_the_debiased_one_is_not(bench):
    rates = bench.intervals(bench.Cell(100, "one", "likelihood", "calibrated"), DRAWS)
    assert 0 == pytest.approx(rates["true_ece"], abs=1e-3)
    assert rates["ece"] > 0.06
    assert rates["ece_debiased"] < 0.6 * rates["ece"]


@pytest.mark.parametrize("cases", length(["lognormal"], ["one", "threes alike", "lognormal"]))
@pytest.mark.parametrize("right", ["just above the promise", "just above at the top", "surest are wrong"])
def test_a_promise_is_broken_in_five_percent_at_most(bench, cases, right):
    rates = bench.promises(bench.Cell(100, cases, "stated", right), 2 * DRAWS)
    assert rates["broken"] <= 0.05 + error(0.05, 2 * DRAWS)


def test_the_promised_risk_is_kept_in_95_percent_of_resplits(bench):
    """2,000 cases are split again and again: 300 choose the threshold, the others say what came of it."""
    rng = np.random.default_rng(11)
    c, y, cases = bench.draw(bench.Cell(2_000, "threes alike", "likelihood", "calibrated"), rng)
    splits = length(100, 1_000)
    named = broken = 0
    for _ in range(splits):
        chosen = np.isin(cases, rng.choice(2_000, 300, replace=False))
        promise = answer_threshold(c[chosen], y[chosen], cases[chosen], risk=0.1)
        if promise.threshold is not None:
            named += 1
            answered = ~chosen & (c >= promise.threshold - 1e-9)
            broken += 1 - y[answered].mean() > 0.1
    assert named > 0.8 * splits
    assert broken <= (0.05 + error(0.05, splits)) * splits
