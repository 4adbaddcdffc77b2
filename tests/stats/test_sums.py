"""Sums that are correctly rounded. Oracles: `math.fsum`, and fractions."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce import stats
from vivavoce.stats._arrays import rounded
from vivavoce.stats.sums import CHUNK, exact_group_sums, exact_mean, exact_means, exact_sum

NUMBERS = st.lists(st.floats(-1e300, 1e300, allow_nan=False), max_size=60)


@given(NUMBERS)
def test_a_sum_is_that_of_fsum(numbers):
    assert math.fsum(numbers) == exact_sum(np.array(numbers))


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e200, 1e200)), max_size=60))
def test_sums_of_groups_are_those_of_fsum(rows):
    codes, values = [code for code, _ in rows], [value for _, value in rows]
    expected = [math.fsum(v for c, v in rows if c == code) for code in range(6)]
    assert expected == exact_group_sums(np.array(values), np.array(codes, dtype=np.intp), 6).tolist()


def test_extremes():
    """Subnormal numbers, numbers near the largest, and what cancels but for its last digit."""
    for numbers in ([5e-324] * 3, [1e308, 1.0, -1e308], [1.0, 1e100, 1.0, -1e100], [0.0], [-0.0, 0.0], []):
        assert math.fsum(numbers) == exact_sum(np.array(numbers, dtype=np.float64))


def test_many_values_are_added_in_parts():
    """Three chunks, and 1e-20 of them all left of what cancels."""
    half = np.random.default_rng(1).normal(size=CHUNK + 7)
    assert 1e-20 == exact_sum(np.concatenate([half, [1e-20], -half[::-1]]))


def test_memory_does_not_grow_with_values():
    values = np.random.default_rng(2).random(40 * CHUNK)
    tracemalloc.start()
    exact_mean(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * 8 * CHUNK


def test_a_mean_with_weights_is_that_of_fractions():
    values, weights = np.array([0.1, 0.2, 0.4]), np.array([1.0, 2.0, 4.0])
    products = [Fraction(w * y) for w, y in zip(weights.tolist(), values.tolist(), strict=True)]
    assert float(sum(products)) / 7 == exact_mean(values, weights)
    assert [exact_mean(values), 2.0] == exact_means(np.array([values, [1, 2, 3]])).tolist()


TIE = [0.7, 0.1, 0.3, 0.6, 0.2, 0.9, 0.4, 0.8]


@pytest.mark.parametrize("seed", range(20))
def test_a_printed_tie_does_not_depend_on_the_order_of_summation(seed):
    """Means of eight tenths: whichever way a tie goes, it goes the same way in every order."""
    rng = np.random.default_rng(seed)
    y = np.tile(rng.permutation(TIE), 25)
    a = rng.permutation(len(y))
    groups, weights = np.arange(len(y)) // 2, np.where(y > 0.5, 2.0, 3.0)
    kinds = (y * 10).round().astype(int) % 3
    for w in (None, weights):
        w_mixed = None if w is None else w[a]
        for sorted_rows, mixed_rows in (
            (stats.cluster_mean(y, groups, weights=w), stats.cluster_mean(y[a], groups[a], weights=w_mixed)),
            (stats.paired(y - 0.3, groups, weights=w), stats.paired(y[a] - 0.3, groups[a], weights=w_mixed)),
            (
                stats.macro_mean(y, groups, categories=kinds, weights=w),
                stats.macro_mean(y[a], groups[a], categories=kinds[a], weights=w_mixed),
            ),
            (
                stats.ratio(y, 2 - y, groups=groups, weights=w),
                stats.ratio(y[a], 2 - y[a], groups=groups[a], weights=w_mixed),
            ),
        ):
            assert sorted_rows[0] == mixed_rows[0]


def test_polars_rounds_to_nine_digits_by_the_same_rule():
    pl = pytest.importorskip("polars")
    draws = np.random.default_rng(3).normal(size=50_000)
    values = np.concatenate([draws, draws.round(10), draws * 1e3, (np.arange(20_000) + 0.5) * 1e-9])
    assert rounded(values).tolist() == pl.Series(values).round(9).to_list()


def test_rounding_leaves_large_numbers_and_keeps_shapes():
    assert [1e300, 1234567.1234567891] == rounded([1e300, 1234567.1234567891]).tolist()
    assert ((), 0.3) == (rounded(0.1 + 0.2).shape, float(rounded(0.1 + 0.2)))
    assert [[0.3]] == rounded([[0.1 + 0.2]]).tolist()
