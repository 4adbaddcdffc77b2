"""Resampling whole groups. Oracle: scipy.stats.bootstrap (SciPy 1.17.1), same generator, one row a group."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap as reference

from vivavoce.stats import agreement_without_groups, cluster_mean, krippendorff_alpha
from vivavoce.stats.bootstrap import bootstrap, bootstrap_each
from vivavoce.stats.draws import random_indices


class Words(np.random.Generator):
    """A generator for SciPy whose integers are the draws of ours."""

    def integers(self, low, high, size, **_):
        return low + random_indices(self, high - low, int(np.prod(size))).reshape(size)


def rng(seed=0):
    return Words(np.random.PCG64(seed))


@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("statistic", [np.mean, np.median, np.std])
def test_singletons_give_scipys_interval(ours, theirs, statistic):
    y = rng(1).exponential(size=31)
    expected = reference((y,), statistic, n_resamples=999, method=theirs, rng=rng(7), vectorized=False)
    b = bootstrap(y, np.arange(31), statistic=statistic, rng=rng(7), resamples=999, method=ours)
    assert pytest.approx(expected.confidence_interval, rel=1e-12) == (b.low, b.high)
    assert pytest.approx(expected.standard_error, rel=1e-12) == b.se
    assert (statistic(y), 31, 31, True, 999, 0) == (b.value, b.n, b.n_groups, b.few_groups, *b[7:9])


def test_columns_are_drawn_together_like_scipys_paired_samples():
    x = rng(2).normal(size=(25, 2)) @ np.array([[1, 0.7], [0, 0.7]])
    expected = reference(
        (x[:, 0], x[:, 1]), lambda a, b: np.corrcoef(a, b)[0, 1], n_resamples=500, paired=True,
        vectorized=False, method="BCa", rng=rng(8),
    )  # fmt: skip
    b = bootstrap(
        x, np.arange(25), statistic=lambda d: np.corrcoef(d.T)[0, 1], rng=rng(8), resamples=500, method="bca"
    )
    assert pytest.approx(expected.confidence_interval) == (b.low, b.high)


def test_whole_groups_are_drawn():
    """Every group sums to 0, so every draw of whole groups does."""
    g = np.repeat(np.arange(12), 3)
    y = np.tile([1.0, 2.0, -3.0], 12)
    b = bootstrap(y, g[::-1], statistic=np.sum, rng=rng(), resamples=50)
    assert (0.0, 0.0, 0.0, 0.0, 36, 12) == b[:6]


def test_groups_of_unequal_size_are_drawn_equally_often():
    seen = []

    def first(rows):
        seen.append(rows)
        return float(rows.mean())

    g = np.repeat(np.arange(3), [1, 2, 3])
    bootstrap(g.astype(float), g, statistic=first, rng=rng(), resamples=3000)
    counts = np.array([[np.count_nonzero(r == k) / (k + 1) for k in range(3)] for r in seen[1:]])
    assert (counts.sum(axis=1) == 3).all()
    assert pytest.approx([1, 1, 1], abs=0.05) == counts.mean(axis=0)


def test_its_error_is_near_the_closed_form():
    r = rng(3)
    g = np.repeat(np.arange(60), 4)
    y = r.normal(size=240) + r.normal(size=60)[g]
    b = bootstrap(y, g, statistic=np.mean, rng=rng(4))
    assert pytest.approx(cluster_mean(y, g).se, rel=0.06) == b.se
    assert (False, 2000, "percentile bootstrap of groups") == (b.few_groups, b.n_resamples, b.method)


def test_few_groups_are_fewer_than_forty():
    few = [
        bootstrap(np.arange(n), np.arange(n), statistic=np.mean, rng=rng(), resamples=5).few_groups
        for n in (39, 40)
    ]
    assert [True, False] == few


def test_the_same_seed_draws_the_same_interval_and_names_of_groups_do_not_matter():
    y, g = rng(5).normal(size=40), np.arange(40) // 2
    one = bootstrap(y, g, statistic=np.median, rng=rng(6))
    assert one == bootstrap(y, [f"case {k:02}" for k in g], statistic=np.median, rng=rng(6))
    assert one != bootstrap(y, g, statistic=np.median, rng=rng(9))


@settings(max_examples=10)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=15), st.floats(0.1, 10), st.floats(-5, 5))
def test_another_unit_moves_the_interval_with_it(y, scale, shift):
    y, g = np.array(y), np.arange(len(y))
    a = bootstrap(y, g, statistic=np.mean, rng=rng(1), resamples=60)
    b = bootstrap(scale * y + shift, g, statistic=np.mean, rng=rng(1), resamples=60)
    assert pytest.approx((scale * a.low + shift, scale * a.high + shift), abs=1e-6) == (b.low, b.high)


def test_undefined_replicates_are_counted_and_widen_the_interval():
    """Undefined when no row is above 0: they stand below for the low end and above for the high one."""
    y = np.r_[np.zeros(27), 1.0, 2.0, 3.0, 4.0]

    def mean_above_zero(rows):
        return float(rows[rows > 0].mean()) if (rows > 0).any() else None

    b = bootstrap(y, np.arange(31), statistic=mean_above_zero, rng=rng(2), resamples=2000)
    draws, generator = [], rng(2)
    for _ in range(2000):
        draws.append(mean_above_zero(y[generator.integers(0, 31, 31)]))
    undefined = draws.count(None)
    assert 0 < undefined == b.n_undefined < 50
    known = np.array([d for d in draws if d is not None])
    low = np.quantile(np.r_[[-9] * undefined, known], 0.025)
    high = np.quantile(np.r_[known, [9] * undefined], 0.975)
    assert pytest.approx((low, high)) == (b.low, b.high)
    assert b.low <= np.quantile(known, 0.025)
    assert b.high >= np.quantile(known, 0.975)


def test_too_many_undefined_replicates_leave_no_interval():
    y = np.r_[np.zeros(29), 1.0]

    def only_with_the_last(rows):
        return float(rows.max()) if rows.max() > 0 else math.nan

    for method in ("percentile", "bca"):
        b = bootstrap(y, np.arange(30), statistic=only_with_the_last, rng=rng(), method=method)
        assert (1.0, None, None, None) == b[:4]
        assert 600 < b.n_undefined < 900  # (29 / 30)^30 is .36


def test_a_statistic_undefined_on_the_rows_themselves_is_null():
    b = bootstrap([1.0, 2.0], [0, 1], statistic=lambda rows: None, rng=rng(), resamples=10)
    assert (None, None, None, None, 2, 2, True, 10, 10) == b[:9]
    assert (
        bootstrap([1.0, 2.0], [0, 1], statistic=lambda rows: math.inf, rng=rng(), resamples=10).value is None
    )


def test_bca_needs_the_statistic_without_each_group():
    def needs_the_first(rows):
        return float(rows.mean()) if len(rows) == 12 else None

    y = rng(3).normal(size=12)
    assert bootstrap(y, np.arange(12), statistic=needs_the_first, rng=rng(), method="bca").low is None
    assert bootstrap(y, np.arange(12), statistic=needs_the_first, rng=rng()).low is not None


def test_bca_is_null_where_every_replicate_lies_on_one_side():
    b = bootstrap(
        np.arange(30.0), np.arange(30), statistic=lambda r: float(len(set(r))), rng=rng(), method="bca"
    )
    assert (30.0, None, None) == b[:3]


def test_all_equal_and_one_group():
    for method in ("percentile", "bca"):
        same = bootstrap([3.0] * 8, np.arange(8), statistic=np.mean, rng=rng(), resamples=20, method=method)
        assert (3.0, 3.0, 3.0, 0.0) == same[:4]
        one = bootstrap([1.0, 2.0], ["a", "a"], statistic=np.mean, rng=rng(), method=method)
        assert (1.5, None, None, None, 2, 1, True, 0, 0) == one[:9]


def test_two_groups_have_three_different_draws():
    b = bootstrap([1.0, 3.0], [0, 1], statistic=np.mean, rng=rng())
    assert (2.0, 1.0, 3.0) == b[:3]


def test_several_statistics_share_their_draws():
    x = rng(4).normal(size=(30, 3))
    g = np.arange(30) // 2
    each = bootstrap_each(x, g, statistics=lambda rows: rows.mean(axis=0), rng=rng(5), resamples=200)
    for column, b in enumerate(each):
        alone = bootstrap(x[:, column], g, statistic=np.mean, rng=rng(5), resamples=200)
        assert pytest.approx(alone[:4]) == b[:4]


def test_memory_holds_one_replicate_at_a_time():
    y, peaks = np.ones(20_000), []
    for resamples in (3, 60):
        tracemalloc.start()
        bootstrap(y, np.arange(20_000), statistic=np.mean, rng=rng(), resamples=resamples)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_misfits_are_refused_with_their_position():
    mean = {"statistic": np.mean, "rng": rng()}
    with pytest.raises(ValueError, match="values holds nan at position 1"):
        bootstrap([1, math.nan], [0, 1], **mean)
    with pytest.raises(ValueError, match="column 1 of values holds inf at position 0"):
        bootstrap([[1, math.inf], [1, 1]], [0, 1], **mean)
    with pytest.raises(ValueError, match="values is empty"):
        bootstrap([], [], **mean)
    with pytest.raises(ValueError, match="no label at position 1"):
        bootstrap([1, 2], ["a", None], **mean)
    with pytest.raises(ValueError, match="resamples must be at least 2"):
        bootstrap([1, 2], [0, 1], **mean, resamples=1)
    with pytest.raises(ValueError, match="level must lie"):
        bootstrap([1, 2], [0, 1], **mean, level=95)
    with pytest.raises(ValueError, match="a fixed length is needed"):
        bootstrap_each([1, 2, 3, 4], range(4), statistics=lambda r: [1.0] * len(set(r)), rng=rng())


def test_bca_does_not_depend_on_how_small_the_numbers_are():
    y = rng(6).exponential(size=20)
    one = bootstrap(y, np.arange(20), statistic=np.mean, rng=rng(7), resamples=200, method="bca")
    tiny = bootstrap(1e-150 * y, np.arange(20), statistic=np.mean, rng=rng(7), resamples=200, method="bca")
    assert pytest.approx((one.low, one.high)) == (1e150 * tiny.low, 1e150 * tiny.high)


def test_bca_takes_the_figures_without_each_group_where_sums_give_them():
    """The same interval as by leaving out one by one, and 1 call beside the draws instead of 1 + 40."""
    y, groups = rng(6).exponential(size=90), np.r_[np.arange(40), rng(7).integers(0, 40, 50)]
    calls = []

    def mean(rows):
        calls.append(len(rows))
        return float(rows.mean())

    slow = bootstrap(y, groups, statistic=mean, rng=rng(8), resamples=300, method="bca")
    assert 1 + 300 + 40 == len(calls)
    calls.clear()
    without = (y.sum() - np.bincount(groups, y)) / (90 - np.bincount(groups))
    fast = bootstrap(y, groups, statistic=mean, rng=rng(8), resamples=300, method="bca", without=without)
    assert 1 + 300 == len(calls)
    assert pytest.approx(slow[:4], rel=1e-12) == fast[:4]


def test_bca_of_an_agreement_needs_no_call_for_each_group():
    table = np.clip(np.round(rng(9).normal(3, 1, (60, 1)) + 0.5 * rng(10).normal(size=(60, 2))), 1, 5)

    def alpha(rows):
        return krippendorff_alpha(table[rows.astype(int)], "ordinal").value

    settings = {"statistic": alpha, "resamples": 200, "method": "bca"}
    slow = bootstrap(np.arange(60), np.arange(60) // 2, rng=rng(11), **settings)
    without = agreement_without_groups("alpha_ordinal", table, np.arange(60) // 2).without
    fast = bootstrap(np.arange(60), np.arange(60) // 2, rng=rng(11), **settings, without=without)
    assert pytest.approx(slow[:4], rel=1e-12) == fast[:4]


def test_figures_without_groups_are_one_for_each_group_and_statistic():
    mean = {"statistic": np.mean, "rng": rng(), "method": "bca"}
    with pytest.raises(ValueError, match=r"without has the shape \(2, 1\), \(3, 1\) is needed"):
        bootstrap([1, 2, 3], [0, 1, 2], **mean, without=[1.0, 2.0])
    undefined = bootstrap([1, 2, 3], [0, 1, 2], **mean, without=[1.0, math.nan, 2.0])
    assert (2.0, None, None) == undefined[:3]
