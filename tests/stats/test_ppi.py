"""A judge corrected by people. Oracles: ppi-python 0.2.3, `matrices.py`, simulation from truth.

Golden values: docs/golden.md.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit
from tests.lazy import lazy_module
from tests.lengths import length
from tests.stats.matrices import by_matrices

from vivavoce.stats import cluster_mean, estimate_mean, paired, prediction_powered, wilson
from vivavoce.stats.group_error import effective_groups

ppi_py = lazy_module("ppi_py")


def near(expected, decimals=5):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def made(seed, n=200, n_labelled=50, *, size=1, noise=0.5, step=0.3):
    """Judge's and people's values of n items in cases of `size`, of which the first are labelled."""
    rng = np.random.default_rng(seed)
    cases = np.arange(n) // size
    truth = rng.normal(size=cases.max() + 1)[cases] + rng.normal(0, 0.5, n)
    judged = truth + step + rng.normal(0, noise, n)
    return judged, truth[:n_labelled], cases


# oracles


@pytest.mark.parametrize(
    ("seed", "n", "n_labelled", "noise"),
    [(1, 200, 50, 0.3), (2, 90, 60, 1.0), (3, 500, 20, 5.0), (4, 40, 25, 0.0)],
)
def test_lambda_and_value_of_independent_cases_are_those_of_ppi_python(seed, n, n_labelled, noise):
    judged, labels, _ = made(seed, n, n_labelled, noise=noise)
    at = np.arange(n_labelled)
    r = prediction_powered(judged, labels, labelled=at)
    d, rest = judged[:n_labelled], judged[n_labelled:]
    (value,) = ppi_py.ppi_mean_pointestimate(labels, d, rest)
    # theta is a line in lambda, so its value at 0 and at 1 tell what lambda ppi-python took.
    (none,), (all_,) = (ppi_py.ppi_mean_pointestimate(labels, d, rest, lam=lam) for lam in (0, 1))
    assert pytest.approx(value, abs=1e-9) == r.value
    assert pytest.approx((value - none) / (all_ - none), abs=1e-8) == r.lambda_
    assert 0 < r.lambda_ < 1


def test_a_judge_that_turns_the_scale_round_is_left_aside_as_by_ppi_python():
    judged, labels, _ = made(5)
    r = prediction_powered(-judged, labels, labelled=np.arange(50))
    (value,) = ppi_py.ppi_mean_pointestimate(labels, -judged[:50], -judged[50:])
    assert (0.0, pytest.approx(value), r.labels_mean) == (r.lambda_, r.value, r.value)
    assert (r.labels_se, r.labels_df) == (r.se, r.df)


def test_a_judge_of_too_narrow_a_scale_is_trusted_no_more_than_wholly():
    judged, labels, _ = made(6, noise=0.1)
    r = prediction_powered(judged / 5, labels, labelled=np.arange(50))
    (value,) = ppi_py.ppi_mean_pointestimate(labels, judged[:50] / 5, judged[50:] / 5)
    assert (1.0, pytest.approx(value)) == (r.lambda_, r.value)


@pytest.fixture(scope="module")
def claude(hivmedqa, items):
    """Item means of Claude's comprehension by the judge without reference, and by that with it."""
    import csv
    from collections import defaultdict

    with_reference, without = items("Claude 3.5 Sonnet"), defaultdict(list)
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["model"], row["supervised"]) == ("Claude 3.5 Sonnet", "False"):
                without[row["question_id"]].append(float(row["comprehension"]))
    return np.array([np.mean(without[name]) for name in with_reference.names]), with_reference


def test_golden_arithmetic_of_a_weak_judge(claude):
    judged, people = claude
    third = np.array([k for k, name in enumerate(people.names) if name.startswith("c3")])
    labels = people.values[third]
    r = prediction_powered(judged, labels, labelled=third)
    assert (63, 21, 20) == (r.n, r.n_labelled, r.labels_df)
    assert (near(4.73968), near(3.97143), near(0.17904)) == (r.judge_mean, r.labels_mean, r.labels_se)
    assert (near(0.32399), near(3.96989)) == (r.lambda_, r.value)
    # Trusted wholly, as in 2023, the same judge gave 3.96825 with an SE of .17859.
    step = labels - judged[third]
    assert near(3.96825) == judged.mean() + step.mean()
    assert near(0.17859) == math.sqrt((labels.var(ddof=1) + 2 * step.var(ddof=1)) / 63)


