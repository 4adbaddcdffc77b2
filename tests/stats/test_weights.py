"""Weights of items: a sample speaks for the exam it is from, and equal weights change nothing."""

import math

import numpy as np
import pytest
from scipy.stats import t
from tests.stats.matrices import by_matrices

from vivavoce import stats
from vivavoce.stats._arrays import evenness, scaled_weights

# two categories of N_h 30 and 10 questions, of which n_h 3 and 2 were asked: each stands for N_h / n_h
VALUES = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
WEIGHTS = np.array([10.0, 10.0, 10.0, 5.0, 5.0])
RNG = np.random.default_rng(5)
Y = RNG.integers(0, 6, 40) / 5
D = np.round(RNG.normal(0.1, 0.4, 40).clip(-1, 1), 3)
GROUPS = np.arange(40) // 2
UNEVEN = RNG.uniform(1, 9, 40)
COUNTS = RNG.integers(1, 20, (40, 3)).astype(float)


def near(expected: object) -> object:
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_stratified_mean_worked_by_hand() -> None:
    """30/40 of 2/3 and 10/40 of 0 is 1/2: Cochran's W_h-weighted mean, sum N_h ybar_h / N."""
    found = stats.cluster_mean(VALUES, range(5), weights=WEIGHTS)
    assert near(30 / 40 * (2 / 3) + 10 / 40 * 0) == found.value
    # u_g = w (y - 1/2); SE^2 = sum u^2 / (1 - w_g) / 40^2
    w = np.array([10, 10, 10, 5, 5])
    assert near(math.sqrt(float((w * (VALUES - 0.5)) ** 2 @ (1 / (1 - w / 40)))) / 40) == found.se
    assert near(by_matrices(VALUES, np.arange(5), weights=w)) == (found.value, found.se, found.df)


def test_its_interval_counts_on_fewer_cases_than_were_asked() -> None:
    """3 that weigh 2 and 2 that weigh 1 are 4.4 effective cases of 5, in Wilson's n* and its t."""
    df = by_matrices(VALUES, np.arange(5), weights=WEIGHTS).df
    assert 3 < df < 3.5
    assert near(df + 1) == stats.effective_groups(range(5), weights=WEIGHTS)
    found = stats.estimate_mean(np.ones(5), range(5), weights=WEIGHTS, low=0, high=1)
    t2 = float(t.ppf(0.975, df)) ** 2
    assert near(((df + 1) / (df + 1 + t2), 1)) == (found.low, found.high)
    assert stats.estimate_mean(np.ones(5), range(5), low=0, high=1).low > found.low


def test_where_the_heavy_questions_are_alike_the_interval_is_that_of_as_many_even_ones() -> None:
    """One light question of 4 is wrong: n* = G * evenness = 4 * 16^2 / (4 * 76) = 64/19.

    CR2 alone would make n* = m (1 - m) / SE^2 = 11 of it. Of 20 questions, half of which weigh 8 and nine in
    ten are right, that covered 78 % of 3,000 draws, this 99 %.
    """
    y, w = [0.0, 1, 1, 1], [1.0, 5, 5, 5]
    n, m, t2 = 64 / 19, 15 / 16, float(t.ppf(0.975, by_matrices(y, np.arange(4), weights=w).df)) ** 2
    half = math.sqrt(t2) / (1 + t2 / n) * math.sqrt(m * (1 - m) / n + t2 / (4 * n**2))
    expected = (m + t2 / (2 * n)) / (1 + t2 / n) - half
    found = stats.estimate_mean(y, range(4), weights=w, low=0, high=1)
    assert near(expected) == found.low
    assert found.se == stats.cluster_mean(y, range(4), weights=w).se


def test_weights_of_one_size_are_even_to_the_last_digit() -> None:
    assert {1.0} == {evenness(np.full(n, c)) for n in (1, 3, 7, 49) for c in (1.0, 0.1, 1 / 3, 7e9)}


def test_one_item_with_all_the_weight_is_one_item() -> None:
    assert near(0.1) == evenness(np.array([1e12] + [1.0] * 9))


def full_table(weights: object) -> dict[str, tuple[object, ...]]:
    """Every estimator that takes weights, on the same made-up values."""
    rng = np.random.default_rng
    first, second = COUNTS, COUNTS[::-1]
    items = np.repeat(np.arange(20), 2)
    by_item = None if weights is None else np.asarray(weights)[items]
    return {
        "mean": stats.estimate_mean(Y, GROUPS, weights=weights, low=0, high=1),
        "t": stats.estimate_mean(Y, GROUPS, weights=weights),
        "tail": stats.lower_tail_mean(Y, GROUPS, share=0.25, weights=weights, low=0, high=1),
        "worst": stats.worst_at_k(Y, items, groups=items, k=2, weights=by_item, low=0, high=1),
        "ratio": stats.ratio(Y, np.ones(40), groups=GROUPS, weights=weights, low=0, high=1),
        "pooled": stats.pooled(COUNTS, GROUPS, stats.micro_f1, weights=weights, low=0, high=1),
        "bounds": stats.bounds(Y - 0.1, Y + 0.1, GROUPS, weights=weights),
        "paired": stats.paired(D, GROUPS, weights=weights),
        "sums": tuple(stats.group_sums(D, GROUPS, weights=weights)),
        "margin": stats.margin_interval(D, GROUPS, span=1, weights=weights),
        "agresti": stats.agresti_min(D, GROUPS, span=1, weights=weights),
        "two": stats.pooled_paired(first, second, GROUPS, stats.micro_f1, weights=weights),
        "swaps": stats.pooled_swaps(first, second, GROUPS, stats.micro_f1, rng=rng(1), weights=weights,
                                    resamples=99),
        "ranks": stats.rank_intervals([Y, Y[::-1]], GROUPS, weights=weights).intervals,
        "fixed": stats.fixed_mean(Y, items, weights=by_item),
    }  # fmt: skip


