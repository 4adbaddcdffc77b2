"""Sums over sums. Oracle: the matrices of weighted least squares of a / b with weights b, by case."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from tests.stats.matrices import by_matrices

from vivavoce.stats import cluster_mean, estimate_mean, wilson
from vivavoce.stats.ratio import exp_ratio, ratio


def facts(seed=0, n=120, n_groups=30):
    rng = np.random.default_rng(seed)
    g = rng.integers(0, n_groups, n)
    b = rng.integers(1, 20, n).astype(float)
    return rng.binomial(b.astype(int), rng.beta(8, 2, n_groups)[g]).astype(float), b, g


def test_ratio_is_the_weighted_regression_of_the_matrices():
    """Without two limits the ends are exp(ln theta -/+ t SE / theta)."""
    a, b, g = facts()
    value, error, df = by_matrices(a / b, g, weights=b)
    r = ratio(a, b, groups=g)
    assert pytest.approx((value, error, df), rel=1e-9) == (r.value, r.se, r.df)
    half = stdtrit(df, 0.975) * error / value
    assert pytest.approx((value * math.exp(-half), value * math.exp(half))) == (r.low, r.high)
    assert (None, "t on the log scale, linearised ratio, CR2 by group") == (r.reason, r.method)


def test_hand_worked_pooled_precision():
    """4 of 8 facts: u = 3 - .5 * 4 = 1 and 1 - .5 * 4 = -1, w = 1/2 each; SE^2 = 2 (1 + 1) / 64."""
    r = ratio([3, 1], [4, 4], groups=["x", "y"])
    assert (0.5, pytest.approx(0.25), 2, 2, 1) == (r.value, r.se, r.n, r.n_groups, r.df)
    bounded = ratio([3, 1], [4, 4], groups=["x", "y"], low=0, high=1)
    assert wilson(0.5, r.se, 1, low=0, high=1)[:2] == (bounded.low, bounded.high)
    assert "Wilson, effective size, linearised ratio, CR2 by group" == bounded.method


def test_hand_worked_uneven_denominators():
    """5 of 10 facts, 4 of 6 and 1 of 4: u = 1, -1 over 1 - w of .4, .6; SE^2 = (1 / .4 + 1 / .6) / 100."""
    r = ratio([4, 1], [6, 4], groups=["x", "y"])
    assert (0.5, pytest.approx(math.sqrt((1 / 0.4 + 1 / 0.6) / 100)), 1) == (r.value, r.se, r.df)


@pytest.mark.parametrize("statistic", [ratio, exp_ratio])
def test_fewer_than_ten_effective_groups_have_no_interval_and_a_reason(statistic):
    """Nine answers; or forty of which one holds nearly all of the text."""
    rng = np.random.default_rng(6)
    a, b = rng.uniform(1, 9, 40), rng.uniform(10, 20, 40)
    few, many = statistic(a[:9], b[:9], groups=range(9)), statistic(a, b, groups=range(40))
    giant = statistic(np.r_[4000.0, a[1:]], np.r_[9000.0, b[1:]], groups=range(40))
    for one in (few, giant):
        assert (None, None) == (one.low, one.high)
        assert "no interval: fewer than 10 effective groups" == one.reason
        assert one.value is not None
        assert one.df < 9
    assert giant.n_groups == 40
    assert many.low < many.value < many.high
    assert many.reason is None


@pytest.mark.parametrize("statistic", [ratio, exp_ratio])
def test_one_ratio_in_every_group_has_no_interval_without_limits(statistic):
    b = np.arange(1.0, 21)
    r = statistic(0.5 * b, b, groups=range(20))
    assert (None, None) == (r.low, r.high)
    assert r.reason.startswith("no interval: the ratio is the same in every group, and nothing limits")


def test_a_ratio_that_is_not_above_0_has_its_interval_on_its_own_scale():
    a = np.tile([-3.0, 1.0], 10)
    value, error, df = by_matrices(a, np.arange(20))
    half = stdtrit(df, 0.975) * error
    r = ratio(a, np.ones(20), groups=range(20))
    assert pytest.approx((value, value - half, value + half)) == r[:3]
    nothing = ratio(np.zeros(20), np.ones(20), groups=range(20))
    assert (0, None, None, 0) == nothing[:4]


def test_micro_f1_of_two_answers():
    """TP 3, FP 1, FN 2 and TP 1, FP 0, FN 1: F1 = 2 * 4 / (2 * 4 + 1 + 3)."""
    assert pytest.approx(8 / 12) == ratio([6, 2], [6 + 3, 2 + 1], groups=[0, 1]).value


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_denominators_give_the_ordinary_mean(weighted):
    a, b, g = facts(1)
    w = b if weighted else None
    m, r = cluster_mean(a, g, weights=w), ratio(a, np.ones(len(a)), groups=g, weights=w)
    assert (pytest.approx(m.value), pytest.approx(m.se)) == (r.value, r.se)
    share = estimate_mean(a / b.max(), g, low=0, high=1)
    same = ratio(a / b.max(), np.ones(len(a)), groups=g, low=0, high=1)
    assert pytest.approx(share[:4]) == same[:4]


def test_a_weight_of_two_is_the_item_twice():
    a, b, g = facts(2, n=20, n_groups=6)
    once = ratio(a, b, groups=g, weights=[2] * 5 + [1] * 15)
    twice = ratio(np.r_[a, a[:5]], np.r_[b, b[:5]], groups=np.r_[g, g[:5]])
    assert (pytest.approx(once.value), pytest.approx(once.se)) == (twice.value, twice.se)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=30))
def test_order_names_and_unit_do_not_matter(data):
    a, b, g = map(np.array, zip(*data, strict=True))
    one = ratio(a, a + b, groups=g, low=0, high=1)
    other = ratio(3 * a[::-1], 3 * (a + b)[::-1], groups=[f"note {k}" for k in g[::-1]], low=0, high=1)
    for x, y in zip(one[:4], other[:4], strict=True):
        assert (x is None) == (y is None)
        assert x is None or pytest.approx(x, abs=1e-9) == y
    assert one.value is None or 0 <= one.value <= 1


def test_nothing_to_divide_by_is_null_and_an_empty_item_carries_no_error():
    assert (None, None, None, None, 2, 2) == ratio([0, 0], [0, 0], groups=[0, 1])[:6]
    assert (None, None, None, None, 2, 2) == exp_ratio([0, 0], [0, 0], groups=[0, 1])[:6]
    assert "the denominators sum to 0" == ratio([0, 0], [0, 0], groups=[0, 1]).reason
    r = ratio([3, 1, 0], [4, 4, 0], groups=["x", "y", "z"])
    assert (0.5, pytest.approx(0.25), 3, 1) == (r.value, r.se, r.n_groups, r.df)
    alone = ratio([3, 0], [4, 0], groups=["x", "y"], low=0, high=1)
    assert (0.75, None, None, None) == alone[:4]


def test_one_group_has_a_ratio_and_no_interval():
    assert (0.5, None, None, None, 2, 1) == ratio([3, 1], [4, 4], groups=["x", "x"])[:6]
    e = exp_ratio([3, 1], [4, 4], groups=["x", "x"])
    assert (pytest.approx(math.exp(0.5)), None, None, None) == e[:4]


def test_all_equal_has_no_error_and_wilson_still_has_a_width():
    r = ratio([1, 2, 3], [2, 4, 6], groups=[0, 1, 2], low=0, high=1)
    assert (0.5, 0.0) == (r.value, r.se)
    assert r.low < 0.5 < r.high
    full = ratio([2, 4, 6], [2, 4, 6], groups=[0, 1, 2], low=0, high=1)
    assert (1.0, 1.0) == (full.value, full.high)
    assert full.low < 1


def test_perplexity_is_exp_of_nats_per_unit_with_ends_of_the_log():
    a, b, g = facts(3)
    inner, e = ratio(a, b, groups=g), exp_ratio(a, b, groups=g)
    value, error, df = by_matrices(a / b, g, weights=b)
    half = stdtrit(df, 0.975) * error / value
    assert (pytest.approx(math.exp(value)), pytest.approx(error)) == (e.value, e.se_log)
    ends = (math.exp(value * math.exp(side * half)) for side in (-1, 1))
    assert pytest.approx(tuple(ends)) == (e.low, e.high)
    assert pytest.approx((math.exp(inner.low), math.exp(inner.high))) == (e.low, e.high)


def test_the_unit_of_a_perplexity_only_scales_its_logarithm():
    """Per byte in place of per token, 4 bytes a token: ln PPL is a quarter."""
    a, b, g = facts(4)
    token, byte = exp_ratio(a, b, groups=g), exp_ratio(a, 4 * b, groups=g)
    for x, y in zip(token[:3], byte[:3], strict=True):
        assert pytest.approx(x) == y**4


def test_an_end_too_large_for_a_float_is_null_and_a_value_is_refused():
    """0 and 1,400 nats in turn: the mean is 700, its error 211, and exp(709.8) the largest float."""
    e = exp_ratio([0, 1400] * 6, [1] * 12, groups=range(12))
    low = 700 * math.exp(-stdtrit(11, 0.975) / math.sqrt(11))
    assert (pytest.approx(math.exp(700)), pytest.approx(math.exp(low)), None) == e[:3]
    assert "its upper end is above the largest number there is" == e.reason
    with pytest.raises(ValueError, match="are the logarithms natural"):
        exp_ratio([800, 800], [1, 1], groups=[0, 1])


def test_misfits_are_refused_with_their_position():
    for statistic in (ratio, exp_ratio):
        with pytest.raises(ValueError, match="numerators holds nan at position 1"):
            statistic([1, float("nan")], [1, 1], groups=[0, 1])
        with pytest.raises(ValueError, match=r"denominators holds -1\.0 at position 1: 0 or more"):
            statistic([1, 1], [1, -1], groups=[0, 1])
        with pytest.raises(ValueError, match="denominators has 1 entries"):
            statistic([1, 1], [1], groups=[0, 1])
        with pytest.raises(ValueError, match="numerators is empty"):
            statistic([], [], groups=[])
        with pytest.raises(ValueError, match=r"weights holds 0\.0 at position 0"):
            statistic([1, 1], [1, 1], groups=[0, 1], weights=[0, 1])
    with pytest.raises(ValueError, match="outside the metric's limits"):
        ratio([3, 3], [2, 2], groups=[0, 1], low=0, high=1)


def test_a_million_items_are_no_matter():
    rng = np.random.default_rng(5)
    b = rng.integers(1, 10, 10**6)
    r = ratio(rng.binomial(b, 0.8), b, groups=np.arange(10**6) // 4, low=0, high=1)
    assert pytest.approx(0.8, abs=0.002) == r.value
    assert pytest.approx(math.sqrt(0.16 / b.sum()), rel=0.02) == r.se


def test_numbers_below_0_keep_a_ratio_off_the_log_scale():
    """Fourteen numerators around 0: the interval must not jump where their sum passes 0."""
    a = np.random.default_rng(0).normal(size=14)
    a -= a.mean()
    above, below = (ratio(a + shift, np.ones(14), groups=np.arange(14)) for shift in (0.001, -0.001))
    assert pytest.approx((above.low - 0.002, above.high - 0.002)) == (below.low, below.high)
