"""Tests that read signs only."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from vivavoce.stats import SignFlips, sign_flips, sign_test


@given(st.integers(0, 200), st.integers(0, 200))
def test_sign_test_is_scipys_binomial_test(up, down):
    expected = binomtest(up, up + down).pvalue if up + down else 1.0
    assert pytest.approx(expected, rel=1e-9) == sign_test(up, down)
    assert sign_test(up, down) == sign_test(down, up)


def test_five_groups_that_agree_cannot_reach_the_level_and_six_can():
    assert pytest.approx(0.0625) == sign_test(5, 0)
    assert pytest.approx(0.03125) == sign_test(0, 6)


def test_no_group_that_differs_says_nothing():
    assert 1.0 == sign_test(0, 0)
    assert SignFlips(1.0, 0, 1, True) == sign_flips([0, 0.0], rng=np.random.default_rng(0))
    assert 1.0 == sign_flips([], rng=np.random.default_rng(0)).p


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="0 or more"):
        sign_test(-1, 3)


def test_hand_worked_flips():
    """|1 + 2 + 3| is met by +++ and --- of 8; |1 + 2 - 3| = 0 by all."""
    rng = np.random.default_rng(0)
    assert SignFlips(0.25, 3, 8, True) == sign_flips([1, 2, 3], rng=rng)
    assert 1.0 == sign_flips([1, 2, -3], rng=rng).p


@given(st.lists(st.integers(-4, 4), max_size=8))
def test_enumeration_visits_every_pattern(sums):
    """Against all patterns in whole numbers, zeros included: dropping them changes nothing."""
    patterns = list(itertools.product([1, -1], repeat=len(sums)))
    hits = sum(abs(sum(s * u for s, u in zip(p, sums, strict=True))) >= abs(sum(sums)) for p in patterns)
    tenths = [u / 10 for u in sums]
    assert pytest.approx(hits / len(patterns)) == sign_flips(tenths, rng=np.random.default_rng(0)).p


def test_floating_point_does_not_break_a_tie():
    """.1 + .2 - .3 is 5.6e-17; taken at its word, patterns that tie with it would be missed."""
    rng = np.random.default_rng(0)
    assert sign_flips([1, 2, -3, 4], rng=rng).p == sign_flips([0.1, 0.2, -0.3, 0.4], rng=rng).p


def test_sixteen_groups_are_enumerated_and_seventeen_sampled():
    rng = np.random.default_rng(0)
    assert SignFlips(pytest.approx(2 / 2**16), 16, 2**16, True) == sign_flips([1.0] * 16 + [0.0] * 9, rng=rng)
    sampled = sign_flips([1.0] * 17, rng=rng, resamples=999)
    assert (False, 999, 17) == (sampled.exact, sampled.n_patterns, sampled.n_different)
    assert sampled.p >= 1 / 1000


def test_sampling_agrees_with_the_sign_test_where_all_sizes_are_equal():
    """15 up, 5 down of equal size: the flips' distribution is the binomial one, p = .0414."""
    p = sign_flips([1.0] * 15 + [-1.0] * 5, rng=np.random.default_rng(4)).p
    assert pytest.approx(sign_test(15, 5), abs=0.003) == p


def test_memory_is_chunked_and_the_draw_repeats():
    """5,000 groups by 999 patterns pass in several chunks; the same seed gives the same p."""
    sums = np.random.default_rng(5).normal(size=5_000)
    a, b = (sign_flips(sums, rng=np.random.default_rng(6), resamples=1_999) for _ in range(2))
    assert a == b


@settings(max_examples=30)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=10))
def test_order_and_sign_do_not_matter(sums):
    rng = np.random.default_rng(0)
    p = sign_flips(sums, rng=rng).p
    assert p == pytest.approx(sign_flips(sums[::-1], rng=rng).p)
    assert p == pytest.approx(sign_flips([-s for s in sums], rng=rng).p)


def test_nan_and_no_resamples_are_refused():
    with pytest.raises(ValueError, match="group_sums holds nan at position 1"):
        sign_flips([1, float("nan")], rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="resamples must be at least 1"):
        sign_flips([1], rng=np.random.default_rng(0), resamples=0)
