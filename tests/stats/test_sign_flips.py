"""The interval by inversion of sign flips, held to a plain enumeration; `sign_flips` itself: test_signs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.stats import FlippedMean, group_sums, margin_interval, paired

few_groups = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(1, 9)).map(lambda x: (x[0] / 10, x[1])),
    min_size=6,
    max_size=8,
)


def p_of(theta, sums, sizes):
    """Two-sided p of a mean of theta, over every pattern of signs."""
    centred = np.asarray(sums) - theta * np.asarray(sizes)
    patterns = np.array(list(itertools.product((1, -1), repeat=len(centred))))
    return np.mean(np.abs(patterns @ centred) >= abs(centred.sum()) - 1e-9)


def not_rejected(sums, sizes, level=0.95):
    """The least and the largest mean that are not rejected: p changes only where a subset's sum turns."""
    subsets = [list(s) for r in range(1, len(sums) + 1) for s in itertools.combinations(range(len(sums)), r)]
    s, n = np.asarray(sums), np.asarray(sizes)
    means = [x for x in (s[a].sum() / n[a].sum() for a in subsets) if p_of(x, s, n) > 1 - level + 1e-12]
    return min(means), max(means)


@settings(deadline=None)
@given(few_groups)
def test_the_interval_is_every_mean_that_flips_do_not_reject(data):
    sums, sizes = zip(*data, strict=True)
    expected = not_rejected(sums, sizes)
    assert pytest.approx(expected, abs=1e-9) == FlippedMean(np.array(sums), np.array(sizes)).interval()


@settings(deadline=None)
@given(few_groups, st.floats(0.6, 0.96), st.floats(0.6, 0.96))
def test_a_higher_level_is_never_narrower_and_sides_are_mirror_images(data, level, second):
    sums, sizes = (np.array(x, dtype=float) for x in zip(*data, strict=True))
    mean = FlippedMean(sums, sizes)
    narrow, wide = (mean.interval(level=x) for x in sorted((level, second)))
    assert wide is None or wide.low <= narrow.low <= narrow.high <= wide.high
    mirrored = FlippedMean(-sums[::-1], sizes[::-1]).interval(level=level)
    assert pytest.approx((-mirrored.high, -mirrored.low)) == mean.interval(level=level)


def test_six_groups_of_one_sign_end_at_their_extremes():
    """All signs alike: 2 of 64 patterns reach the sum, so p is .03125, and no mean beyond them is left."""
    d = [0.1, 0.2, 0.3, 0.4, 0.5, 0.9]
    r = paired(np.repeat(d, 40), np.repeat(np.arange(6), 40))
    assert (2 / 64, "sign-flip", (0.1, 0.9)) == (r.p, r.test, pytest.approx(r.interval()))
    assert pytest.approx((0.1, 0.9)) == margin_interval(np.repeat(d, 40), np.repeat(np.arange(6), 40), span=1)
    # Two comparisons together ask for a p of .025, which six groups cannot give.
    assert r.interval(level=0.975) is None


@each_case(
    ("d", "interval"),
    [
        ([0.1] * 5, None),  # fewer than six
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.0], None),  # fewer than six that differ
        ([0.2] * 6, None),  # all alike: nothing tells how the next would differ
        ([0.0] * 8, None),
        ([0.5, -0.5] * 3, (-0.5, 0.5)),  # a tie
        ([-0.1] * 5 + [0.3], (-0.1, 0.3)),  # the one that is other outweighs none
        (
            [0.2, 0.3] * 3 + [0.0],
            (0.1, 0.3),
        ),  # with an equal group three ratios may go
    ],
)
def test_few_groups_and_ties(d, interval):
    r = paired(d, np.arange(len(d)))
    assert interval == (None if interval is None else pytest.approx(r.interval())) or r.interval() is None
    assert (interval is None) == (r.interval() is None)


def test_no_end_lies_beyond_the_range_of_scores():
    """An interval ends at a mean of some of the groups, and so needs no clip."""
    d = np.array([1.0] * 7 + [-1.0] * 2)
    low, high = paired(d, np.arange(9)).interval()
    assert -1 <= low <= 0 < high == 1


def test_more_than_sixteen_groups_are_drawn_the_same_way_each_time_whatever_they_are_called():
    rng = np.random.default_rng(3)
    d, g = rng.normal(0.2, 0.5, 60) * (np.arange(60) >= 40), np.r_[np.zeros(40, int), 1:21]
    mean = paired(d, g)
    assert ("sign-flip", 21) == (mean.test, mean.n_groups)
    renamed, mirrored = paired(d, 50 - g).interval(), paired(-d, g).interval()
    assert mean.interval() == pytest.approx(renamed)
    assert mean.interval() == pytest.approx((-mirrored.high, -mirrored.low))


def test_drawn_subsets_end_where_all_of_them_do():
    """20 groups, drawn, beside all 2^20 - 1 subsets: within 3 % of the width."""
    sums = np.random.default_rng(4).normal(0.3, 1, 20)
    totals = np.zeros((1, 2))
    for x in sums:
        totals = np.vstack([totals, totals + np.array([x, 1])])
    ratios = np.sort(totals[1:, 0] / totals[1:, 1])
    k = int(0.025 * 2**20)
    low, high = FlippedMean(sums, np.ones(20)).interval()
    assert pytest.approx((ratios[k - 1], ratios[-k]), abs=0.03 * (high - low)) == (low, high)


def test_many_equal_groups_take_no_more_memory_and_hardly_move_an_end():
    """Seven of 100,000 groups differ: the interval ends below twice the mean."""
    d = np.r_[np.ones(7), np.zeros(99_993)]
    r = paired(d, np.arange(100_000))
    low, high = r.interval()
    assert 0 < low < r.difference < high < 2 * r.difference
    assert pytest.approx(paired(d[:1000], np.arange(1000)).interval()[1], rel=0.02) == 100 * high


def test_items_that_weigh_unlike_have_the_hull_of_flips_and_t():
    rng = np.random.default_rng(5)
    d, w = rng.normal(0.3, 0.3, 8), rng.uniform(0.2, 5, 8)
    r = paired(d, np.arange(8), weights=w)
    flips = FlippedMean(group_sums(d, np.arange(8), weights=w), w * 8 / w.sum()).interval()
    low, high = r.interval()
    assert low <= flips.low
    assert flips.high <= high
    assert (r.p <= 0.05) == (not low <= 0 <= high)


@pytest.mark.parametrize("sizes", [[40] * 8, [5, 10, 15, 25, 40, 50, 75, 100]])
def test_equal_systems_are_told_apart_in_at_most_five_percent(sizes):
    rng, groups = np.random.default_rng(6), np.repeat(np.arange(8), sizes)
    hits = 0
    for _ in range(1000):
        d = rng.choice([-1.0, 0.0, 1.0], len(groups)) + rng.normal(0, 0.1, 8)[groups]
        hits += paired(d, groups).p <= 0.05
    assert hits <= 50 + 2 * (1000 * 0.05 * 0.95) ** 0.5