def test_hand_worked_without_own_case():
    """d = 0 1 … 9 twice, D = d + 1, half labelled: C = 8.25 / 10, V = 8.25 (20 / 19) / 5, C / V = 19 / 40."""
    d = np.arange(10.0)
    r = prediction_powered(np.r_[d, d], d + 1, labelled=np.arange(10))
    assert (pytest.approx(19 / 40), pytest.approx(5.5), 4.5) == (r.lambda_, r.value, r.judge_mean)
    squares = (d - 4.5) ** 2
    without = np.clip(19 / 40 * (1 - squares / 82.5 * 10 / 9) * 10 / 9, 0, 1)
    # People and the judge differ by 1 throughout, so two thirds of a case stand for those that do not.
    unseen = 2 / 3 * ((d + 1) ** 2).mean() / 9 / 10
    of_labels = (squares * (1 - without) ** 2).sum() / 9 / 10 + unseen
    of_judge = r.lambda_**2 * squares.sum() / 9 / 10
    assert pytest.approx(math.sqrt(of_labels + of_judge)) == r.se
    df = (of_labels + of_judge) ** 2 / (of_labels**2 / 9 + of_judge**2 / 9)
    assert (pytest.approx(df), pytest.approx(5.5 + stdtrit(df, 0.975) * r.se)) == (r.df, r.high)


def test_its_error_by_uneven_cases_is_that_of_the_matrices():
    rng = np.random.default_rng(8)
    cases = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    n, at = len(cases), np.flatnonzero(cases < 25)
    w = rng.uniform(0.5, 3, n)
    labels = rng.normal(size=60)[cases][at] + rng.normal(0, 0.5, len(at))
    judged = rng.normal(size=n)
    judged[at] += labels
    r = prediction_powered(judged, labels, labelled=at, groups=cases, weights=w)
    alone = by_matrices(labels, cases[at], weights=w[at])
    assert pytest.approx(alone) == (r.labels_mean, r.labels_se, r.labels_df)
    rest = np.flatnonzero(cases >= 25)
    of_judge = by_matrices(judged[rest], cases[rest], weights=w[rest])
    of_labels = by_matrices(labels - r.lambda_ * judged[at], cases[at], weights=w[at])
    assert 0 < r.lambda_ < 1
    assert pytest.approx(r.lambda_ * of_judge.value + of_labels.value) == r.value
    # With one lambda for all cases the error would be this; taken without its own case it is larger.
    plain = math.hypot(r.lambda_ * of_judge.se, of_labels.se)
    assert plain < r.se < 1.2 * plain


def test_lambda_makes_the_estimated_variance_least_also_by_cases():
    """With labelled and unlabelled cases alike, the variance of either by itself is the pooled one."""
    rng = np.random.default_rng(9)
    sizes = np.tile(rng.integers(1, 6, 40), 2)
    cases = np.repeat(np.arange(80), sizes)
    half = int(sizes[:40].sum())
    d = rng.normal(size=40)[cases[:half]] + rng.normal(0, 0.3, half)
    labels = 0.5 * d + rng.normal(0, 0.3, half)
    w = np.tile(rng.uniform(1, 2, half), 2)
    r = prediction_powered(np.r_[d, d], labels, labelled=np.arange(half), groups=cases, weights=w)

    def variance(lam):
        of_labels = by_matrices(labels - lam * d, cases[:half], weights=w[:half]).se
        return (lam * by_matrices(d, cases[:half], weights=w[:half]).se) ** 2 + of_labels**2

    grid = np.linspace(0, 1, 101)
    assert pytest.approx(grid[np.argmin([variance(lam) for lam in grid])], abs=0.02) == r.lambda_


# what it says


