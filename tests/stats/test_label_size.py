"""How many labels a goal takes: by hand, and where labels are everything or the judge nothing."""

import math

import pytest
from scipy.stats import t

from vivavoce.stats.label_size import label_half_widths, labels_needed


def width(n, **settings):
    return label_half_widths(**({"n_cases": 100, "judge_sd": 1, "people_sd": 1} | settings))[n - 2]


def test_a_half_width_by_hand():
    """25 of 100 labelled, r = .8: lambda = .8 · .75 = .6, variance .36/75 + (1 + .36 - .96)/25 = .0208."""
    expected = t.ppf(0.975, 24) * math.sqrt(0.36 / 75 + 0.4 / 25)
    assert expected == pytest.approx(width(25, correlation=0.8))


def test_lambda_stays_at_most_one():
    """The judge's spread is half of people's: lambda = .9 · 2 · .75 = 1.35 is cut to 1."""
    expected = t.ppf(0.975, 24) * math.sqrt(0.25 / 75 + (1 + 0.25 - 0.9) / 25)
    assert expected == pytest.approx(width(25, correlation=0.9, judge_sd=0.5))


@pytest.mark.parametrize("correlation", [0.0, -0.7])
def test_a_judge_who_knows_nothing_leaves_labels_alone(correlation):
    assert t.ppf(0.975, 24) / 5 == pytest.approx(width(25, correlation=correlation))


def test_all_cases_labelled_are_just_the_labels():
    assert t.ppf(0.975, 99) / 10 == pytest.approx(width(100, correlation=0.8))


def test_a_judge_never_widens_the_interval():
    with_judge, alone = (label_half_widths(50, judge_sd=2, people_sd=1, correlation=r) for r in (0.3, 0.0))
    assert (with_judge <= alone + 1e-12).all()


def test_the_number_is_the_least_that_reaches_the_goal():
    need = labels_needed(0.3, n_cases=200, judge_sd=1, people_sd=1, correlation=0.8)
    widths = label_half_widths(200, judge_sd=1, people_sd=1, correlation=0.8)
    assert widths[need.n - 2] <= 0.3 < widths[need.n - 3]
    assert need.n < need.n_alone
    assert t.ppf(0.975, need.n_alone - 1) / math.sqrt(need.n_alone) <= 0.3


def test_labels_alone_by_hand():
    """Half width .5 at sd 1: n = 18 (t 2.1098, .4973), not 17 (t 2.1199, .5142)."""
    assert 18 == labels_needed(0.5, n_cases=100, judge_sd=1, people_sd=1, correlation=0).n


def test_finding_a_difference_takes_more_than_an_interval_of_that_width():
    """(1.96 + .84)² / 1.96² is 2.04."""
    settings = {"n_cases": 5000, "judge_sd": 1, "people_sd": 1, "correlation": 0}
    narrow, find = (labels_needed(0.1, **settings, power=power).n for power in (None, 0.8))
    assert 2.04 == pytest.approx(find / narrow, abs=0.01)


def test_a_goal_out_of_reach_is_null():
    need = labels_needed(0.05, n_cases=100, judge_sd=1, people_sd=1, correlation=0.8)
    assert (None, None) == need[:2]
    assert t.ppf(0.975, 99) / 10 == pytest.approx(need.half_width_all)


def test_scores_that_do_not_spread_take_two_labels():
    assert 2 == labels_needed(0.1, n_cases=10, judge_sd=0, people_sd=0, correlation=0.5).n


def test_the_unit_does_not_matter():
    one, other = (
        labels_needed(0.2 * k, n_cases=300, judge_sd=0.7 * k, people_sd=0.9 * k, correlation=0.6)
        for k in (1, 5)
    )
    assert one[:2] == other[:2]


@pytest.mark.parametrize(
    "change",
    [
        {"goal": 0},
        {"n_cases": 1},
        {"judge_sd": -1},
        {"people_sd": math.nan},
        {"correlation": 1.1},
        {"level": 95},
    ],
)
def test_what_is_out_of_range_is_refused(change):
    settings = {"goal": 0.1, "n_cases": 10, "judge_sd": 1, "people_sd": 1, "correlation": 0.5} | change
    with pytest.raises(ValueError, match=r"goal|n_cases|judge_sd|people_sd|correlation|level"):
        labels_needed(settings.pop("goal"), **settings)
