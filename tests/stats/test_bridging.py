"""Bridges between two scales: a hand-worked line, its errors, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from tests.stats.matrices import by_matrices

from vivavoce.stats import cluster_mean, pearson
from vivavoce.stats.linking import linear_link

OLD = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 2.0])
NEW = np.array([2.5, 2.0, 4.0, 4.5, 5.0, 3.0])
CASES = ["a", "a", "b", "c", "c", "d"]


def by_hand(old, new):
    slope = np.std(new) / np.std(old)
    return new.mean() - slope * old.mean(), slope


def test_a_line_worked_by_hand():
    """Means 2 and 5, spreads 1 and 3: new = 5 + 3 (old - 2)."""
    link = linear_link([1, 3, 1, 3], [2, 8, 8, 2], range(4))
    assert pytest.approx((-1, 3)) == (link.intercept, link.slope)
    assert (pytest.approx(0, abs=1e-12), pytest.approx(math.sqrt(18))) == (link.r, link.residual)


def test_a_shift_keeps_the_spread():
    link = linear_link([1, 3, 1, 3], [2, 8, 8, 2], range(4), method="mean")
    assert (3, 1, 0) == (link.intercept, link.slope, link.se_slope)


def test_the_same_marks_give_the_identity_without_an_error():
    for method in ("mean", "mean_sigma"):
        link = linear_link(OLD, OLD, CASES, method=method)
        assert (0, 1, 0, 0, 0) == (
            link.intercept,
            link.slope,
            link.se_intercept,
            link.se_slope,
            link.residual,
        )
        assert (2.7, None, None, False) == link.at(2.7)


@given(st.floats(-50, 50), st.floats(0.01, 50))
def test_an_affine_change_is_found_again(intercept, slope):
    link = linear_link(OLD, intercept + slope * OLD, CASES)
    assert pytest.approx((intercept, slope), abs=1e-9) == (link.intercept, link.slope)
    assert pytest.approx(0, abs=1e-9) == link.residual
    assert not link.erring


def test_swapping_the_sides_gives_the_inverse():
    """A regression would not."""
    there, back = linear_link(OLD, NEW, CASES), linear_link(NEW, OLD, CASES)
    assert pytest.approx((-there.intercept / there.slope, 1 / there.slope)) == (back.intercept, back.slope)
    assert pytest.approx(2.2) == back.at(there.at(2.2).value).value


def test_errors_are_those_of_leaving_out_a_case():
    link, labels = linear_link(OLD, NEW, CASES), np.array(CASES)
    lines = np.array([by_hand(OLD[labels != c], NEW[labels != c]) for c in "abcd"])
    spread = 3 * np.cov(lines.T, bias=True)
    assert pytest.approx(by_hand(OLD, NEW)) == (link.intercept, link.slope)
    assert pytest.approx(np.sqrt(np.diag(spread))) == (link.se_intercept, link.se_slope)
    assert pytest.approx(spread[0, 1]) == link.covariance
    assert (pytest.approx(pearson(OLD, NEW)), 6, 4) == (link.r, link.n, link.n_groups)


def test_the_interval_at_a_mean_is_that_of_the_jackknifed_value():
    link, labels = linear_link(OLD, NEW, CASES), np.array(CASES)
    lines = [by_hand(OLD[labels != c], NEW[labels != c]) for c in "abcd"]
    values = [a + b * 3.3 for a, b in lines]
    df = by_matrices(NEW, np.array(CASES)).df
    assert 1 < df < 3
    half = stdtrit(df, 0.975) * math.sqrt(3 * np.var(values))
    found = link.at(3.3)
    assert pytest.approx((found.value - half, found.value + half)) == (found.low, found.high)


def test_a_mean_shift_of_single_cases_has_the_error_of_a_mean():
    link = linear_link(OLD, NEW, range(6), method="mean")
    assert pytest.approx(cluster_mean(NEW - OLD, range(6)).se) == link.se_intercept


def test_a_weight_of_two_is_a_row_twice():
    twice = linear_link([*OLD, OLD[5]], [*NEW, NEW[5]], [*CASES, "d"])
    weighted = linear_link(OLD, NEW, CASES, weights=[1, 1, 1, 1, 1, 2])
    assert pytest.approx(twice[1:8]) == weighted[1:8]


@given(st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(order):
    moved = linear_link(OLD[order], NEW[order], [CASES[k] for k in order])
    assert pytest.approx(linear_link(OLD, NEW, CASES)[1:8]) == moved[1:8]


def test_marks_that_do_not_vary_bear_no_line():
    for old, new in (([0.3] * 6, NEW), (OLD, [0.3] * 6)):
        link = linear_link(old, new, CASES)
        assert (None,) * 7 == link[1:8]
        assert link.at(3.0) is None


def test_a_line_that_hangs_on_one_case_has_no_error():
    link = linear_link([1, 1, 1, 5], [2, 3, 4, 5], range(4))
    assert link.slope is not None
    assert (None, None, None) == (link.se_intercept, link.se_slope, link.covariance)
    assert (None, None) == link.at(3.0)[1:3]


def test_one_case_gives_a_line_without_an_error():
    link = linear_link(OLD, NEW, ["a"] * 6)
    assert pytest.approx(by_hand(OLD, NEW)) == (link.intercept, link.slope)
    assert link.se_slope is None


def test_what_leaves_the_scale_is_set_to_its_end_and_said():
    link = linear_link([1, 3, 1, 3, 2], [2, 8, 3, 8, 5], range(5))
    inside, outside = link.at(2.0, low=0, high=6), link.at(3.0, low=0, high=6)
    assert not inside.clipped
    assert (6, 6, True) == (outside.value, outside.high, outside.clipped)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"old": []}, "old is empty"),
        ({"new": [1, 2]}, "new has 2 entries"),
        ({"old": [1, float("nan"), 3]}, "position 1"),
        ({"weights": [1, 0, 1]}, "weights holds 0"),
        ({"method": "sigma"}, "method must be"),
    ],
)
def test_bad_input_is_named(changed, why):
    given = {"old": [1, 2, 3], "new": [1, 2, 4], "groups": [0, 1, 2]} | changed
    with pytest.raises(ValueError, match=why):
        linear_link(**given)


def test_a_point_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="old must be a finite number"):
        linear_link(OLD, NEW, CASES).at(float("nan"))