def test_weights_of_1_change_no_digit() -> None:
    assert full_table(None) == full_table(np.ones(40))


@pytest.mark.parametrize("scale", [2.0, 0.01, 1e6, 1 / 3])
def test_the_scale_of_weights_is_of_no_account(scale: float) -> None:
    expected, found = full_table(UNEVEN), full_table(UNEVEN * scale)
    for name, value in expected.items():
        numbers = [(a, b) for a, b in zip(value, found[name], strict=True) if isinstance(a, float)]
        assert [near(a) for a, _ in numbers] == [b for _, b in numbers], name
        assert [a for a in value if not isinstance(a, float)] == [
            b for b in found[name] if not isinstance(b, float)
        ], name


def test_uneven_weights_do_count() -> None:
    plain, weighed = full_table(None), full_table(UNEVEN)
    assert {"ranks"} >= {name for name, value in plain.items() if value == weighed[name]}


def test_a_weight_of_2_gives_the_figure_of_an_item_that_stands_there_twice() -> None:
    twice = np.repeat(np.arange(40), np.arange(40) % 2 + 1)
    weights = np.arange(40) % 2 + 1.0
    assert (
        near(stats.cluster_mean(Y[twice], GROUPS[twice])[:2])
        == stats.cluster_mean(Y, GROUPS, weights=weights)[:2]
    )
    one = stats.paired(D, GROUPS, weights=weights)
    other = stats.paired(D[twice], GROUPS[twice])
    # group sums are rounded to 1e-9
    assert pytest.approx((other.difference, other.se, other.p), abs=1e-9) == (one.difference, one.se, one.p)
    table, groups = COUNTS[twice], GROUPS[twice]
    assert near(stats.pooled(table, groups, stats.micro_f1).value) == (
        stats.pooled(COUNTS, GROUPS, stats.micro_f1, weights=weights).value
    )


def test_a_tail_takes_its_share_of_the_weight() -> None:
    """Half of the weight is the worst item alone: 3 of 6."""
    found = stats.lower_tail_mean([0.2, 0.6, 0.8, 1.0], range(4), share=0.5, weights=[3, 1, 1, 1])
    assert near(0.2) == found.value


def test_items_are_counted_alike_and_cases_by_the_sign_of_their_weighted_sum() -> None:
    found = stats.paired([0.5, -0.2, 0.1], ["x", "x", "y"], weights=[1, 5, 1])
    assert (2, 1, 1, 1) == (found.n_higher, found.n_lower, found.n_groups_higher, found.n_groups_lower)


def test_weights_that_are_none_are_refused() -> None:
    assert scaled_weights(None, length=3) is None
    for call in (
        lambda w: stats.paired([1, 2], [0, 1], weights=w),
        lambda w: stats.agresti_min([1, 1], [0, 1], span=1, weights=w),
        lambda w: stats.pooled([[1, 2], [1, 2]], [0, 1], stats.sum_ratio, weights=w),
        lambda w: stats.worst_at_k([1, 2], [0, 1], groups=[0, 1], k=1, weights=w),
    ):
        with pytest.raises(ValueError, match="leave out rows that do not count"):
            call([1, 0])
        with pytest.raises(ValueError, match="weights has 1 entries"):
            call([1])
    with pytest.raises(ValueError, match="weights differs inside one of the items"):
        stats.worst_at_k([1, 2], [0, 0], groups=[0, 0], k=1, weights=[1, 2])


def test_one_case_with_all_the_weight_has_no_interval_anywhere() -> None:
    """Beyond what floats tell apart the others weigh nothing: null, not NaN and not a width of zero."""
    y, groups, weights = np.linspace(0, 1, 12), np.arange(12), [1e12] + [1.0] * 11
    counts = COUNTS[:12]
    assert stats.margin_interval(y - 0.5, groups, span=1, weights=weights) is None
    for found in (
        stats.estimate_mean(y, groups, weights=weights, low=0, high=1),
        stats.lower_tail_mean(y, groups, share=0.9, weights=weights, low=0, high=1),
        stats.ratio(y, np.ones(12), groups=groups, weights=weights, low=0, high=1),
        stats.pooled(counts, groups, stats.micro_f1, weights=weights, low=0, high=1),
    ):
        assert (None, None, None, 0) == (found.low, found.high, found.se, found.df)
        assert found.reason is not None
    pair = stats.paired(y - 0.5, groups, weights=weights)
    assert (None, 0, "sign-flip", None) == (pair.se, pair.df, pair.test, pair.interval())
