"""Category tests: a hand-worked case, statsmodels, the null distribution, and what cannot be told."""

import numpy as np
import pytest
from scipy.special import fdtrc
from scipy.stats import ttest_ind
from tests.lazy import lazy_module
from tests.lengths import length

from vivavoce.stats import Wald, category_test, paired, precise_category_test, profile_test

anova = lazy_module("statsmodels.stats.oneway")


def test_two_categories_worked_by_hand() -> None:
    """Means 2 and 5; variances of the means (1 + 1) / 9 * 3/2 and (4 + 4) / 9 * 3/2: 9 over their sum.

    tr(AV) = 3/2 (1/3 + 4/3) = 5/2, its variance 2 ((1/2)^2 + 2^2) / 4 = 17/8: df2 2 (25/4) (8/17) - 2.
    """
    found = category_test([1, 2, 3, 3, 5, 7], ["a", "a", "a", "b", "b", "b"], range(6))
    t_squared = 3**2 / (1 / 3 + 4 / 3)
    assert pytest.approx(t_squared) == found.f
    assert (2, 6) == (found.n_categories, found.n_groups)
    assert pytest.approx((1, 100 / 17 - 2)) == (found.df1, found.df2)
    assert pytest.approx(float(fdtrc(1, 100 / 17 - 2, t_squared))) == found.p


