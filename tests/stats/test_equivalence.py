"""Margins as p and as interval. Oracles: SciPy 1.17.1 ttest_1samp, statsmodels 0.15.0 ttost_paired."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from tests.lazy import lazy_module

from vivavoce.stats import Evidence, agresti_min, bonferroni_level, margin_interval, paired, verdict
from vivavoce.stats.equivalence import margin_test, tost

weightstats = lazy_module("statsmodels.stats.weightstats")


def test_single_items_give_statsmodels_two_one_sided_tests():
    x = np.random.default_rng(1).normal(0.05, 0.5, 40)
    p, (_, p_low, _), (_, p_high, _) = weightstats.ttost_paired(x, np.zeros(40), -0.3, 0.3)
    m = margin_test(x, np.arange(40), margin=0.3, span=None)
    assert pytest.approx((p_low, p_high, p), abs=1e-9) == (m.p_not_worse, m.p_not_better, m.p_equivalent)
    assert pytest.approx(ttest_1samp(x, -0.3, alternative="greater").pvalue, abs=1e-9) == m.p_not_worse
    assert "t" == m.method


def test_hand_worked_tost():
    """(0 + 1) / .5 = 2 standard errors on either side, one degree of freedom: P(T > 2) = .1476."""
    m = tost(0, 0.5, 1, margin=1)
    assert pytest.approx(0.5 - math.atan(2) / math.pi) == m.p_equivalent == m.p_not_worse == m.p_not_better
    assert (pytest.approx(-0.5 * 12.7062047), False, False) == (m.low, m.equivalent, m.not_worse)


cases = st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 20)), min_size=2, max_size=60)


@given(cases, st.floats(0.01, 0.99), st.sampled_from([0.9, 0.95, bonferroni_level(0.95, 9)]))
def test_p_says_what_the_interval_says(data, margin, level):
    d, g = map(np.array, zip(*data, strict=True))
    m = margin_test(d, g, margin=margin, span=1, level=level)
    if m is None:
        assert margin_interval(d, g, span=1, level=level) is None
        return
    # Below ten effective cases a verdict takes the interval of sign flips; this test stays Agresti-Min's.
    by_t = paired(d, g).test == "t"
    ends = (margin_interval if by_t else agresti_min)(d, g, span=1, level=level)
    assert (ends.low, ends.high) == (m.low, m.high)
    bar = (1 - level) / 2
    for p, shown in ((m.p_not_worse, m.not_worse), (m.p_equivalent, m.equivalent)):
        assert shown == (p < bar) or pytest.approx(bar, abs=1e-9) == p


def test_verdicts_on_margins_are_these():
    """Equal candidates are equivalent, a little better one not worse: as p and as the table's row."""
    rng = np.random.default_rng(2)
    for shift, code in ((0.0, "equivalent"), (0.15, "not_worse")):
        d = rng.normal(0, 0.5, 60)
        d += shift - d.mean()
        r, m = paired(d, np.arange(60)), margin_test(d, np.arange(60), margin=0.2, span=5)
        evidence = Evidence(
            n_groups=60, n_different=60, direction=0, p_adjusted=1, margin_low=m.low, margin_high=m.high
        )
        assert code == verdict(evidence, margin=0.2).code
        assert m.not_worse
        assert (code == "equivalent") == m.equivalent
        assert r.interval() == (m.low, m.high)


def test_few_that_differ_are_judged_by_agresti_min():
    d = [1.0] * 3 + [0.0] * 40
    m = margin_test(d, np.arange(43), margin=0.3, span=1)
    assert (*agresti_min(d, np.arange(43), span=1), "Agresti-Min") == (m.low, m.high, m.method)
    assert margin_test(d, np.arange(43), margin=0.3, span=None) is None
    low = agresti_min(d, np.arange(43), span=1, level=1 - 2 * m.p_not_worse).low
    assert pytest.approx(-0.3) == low
    high = agresti_min(d, np.arange(43), span=1, level=1 - 2 * m.p_not_better).high
    assert pytest.approx(0.3) == high


def test_nothing_that_differs_still_needs_groups():
    few, many = (margin_test([0.0] * n, np.arange(n), margin=0.1, span=1) for n in (12, 60))
    assert not few.equivalent
    assert many.equivalent


@given(cases, st.floats(0.01, 0.99))
def test_swapping_the_two_swaps_the_sides(data, margin):
    d, g = map(np.array, zip(*data, strict=True))
    a, b = margin_test(d, g, margin=margin, span=1), margin_test(-d, g, margin=margin, span=1)
    if a is not None:
        assert pytest.approx((a.p_not_worse, a.p_not_better), abs=1e-9) == (b.p_not_better, b.p_not_worse)
        assert a.equivalent == b.equivalent


def test_no_error_gives_no_p():
    assert tost(0, None, 0, margin=1) is None
    assert tost(0, 0.0, 9, margin=1) is None
    assert margin_test([1, 2], ["a", "a"], margin=1, span=5) is None


def test_out_of_range_is_refused():
    with pytest.raises(ValueError, match="margin must be a finite number above 0"):
        margin_test([1, 2], [0, 1], margin=0, span=5)
    with pytest.raises(ValueError, match="margin must be"):
        tost(0, 1, 9, margin=math.nan)
    with pytest.raises(ValueError, match="differences holds nan at position 1"):
        margin_test([1, math.nan], [0, 1], margin=1, span=5)
    with pytest.raises(ValueError, match="df must be at least 1"):
        tost(0, 1, 0, margin=1)
    with pytest.raises(ValueError, match="level must lie"):
        margin_test([1, 2], [0, 1], margin=1, span=5, level=95)


def test_a_million_items_are_no_matter():
    d = np.random.default_rng(3).normal(0, 1, 10**6)
    assert margin_test(d, np.arange(10**6) // 5, margin=0.01, span=None).equivalent
