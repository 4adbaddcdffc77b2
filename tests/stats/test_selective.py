"""Risk against coverage, and the threshold that keeps a promise.

Golden: areas by averaging over all orders of ties, p values by `scipy.stats.binom`.
"""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from vivavoce.stats import answer_threshold, by_group_jackknife, risk_above, risk_coverage


def area(errors):
    """The published area: the mean over k of the errors among the first k."""
    return float(np.mean(np.cumsum(errors) / np.arange(1, len(errors) + 1)))


def test_without_ties_the_area_is_the_published_mean():
    """Right, wrong, right, wrong by falling confidence: (0 + 1/2 + 1/3 + 1/2) / 4."""
    curve = risk_coverage([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 0], range(4))
    assert (0 + 1 / 2 + 1 / 3 + 1 / 2) / 4 == pytest.approx(curve.aurc.value)
    assert curve.aurc.value - area([0, 0, 1, 1]) == pytest.approx(curve.excess.value)
    assert [0.9, 0.8, 0.7, 0.6] == pytest.approx(curve.threshold)
    assert [0.25, 0.5, 0.75, 1.0] == pytest.approx(curve.coverage)
    assert [0, 1 / 2, 1 / 3, 1 / 2] == pytest.approx(curve.risk)


def test_a_tie_is_the_mean_over_all_of_its_orders():
    c = [0.9, 0.7, 0.7, 0.7, 0.7, 0.2]
    errors = [1, 0, 1, 0, 0, 1]
    orders = [[errors[0], *middle, errors[5]] for middle in permutations(errors[1:5])]
    curve = risk_coverage(c, 1 - np.array(errors), range(6))
    assert np.mean([area(order) for order in orders]) == pytest.approx(curve.aurc.value)
    assert [1 / 6, 5 / 6, 1] == pytest.approx(curve.coverage)


def test_equal_confidences_have_the_share_of_errors_as_their_area():
    curve = risk_coverage([0.8] * 40, [1, 1, 1, 0] * 10, range(40))
    assert 0.25 == pytest.approx(curve.aurc.value)
    assert (1, 1) == (len(curve.threshold), curve.coverage[0])


def test_right_answers_first_have_no_excess():
    curve = risk_coverage([0.9] * 30 + [0.3] * 10, [1] * 30 + [0] * 10, range(40))
    assert 0 == pytest.approx(curve.excess.value)
    assert area([0] * 30 + [1] * 10) == pytest.approx(curve.aurc.value)


@pytest.mark.parametrize("right", [0, 1])
def test_all_right_or_all_wrong_has_an_interval_with_width(right):
    curve = risk_coverage(np.linspace(0, 1, 50), [right] * 50, range(50))
    assert 1 - right == curve.aurc.value
    assert 0.02 < curve.aurc.high - curve.aurc.low < 0.2


def test_the_error_of_the_area_is_the_jackknife_of_cases():
    """The linear form gives what leaving out one case at a time does, in 175 cases of several answers."""
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 200, 400)
    c = rng.random(400).round(2)
    y = rng.random(400) < c
    curve = risk_coverage(c, y, groups)
    jackknife = by_group_jackknife(
        lambda rows: risk_coverage(c[rows], y[rows], groups[rows], most=2).aurc.value, groups, scale="raw"
    )
    assert curve.aurc.high - curve.aurc.low == pytest.approx(jackknife.high - jackknife.low, rel=0.1)


def test_neither_order_nor_the_unit_of_weights_matters_and_weights_count_as_answers():
    rng = np.random.default_rng(3)
    c, y, w = rng.random(60).round(1), rng.random(60) < 0.7, rng.uniform(1, 2, 60)
    order = rng.permutation(60)
    first = risk_coverage(c, y, range(60), weights=w)
    again = risk_coverage(c[order], y[order], order, weights=w[order] / 9)
    assert first.aurc == pytest.approx(again.aurc)
    assert first.risk == pytest.approx(again.risk)
    doubled = risk_coverage([0.9, 0.5], [1, 0], range(2), weights=[3, 1])
    assert [0.75, 1] == pytest.approx(doubled.coverage)
    assert [0, 0.25] == pytest.approx(doubled.risk)


