"""Several looks in one call."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lazy import lazy_module

from vivavoce.stats import bonferroni_level, holm
from vivavoce.stats.multiplicity import benjamini_hochberg

multitest = lazy_module("statsmodels.stats.multitest")

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def by_statsmodels(p, method):
    """The adjusted probabilities, without the search for cycles of objects that each call begins with."""
    with patch("gc.collect"):
        return multitest.multipletests(p, method=method)[1]


@settings(max_examples=20)
@given(probabilities)
def test_holm_is_that_of_statsmodels(p):
    assert pytest.approx(by_statsmodels(p, "holm"), abs=1e-12) == holm(p)


def test_hand_worked_holm():
    """.01 * 3, then .02 * 2, then max(.04, .03 * 1)."""
    assert pytest.approx([0.03, 0.04, 0.04]) == holm([0.01, 0.03, 0.02])


def test_holm_is_capped_at_one_and_keeps_ties():
    assert [1.0, 1.0] == list(holm([0.6, 0.6]))
    assert pytest.approx([0.09, 0.09, 0.09]) == holm([0.03, 0.03, 0.03])


def test_one_test_is_not_adjusted_and_none_gives_none():
    assert [0.04] == list(holm([0.04]))
    assert [] == list(holm([]))


@given(probabilities, st.randoms(use_true_random=False))
def test_order_does_not_matter(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    assert list(holm(p)[order]) == list(holm(np.array(p)[order]))


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.1])
def test_what_is_no_probability_is_refused_with_its_position(bad):
    with pytest.raises(ValueError, match=r"p holds .* at position 1"):
        holm([0.5, bad])


def test_bonferroni_shares_the_error():
    assert pytest.approx(1 - 0.05 / 9) == bonferroni_level(0.95, 9)
    assert pytest.approx(0.95) == bonferroni_level(0.95, 1)
    with pytest.raises(ValueError, match="k must be at least 1"):
        bonferroni_level(0.95, 0)
    with pytest.raises(ValueError, match="level must lie"):
        bonferroni_level(95, 2)


@settings(max_examples=20)
@given(probabilities)
def test_benjamini_hochberg_is_that_of_statsmodels(p):
    """statsmodels 0.15.0."""
    assert pytest.approx(by_statsmodels(p, "fdr_bh"), abs=1e-12) == benjamini_hochberg(p)


def test_hand_worked_q():
    """.01 * 4 / 1, .02 * 4 / 2 = .04, .04 * 4 / 3, .5; the smallest from the right counts."""
    assert pytest.approx([0.04, 0.16 / 3, 0.04, 0.5]) == benjamini_hochberg([0.01, 0.04, 0.02, 0.5])


@given(probabilities)
def test_adjustments_are_ordered_and_keep_ties(p):
    q, h = benjamini_hochberg(p * 2), holm(p * 2)
    assert (np.array(p * 2) <= q + 1e-15).all()
    assert (q <= h + 1e-12).all()
    assert (h <= 1).all()
    for adjusted in (q, h):
        assert list(adjusted[: len(p)]) == list(adjusted[len(p) :])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_one_none_and_what_is_no_probability(adjust):
    assert [0.04] == list(adjust([0.04]))
    assert [] == list(adjust([]))
    with pytest.raises(ValueError, match=r"p holds nan at position 1"):
        adjust([0.5, float("nan")])
    with pytest.raises(ValueError, match=r"p holds 1.5 at position 0, outside 0 to 1"):
        adjust([1.5])