def test_a_kind_judge_makes_no_difference():
    """The judge adds .5 to everything one candidate says; the corrected difference does not move."""
    judged, labels, _ = made(10)
    at = np.arange(50)
    plain, kind = (prediction_powered(judged + step, labels, labelled=at) for step in (0, 0.5))
    assert pytest.approx(plain.value) == kind.value
    assert (pytest.approx(plain.se), pytest.approx(plain.judge_mean + 0.5)) == (kind.se, kind.judge_mean)


def test_a_good_judge_narrows_and_a_bad_one_never_widens_by_more_than_5_percent():
    at = np.arange(20)
    widths = []
    for seed in range(200):
        judged, labels, _ = made(seed, 100, 20, noise=0.2)
        good = prediction_powered(judged, labels, labelled=at)
        assert good.high - good.low < 2 * stdtrit(19, 0.975) * good.labels_se
        r = prediction_powered(np.random.default_rng(seed).permutation(judged), labels, labelled=at)
        widths.append((r.high - r.low) / (2 * stdtrit(19, 0.975) * r.labels_se))
    assert max(widths) <= 1.05 + 1e-9
    assert np.mean(widths) < 1.01


@pytest.mark.parametrize("size", [1, 2])
def test_a_benchmark_labelled_whole_is_just_the_labels(size):
    judged, labels, cases = made(11, 60, 60, size=size)
    r = prediction_powered(judged, labels, labelled=np.arange(60), groups=cases)
    m = cluster_mean(labels, cases)
    assert (pytest.approx(m.value), pytest.approx(m.se), m.df, 0) == (r.value, r.se, r.df, r.lambda_)
    certain = prediction_powered(judged, labels, labelled=np.arange(60), groups=cases,
                                 probabilities=np.ones(60))  # fmt: skip
    assert r == certain


def test_the_labels_alone_are_the_paired_test_of_the_labels():
    """Where few cases differ its value is what `paired` says, which gives p by sign flips then."""
    judged, _, cases = made(12, 100, 20, size=2)
    labels = np.r_[np.zeros(16), 1, 1, -1, 0]
    r = prediction_powered(judged, labels, labelled=np.arange(20), groups=cases)
    pair = paired(labels, cases[:20])
    assert (r.few_differ, "sign-flip") == (True, pair.test)
    assert (pair.difference, pair.se, pair.df) == (r.value, r.se, r.df)
    assert (pair.effective_different, None, None, None) == (r.effective_different, r.low, r.high, r.p)
    assert "fewer than 10 effective labelled cases differ" in r.reason


def test_without_a_judge_ten_labelled_cases_that_differ_are_enough_and_nine_are_not():
    rng = np.random.default_rng(13)
    judged = np.ones(60)
    for differing, few in ((9, True), (10, False)):
        labels = np.r_[rng.normal(size=differing), np.zeros(20 - differing)]
        assert few is prediction_powered(judged, labels, labelled=np.arange(20)).few_differ


def rarely_different(n_different, n_labelled=25, n=60, *, wrong=2):
    """Differences of two yes/no answers, of which people saw some differ; the judge is wrong on the last."""
    truth = np.zeros(n)
    truth[:n_different] = np.r_[-1, np.ones(n_different - 1)]
    truth[n_labelled : n_labelled + 15] = 1
    judged = truth.copy()
    judged[n_labelled - wrong : n_labelled] = -1
    return judged, truth[:n_labelled]


def test_beside_a_judge_six_of_twenty_labelled_cases_that_differ_are_enough():
    for n_different, n_labelled, expected in ((5, 25, True), (6, 25, False), (6, 20, False), (9, 19, True)):
        judged, labels = rarely_different(n_different, n_labelled)
        r = prediction_powered(judged, labels, labelled=np.arange(n_labelled))
        assert (expected, expected, expected) == (r.few_differ, r.p is None, r.lambda_ == 0), (
            n_different,
            n_labelled,
        )
        assert expected or (r.low <= 0 <= r.high) == (r.p > 0.05)