def test_a_long_curve_keeps_its_ends_and_so_many_points():
    rng = np.random.default_rng(3)
    c = rng.random(500)
    curve = risk_coverage(c, rng.random(500) < c, range(500), most=20)
    assert len(curve.coverage) <= 20
    assert (c.max(), c.min(), 1) == pytest.approx(
        (curve.threshold[0], curve.threshold[-1], curve.coverage[-1])
    )
    assert (np.diff(curve.coverage) > 0).all()
    assert (None, None) == (curve.low[0], curve.high[0]), "a single answer has no interval"
    ends = zip(curve.low, curve.risk, curve.high, strict=True)
    assert all(low <= risk <= high for low, risk, high in list(ends)[1:])


def promise(blocks, risk=0.1, **more):
    """The threshold for (confidence, answers, errors) by block, each answer its own case."""
    c = np.concatenate([np.full(n, value) for value, n, _ in blocks])
    y = np.concatenate([np.r_[np.zeros(wrong), np.ones(n - wrong)] for _, n, wrong in blocks])
    return answer_threshold(c, y, np.arange(len(c)), risk=risk, **more)


def test_the_lowest_threshold_that_keeps_the_promise_is_chosen():
    """260 of 360 at .9 and more with 10 wrong; all at .8 and more would have 60 of 360 wrong."""
    found = promise([(0.95, 160, 2), (0.9, 100, 8), (0.8, 100, 50)])
    assert (0.9, 260, 260) == (found.threshold, found.n, found.n_groups)
    assert (260 / 360, 10 / 260) == pytest.approx((found.coverage, found.risk))
    assert binom.cdf(10, 260, 0.1) == pytest.approx(found.p)
    assert found.reason is None


def test_with_a_single_beginning_p_is_tested_at_five_percent():
    """60 answers, 10 %: the tests begin at 50 and nowhere else; 2 of 60 wrong has p .053, 1 has .014."""
    assert 0.05 < binom.cdf(2, 60, 0.1) < 0.06
    assert promise([(0.9, 60, 2)]).threshold is None
    assert 0.9 == promise([(0.9, 60, 1)]).threshold


def test_each_beginning_has_its_part():
    """120 answers: beginnings at 50 and 100. 5 of 120 wrong, p .015, is below .025; 6, p .034, is not."""
    assert 0.9 == promise([(0.9, 120, 5)]).threshold or binom.cdf(5, 120, 0.1) > 0.05
    first = promise([(0.95, 60, 0), (0.9, 60, 6)])
    assert binom.cdf(6, 120, 0.1) > 0.025
    assert 0.9 == first.threshold, "what the first beginning did not lose goes on to the second"
    assert promise([(0.95, 60, 3), (0.9, 60, 3)]).threshold is None


def test_no_threshold_says_what_would_be_needed():
    found = promise([(0.9, 60, 3), (0.5, 40, 30)])
    assert (None, None, None) == (found.threshold, found.coverage, found.risk)
    assert "no threshold keeps errors below 0.1 with 95 % confidence" == found.reason
    assert 60 == found.n
    n = found.needed
    part = 0.05 / 2
    assert binom.cdf(np.ceil(0.05 * n), n, 0.1) <= part < binom.cdf(np.ceil(0.05 * (n - 1)), n - 1, 0.1)


def test_errors_above_the_promise_everywhere_need_more_than_cases():
    found = promise([(0.9, 100, 20), (0.5, 100, 50)])
    assert (None, None) == (found.threshold, found.needed)


