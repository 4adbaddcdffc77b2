"""What failed scores could have done. Golden values: docs/golden.md, section 1, by `matrices.py`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from vivavoce.stats import Bounds, bounds, cluster_mean, t_interval
from vivavoce.stats.bounds import imbens_manski


def near(expected, decimals=4):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def test_golden_med42_with_its_unparsed_rows_as_failed(items):
    worst, best = items("Med42-70B", unparsed=0), items("Med42-70B", unparsed=5)
    b = bounds(worst.values, best.values, worst.groups, low=0, high=5)
    assert (near(3.4794), near(3.7016), near(3.1135), near(4.0119)) == tuple(b)


def test_golden_gemini_minus_med42_with_the_same_failures(items, common):
    gemini = items("Gemini 2.5 Pro")
    low = common(gemini, items("Med42-70B", unparsed=5))
    high = common(gemini, items("Med42-70B", unparsed=0))
    b = bounds(low.differences, high.differences, low.groups, low=-5, high=5)
    assert (near(0.4397), near(0.6619), near(0.1885), near(1.0018)) == tuple(b)
    assert near(0.1234) == cluster_mean(low.differences, low.groups).se
    assert near(0.1670) == cluster_mean(high.differences, high.groups).se


def test_hand_worked_bounds():
    """Fillings [1, 1, 3] and [1, 3, 3]: means 5/3 and 7/3, both SE 2/3, t(.975, 2) = 4.302653."""
    b = bounds([1, 1, 3], [1, 3, 3], ["a", "b", "c"], low=-9, high=9)
    half = 4.302653 * 2 / 3
    assert pytest.approx((5 / 3, 7 / 3, 5 / 3 - half, 7 / 3 + half)) == tuple(b)


def test_without_two_limits_few_effective_groups_or_equal_values_have_a_set_only():
    assert (5 / 3, 7 / 3, None, None) == bounds([1, 1, 3], [1, 3, 3], ["a", "b", "c"])
    assert (5 / 3, 7 / 3, None, None) == bounds([1, 1, 3], [1, 3, 3], ["a", "b", "c"], low=-9)
    giant = np.minimum(np.arange(70), 10)
    y = np.random.default_rng(1).normal(size=70)
    assert (None, None) == bounds(y, y + 1, giant)[2:]
    assert None not in bounds(y[:11], y[:11] + 1, giant[:11])
    assert (2, 3, None, None) == bounds([2] * 12, [3] * 12, range(12))


def test_ends_are_clipped_to_the_limits():
    b = bounds([0, 1, 5], [0, 4, 5], [0, 1, 2], low=0, high=5)
    assert (0, 5) == (b.bound_low, b.bound_high)


def test_without_failures_the_bounds_are_the_t_interval():
    y, g = [1.0, 2.0, 4.0, 2.5], [0, 0, 1, 2]
    m = cluster_mean(y, g)
    ends = t_interval(m.value, m.se, m.df, low=0, high=5)
    assert m.df < 2
    assert (m.value, m.value, *ends) == tuple(bounds(y, y, g, low=0, high=5))


def test_a_side_without_limit_has_no_bound():
    b = bounds([1.0, 2.0] * 6, None, range(12))
    assert b.set_low is not None
    assert b.bound_low is not None
    assert (None, None) == (b.set_high, b.bound_high)
    assert (None, None, None, None) == tuple(bounds(None, None, [0, 1]))


def test_one_group_has_a_set_and_no_sampling():
    assert Bounds(1.0, 2.0, None, None) == bounds([1, 1], [2, 2], ["a", "a"], low=0, high=5)


items_ = st.lists(
    st.tuples(st.floats(0, 5), st.floats(0, 5), st.integers(0, 5), st.floats(0.1, 3)), min_size=2, max_size=30
)


@given(items_)
def test_bounds_hold_the_set_and_mirror_with_the_sign(data):
    a, b, g, w = map(np.array, zip(*data, strict=True))
    low, high = np.minimum(a, b), np.maximum(a, b)
    one = bounds(low, high, g, weights=w, low=0, high=5)
    other = bounds(-high, -low, g, weights=w, low=-5, high=0)
    assert one.set_low <= one.set_high + 1e-12
    assert pytest.approx((-one.set_high, -one.set_low), abs=1e-9) == other[:2]
    if one.bound_low is not None:
        assert 0 <= one.bound_low <= one.set_low
        assert one.set_high <= one.bound_high <= 5
        assert pytest.approx((-one.bound_high, -one.bound_low), abs=1e-9) == other[2:]


@given(items_)
def test_a_higher_level_is_wider(data):
    a, b, g, _ = map(np.array, zip(*data, strict=True))
    low, high = np.minimum(a, b), np.maximum(a, b)
    narrow, wide = bounds(low, high, g, level=0.9), bounds(low, high, g, level=0.99)
    if narrow.bound_low is not None:
        assert wide.bound_low <= narrow.bound_low
        assert wide.bound_high >= narrow.bound_high


def test_crossed_and_missing_fillings_are_refused_with_their_position():
    with pytest.raises(ValueError, match=r"values_low holds 3.0 at position 1, above values_high with 2.0"):
        bounds([1, 3], [1, 2], [0, 1])
    with pytest.raises(ValueError, match="values_high holds nan at position 1"):
        bounds([1, 3], [1, float("nan")], [0, 1])
    with pytest.raises(ValueError, match="values_low holds nan at position 0"):
        bounds([float("nan")], None, [0])
    with pytest.raises(ValueError, match="values_high has 1 entries, 2 are needed"):
        bounds([1, 3], [1], [0, 1])
    with pytest.raises(ValueError, match="values_low is empty"):
        bounds([], [], [])


def test_golden_imbens_manski_of_med42(items):
    worst, best = items("Med42-70B", unparsed=0), items("Med42-70B", unparsed=5)
    b = bounds(worst.values, best.values, worst.groups, low=0, high=5, covers="mean")
    assert (near(3.4794), near(3.7016), near(3.1803), near(3.9552)) == tuple(b)
    low, high = (cluster_mean(data.values, data.groups) for data in (worst, best))
    narrow = imbens_manski(low.value, high.value, se_low=low.se, se_high=high.se)
    assert near(1.6633) == narrow.c
    gap = (high.value - low.value) / max(low.se, high.se)
    root = brentq(lambda c: ndtr(c + gap) - ndtr(-c) - 0.95, 1, 3, xtol=1e-14, rtol=1e-14)
    assert pytest.approx(root, abs=1e-10) == narrow.c
    assert (b.bound_low, b.bound_high) == narrow[:2]


@given(st.floats(0, 5), st.floats(0, 5), st.floats(0.001, 2), st.floats(0.001, 2), st.floats(0.5, 0.999))
def test_c_solves_its_equation_between_one_and_two_sides(a, width, se_low, se_high, level):
    narrow = imbens_manski(a, a + width, se_low=se_low, se_high=se_high, level=level)
    gap = width / max(se_low, se_high)
    assert pytest.approx(level, abs=1e-10) == ndtr(narrow.c + gap) - ndtr(-narrow.c)
    assert ndtri(level) - 1e-12 <= narrow.c <= ndtri(0.5 + level / 2) + 1e-12


def test_a_point_has_two_sides_and_a_wide_set_one():
    assert pytest.approx(1.959964, abs=1e-6) == imbens_manski(3, 3, se_low=0.1, se_high=0.1).c
    assert pytest.approx(1.644854, abs=1e-6) == imbens_manski(0, 5, se_low=0.1, se_high=0.1).c
    assert (3, 4) == imbens_manski(3, 4, se_low=0, se_high=0)[:2]
    assert (0, 5) == imbens_manski(0.1, 4.9, se_low=1, se_high=1, low=0, high=5)[:2]


def test_the_mean_alone_needs_less_room_than_the_set():
    low, high, g = [1.0, 1, 3, 2, 0, 4], [1.0, 3, 3, 2, 5, 4], range(6)
    whole, mean = (bounds(low, high, g, low=-9, high=19, covers=covers) for covers in ("set", "mean"))
    assert whole[:2] == mean[:2]
    assert whole.bound_low < mean.bound_low < mean.set_low
    assert mean.set_high < mean.bound_high < whole.bound_high


def test_the_mean_alone_without_a_limit_or_with_one_group():
    b = bounds([1.0, 2.0, 2.0], None, [0, 1, 2], covers="mean")
    m = cluster_mean([1.0, 2.0, 2.0], [0, 1, 2])
    assert pytest.approx(m.value - ndtri(0.95) * m.se) == b.bound_low
    assert (None, None) == (b.set_high, b.bound_high)
    assert Bounds(1.0, 2.0, None, None) == bounds([1, 1], [2, 2], ["a", "a"], covers="mean")
    assert (None, None, None, None) == tuple(bounds(None, None, [0, 1], covers="mean"))


def test_imbens_manski_refuses_what_is_out_of_range():
    with pytest.raises(ValueError, match="set_low must be at most set_high"):
        imbens_manski(3, 2, se_low=1, se_high=1)
    with pytest.raises(ValueError, match="set_low must be at most set_high"):
        imbens_manski(float("nan"), 2, se_low=1, se_high=1)
    with pytest.raises(ValueError, match="se_high must be a finite number"):
        imbens_manski(1, 2, se_low=1, se_high=-1)
    with pytest.raises(ValueError, match="level must lie"):
        imbens_manski(1, 2, se_low=1, se_high=1, level=95)