def test_two_categories_of_twins_are_the_paired_test() -> None:
    """Each group has one item in either category: F is t squared of the differences, p the same."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=(2, 25)) + rng.normal(size=25)
    found = category_test(y.ravel(), np.repeat(["a", "b"], 25), np.tile(np.arange(25), 2))
    pair = paired(y[0] - y[1], np.arange(25))
    assert pair.se is not None
    assert pytest.approx((pair.difference / pair.se) ** 2) == found.f
    assert pytest.approx(pair.p) == found.p


@pytest.mark.parametrize("sizes", [(12, 15, 20), (30, 30), (10, 40, 12, 25, 60)])
def test_separate_groups_are_the_test_of_brown_and_forsythe(sizes: tuple[int, ...]) -> None:
    """statsmodels' F with Mehrotra's degrees of freedom; ours lack the noise of V."""
    rng = np.random.default_rng(8)
    kind = np.repeat(np.arange(len(sizes)), np.array(sizes) * 20)
    y = rng.normal(size=len(kind)) * (1 + kind) + 0.1 * kind
    sample = rng.choice(len(kind), len(kind) // 20, replace=False)
    sample = np.r_[
        sample, np.flatnonzero(np.diff(kind, append=-1)), np.flatnonzero(np.diff(kind, prepend=-1))
    ]
    for at in (np.unique(sample), np.arange(len(kind))):
        expected = anova.anova_oneway(y[at], kind[at], use_var="bf", welch_correction=False)
        assert pytest.approx(expected.statistic) == category_test(y[at], kind[at], at).f
    ours = category_test(y, kind, range(len(y)))
    assert pytest.approx(expected.df, rel=0.02) == (ours.df1, ours.df2)
    assert pytest.approx(expected.pvalue, rel=0.02, abs=1e-4) == ours.p


def test_of_twins_in_all_categories_the_precise_test_is_hotellings() -> None:
    """T squared of the differences to the last category, on q and n - q degrees of freedom."""
    rng = np.random.default_rng(6)
    y = rng.normal(size=(3, 20)) + rng.normal(size=20) + [[0.0], [0.4], [0.9]]
    result = precise_category_test(y.ravel(), np.repeat([0, 1, 2], 20), np.tile(np.arange(20), 3))
    d = y[:2] - y[2]
    t_squared = 20 * d.mean(axis=1) @ np.linalg.inv(np.cov(d)) @ d.mean(axis=1)
    assert pytest.approx((2, 18, 18 / (19 * 2) * t_squared)) == (result.df1, result.df2, result.f)


def test_of_two_separate_categories_the_precise_test_is_welchs() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=12), 0.5 + 2 * rng.normal(size=30)
    result = precise_category_test(np.r_[a, b], np.repeat([0, 1], [12, 30]), range(42))
    welch = ttest_ind(a, b, equal_var=False)
    assert pytest.approx((welch.statistic**2, welch.df, welch.pvalue)) == (result.f, result.df2, result.p)


def test_a_profile_has_twice_the_smaller_p_and_of_two_categories_that_of_one_test() -> None:
    """A small category whose values hardly vary stands out: by items it is lost among the others."""
    rng = np.random.default_rng(9)
    sizes = (12, 40, 40)
    y = np.concatenate([rng.normal(0.6, 0.1, 12), rng.normal(0, 1.0, 40), rng.normal(0, 1.0, 40)])
    kind = np.repeat(np.arange(3), sizes)
    plain, precise = (test(y, kind, range(92)) for test in (category_test, precise_category_test))
    result = profile_test(y, kind, range(92))
    assert precise.p < 0.001 < 0.01 < plain.p
    assert precise._replace(p=2 * precise.p) == result
    last = kind > 0
    assert category_test(y[last], kind[last], range(80)) == profile_test(y[last], kind[last], range(80))


def test_a_category_without_spread_is_tested_by_items_alone() -> None:
    y, kind = [1.0] * 6 + [0.0, 1.0, 1.0] * 6, np.repeat([0, 1, 2], [6, 9, 9])
    assert precise_category_test(y, kind, range(24)).p is None
    assert category_test(y, kind, range(24)) == profile_test(y, kind, range(24))


def test_few_cases_in_many_categories_reject_a_true_null_as_often_as_they_say() -> None:
    """21 categories of 12 yes/no scores of unlike shares: all of V inverted rejected 15 % and more."""
    kind = np.repeat(np.arange(21), 12)
    rng = np.random.default_rng(21)
    shares = np.linspace(0.4, 0.95, 21)[kind]
    draws = length(200, 2000)
    p = [
        category_test(rng.binomial(1, shares) - rng.binomial(1, shares), kind, range(252)).p
        for _ in range(draws)
    ]
    assert np.mean([value <= 0.05 for value in p]) <= length(0.09, 0.06)


LAYOUTS = {
    "two categories of 20": (np.repeat([0, 1], 20), np.arange(40)),
    "four categories of 10": (np.repeat([0, 1, 2, 3], 10), np.arange(40)),
    "twins in two categories": (np.repeat([0, 1], 40), np.tile(np.arange(40), 2)),
    # 10, 10 and 20 questions, and a twin of each of the 20 in a category of their own
    "as HIVMedQA": (np.repeat([0, 1, 2, 3], [10, 10, 20, 20]), np.r_[np.arange(40), np.arange(20, 40)]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_it_rejects_a_true_null_about_as_often_as_it_says(name: str) -> None:
    """Between 3 and 8 % of the draws at 40 groups; Monte-Carlo error of 2,000 half a point, of 600 .9."""
    kind, group = LAYOUTS[name]
    rng = np.random.default_rng(20)
    draws = length(600, 2000)
    y = rng.normal(size=(draws, len(kind))) + rng.normal(size=(draws, 40))[:, group]
    rejected = np.mean([category_test(row, kind, group).p <= 0.05 for row in y])  # type: ignore[operator]
    assert 0.03 <= rejected <= 0.08


def test_a_difference_between_categories_is_found() -> None:
    rng = np.random.default_rng(5)
    kind = np.repeat([0, 1, 2, 3], 10)
    found = category_test(rng.normal(size=40) + 2 * (kind == 2), kind, np.arange(40))
    assert found.p is not None
    assert found.p < 0.001


def test_names_order_shift_and_scale_do_not_matter() -> None:
    rng = np.random.default_rng(6)
    y, kind, group = rng.normal(size=45), np.repeat([0, 1, 2], 15), np.tile(np.arange(15), 3)
    first = category_test(y, kind, group)
    order = rng.permutation(45)
    again = category_test(
        (3 - 2 * y)[order], np.array(["c", "a", "b"])[kind][order], np.array([f"g{g}" for g in group])[order]
    )
    assert pytest.approx((first.f, first.p)) == (again.f, again.p)


def test_values_that_are_all_equal_differ_nowhere() -> None:
    assert Wald(0.0, 1.0, 1, 3, 2, 4) == category_test([0.3] * 4, [0, 0, 1, 1], range(4))
    rounding = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2]
    assert Wald(0.0, 1.0, 1, 3, 2, 4) == category_test(rounding, [0, 0, 1, 1], range(4))


def test_ties_inside_categories_leave_their_means_apart() -> None:
    found = category_test([1, 1, 2, 1, 1, 2], [0, 0, 0, 1, 1, 1], range(6))
    assert (0.0, 1.0) == (pytest.approx(found.f), pytest.approx(found.p))


@pytest.mark.parametrize(
    ("values", "categories", "groups", "what"),
    [
        ([1, 2, 3], [0, 0, 0], [1, 2, 3], "one category"),
        ([1.0, 2, 3, 9], [0, 0, 0, 1], [1, 2, 3, 4], "a category of one group"),
        ([1.0, 2, 3, 9, 8], [0, 0, 0, 1, 1], [1, 2, 3, 4, 4], "a category of two items of one group"),
        ([1.0, 2, 3, 5], [0, 0, 1, 1], [1, 2, 1, 2], "two groups for one contrast"),
        ([1, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1], range(6), "no spread in either category"),
    ],
)
def test_what_cannot_be_told_is_null(
    values: list[float], categories: list[int], groups: list[int], what: str
) -> None:
    found = category_test(values, categories, groups)
    assert (None, None) == (found.f, found.p), what


def test_a_category_of_one_case_is_not_taken_for_certain() -> None:
    """Its mean has no error to be seen; counted as 0 it rejected a true null in three draws of four."""
    rng = np.random.default_rng(9)
    assert None is category_test(rng.normal(size=40), [0] * 39 + [1], range(40)).p


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_and_infinity_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="values"):
        category_test([1, bad, 2, 3], [0, 0, 1, 1], range(4))


@pytest.mark.parametrize(
    ("values", "categories", "groups"),
    [([], [], []), ([1, 2], [0], [0, 1]), ([1, 2], [0, 1], [0]), ([1, 2], [0, None], [0, 1])],
)
def test_empties_other_lengths_and_missing_labels_are_refused(
    values: list[float], categories: list[int], groups: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"values|groups|length|label|missing"):
        category_test(values, categories, groups)