def test_hand_worked_where_few_labelled_differ_and_the_judge_errs_in_two():
    """7 of 25 differ, one against; d is D but for two judged -1. Two of 25 is few: 2/3 of a case more."""
    judged, labels = rarely_different(7)
    r = prediction_powered(judged, labels, labelled=np.arange(25))
    d, people = judged[:25], labels - labels.mean()
    products = people * (d - d.mean())
    v = judged.var(ddof=1) * (1 / 25 + 1 / 35)
    lam = products.sum() / 25**2 / v
    assert near(0.47369) == lam == pytest.approx(r.lambda_)
    value = 0.2 + lam * (15 / 35 - 3 / 25)
    assert near(0.34617) == value == pytest.approx(r.value)
    jackknife = (products.sum() - products * 25 / 24) * 25 / 24 / 25**2 / v
    of_labels = (((people - jackknife * (d - d.mean())) ** 2).sum() + 2 / 3) / 25 / 24
    se = math.sqrt(of_labels + lam**2 * judged[25:].var(ddof=1) / 35)
    assert near(0.07960) == se == pytest.approx(r.se)
    assert 0 < r.low < r.value < r.high


def test_a_judge_that_is_right_on_all_labels_is_not_taken_to_be_right_on_all_else():
    """Labels and judge agree; the error has 2/3 of a case for what nobody saw. A shift is no disagreement."""
    n = 20
    judged, labels = rarely_different(10, n, 3_000, wrong=0)
    judged[n:] = np.resize([1, 0, -1, 0], 2_980)
    r = prediction_powered(judged, labels, labelled=np.arange(n))
    unseen = math.sqrt(2 / 3 / n / (n - 1))
    assert unseen < r.se < math.hypot(unseen, r.labels_se)
    shifted = prediction_powered(judged + 0.5, labels, labelled=np.arange(n))
    assert pytest.approx((r.value, r.se)) == (shifted.value, shifted.se)
    # Where ten disagree the error is what was seen.
    judged[:10] = 0
    judged[10:n] = labels[10:n] + 0.5
    large = prediction_powered(judged, labels, labelled=np.arange(n))
    assert large.lambda_ == 0 or large.se < math.hypot(unseen, large.labels_se)


def test_few_labelled_cases_say_the_same_in_any_order_unit_and_orientation():
    judged, labels = rarely_different(8)
    r = prediction_powered(judged, labels, labelled=np.arange(25))
    order = np.random.default_rng(3).permutation(60)
    place = np.argsort(order)[:25]
    permuted = prediction_powered(judged[order], labels, labelled=place, groups=[f"c{k}" for k in order])
    scaled = prediction_powered(-7 * judged, -7 * labels, labelled=np.arange(25))
    assert pytest.approx((r.value, r.se, r.p)) == (permuted.value, permuted.se, permuted.p)
    assert pytest.approx((-7 * r.value, 7 * r.se, r.p)) == (scaled.value, scaled.se, scaled.p)


@pytest.mark.parametrize(("better", "low", "high"), [(0.0, 0, 5), (0.3, 74, 100)])
def test_sixty_items_of_which_people_labelled_25(better, low, high):
    """Shares of .5 and .5 + better, a judge kinder to the other one; false verdicts, and those that hold."""
    rng, draws, hits = np.random.default_rng(40), 600, 0
    for _ in range(draws):
        item = rng.normal(0, math.sqrt(0.4), 60)
        answers = item + rng.normal(0, math.sqrt(0.6), (2, 60))
        judge = 0.9 * answers + math.sqrt(0.19) * rng.normal(size=(2, 60)) + [[0], [0.3]]
        limits = np.array([[-0.8416 if better else 0.0], [0.0]])
        truth, judged = (1.0 * (x > limits)[0] - (x > limits)[1] for x in (answers, judge))
        r = prediction_powered(judged, truth[:25], labelled=np.arange(25))
        pair = paired(truth[:25], np.arange(25))
        enough = pair.n_different >= 6
        hits += enough and (pair.p if r.p is None else r.p) <= 0.05 and (not better or r.value > 0)
    error = 100 * math.sqrt(0.05 * 0.95 / draws)
    assert low <= 100 * hits / draws <= high + 2 * error


