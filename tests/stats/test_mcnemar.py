"""Yes/no pairs. Oracles: statsmodels 0.15.0 mcnemar, SciPy 1.17.1 binomtest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as reference

from vivavoce.stats import agresti_min, paired
from vivavoce.stats.mcnemar import mcnemar


def table(both, only_a, only_b, neither):
    return (
        [1] * both + [1] * only_a + [0] * only_b + [0] * neither,
        [1] * both + [0] * only_a + [1] * only_b + [0] * neither,
    )


@pytest.mark.parametrize("cells", [(10, 9, 1, 5), (0, 0, 3, 1), (4, 5, 5, 0), (30, 12, 3, 8), (1, 0, 0, 1)])
def test_p_is_that_of_statsmodels_and_of_a_coin(cells):
    both, only_a, only_b, neither = cells
    m = mcnemar(*table(*cells))
    assert cells == (m.n_both, m.n_only_a, m.n_only_b, m.n_neither)
    if only_a + only_b:
        assert pytest.approx(reference([[both, only_a], [only_b, neither]], exact=True).pvalue) == m.p
        assert pytest.approx(binomtest(only_a, only_a + only_b).pvalue) == m.p
    else:
        assert 1 == m.p


def test_hand_worked():
    """Nine against one: p = 2 (1 + 10) / 2^10; 8 of 25 items."""
    m = mcnemar(*table(10, 9, 1, 5))
    assert (pytest.approx(22 / 1024), pytest.approx(0.32)) == (m.p, m.difference)
    x, y = (np.array(side, dtype=float) for side in table(10, 9, 1, 5))
    assert agresti_min(x - y, np.arange(25), span=1) == (m.low, m.high)
    assert paired(x - y, np.arange(25)).difference == m.difference


def test_five_that_differ_cannot_reach_five_percent():
    assert pytest.approx(0.0625) == mcnemar([1] * 5, [0] * 5).p


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_swapping_mirrors_and_order_does_not_matter(data):
    a, b = map(np.array, zip(*data, strict=True))
    one, other, turned = mcnemar(a, b), mcnemar(b, a), mcnemar(a[::-1], b[::-1])
    assert pytest.approx([x for x in one if x is not None]) == [x for x in turned if x is not None]
    assert (one.p, one.difference, one.n_only_a) == (other.p, -other.difference, other.n_only_b)
    if len(a) > 1:
        assert pytest.approx((-one.high, -one.low)) == (other.low, other.high)
        assert -1 <= one.low <= one.difference <= one.high <= 1


def test_one_item_has_no_interval_and_no_item_is_refused():
    m = mcnemar([1], [0])
    assert (1.0, None, None, 1.0) == (m.difference, m.low, m.high, m.p)
    with pytest.raises(ValueError, match="a is empty"):
        mcnemar([], [])


def test_what_is_no_yes_or_no_is_refused_with_its_position():
    with pytest.raises(ValueError, match=r"a holds 0.5 at position 1, neither 0 nor 1"):
        mcnemar([1, 0.5], [0, 1])
    with pytest.raises(ValueError, match="b holds nan at position 0"):
        mcnemar([1], [float("nan")])
    with pytest.raises(ValueError, match="b has 1 entries"):
        mcnemar([1, 0], [1])


def test_items_of_one_group_are_refused():
    assert mcnemar([1, 0], [0, 0], groups=["x", "y"]) == mcnemar([1, 0], [0, 0])
    with pytest.raises(ValueError, match="share a group"):
        mcnemar([1, 0], [0, 0], groups=["x", "x"])


def test_a_million_items_are_no_matter():
    rng = np.random.default_rng(6)
    m = mcnemar(rng.random(10**6) < 0.5, rng.random(10**6) < 0.5, groups=np.arange(10**6))
    assert m.low < m.difference < m.high
