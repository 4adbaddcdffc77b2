"""Agreement without each group by sums, against the coefficient called once for each group: the slow form."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import each_case
from tests.lengths import length

from vivavoce import stats
from vivavoce.stats import agreement_jackknife, agreement_without_groups
from vivavoce.stats.agreement_jackknife import AgreementCoefficient
from vivavoce.stats.sums import rounded

NAMES = get_args(AgreementCoefficient)
OF_TWO = ("quadratic_kappa", "pearson")


def coefficient(name, ratings, missing=None, categories=None):
    """The public coefficient of that name."""
    if name.startswith("alpha_"):
        return stats.krippendorff_alpha(ratings, name.removeprefix("alpha_"), missing=missing).value
    if name == "ac1":
        labels = categories if len(categories) else None  # nobody rated anything
        return stats.gwet_ac1(ratings, missing=missing, categories=labels).value
    if name == "icc_a1":
        return stats.icc_a1(ratings, missing=missing).value
    if name == "quadratic_kappa":
        return stats.weighted_kappa(ratings, missing=missing).value
    if name == "pearson":
        return stats.pearson(ratings[:, 0], ratings[:, 1])
    return stats.percent_agreement(ratings, missing=missing).value


def labels_of(ratings, missing):
    """The labels of the whole table; numbers equal to 1e-9 are one, and large ones as they are."""
    present = ratings if missing is None else ratings[~missing]
    return np.unique(rounded(present) if present.dtype.kind == "f" else present)


def one_by_one(name, ratings, groups, missing=None):
    """The slow form: G calls, with the categories of the whole table."""
    categories = labels_of(ratings, missing)
    figures = []
    for group in np.unique(groups):
        keep = groups != group
        some = None if missing is None else missing[keep]
        figures.append(coefficient(name, ratings[keep], some, categories))
    return np.array(figures, dtype=np.float64)


def assert_equal(name, ratings, groups, missing=None):
    found = agreement_without_groups(name, ratings, groups, missing=missing)
    np.testing.assert_allclose(
        found.without, one_by_one(name, ratings, groups, missing), rtol=1e-12, atol=1e-12
    )
    assert coefficient(name, ratings, missing, labels_of(ratings, missing)) == found.value
    assert np.unique(groups, return_counts=True)[1].tolist() == found.sizes.tolist()


def raters(seed, n, k, *, steps, noise=0.7):
    """Ratings of n units by k raters around a common level, on five steps or as they are."""
    draw = np.random.default_rng(seed)
    scores = 3 + draw.normal(size=(n, 1)) + noise * draw.normal(size=(n, k))
    return np.clip(np.round(scores), 1, 5) if steps else scores


@each_case("steps", [True, False])
@each_case("name", NAMES)
def test_subtraction_gives_what_leaving_out_gives(name, steps):
    """Units alone, twins, groups of many sizes, and one group that holds nearly everything."""
    for seed, groups in enumerate((
        np.arange(40),
        np.arange(40) // 2,
        np.random.default_rng(7).integers(0, 12, 40),
        np.maximum(np.arange(40) - 34, 0),
        np.array([f"case {n % 11}" for n in range(40)]),
    )):  # fmt: skip
        assert_equal(name, raters(seed, 40, 2, steps=steps), groups)


@each_case("steps", [True, False])
@each_case("name", [name for name in NAMES if name not in OF_TWO])
def test_missing_ratings_and_many_raters(name, steps):
    draw = np.random.default_rng(3)
    for seed in range(6):
        ratings, missing = raters(seed, 30, 4, steps=steps), draw.random((30, 4)) < 0.3
        assert_equal(name, np.where(missing, 99.0, ratings), draw.integers(0, 9, 30), missing)


@settings(max_examples=length(25, 60), deadline=None)
@given(st.data())
def test_small_tables_of_few_labels(data):
    """Ties, one label, groups without which one label is left, empty units: undefined in the same places."""
    n = data.draw(st.integers(2, 8))
    name = data.draw(st.sampled_from(NAMES))
    k = 2 if name in OF_TWO else data.draw(st.integers(1 if name != "quadratic_kappa" else 2, 3))
    cells = st.lists(st.lists(st.integers(0, 2), min_size=k, max_size=k), min_size=n, max_size=n)
    ratings = np.array(data.draw(cells), dtype=np.float64)
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    missing = None
    if name not in OF_TWO and data.draw(st.booleans()):
        mask = st.lists(st.lists(st.booleans(), min_size=k, max_size=k), min_size=n, max_size=n)
        missing = np.array(data.draw(mask))
    if len(np.unique(groups)) > 1:
        assert_equal(name, ratings, groups, missing)


def test_a_table_without_a_rating_has_no_agreement_and_is_no_error():
    for name in sorted(set(NAMES) - set(OF_TWO)):
        assert_equal(name, np.zeros((2, 2)), np.array([0, 1]), np.ones((2, 2), dtype=bool))


@each_case("name", NAMES)
def test_one_case_that_carries_all_the_spread_costs_no_digits(name):
    """Without it the rest is a ten-millionth as wide, and far from the mean of all."""
    ratings = raters(4, 30, 2, steps=False) * 1e-3
    ratings[7] = [1e5, 1.1e5]
    groups = np.arange(30)
    assert_equal(name, ratings, groups)
    ratings[7:25] += 1e6
    assert_equal(name, ratings, np.minimum(groups, 7) + (groups > 24))


@each_case("name", NAMES)
def test_huge_and_tiny_numbers(name):
    for scale in (1e-120, 1e120):
        assert_equal(name, raters(5, 20, 2, steps=False) * scale, np.arange(20) // 2)


@pytest.mark.parametrize("name", ["alpha_nominal", "ac1", "percent"])
def test_labels_that_are_no_numbers(name):
    ratings = np.array([["yes", "no"], ["no", "no"], ["yes", "yes"], ["maybe", "no"], ["yes", "yes"]])
    assert_equal(name, ratings, np.arange(5))


def test_numbers_that_are_all_distinct_pass_in_several_blocks(monkeypatch):
    """Ordinal alpha holds so many numbers at once, whatever the number of units."""
    monkeypatch.setattr(agreement_jackknife, "CELLS_AT_ONCE", 500)
    assert_equal("alpha_ordinal", raters(6, 60, 3, steps=False), np.arange(60) // 2)


@pytest.mark.parametrize("name", NAMES)
def test_the_coefficient_is_called_once_whatever_the_number_of_groups(name, monkeypatch):
    """Work is counted: 1 call for 200 groups, where leaving out one by one makes 201."""
    calls = []
    kind = agreement_jackknife._COEFFICIENTS[name]

    def counted(*arrays):
        calls.append(1)
        return kind.of_all(*arrays)

    monkeypatch.setitem(agreement_jackknife._COEFFICIENTS, name, kind._replace(of_all=counted))
    agreement_without_groups(name, raters(8, 200, 2, steps=True), np.arange(200))
    assert [1] == calls


def test_the_difference_of_two_coefficients_is_undefined_where_one_is():
    one = agreement_without_groups("percent", [[1, 1], [1, 2], [2, 2]], range(3))
    alpha = agreement_without_groups("alpha_nominal", [[1, 1], [1, 1], [1, 2]], range(3))
    difference = one.minus(alpha)
    assert pytest.approx(2 / 3 - alpha.value) == difference.value
    assert [False, False, True] == np.isnan(difference.without).tolist()
    assert 1 == difference.jackknife(scale="raw").n_undefined
    nothing = agreement_without_groups("alpha_nominal", [[1, 1]] * 3, range(3))
    assert one.minus(nothing).value is None


def test_one_group_has_a_value_and_nothing_to_leave_out():
    found = agreement_without_groups("percent", [[1, 2], [1, 1]], ["a", "a"])
    assert (0.5, 0, [2]) == (found.value, len(found.without), found.sizes.tolist())
    assert found.jackknife().low is None


def test_what_cannot_be_read_is_refused():
    table = [[1.0, 2.0], [2.0, 2.0]]
    with pytest.raises(ValueError, match=r"coefficient must be one of alpha_nominal, .* but is 'alpha'"):
        agreement_without_groups("alpha", table, range(2))
    with pytest.raises(ValueError, match="Pearson's r takes no missing rating"):
        agreement_without_groups("pearson", table, range(2), missing=np.array([[True, False]] * 2))
    with pytest.raises(ValueError, match="3 raters, Pearson's r is of 2"):
        agreement_without_groups("pearson", [[1.0, 2.0, 3.0]], range(1))
    with pytest.raises(ValueError, match="groups has the shape"):
        agreement_without_groups("percent", table, range(3))
