"""Real text against a control: the line, the interval, the verdict, and how often a verdict is wrong."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from tests.lengths import length

from vivavoce import stats

SPAN = 1.0


def one_each(values):
    return list(range(len(values)))


def test_with_one_item_to_a_case_it_is_scipys_t_test_against_the_line():
    d = np.random.default_rng(3).normal(0.2, 0.3, 25).round(6)
    test = stats.control_test(d, one_each(d), line=0.1, span=2.0)
    reference = ttest_1samp(d, 0.1)
    ends = reference.confidence_interval()
    assert pytest.approx((reference.pvalue, ends.low, ends.high)) == (test.p, test.low, test.high)
    assert ("t", 1) == (test.method, test.side)


def test_a_case_worked_by_hand():
    """d = .1 and .3 ten times each: mean .2, s^2 = 20 * .01 / 19, SE = sqrt(s^2 / 20); t(19) 2.0930."""
    d = [0.1, 0.3] * 10
    test = stats.control_test(d, one_each(d), line=0.1, span=SPAN)
    se = (0.2 / 19 / 20) ** 0.5
    assert pytest.approx((0.2 - 2.0930 * se, 0.2 + 2.0930 * se), abs=1e-5) == (test.low, test.high)
    assert "not_fooled" == stats.control_verdict([test], p_adjusted=test.p)


def test_uneven_cases_have_the_error_of_the_reference_table():
    """The hand case of statistics.md 11.1: SE .14044049, df 2.17300821."""
    y = [1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1]
    groups = [0] * 4 + [1] * 2 + [2] + [3] * 5 + [4] + [5]
    result = stats.control_test(y, groups, span=SPAN).paired
    assert pytest.approx((0.14044049, 2.17300821)) == (result.se, result.df)


def test_a_lower_control_has_its_line_at_the_margin_and_a_no_higher_one_below_zero():
    assert (0.1, -0.1) == (stats.control_line("lower", 0.1), stats.control_line("no_higher", 0.1))
    assert 0.0 == stats.control_line("no_higher", 0.0)
    for margin in (-0.1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="margin must be a finite number, 0 or more"):
            stats.control_line("lower", margin)


def verdict(d, line, *, span=SPAN, groups=None, p_adjusted=None):
    test = stats.control_test(d, one_each(d) if groups is None else groups, line=line, span=span)
    return stats.control_verdict([test], p_adjusted=test.p if p_adjusted is None else p_adjusted)


NOISE = np.random.default_rng(5).normal(0, 0.02, 30).round(6)


@pytest.mark.parametrize(
    ("mean", "line", "said"),
    [
        (0.3, 0.1, "not_fooled"),
        (0.0, 0.1, "fooled"),
        (0.1, 0.1, "not_shown"),
        (0.0, -0.1, "not_fooled"),
        (0.3, -0.1, "not_fooled"),
        (-0.3, -0.1, "fooled"),
        (-0.1, -0.1, "not_shown"),
    ],
)
def test_the_verdict_is_where_the_interval_lies(mean, line, said):
    assert said == verdict(mean + NOISE - NOISE.mean().round(9), line)


def test_guilt_is_corrected_for_the_number_of_kinds_and_innocence_is_not():
    assert "not_shown" == verdict(NOISE, 0.1, p_adjusted=0.2)
    assert "not_fooled" == verdict(0.3 + NOISE, 0.1, p_adjusted=0.2)


def test_equal_differences_have_an_interval_that_is_not_of_width_zero():
    test = stats.control_test([0.5] * 12, range(12), line=0.1, span=SPAN)
    assert "Agresti-Min" == test.method
    assert test.low < 0.5 <= test.high + 0.2
    assert "not_fooled" == stats.control_verdict([test], p_adjusted=test.p)


def test_a_rater_that_ties_every_time_is_fooled_only_by_a_margin_that_so_few_cases_can_tell():
    ties = [0.0] * 42
    ends = stats.control_test(ties, range(42), span=SPAN)
    assert pytest.approx(2.0195 / 44, abs=1e-4) == ends.high, "t(41, .975) * sqrt(1/2 + 1/2) / (42 + 2)"
    assert ["not_shown", "fooled"] == [verdict(ties, line) for line in (0.04, 0.05)]
    assert ["not_shown", "not_fooled"] == [verdict(ties, line) for line in (-0.04, -0.05)]
    assert "not_shown" == verdict(ties, 0.0)


def test_a_scale_without_limits_shows_nothing_where_all_differ_alike():
    assert "not_shown" == verdict([0.5] * 30, 0.1, span=None)
    assert "not_fooled" == verdict(0.5 + NOISE, 0.1, span=None)


def test_fewer_than_ten_effective_cases_show_nothing():
    assert "not_shown" == verdict([0.5, 0.6] * 4 + [0.5], 0.1)
    one_giant = [0] * 60 + list(range(1, 12))
    d = [0.5, 0.6] * 35 + [0.5]
    assert "not_shown" == verdict(d, 0.1, groups=one_giant)
    assert "not_fooled" == verdict(d, 0.1)


def test_a_verdict_holds_in_both_fillings_or_is_not_shown():
    low, high = (stats.control_test(m + NOISE, range(30), line=0.1, span=SPAN) for m in (0.0, 0.3))
    assert "not_shown" == stats.control_verdict([high, low, high], p_adjusted=0.0)
    assert "not_fooled" == stats.control_verdict([high, high, high], p_adjusted=0.0)
    with pytest.raises(ValueError, match="holds no test"):
        stats.control_verdict([], p_adjusted=0.0)


def test_p_is_at_most_five_in_a_hundred_exactly_where_the_interval_leaves_the_line_out():
    for d in (NOISE, [0.5] * 12, [0.0] * 40 + [0.3] * 5):
        for line in np.linspace(-0.3, 0.6, 91):
            test = stats.control_test(d, one_each(d), line=line, span=SPAN)
            assert (test.p <= 0.05) == (line <= test.low or line >= test.high)


def test_a_scale_ten_times_as_wide_changes_no_p():
    d = np.array([0.0] * 40 + [0.3] * 5)
    one = stats.control_test(d, range(45), line=0.02, span=1.0)
    ten = stats.control_test(10 * d, range(45), line=0.2, span=10.0)
    assert pytest.approx((one.p, 10 * one.low)) == (ten.p, ten.low)


def test_a_conjunction_is_as_strong_as_its_weakest_claim():
    assert 0.2 == stats.intersection_union([0.01, 0.2, 0.04])
    with pytest.raises(ValueError, match="p holds"):
        stats.intersection_union([0.1, 1.2])


def test_the_cases_needed_follow_from_the_margin_and_not_from_the_difference():
    near, far = (stats.control_test(m + 3 * NOISE, range(30), line=0.02, span=SPAN) for m in (0.0, 0.5))
    assert stats.controls_needed(near, 0.02) == stats.controls_needed(far, 0.02) > 30
    assert 10 == stats.controls_needed(near, 0.4), "fewer than 10 cases tell nothing"
    assert None is stats.controls_needed(stats.control_test([0.5] * 12, range(12), span=SPAN), 0.1)
    assert None is stats.controls_needed(near, 0.0)


def wrong_verdicts(n_runs, kind, *, shift, sizes, seed=1, kinds=4):
    """How often a rater on the line is called not fooled by one kind, and fooled by any."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    line = stats.control_line(kind, 0.1)
    cleared = convicted = 0
    for _ in range(n_runs):
        tests = []
        for _ in range(kinds):
            of_case = rng.normal(0, 0.12, len(sizes))[groups]
            d = np.clip(line + shift + of_case + rng.normal(0, 0.15, len(groups)), -1, 1)
            tests.append(stats.control_test(d, groups, line=line, span=SPAN))
        adjusted = stats.holm([t.p for t in tests])
        said = [stats.control_verdict([t], p_adjusted=p) for t, p in zip(tests, adjusted, strict=True)]
        cleared += said[0] == "not_fooled"
        convicted += "fooled" in said
    return cleared / n_runs, convicted / n_runs


UNEVEN = [8, 6, 5, 4, 4, 3, 3, 3] + [2] * 10 + [1] * 12
GIANTS = [12, 8, 6, 5] + [2] * 30


def test_a_rater_on_the_line_is_rarely_cleared_or_convicted():
    """Each verdict is built for 2.5 %, `fooled` over all four kinds together."""
    cleared, convicted = wrong_verdicts(150, "lower", shift=0.0, sizes=UNEVEN)
    assert cleared <= 0.06
    assert convicted <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lower", "no_higher"])
@pytest.mark.parametrize("sizes", length([GIANTS], [[1] * 20, [3] * 15, UNEVEN, GIANTS]))
def test_wrong_verdicts_are_at_most_six_in_a_hundred_at_uneven_cases(kind, sizes):
    cleared, convicted = wrong_verdicts(length(120, 1500), kind, shift=0.0, sizes=sizes)
    assert cleared <= 0.045
    assert convicted <= 0.045