def test_p_and_interval_agree():
    judged, labels, _ = made(14)
    for shift in np.linspace(-0.6, 0.6, 25):
        r = prediction_powered(judged, labels + shift, labelled=np.arange(50))
        assert (r.low <= 0 <= r.high) == (r.p > 0.05)
    assert pytest.approx(2 * stdtr(r.df, -abs(r.value) / r.se)) == r.p


def test_one_labelled_case_has_no_error():
    r = prediction_powered([1, 2, 3], [2], labelled=[0])
    assert (2.0, None, None, None, None, True) == (r.value, r.low, r.high, r.se, r.p, r.few_differ)
    assert "one group only: no interval" == r.reason
    bounded = prediction_powered([1, 2, 3], [2, 3], labelled=[0, 1], groups=[0, 0, 1], low=0, high=5)
    assert (None, "one group only: no interval") == (bounded.high, bounded.reason)


def test_labels_that_are_all_equal_have_no_interval_without_limits():
    judged, _, _ = made(15)
    r = prediction_powered(judged, np.full(50, 0.3), labelled=np.arange(50))
    assert (pytest.approx(0.3), 0.0, None, 0) == (r.value, r.se, r.low, r.lambda_)
    assert (True, "no interval: all values are equal, and nothing limits what the next may be") == (
        r.few_differ,
        r.reason,
    )


def test_a_judge_that_says_the_same_of_all_is_left_aside():
    _, labels, _ = made(16)
    r = prediction_powered(np.ones(200), labels, labelled=np.arange(50))
    assert (0.0, r.labels_mean, r.labels_se) == (r.lambda_, r.value, r.se)


def test_a_judge_that_is_right_on_every_label_and_says_one_thing_elsewhere_is_not_certain():
    """lambda would be 1 and nothing left to vary; the labels alone keep their error."""
    labels = np.random.default_rng(27).normal(size=20)
    r = prediction_powered(np.r_[labels, np.full(400, labels.mean())], labels, labelled=np.arange(20))
    assert (0.0, r.labels_se, r.labels_mean) == (r.lambda_, r.se, r.value)
    assert r.low < r.value < r.high


def test_one_unlabelled_case_tells_nothing_of_the_next():
    judged, labels, _ = made(17, 51, 50)
    assert 0 == prediction_powered(judged, labels, labelled=np.arange(50)).lambda_


# scales with two limits


def test_no_end_and_no_value_lies_outside_the_scale():
    rng = np.random.default_rng(18)
    for _ in range(300):
        truth = (rng.random(150) < rng.choice([0.02, 0.3, 0.9])).astype(float)
        judged = np.clip(truth + rng.normal(0.3, 0.2, 150), 0, 1)
        n = int(rng.integers(2, 100))
        r = prediction_powered(judged, truth[:n], labelled=np.arange(n), low=0, high=1)
        assert 0 <= r.low <= r.value <= r.high <= 1
        assert r.low < r.high


def test_fewer_than_ten_labels_of_the_rarer_kind_give_wilson_of_the_labels():
    rng = np.random.default_rng(19)
    judged = rng.random(400)
    labels = np.r_[np.ones(2), np.zeros(18)]
    r = prediction_powered(judged, labels, labelled=np.arange(20), low=0, high=1)
    alone = estimate_mean(labels, np.arange(20), low=0, high=1)
    assert (0.1, alone.low, alone.high, 0) == (r.value, r.low, r.high, r.lambda_)
    assert r.few_differ
    # Without limits no interval by t stands on two labels.
    assert prediction_powered(judged, labels, labelled=np.arange(20)).low is None


def test_with_enough_of_both_kinds_the_interval_is_wilsons_of_both_together():
    rng = np.random.default_rng(20)
    truth = (rng.random(300) < 0.3).astype(float)
    judged = np.where(rng.random(300) < 0.9, truth, 1 - truth)
    r = prediction_powered(judged, truth[:100], labelled=np.arange(100), low=0, high=1)
    ends = wilson(r.value, r.se, r.df, low=0, high=1)
    assert (ends.low, ends.high) == (r.low, r.high)
    assert r.lambda_ > 0.3
    alone = estimate_mean(truth[:100], np.arange(100), low=0, high=1)
    assert r.high - r.low < 0.9 * (alone.high - alone.low)


