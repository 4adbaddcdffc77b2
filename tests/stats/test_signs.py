"""Tests that read signs only."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from vivavoce.stats import SignFlips, sign_flips
from vivavoce.stats.draws import random_subset_sums


@given(st.integers(0, 8), st.integers(0, 8))
def test_flips_of_sums_of_one_size_are_scipys_binomial_test(up, down):
    expected = binomtest(up, up + down).pvalue if up + down else 1.0
    rng = np.random.default_rng(0)
    assert pytest.approx(expected, rel=1e-9) == sign_flips([1.0] * up + [-1.0] * down, rng=rng).p


def test_five_groups_that_agree_cannot_reach_the_level_and_six_can():
    rng = np.random.default_rng(0)
    assert 0.0625 == sign_flips([1.0] * 5, rng=rng).p
    assert 0.03125 == sign_flips([-1.0] * 6, rng=rng).p


def test_no_group_that_differs_says_nothing():
    assert SignFlips(1.0, 0, 1, True) == sign_flips([0, 0.0], rng=np.random.default_rng(0))
    assert 1.0 == sign_flips([], rng=np.random.default_rng(0)).p


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
    assert pytest.approx(binomtest(15, 20).pvalue, abs=0.003) == p


def test_the_same_seed_gives_the_same_p():
    sums = np.random.default_rng(5).normal(size=5_000)
    a, b = (sign_flips(sums, rng=np.random.default_rng(6), resamples=1_999) for _ in range(2))
    assert a == b


@pytest.mark.parametrize("n", [17, 24, 61])
def test_bytes_flip_as_single_bits_do(n):
    """A p of 99,999 patterns by single bits, as it was drawn before, is met within 4 standard errors."""
    draw = np.random.default_rng(n)
    sums = draw.normal(0.3, 1, size=n)
    signs = draw.integers(0, 2, size=(99_999, n)) * 2 - 1
    by_bits = float(np.mean(np.abs(signs @ sums) >= abs(sums.sum())))
    p = sign_flips(sums, rng=np.random.default_rng(1)).p
    assert abs(p - by_bits) < 4 * np.sqrt(2 * by_bits * (1 - by_bits) / 99_999)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 20])
def test_a_byte_decides_each_of_eight_rows_by_itself(n):
    """With powers of 2 as rows a sum names its members: every row is in half of the sums, as is every pair.

    4 standard errors of a share of 1/2 in 20,000 draws are 0.014; of 1/4, 0.012.
    """
    powers = 2.0 ** np.arange(n)
    sums = random_subset_sums(powers[:, None], draws=20_000, rng=np.random.default_rng(2))[:, 0]
    members = sums.astype(int)[:, None] >> np.arange(n) & 1
    assert np.abs(members.mean(axis=0) - 0.5).max() < 0.014
    pairs = members.T @ members / 20_000
    assert np.abs(pairs[~np.eye(n, dtype=bool)] - 0.25).max(initial=0) < 0.017


def test_columns_of_a_row_are_drawn_together():
    rows = np.random.default_rng(3).normal(size=(30, 2))
    sums = random_subset_sums(
        np.column_stack([rows, rows @ [2.0, -1.0]]), draws=99, rng=np.random.default_rng(4)
    )
    assert (99, 3) == sums.shape
    np.testing.assert_allclose(sums[:, 2], sums[:, :2] @ [2.0, -1.0], atol=1e-12)


def test_flips_draw_a_byte_for_eight_groups():
    """Counted, not timed: 20 groups take 3 bytes a pattern, 63 words for 500 of them."""
    used, fresh = np.random.default_rng(0), np.random.PCG64(0)
    sign_flips([1.0] * 20, rng=used, resamples=500)
    assert fresh.advance(3 * 63).state["state"] == used.bit_generator.state["state"]


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
