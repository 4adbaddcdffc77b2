"""Links between two scales by candidates' means: oracles of SciPy and NumPy, a line by hand, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from vivavoce.stats.linking import candidate_link

OLD = np.array([1.0, 2.0, 3.0, 4.0])
NEAR = OLD + np.array([0.4, 0.6, 0.4, 0.6])
STEEP = np.array([1.1, 2.9, 5.0, 7.1])


def test_a_shift_worked_by_hand():
    """Shifts .4 .6 .4 .6: mean .5, sd .11547; t(3) = 3.18245, so the half width is .41085."""
    link = candidate_link(OLD, NEAR)
    assert ("shift", 0.5, 1.0, 3, 4) == (
        link.method,
        pytest.approx(link.intercept),
        link.slope,
        link.df,
        link.n,
    )
    assert pytest.approx(0.1154701) == link.residual
    assert pytest.approx((2.5, 2.0891490, 2.9108510)) == link.at(2.0)[:3]


def test_the_interval_of_a_shift_is_as_wide_wherever_the_old_mean_lies():
    link = candidate_link(OLD, NEAR)
    near, far = link.at(2.5), link.at(9.0)
    assert pytest.approx(near.high - near.low) == far.high - far.low


def test_a_slope_is_taken_where_the_means_show_one_and_is_that_of_the_principal_axis():
    link = candidate_link(OLD, STEEP)
    axis = np.linalg.eigh(np.cov(OLD, STEEP))[1][:, -1]
    assert ("deming", 2) == (link.method, link.df)
    assert pytest.approx(axis[1] / axis[0]) == link.slope
    assert pytest.approx(STEEP.mean() - axis[1] / axis[0] * 2.5) == link.intercept
    residuals = STEEP - link.intercept - link.slope * OLD
    assert pytest.approx(math.sqrt((residuals**2).sum() / 2)) == link.residual
    half = reference.t.ppf(0.975, 2) * link.residual * math.sqrt(1 + 1 / 4 + 1.5**2 / 5)
    carried = link.at(4.0)
    assert pytest.approx((carried.value - half, carried.value + half)) == (carried.low, carried.high)


@pytest.mark.parametrize("new", [NEAR, STEEP, OLD[::-1] * 3])
def test_the_test_of_the_slope_is_that_of_pitman_and_morgan(new):
    assert pytest.approx(reference.pearsonr(new - OLD, new + OLD).pvalue) == candidate_link(OLD, new).p_slope


def test_means_that_fall_where_the_others_rise_bear_no_slope():
    """Pitman and Morgan show another spread; a line that falls is not carried."""
    link = candidate_link(np.arange(8.0), -3 * np.arange(8.0) + [0.1, 0, 0, 0.1, 0, 0, 0.1, 0])
    assert link.p_slope < 0.05
    assert ("shift", 1.0) == (link.method, link.slope)


def test_swapping_the_sides_gives_the_inverse_line():
    forth, back = candidate_link(OLD, STEEP), candidate_link(STEEP, OLD)
    assert pytest.approx((-forth.intercept / forth.slope, 1 / forth.slope)) == (back.intercept, back.slope)


@given(st.floats(-50, 50))
def test_a_constant_shift_has_no_interval(shift):
    link = candidate_link(OLD, OLD + shift)
    assert ("shift", pytest.approx(shift, abs=1e-9), 0.0) == (link.method, link.intercept, link.residual)
    assert (None, None) == link.at(2.7)[1:3]


@given(st.permutations(range(4)))
def test_the_order_of_candidates_does_not_matter(order):
    assert pytest.approx(candidate_link(OLD, STEEP)[1:]) == candidate_link(OLD[order], STEEP[order])[1:]


def test_means_that_are_all_equal_have_a_shift_and_no_test_of_a_slope():
    link = candidate_link([2.0] * 5, [1.0, 2.0, 3.0, 2.0, 2.0])
    assert ("shift", None, 0.0) == (link.method, link.p_slope, link.intercept)
    assert link.at(2.0).low < 2 < link.at(2.0).high


def test_what_leaves_the_scale_is_set_to_its_end_and_named():
    link = candidate_link(OLD, NEAR)
    inside, outside = link.at(2.0, low=0, high=5), link.at(4.8, low=0, high=5)
    assert not inside.clipped
    assert (5, 5, True) == (outside.value, outside.high, outside.clipped)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"old": [], "new": []}, "old is empty"),
        ({"old": [1, 2, 3], "new": [1, 2, 4]}, "at least 4 candidates, but there are 3"),
        ({"new": [1, 2]}, "new has 2 entries"),
        ({"old": [1, float("nan"), 3, 4]}, "position 1"),
        ({"alpha": 5}, "alpha must lie between 0 and 1"),
    ],
)
def test_bad_input_is_named(changed, why):
    arguments = {"old": [1, 2, 3, 4], "new": [1, 2, 4, 3]} | changed
    with pytest.raises(ValueError, match=why):
        candidate_link(**arguments)


def test_a_point_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="old must be a finite number"):
        candidate_link(OLD, NEAR).at(float("nan"))