def test_one_limit_or_a_label_outside_is_refused():
    with pytest.raises(ValueError, match="give both limits or none"):
        prediction_powered([1, 2], [1], labelled=[0], low=0)
    with pytest.raises(ValueError, match=r"labels holds 2\.0 at position 1, outside the limits 0 to 1"):
        prediction_powered([1, 1], [1, 2], labelled=[0, 1], low=0, high=1)


# unequal probabilities


def test_equal_probabilities_of_any_height_change_nothing():
    judged, labels, cases = made(21, size=2)
    at = np.arange(50)
    plain = prediction_powered(judged, labels, labelled=at, groups=cases)
    for p in (0.01, 0.25, 1.0):
        assert plain == prediction_powered(
            judged, labels, labelled=at, groups=cases, probabilities=np.full(50, p)
        )


def test_the_form_for_unequal_probabilities_has_the_same_value_where_they_are_equal():
    """lA mean_A(d) + mean_L(D - lA d) with lA = lambda (1 + |L| / |U|) is lambda mean_U(d) + …"""
    judged, labels, _ = made(22)
    at = np.arange(50)
    equal = prediction_powered(judged, labels, labelled=at)
    factor = equal.lambda_ * (1 + 50 / 150)
    assert pytest.approx(factor * judged.mean() + (labels - factor * judged[:50]).mean()) == equal.value
    # A hair's breadth of inequality takes the other way; its lambda is another estimate of the same.
    p = np.full(50, 0.25) + np.where(at % 2, 1e-6, -1e-6)
    r = prediction_powered(judged, labels, labelled=at, probabilities=p)
    assert pytest.approx(equal.lambda_, rel=0.1) == r.lambda_
    factor = r.lambda_ * (1 + 50 / 150)
    assert pytest.approx(factor * judged.mean() + (labels - factor * judged[:50]).mean(), abs=1e-5) == r.value
    assert (pytest.approx(equal.se, rel=0.05), near(equal.labels_mean)) == (r.se, r.labels_mean)


def drawn(rng, n=200, wanted=60):
    """People's values, a kind judge's, and cases drawn where that is large, with their probabilities."""
    truth = rng.normal(size=n)
    judged = truth + 0.3 + rng.normal(0, 0.3, n)
    size = 1 + np.abs(judged)
    p = np.minimum(1, wanted * size * np.where(judged > 0, 1.3, 0.7) / size.sum())
    at = np.flatnonzero(rng.random(n) < p)
    return truth, judged, at, p[at]


def test_labels_drawn_where_they_tell_most_are_weighed_back():
    """Without the probabilities the mean of such labels is far off; with them it is right, and its error."""
    rng, draws = np.random.default_rng(23), length(300, 1_000)
    found = []
    for _ in range(draws):
        truth, judged, at, p = drawn(rng)
        r = prediction_powered(judged, truth[at], labelled=at, probabilities=p)
        found.append((r.value, r.se, truth[at].mean(), r.low <= 0 <= r.high, r.labels_mean, r.lambda_))
    value, se, naive, covered, labels, lam = np.array(found).T
    assert abs(value.mean()) < 3 * value.std() / math.sqrt(draws) < naive.mean() / 5
    assert pytest.approx(value.std(), rel=0.1) == se.mean()
    assert 0.93 < covered.mean() < 0.98
    assert value.std() < 0.7 * labels.std()
    assert 0 < lam.mean() < 1


def test_a_case_that_was_certain_to_be_drawn_stands_for_itself():
    rng = np.random.default_rng(24)
    truth, judged, at, p = drawn(rng)
    p[:5] = 1.0
    r = prediction_powered(judged, truth[at], labelled=at, probabilities=p)
    assert r.high - r.low > 0
    assert pytest.approx(np.average(truth[at], weights=1 / p)) == r.labels_mean
    assert pytest.approx(effective_groups(at, weights=1 / p)) == r.effective_labelled < r.n_groups_labelled


