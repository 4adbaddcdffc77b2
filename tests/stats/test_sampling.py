"""Samples of a known set. Golden values: docs/statistics.md; Cochran (1977), p. 76."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.stats import cluster_mean, proportion_n, sample_se


def test_golden_sizes():
    assert 360 == proportion_n(0.5, 0.05, population=5621)
    assert 246 == proportion_n(0.8, 0.05)


def test_hand_worked_size():
    """1.959964^2 * .25 / .01 = 96.04; with deff 2, 192.07; from 100: 192.07 / (1 + 191.07 / 100) = 65.99."""
    assert 97 == proportion_n(0.5, 0.1)
    assert 193 == proportion_n(0.5, 0.1, design_effect=2)
    assert 66 == proportion_n(0.5, 0.1, design_effect=2, population=100)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.5), st.integers(1, 10**6), st.floats(0.1, 20))
def test_a_known_set_never_asks_for_more_and_mirrors(p, h, population, deff):
    n = proportion_n(p, h, population=population, design_effect=deff)
    assert 1 <= n <= min(population, proportion_n(p, h, design_effect=deff))
    assert abs(n - proportion_n(1 - p, h, population=population, design_effect=deff)) <= 1


def test_a_higher_level_asks_for_more():
    assert proportion_n(0.5, 0.05, level=0.99) > proportion_n(0.5, 0.05) > proportion_n(0.5, 0.05, level=0.9)


def test_the_error_shrinks_to_nothing_as_the_sample_becomes_the_set():
    """(1 - f) s^2 / n with s^2 / n = SE^2."""
    y = np.random.default_rng(1).normal(size=50)
    m = cluster_mean(y, np.arange(50))
    assert pytest.approx(math.sqrt((1 - 50 / 80) * y.var(ddof=1) / 50)) == sample_se(m.se, 50, population=80)
    assert 0 == sample_se(m.se, 50, population=50)
    assert sample_se(None, 1, population=9) is None


def test_the_error_is_that_of_drawing_without_replacement():
    """All 15 samples of 2 from 6: the mean of (1 - f) s^2 / n is the variance of the sample mean."""
    y = np.array([1.0, 2.0, 4.0, 4.0, 7.0, 9.0])
    pairs = [(i, j) for i in range(6) for j in range(i)]
    means = [y[[i, j]].mean() for i, j in pairs]
    errors = [sample_se(cluster_mean(y[[i, j]], [0, 1]).se, 2, population=6) ** 2 for i, j in pairs]
    assert pytest.approx(np.var(means)) == np.mean(errors)


def test_weights_make_up_for_unequal_sampling():
    """Of 30 items three were drawn, of 5 one: each stands for 10, or for 5."""
    weights = [10, 5, 10, 10]
    assert pytest.approx((30 * 2 + 5 * 9) / 35) == cluster_mean([1, 9, 2, 3], range(4), weights=weights).value


def test_out_of_range_is_refused():
    for p, h in ((0, 0.1), (1, 0.1), (0.5, 0), (0.5, 1), (math.nan, 0.1)):
        with pytest.raises(ValueError, match="must lie between 0 and 1"):
            proportion_n(p, h)
    with pytest.raises(ValueError, match="population must be a finite number and at least 1"):
        proportion_n(0.5, 0.1, population=0)
    with pytest.raises(ValueError, match="design_effect must be"):
        proportion_n(0.5, 0.1, design_effect=0)
    with pytest.raises(ValueError, match="9 drawn of 8"):
        sample_se(1, 9, population=8)
    with pytest.raises(ValueError, match="se must be"):
        sample_se(math.nan, 1, population=8)
