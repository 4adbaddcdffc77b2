"""Weighted kappa and Gwet's coefficients, against published tables and other people's code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lazy import lazy_module

from vivavoce.stats.agreement import gwet_ac1, weighted_kappa

inter_rater = lazy_module("statsmodels.stats.inter_rater")

# Gwet (2014): 100 pregnant women, type of pregnancy by two abstractors.
ABSTRACTORS = np.repeat(
    [["ectopic", "ectopic"], ["AIU", "AIU"], ["AIU", "NIU"], ["NIU", "AIU"], ["NIU", "NIU"]],
    [13, 20, 7, 4, 56],
    axis=0,
)
# Krippendorff's four observers, which Gwet (2014) uses for missing ratings; 0 for no value.
FOUR = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
).T
# Fleiss (1971), table 1: how many of six psychiatrists gave each of 30 patients each of five diagnoses.
FLEISS = [
    "00060", "03003", "01401", "00006", "03030", "20400", "00402", "20310", "20040", "00006",
    "10050", "11040", "03300", "10050", "02031", "00501", "30012", "51000", "02040", "10203",
    "00006", "01050", "02013", "20040", "10041", "05010", "40002", "02040", "10500", "00006",
]  # fmt: skip


def near(expected, decimals):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def test_published_table_of_two_abstractors():
    """Vignette "overview" of R's irrCAC 1.0, data cont3x3abstractors."""
    assert near(0.8493305, 7) == gwet_ac1(ABSTRACTORS).value


def test_published_example_with_missing_ratings():
    """Vignette "overview" of R's irrCAC 1.0, data cac.raw4raters: p_a .8181818, p_e .1903212."""
    a = gwet_ac1(FOUR, missing=FOUR == 0)
    assert (near(0.77544, 5), near(1 - 0.8181818, 7), near(1 - 0.1903212, 7)) == a[:3]
    assert (11, 40, 4, 5, 1) == a[3:]


labels = st.sampled_from([1, 2, 3, 4, 4.5])
pairs = st.lists(st.tuples(labels, labels), min_size=1, max_size=30).map(np.array)


@given(pairs)
def test_two_raters_are_those_of_statsmodels(table):
    """statsmodels 0.15: cohens_kappa, with scores for weights."""
    names = np.unique(table)
    if len(names) < 2:
        assert weighted_kappa(table).value is None
        return
    counts, _ = np.histogramdd(np.searchsorted(names, table), bins=[np.arange(len(names) + 1) - 0.5] * 2)
    for kind in ("linear", "quadratic"):
        expected = inter_rater.cohens_kappa(counts, weights=names, wt=kind, return_results=False)
        assert pytest.approx(expected, abs=1e-9) == weighted_kappa(table, weights=kind).value


def test_hand_worked_coefficients_of_two_labels():
    """Yes-yes 2, no-no 1, yes-no 1: p_o 3/4. Cohen p_e = 3/4 1/2 + 1/4 1/2, at one step between the two."""
    table = np.array([[1, 1], [1, 1], [0, 0], [1, 0]])
    assert (pytest.approx(0.5), pytest.approx(0.25), pytest.approx(0.5)) == weighted_kappa(table)[:3]
    assert pytest.approx(1 - 0.25 / (34 / 64)) == gwet_ac1(np.array(["n", "y"])[table]).value


def test_hand_worked_quadratic_kappa_counts_half_marks_as_half_a_step():
    """(4, 4.5), (5, 3): mean (.25 + 4) / 2; variances .25 and .5625, shift .75."""
    k = weighted_kappa([[4, 4.5], [5, 3]])
    assert (pytest.approx(2.125), pytest.approx(0.25 + 0.5625 + 0.5625)) == (k.observed, k.expected)


def test_a_unit_without_both_ratings_is_dropped_and_counted():
    table, missing = [[1, 1], [2, 1], [2, 2], [9, 1]], [[False] * 2] * 3 + [[True, False]]
    k = weighted_kappa(table, missing=missing)
    assert weighted_kappa(table[:3]).value == k.value
    assert (3, 6, 1) == (k.n_units, k.n_ratings, k.n_dropped)


def test_each_keeping_to_a_number_of_their_own_is_chance():
    assert (0.0, 1.0, 1.0) == weighted_kappa([[1, 2], [1, 2]])[:3]


ALL = (weighted_kappa, gwet_ac1)


@pytest.mark.parametrize("statistic", ALL)
def test_one_label_throughout_is_undefined(statistic):
    """Not 1, though everyone agrees; for Gwet's not even when more labels were offered."""
    assert statistic([[3, 3], [3, 3]]).value is None
    assert gwet_ac1([[3, 3]], categories=[1, 2, 3]).value is None


@pytest.mark.parametrize("statistic", ALL)
def test_nothing_but_gaps_is_undefined(statistic):
    k = statistic([[3, 3], [1, 3]], missing=[[True, True], [False, True]])
    assert (None, None, None, 0, 0, 2, 1, 2) == tuple(k)


def test_one_rater_is_undefined():
    assert gwet_ac1([[3], [1]]).value is None


@pytest.mark.parametrize("raters", [1, 3])
def test_kappa_of_other_than_two_raters_is_refused(raters):
    with pytest.raises(ValueError, match=f"ratings has {raters} raters, kappa is of 2"):
        weighted_kappa(np.ones((4, raters)))


@pytest.mark.parametrize("statistic", ALL)
def test_full_agreement_on_two_labels_is_one(statistic):
    assert (1.0, 0.0) == statistic([[3, 3], [1, 1]])[:2]


def test_ac1_depends_on_the_labels_offered():
    table = [[1, 1], [2, 2], [1, 2]]
    few, many = gwet_ac1(table), gwet_ac1(table, categories=[1, 2, 3, 4])
    assert few.value < many.value
    assert pytest.approx(1 - (1 / 3) / (1 - 0.5 / 3)) == many.value


@given(pairs, st.randoms(use_true_random=False))
def test_order_of_raters_and_units_and_names_of_labels_do_not_matter(table, random):
    rows = random.sample(range(len(table)), len(table))
    names = np.array([f"label {(7 * round(2 * v)) % 11}" for v in table.ravel()]).reshape(table.shape)
    for statistic in ALL:
        one, others = statistic(table).value, [statistic(table[rows][:, ::-1]).value]
        if statistic is not weighted_kappa:
            others.append(statistic(names).value)
        for two in others:
            assert one is two or pytest.approx(one) == two


@given(pairs, st.floats(0.5, 20), st.floats(-50, 50))
def test_another_unit_of_measurement_does_not_matter(table, factor, shift):
    one, two = weighted_kappa(table).value, weighted_kappa(factor * table + shift).value
    assert (one is None) == (two is None)
    assert one is None or pytest.approx(one, abs=1e-6) == two


def test_weights_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="weights must be quadratic or linear, but is 'cubic'"):
        weighted_kappa([[1, 2]], weights="cubic")
    with pytest.raises(ValueError, match="must be numbers"):
        weighted_kappa([["a", "b"]])
