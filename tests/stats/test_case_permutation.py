"""One member of several against the rest: permutation of members over cases, by hand and by simulation."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import fisher_exact

from vivavoce import stats
from vivavoce.stats import member_permutation

A, B = "A", "B"


def test_hand_worked_six_cases_of_two_members():
    """A is right in all of 3, B in none: 2 of 20 ways to give three blocks to A are as far apart."""
    p = member_permutation([1, 1, 1, 0, 0, 0], [A, A, A, B, B, B], range(6))
    patterns = {q for q in permutations([1, 1, 1, 0, 0, 0])}
    share = sum(sum(q[:3]) in (0, 3) for q in patterns) / len(patterns)
    assert 0.1 == share
    assert [pytest.approx(0.1, abs=0.01)] * 2 == list(p)


def test_of_single_rows_it_is_fishers_exact_test():
    """9 of 10 against 4 of 10, 9,999 permutations from raw words of PCG64; Fisher's p is .0573."""
    values = [1] * 9 + [0] + [1] * 4 + [0] * 6
    p = member_permutation(values, [A] * 10 + [B] * 10, [*range(10), *range(10)])
    assert 0.0573 == round(fisher_exact([[9, 1], [4, 6]]).pvalue, 4)
    assert [0.0587, 0.0587] == [round(float(x), 4) for x in p]


def test_rows_of_one_case_and_member_are_one_block():
    """Five rows that always agree say what one does, if a case is what is drawn."""
    values, members = np.array([1, 1, 1, 1, 0, 0, 0, 0]), np.array(list("AAAABBBB"))
    single = member_permutation(values, members, np.arange(8))
    repeated = member_permutation(np.repeat(values, 5), np.repeat(members, 5), np.repeat(np.arange(8), 5))
    assert list(single) == list(repeated)


def test_the_order_of_rows_and_the_scale_of_weights_are_no_matter():
    rng = np.random.default_rng(3)
    values, members = rng.integers(0, 2, 60), np.tile(list("ABC"), 20)
    cases, w = np.repeat(np.arange(20), 3), rng.uniform(1, 3, 60)
    p = member_permutation(values, members, cases, weights=w)
    order = rng.permutation(60)
    permuted = member_permutation(values[order], members[order], cases[order], weights=50 * w[order])
    assert pytest.approx(p) == permuted
    assert pytest.approx(p) == member_permutation(1 - values, members, cases, weights=w)


def test_p_is_at_least_that_of_t_by_case():
    """Where members have cases of their own, the error by case decides."""
    rng = np.random.default_rng(5)
    cases, members = np.repeat(np.arange(12), 6), np.repeat(list("AB"), 36)
    values = np.repeat(rng.integers(0, 2, 12), 6).astype(float)
    # Blocks are cases here, so what remains is t with 11 degrees of freedom.
    mean_a, mean_b = values[:36].mean(), values[36:].mean()
    sums = np.r_[(values[:36] - mean_a) / 36, (mean_b - values[36:]) / 36]
    se = math.sqrt((np.bincount(cases, weights=sums) ** 2).sum() * 12 / 11)
    t = 2 * stdtr(11, -abs(mean_a - mean_b) / se)
    assert (member_permutation(values, members, cases) >= t - 1e-12).all()


def test_one_member_or_no_spread_shows_nothing():
    assert [1.0] == list(member_permutation([1, 0], [A, A], [0, 1]))
    assert [1.0, 1.0] == list(member_permutation([1, 1, 1, 1], [A, A, B, B], [0, 1, 0, 1]))
    # One case alone: no error by case, and permutations of two blocks show nothing.
    assert [1.0, 1.0] == list(member_permutation([1, 0], [A, B], [0, 0]))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="values"):
        member_permutation([], [], [])
    with pytest.raises(ValueError, match="values"):
        member_permutation([math.nan, 1], [A, B], [0, 1])
    with pytest.raises(ValueError, match="weights"):
        member_permutation([0, 1], [A, B], [0, 1], weights=[0, 1])


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_equal_members_are_told_apart_in_at_most_5_percent(shared, monkeypatch):
    """Holm over four members, 30 cases; with errors of a case that go together or not."""
    monkeypatch.setattr("vivavoce.stats.case_permutation.PERMUTATIONS", 499)
    rng, draws, hits = np.random.default_rng(8), 200, 0
    for _ in range(draws):
        z = math.sqrt(shared) * rng.normal(size=(30, 1)) + math.sqrt(1 - shared) * rng.normal(size=(30, 4))
        right = (z < 0.8).ravel() * 1.0
        p = member_permutation(right, np.tile(np.arange(4), 30), np.repeat(np.arange(30), 4))
        hits += stats.holm(p).min() <= 0.05
    assert hits / draws <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / draws)