# invariances and misfits


def test_weights_on_any_scale_and_values_on_any_scale():
    judged, labels, cases = made(25, size=2)
    at, w = np.arange(50), np.random.default_rng(25).uniform(1, 3, 200)
    plain = prediction_powered(judged, labels, labelled=at, groups=cases, weights=w)
    heavy = prediction_powered(judged, labels, labelled=at, groups=cases, weights=1000 * w)
    assert pytest.approx((plain.value, plain.se, plain.df, plain.lambda_)) == (
        *(heavy.value, heavy.se, heavy.df),
        heavy.lambda_,
    )
    large = prediction_powered(100 * judged, 100 * labels, labelled=at, groups=cases, weights=w)
    assert pytest.approx((100 * plain.value, 100 * plain.se, plain.lambda_)) == (
        *(large.value, large.se),
        large.lambda_,
    )


def test_copies_of_a_case_do_not_add_up():
    judged, labels, _ = made(26)
    at = np.arange(50)
    single = prediction_powered(judged, labels, labelled=at, groups=np.arange(200))
    twice = prediction_powered(
        np.r_[judged, judged], np.r_[labels, labels], labelled=np.r_[at, 200 + at],
        groups=np.r_[np.arange(200), np.arange(200)],
    )  # fmt: skip
    assert pytest.approx((single.value, single.se, single.df, single.lambda_)) == (
        *(twice.value, twice.se, twice.df),
        twice.lambda_,
    )


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=40), st.integers(1, 30))
def test_order_does_not_matter(data, n):
    j, h = map(np.array, zip(*data, strict=True))
    at = np.arange(len(j))[:n]
    a = prediction_powered(j, h[at], labelled=at)
    b = prediction_powered(j[::-1], h[at], labelled=len(j) - 1 - at)
    assert pytest.approx(a.value, abs=1e-9) == b.value
    assert (a.se is None) == (len(at) < 2)
    assert a.se is None or pytest.approx(a.se, abs=1e-9) == b.se


def test_misfits_are_refused_with_their_position():
    with pytest.raises(ValueError, match="judged holds nan at position 1"):
        prediction_powered([1, math.nan], [1], labelled=[0])
    with pytest.raises(ValueError, match="labels is empty"):
        prediction_powered([1, 2], [], labelled=[])
    with pytest.raises(ValueError, match="labelled holds 2 at position 1, outside 0 to 1"):
        prediction_powered([1, 2], [1, 1], labelled=[0, 2])
    with pytest.raises(ValueError, match="names an item twice"):
        prediction_powered([1, 2], [1, 1], labelled=[0, 0])
    with pytest.raises(ValueError, match="must hold 2 positions"):
        prediction_powered([1, 2], [1, 1], labelled=[True, False])
    with pytest.raises(ValueError, match="labelled holds 2 at position 1, an item of a case that is not"):
        prediction_powered([1, 2, 3, 4], [1, 1], labelled=[0, 2], groups=[0, 1, 2, 2])
    with pytest.raises(ValueError, match=r"probabilities holds 0\.0 at position 1: one must be above 0"):
        prediction_powered([1, 2, 3], [1, 1], labelled=[0, 1], probabilities=[0.5, 0])
    with pytest.raises(ValueError, match="probabilities differ inside a case, at position"):
        prediction_powered([1, 2, 3], [1, 1], labelled=[0, 1], groups=[0, 0, 1], probabilities=[0.5, 0.4])


def test_a_million_items_are_no_matter():
    rng = np.random.default_rng(7)
    truth = rng.normal(size=10**6)
    r = prediction_powered(
        truth + rng.normal(1, 0.1, 10**6),
        truth[:50_000],
        labelled=np.arange(50_000),
        groups=np.arange(10**6) // 2,
    )
    # lambda is 1 / 1.01 * 95 / 100, so much of the truth's own spread stays in the part that is labelled.
    assert pytest.approx(math.sqrt(1e-6 + 0.01 / 50_000), rel=0.05) == r.se