def test_too_few_answers_have_no_threshold_even_without_an_error():
    """.9^28 > .05: it takes 29 cases without an error for 10 %."""
    assert promise([(1.0, 28, 0)]).threshold is None
    assert 29 == promise([(1.0, 28, 0)]).needed
    assert 1.0 == promise([(1.0, 29, 0)]).threshold


def test_answers_of_one_case_count_as_one():
    """300 answers without an error in 20 cases promise nothing; in 300 they do."""
    c, y = np.full(300, 0.9), np.ones(300)
    few = answer_threshold(c, y, np.arange(300) % 20, risk=0.1)
    assert (None, 20, pytest.approx(20.0)) == (few.threshold, few.n_groups, few.effective_groups)
    assert 0.9 == answer_threshold(c, y, np.arange(300), risk=0.1).threshold


def test_one_giant_case_carries_no_promise():
    """200 answers of one case beside 20 of one each: 1.2 effective cases."""
    groups = np.r_[np.zeros(200, int), np.arange(1, 21)]
    found = answer_threshold(np.full(220, 0.9), np.ones(220), groups, risk=0.1)
    assert found.threshold is None
    assert 220**2 / (200**2 + 20) == pytest.approx(found.effective_groups)


def test_repeats_of_a_question_are_no_new_cases():
    c, y = np.full(100, 0.9), np.r_[np.zeros(3), np.ones(97)]
    once = answer_threshold(c, y, np.arange(100), risk=0.1)
    again = answer_threshold(np.tile(c, 5), np.tile(y, 5), np.tile(np.arange(100), 5), risk=0.1,
                             weights=np.full(500, 0.2))  # fmt: skip
    assert once.threshold == again.threshold
    assert (once.p, once.coverage, once.risk) == pytest.approx((again.p, again.coverage, again.risk))


def test_the_threshold_is_one_of_those_fixed_before_and_answers_what_it_says():
    """.876 lies between two of them: the promise is for .87, which answers the same."""
    found = promise([(0.876, 100, 1), (0.2, 50, 40)])
    assert 0.87 == found.threshold
    assert 100 == found.n


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0.1, 0.5, 0.9, 1]), st.booleans(), st.integers(0, 30)),
        min_size=1,
        max_size=60,
    )
)
def test_every_curve_and_promise_is_finite(rows):
    c, y, groups = map(list, zip(*rows, strict=True))
    curve = risk_coverage(c, y, groups)
    for one in (curve.aurc, curve.excess):
        assert (one.low is None) == (len(set(groups)) == 1)
        if one.low is not None:
            assert one.low <= one.value + 1e-12
            assert one.value <= one.high + 1e-12
    kept = answer_threshold(c, y, groups, risk=0.3)
    assert (kept.threshold is None) == (kept.reason is not None)
    assert 0 <= kept.p <= 1


@pytest.mark.parametrize("risk", [0, 1, -0.1, float("nan")])
def test_a_risk_that_is_no_share_is_refused(risk):
    with pytest.raises(ValueError, match="risk must lie between 0 and 1"):
        answer_threshold([0.5], [1], [1], risk=risk)


def test_a_curve_of_one_point_is_refused():
    with pytest.raises(ValueError, match="most must be at least 2"):
        risk_coverage([0.5], [1], [1], most=1)


def test_hand_worked_p_of_a_risk_above_the_promise():
    """3 of 10 wrong: P(B(10, .1) >= 3) = .070191; two to a case count as one, so 1 of 5: P(B(5, .1) >= 1)."""
    right = [0, 0, 0] + [1] * 7
    assert pytest.approx(0.070191, abs=1e-6) == risk_above(right, range(10), risk=0.1)
    assert pytest.approx(1 - 0.9**5) == risk_above(right, np.arange(10) // 2, risk=0.1)
    assert 1.0 == risk_above([1] * 5, range(5), risk=0.1)
    with pytest.raises(ValueError, match="risk"):
        risk_above([1], [0], risk=0)
