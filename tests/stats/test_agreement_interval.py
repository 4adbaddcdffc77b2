"""Intervals of agreement that hold on rare labels and at ceilings: hand-worked, invariances, coverage."""

import math

import numpy as np
import pytest
from tests.cases import each_case
from tests.lengths import length

from vivavoce import stats

INTERVAL = ("alpha_nominal", "alpha_ordinal", "alpha_interval", "icc_a1", "quadratic_kappa", "pearson")


def ends(name, ratings, groups=None, **more):
    figure = stats.agreement_interval(
        name, ratings, np.arange(len(ratings)) if groups is None else groups, **more
    )
    return figure.low, figure.high


def jackknife(name, ratings):
    return stats.agreement_without_groups(name, ratings, np.arange(len(ratings))).jackknife()


def yes_no(agreeing, alone, negatives):
    """Two raters: `agreeing` positives, positives of one rater alone, by turns, and the others."""
    table = (
        [[1, 1]] * agreeing + [[1, 0], [0, 1]] * (alone // 2) + [[1, 0]] * (alone % 2) + [[0, 0]] * negatives
    )
    return np.array(table)


@each_case("name", INTERVAL)
def test_a_table_of_many_labels_has_the_jackknife_s_interval(name):
    draw = np.random.default_rng(3)
    level = draw.normal(3, 1, (50, 1))
    ratings = np.clip(np.round(level + draw.normal(0, 0.7, (50, 2))), 1, 5)
    figure = stats.agreement_interval(name, ratings, np.arange(50))
    expected = jackknife(name, ratings)
    assert (expected.value, expected.low, expected.high, expected.se) == figure[:4]
    assert not figure.is_sparse


def test_a_sparse_table_reaches_over_those_with_one_more_case():
    """Eight positives in 100 units, none of both raters: by chance .16 pairs are expected."""
    ratings = yes_no(0, 8, 92)
    larger = [np.vstack([ratings, unit]) for unit in ([1, 1], [1, 0], [0, 1])]
    intervals = [jackknife("alpha_nominal", table) for table in (ratings, *larger)]
    figure = stats.agreement_interval("alpha_nominal", ratings, range(100))
    assert (min(j.low for j in intervals), max(j.high for j in intervals)) == (figure.low, figure.high)
    assert (True, 8, 100) == (figure.is_sparse, figure.n_uncommon, figure.n_groups)
    assert figure.high > 0.4 > 0.1 > intervals[0].high  # the jackknife alone is nearly without width


def test_the_rarer_kind_in_two_cases_is_too_few():
    figure = stats.agreement_interval("alpha_nominal", yes_no(1, 1, 40), range(42))
    assert (None, None, 2) == (figure.low, figure.high, figure.n_uncommon)
    assert pytest.approx(1 - 1 / 42 / (2 * 3 * 81 / (84 * 83))) == figure.value
    assert None not in ends("alpha_nominal", yes_no(1, 2, 40))


def test_full_agreement_on_a_rare_label_has_a_lower_end():
    """The jackknife has none there, nor with one other case; two with one rater alone do."""
    low, high = ends("alpha_nominal", yes_no(5, 0, 60))
    assert 1 == high
    assert jackknife("alpha_nominal", yes_no(5, 2, 60)).low == low


def test_one_label_has_no_agreement_and_no_interval():
    assert (None, None, None, None, 20, 0, True) == tuple(
        stats.agreement_interval("alpha_nominal", [[1, 1]] * 20, range(20))
    )


def test_the_share_of_equal_pairs_is_a_mean_with_wilson_s_interval():
    ratings = yes_no(3, 2, 25)
    figure = stats.agreement_interval("percent", ratings, range(30))
    mean = stats.estimate_mean((ratings[:, 0] == ratings[:, 1]).astype(float), range(30), low=0.0, high=1.0)
    assert (mean.value, mean.low, mean.high, mean.se) == figure[:4]


def test_spearman_is_pearson_of_ranks():
    draw = np.random.default_rng(5)
    x = draw.normal(size=(30, 1)) + draw.normal(size=(30, 2))
    ranks = x.argsort(axis=0).argsort(axis=0)
    assert pytest.approx(ends("pearson", ranks)) == ends("spearman", x)
    assert pytest.approx(stats.spearman(*x.T)) == stats.agreement_interval("spearman", x, range(30)).value


def test_a_difference_of_a_table_and_itself_is_none():
    ratings = yes_no(3, 4, 60)
    figure = stats.agreement_interval("alpha_nominal", ratings, range(67), less=ratings)
    assert 0 == figure.value
    assert figure.low < 0 < figure.high


@each_case("name", ("alpha_nominal", "ac1", "quadratic_kappa", "pearson"))
def test_neither_the_order_of_raters_nor_of_units_matters_nor_which_label_is_rare(name):
    ratings = yes_no(4, 5, 70)
    expected = ends(name, ratings)
    assert pytest.approx(expected) == ends(name, ratings[:, ::-1])
    assert pytest.approx(expected) == ends(name, ratings[::-1])
    assert pytest.approx(expected) == ends(name, 1 - ratings)


def test_a_rater_without_ratings_changes_nothing():
    ratings = yes_no(4, 5, 70)
    three = np.column_stack([ratings, np.full(79, 9)])
    missing = np.zeros(three.shape, dtype=bool)
    missing[:, 2] = True
    assert ends("alpha_nominal", ratings) == ends("alpha_nominal", three, missing=missing)


def test_a_unit_of_many_raters_is_no_larger_than_the_others():
    """Twelve raters of whom two rate each unit: the unit that is added has two ratings."""
    pairs = yes_no(4, 5, 70)
    wide, missing = np.zeros((79, 12), dtype=int), np.ones((79, 12), dtype=bool)
    for unit, pair in enumerate(pairs):
        raters = [2 * unit % 12, (2 * unit + 1) % 12]
        wide[unit, raters], missing[unit, raters] = pair, False
    assert pytest.approx(ends("alpha_nominal", pairs)) == ends("alpha_nominal", wide, missing=missing)


def ceiling(draw, n, share, correlation):
    """Scores of 0 to 5 by two raters, all but `share` of them 5."""
    cuts = np.array([0.03, 0.1, 0.25, 0.5, 1.0]) * share
    common = math.sqrt(correlation) * draw.standard_normal((n, 1))
    latent = common + math.sqrt(1 - correlation) * draw.standard_normal((n, 2))
    quantiles = np.sort(np.random.default_rng(0).standard_normal(100_000))[(cuts * 100_000).astype(int)]
    return np.searchsorted(quantiles, latent).astype(float)


@each_case("name", ("alpha_ordinal", "icc_a1", "pearson", "spearman"))
def test_independent_raters_at_a_ceiling_are_covered(name):
    """Zero is the truth; the jackknife alone covers it in 20 to 60 % here."""
    draws = length(40, 600)
    draw = np.random.default_rng(11)
    hits = []
    for _ in range(draws):
        low, high = ends(name, ceiling(draw, 100, 0.05, 0.0))
        if low is not None:
            hits.append(low <= 0 <= high)
    assert len(hits) > 0.9 * draws
    assert np.mean(hits) >= 0.93


def test_raters_with_shares_and_scales_of_their_own_are_covered():
    """Yes or no of .05 and .15 of 100 units, the second rater in points: ranks hold no common commonest."""
    draw = np.random.default_rng(12)
    hits = []
    for _ in range(length(40, 600)):
        ratings = (draw.random((100, 2)) < (0.05, 0.15)) * [1.0, 40.0]
        low, high = ends("spearman", ratings)
        assert (low, high) == pytest.approx(ends("pearson", ratings), nan_ok=True)
        if low is not None:
            hits.append(low <= 0 <= high)
    assert np.mean(hits) >= 0.93


@each_case("factor", (1e-3, 1e100))
def test_the_size_of_numbers_does_not_matter(factor):
    ratings = yes_no(4, 5, 70)
    for name in ("icc_a1", "pearson"):
        assert pytest.approx(ends(name, ratings)) == ends(name, ratings * factor)


def test_booleans_and_small_integers_are_numbers():
    ratings = yes_no(4, 5, 70)
    for name in INTERVAL:
        assert ends(name, ratings) == ends(name, ratings.astype(bool)) == ends(name, ratings.astype(np.int8))


def test_bad_input_is_refused_as_by_the_coefficients():
    with pytest.raises(ValueError, match="coefficient must be one of"):
        stats.agreement_interval("alpha", [[1, 2], [1, 1]], range(2))
    with pytest.raises(ValueError, match="level"):
        stats.agreement_interval("ac1", [[1, 2], [1, 1]], range(2), level=2)
    with pytest.raises(ValueError, match="there is nothing to compare"):
        stats.agreement_interval("alpha_nominal", np.empty((0, 2)), [])
