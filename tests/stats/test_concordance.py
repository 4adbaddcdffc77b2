"""ICC(A,1) and Kendall's W, against a published table and other people's code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare
from tests.lazy import lazy_module

from vivavoce.stats.friedman import Concordance, icc_a1, kendall_w

pd = lazy_module("pandas")
anova, formula = lazy_module("statsmodels.stats.anova"), lazy_module("statsmodels.formula.api")

# Shrout & Fleiss (1979), table 2: four judges, six targets.
SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])


def test_shrout_and_fleiss_own_example():
    """Table 3: BMS 11.24, JMS 32.49, EMS 1.02; table 4: ICC(2,1) .29; .289764 by pingouin 0.6.1."""
    i = icc_a1(SHROUT)
    assert pytest.approx(0.289764, abs=5e-7) == i.value
    assert [11.24, 32.49, 1.02] == [round(ms, 2) for ms in i[1:4]]
    assert (6, 4, 0) == i[4:]


tables = st.tuples(st.integers(2, 8), st.integers(2, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0, 1, 2, 2.5, 5]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(np.array)
)


def test_mean_squares_are_those_of_statsmodels():
    """statsmodels 0.15: anova_lm of a two-way additive model."""
    y = np.random.default_rng(3).normal(size=(7, 4)).round(2)
    data = pd.DataFrame({"y": y.ravel(), "unit": np.repeat(range(7), 4), "rater": np.tile(range(4), 7)})
    expected = anova.anova_lm(formula.ols("y ~ C(unit) + C(rater)", data).fit())["mean_sq"]
    assert pytest.approx(expected.to_list()) == list(icc_a1(y)[1:4])


def test_hand_worked_icc():
    """Always a point lower: MSR 2, MSC 1.5, MSE 0; 2 / (2 + 2 * 1.5 / 3) = 2/3, not the 1 of consistency."""
    assert (pytest.approx(2 / 3), 2.0, 1.5, 0.0, 3, 2, 0) == tuple(icc_a1([[1, 2], [2, 3], [3, 4]]))


def test_units_that_differ_less_than_chance_makes_them_are_below_zero():
    assert icc_a1([[1, 5], [5, 1], [1, 4]]).value < 0


def test_full_agreement_is_one():
    assert 1.0 == icc_a1([[1, 1], [4, 4]]).value == kendall_w([[1, 1], [4, 4]]).value


def test_without_variance_there_is_no_agreement_to_speak_of():
    assert (None, 0.0, 0.0, 0.0, 2, 2, 0) == tuple(icc_a1([[3, 3], [3, 3]]))
    assert icc_a1([[0.3, 0.1 + 0.2], [0.3, 0.3]]).value is None
    assert icc_a1([[1, 2], [2, 1]]).value is None
    assert Concordance(None, 2, 2, 0) == kendall_w([[3, 1], [3, 1]])


@pytest.mark.parametrize("statistic", [icc_a1, kendall_w])
def test_incomplete_units_are_dropped_and_counted(statistic):
    table, missing = [[1, 2], [9, 3], [2, 3], [5, 4]], [[False] * 2, [True, False], [False] * 2, [False] * 2]
    k = statistic(table, missing=missing)
    assert statistic([table[0], table[2], table[3]]).value == k.value
    assert (3, 2, 1) == k[-3:]
    assert (None, 0, 2, 4) == (lambda none: (none.value, *none[-3:]))(
        statistic(table, missing=np.ones((4, 2), dtype=bool))
    )


@pytest.mark.parametrize("statistic", [icc_a1, kendall_w])
def test_one_rater_or_one_unit_is_undefined(statistic):
    assert statistic([[1], [2]]).value is None
    assert statistic([[1, 2]]).value is None


def test_hand_worked_w_with_ties():
    """Ranks 1.5 1.5 3 and 1 2 3: sums 2.5 3.5 6, S 6.5; 12 * 6.5 / (4 * 24 - 2 * 6)."""
    assert pytest.approx(78 / 84) == kendall_w([[1, 1], [1, 2], [7, 3]]).value


@given(tables)
def test_w_is_scipys_friedman(table):
    """scipy 1.17: chi-squared of Friedman's test is m (n - 1) W, ties corrected."""
    n, m = table.shape
    w = kendall_w(table)
    if n < 3 or w.value is None:
        assert w.value is None or 0 <= w.value <= 1
        return
    assert pytest.approx(friedmanchisquare(*table).statistic, abs=1e-9) == m * (n - 1) * w.value


def test_opposite_rankings_of_two_raters_have_no_concordance():
    assert pytest.approx(0.0, abs=1e-12) == kendall_w([[1, 3], [2, 2], [3, 1]]).value


def test_floating_point_neither_makes_nor_breaks_a_tie():
    """0.1 + 0.2 is not 0.3."""
    w = kendall_w([[0.3, 1], [0.1 + 0.2, 1], [0.5, 2]])
    assert 1.0 == w.value


@given(tables, st.randoms(use_true_random=False), st.floats(0.1, 10), st.floats(-9, 9))
def test_order_and_unit_of_measurement_do_not_matter(table, random, factor, shift):
    rows, columns = (random.sample(range(size), size) for size in table.shape)
    moved = factor * table[rows][:, columns] + shift
    for statistic in (icc_a1, kendall_w):
        one, two = statistic(table).value, statistic(moved).value
        assert (one is None) == (two is None)
        assert one is None or pytest.approx(one, abs=1e-6) == two
    # Each rater's own scale matters to W no more.
    assert kendall_w(table**3 + np.arange(table.shape[1])).value == pytest.approx(kendall_w(table).value)


def test_what_is_no_number_is_refused():
    for statistic in (icc_a1, kendall_w):
        with pytest.raises(ValueError, match="must be numbers"):
            statistic([["a", "b"], ["b", "a"]])
        with pytest.raises(ValueError, match="ratings holds nan at unit 0, rater 1"):
            statistic([[1, float("nan")], [1, 2]])
        with pytest.raises(ValueError, match="is empty"):
            statistic([[]])
