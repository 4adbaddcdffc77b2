"""Calibration error and Brier's score in parts.

Golden: `uncertainty-calibration` 0.1.4 (get_discrete_bins, bin, unbiased_l2_ce, unbiased_square_ce), MAPIE
1.6.0 (expected_calibration_error) and scikit-learn 1.9.1 (brier_score_loss) on STATED.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.stats import calibration, estimate_mean

VALUES, COUNTS, RIGHT = (0.5, 0.7, 0.8, 0.9, 1.0), (12, 18, 25, 30, 15), (7, 11, 15, 24, 14)


def answered(counts=COUNTS, right=RIGHT, values=VALUES):
    """Confidences, so many of each, with so many right."""
    c = np.repeat(values, counts)
    return c, np.concatenate([np.r_[np.ones(k), np.zeros(n - k)] for n, k in zip(counts, right, strict=True)])


STATED = answered()


def ends(figure):
    return figure.low, figure.high


def test_golden_values_of_three_other_libraries():
    figures = calibration(*STATED, np.arange(100))
    assert 0.07702290646922026 == pytest.approx(figures.ece_debiased.value, abs=1e-12)
    assert 0.005932528120966252 == pytest.approx(figures.reliability.value, abs=1e-12)
    assert 0.116 == pytest.approx(figures.ece.value, abs=1e-12)
    assert 0.2052 == pytest.approx(figures.brier.value, abs=1e-12)


def test_brier_is_split_as_by_ferro_and_fricker():
    """Per confidence k right of n: v = p (1 - p) / (n - 1) comes off both parts, all told into the rate."""
    n, k = np.array(COUNTS), np.array(RIGHT)
    p, rate = k / n, 0.71
    v = p * (1 - p) / (n - 1)
    of_rate = rate * (1 - rate) / 99
    figures = calibration(*STATED, np.arange(100))
    assert figures.reliability.value == pytest.approx(n @ ((np.array(VALUES) - p) ** 2 - v) / 100)
    assert figures.resolution.value == pytest.approx(n @ ((p - rate) ** 2 - v) / 100 + of_rate)
    assert figures.uncertainty.value == pytest.approx(rate * (1 - rate) + of_rate)
    assert 0 == pytest.approx(figures.within_bins, abs=1e-12)
    assert figures.skill.value == pytest.approx(1 - 0.2052 / figures.uncertainty.value)


def test_hand_worked_with_two_bins():
    """20 answers at .6, 9 right, and 20 at .9, all right: gaps .15 and -.1, v = .45 * .55 / 19 and 0."""
    figures = calibration(*answered((20, 20), (9, 20), (0.6, 0.9)), np.arange(40))
    squared = (0.15**2 + 0.1**2) / 2 - 0.45 * 0.55 / 19 / 2
    assert squared == pytest.approx(figures.reliability.value)
    assert math.sqrt(squared) == pytest.approx(figures.ece_debiased.value)
    assert 0.125 == pytest.approx(figures.ece.value)
    assert 0.75 - 29 / 40 == pytest.approx(figures.overconfidence.value)
    assert [(0.6, 0.45, 20), (0.9, 1.0, 20)] == [
        (pytest.approx(b.confidence), pytest.approx(b.correct), b.n) for b in figures.bins
    ]


def test_bins_never_split_a_tie_and_hold_about_equal_mass():
    rng = np.random.default_rng(1)
    c = np.r_[np.full(70, 0.9), rng.random(30).round(2)]
    figures = calibration(c, rng.random(100) < c, np.arange(100))
    of_tie = [b for b in figures.bins if b.least <= 0.9 <= b.most]
    assert 1 == len(of_tie)
    even = calibration(np.arange(100) / 100, rng.random(100) < 0.5, np.arange(100))
    assert [10] * 10 == [b.n for b in even.bins]
    assert all(a.most < b.least for a, b in zip(even.bins[:-1], even.bins[1:], strict=True))


@pytest.mark.parametrize(("n", "n_bins"), [(12, 1), (20, 2), (55, 5), (100, 10), (400, 10)])
def test_there_is_a_bin_for_ten_cases_and_ten_at_most(n, n_bins):
    c = np.linspace(0.1, 0.9, n)
    assert n_bins == len(calibration(c, np.arange(n) % 2, np.arange(n)).bins)


def test_bins_count_cases_and_not_answers():
    """200 answers in 20 cases: two bins, as 20 answers of as many cases would have."""
    c = np.linspace(0.1, 0.9, 200)
    assert 2 == len(calibration(c, np.arange(200) % 2, np.arange(200) % 20).bins)


def test_a_bin_of_few_cases_joins_its_neighbour():
    c = np.r_[np.full(97, 0.9), 0.2, 0.3, 1.0]
    assert [(0.2, 1.0)] == [(b.least, b.most) for b in calibration(c, c > 0.5, np.arange(100)).bins]


def test_all_right_or_all_wrong_has_no_skill_and_no_interval_without_width():
    for right, confidence in ((1, 1.0), (1, 0.9), (0, 0.9), (0, 0.0)):
        figures = calibration(np.full(60, confidence), np.full(60, right), np.arange(60))
        assert (None, "all answers are right, or all are wrong: there is nothing to gain on") == (
            figures.skill.value,
            figures.skill.reason,
        )
        assert abs(confidence - right) == pytest.approx(figures.ece_debiased.value)
        for one in (figures.ece_debiased, figures.reliability, figures.brier, figures.overconfidence):
            low, high = ends(one)
            assert low <= one.value <= high
            assert high - low > 1e-4


def test_the_skill_of_one_case_has_no_interval_and_says_so():
    figure = calibration([0.2, 0.9, 0.6], [0, 1, 0], [7, 7, 7]).skill
    assert (None, None, "one group only: no interval") == (*ends(figure), figure.reason)
    assert figure.value == pytest.approx(1 - (0.04 + 0.01 + 0.36) / 3 / (2 / 9))


def test_equal_confidences_resolve_nothing():
    figures = calibration(np.full(50, 0.8), np.arange(50) % 2, np.arange(50))
    assert figures.resolution.value is None
    assert "one bin only" in figures.resolution.reason
    assert figures.uncertainty.value - figures.brier.value + figures.reliability.value == pytest.approx(
        -figures.within_bins
    )


def test_noise_alone_has_an_interval_from_zero():
    """A model without any error of calibration: the plain figure is far from 0, the interval begins there."""
    rng = np.random.default_rng(5)
    c = rng.random(200)
    figures = calibration(c, rng.random(200) < c, np.arange(200))
    assert figures.ece.value > 0.05
    assert 0 == figures.ece_debiased.low
    assert 0 < figures.ece_debiased.high < 0.2


def test_the_plain_error_has_a_reason_in_place_of_an_interval():
    figure = calibration(*STATED, np.arange(100)).ece
    assert (None, None) == ends(figure)
    assert "too large on average" in figure.reason


def test_one_case_has_values_and_no_intervals():
    figures = calibration(*STATED, ["same"] * 100)
    assert 0.2052 == pytest.approx(figures.brier.value)
    for one in (figures.ece_debiased, figures.brier, figures.reliability, figures.overconfidence):
        assert (None, None, "one group only: no interval") == (*ends(one), one.reason)


def test_overconfidence_is_the_mean_gap_with_its_interval():
    c, y = STATED
    mean = estimate_mean(c - y, np.arange(100), low=-1, high=1)
    assert (mean.value, mean.low, mean.high, None) == calibration(c, y, np.arange(100)).overconfidence


def test_questions_of_one_case_are_noisier_than_as_many_cases():
    """100 cases, each asked three times with the same result: the errors are those of 100, not of 300."""
    c, y = STATED
    once = calibration(c, y, np.arange(100))
    thrice = calibration(np.tile(c, 3), np.tile(y, 3), np.tile(np.arange(100), 3))
    for name in (
        "ece_debiased",
        "brier",
        "reliability",
        "resolution",
        "uncertainty",
        "skill",
        "overconfidence",
    ):
        assert getattr(once, name)[:3] == pytest.approx(getattr(thrice, name)[:3])


def test_neither_order_nor_names_nor_the_unit_of_weights_matter():
    rng = np.random.default_rng(2)
    c, groups, w = rng.random(90).round(1), rng.integers(0, 40, 90), rng.uniform(1, 3, 90)
    y = (rng.random(90) < c).astype(float)
    order = rng.permutation(90)
    first = calibration(c, y, groups, weights=w)
    again = calibration(c[order], y[order], [f"case {g}" for g in groups[order]], weights=7 * w[order])
    for name in ("ece", "ece_debiased", "brier", "resolution", "uncertainty", "skill"):
        assert getattr(first, name).value == pytest.approx(getattr(again, name).value)
        assert getattr(first, name).high == pytest.approx(getattr(again, name).high)


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0.1, 0.5, 0.9, 1]), st.booleans(), st.integers(0, 30)),
        min_size=1,
        max_size=60,
    )
)
def test_every_figure_is_finite_and_inside_its_interval(rows):
    c, y, groups = map(list, zip(*rows, strict=True))
    figures = calibration(c, y, groups)
    for name in (
        "overconfidence",
        "ece_debiased",
        "brier",
        "reliability",
        "resolution",
        "uncertainty",
        "skill",
    ):
        one = getattr(figures, name)
        assert (one.value is None or one.low is None) == (one.reason is not None)
        if one.low is not None:
            assert one.low - 1e-9 <= one.value <= one.high + 1e-9
            assert one.high > one.low
    assert 1 == pytest.approx(sum(b.share for b in figures.bins))
    split = figures.brier.value - figures.uncertainty.value - figures.reliability.value
    assert split + (figures.resolution.value or 0) == pytest.approx(figures.within_bins)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], [], []), "values is empty"),
        (([0.5, 1.2], [1, 0], [1, 2]), "1.2 at position 1, outside the limits"),
        (([0.5, 0.7], [1, 0.5], [1, 2]), "correct holds 0.5 at position 1: an answer is right"),
        (([0.5, float("nan")], [1, 0], [1, 2]), "nan at position 1"),
        (([0.5, 0.7], [1], [1, 2]), "correct has 1 entries, 2 are needed"),
        (([0.5, 0.7], [1, 0], [1]), "groups has the shape"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        calibration(*arguments)
