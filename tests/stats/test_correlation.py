"""Correlation with few systems. Golden values: docs/statistics.md, section 7.

Oracle: scipy.stats, SciPy 1.17.1.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from tests.stats.tables import MODELS, marks, medsyn_f1, near

from vivavoce.stats.correlation import (
    at_level,
    correlation,
    correlation_at,
    critical_r,
    fisher_interval,
    kendall,
    pearson,
    spearman,
)
from vivavoce.stats.correlation_systems import (
    kendall_across_halves,
    leave_one_out,
    order_agreement,
    pearson_across_halves,
    permute_systems,
    random_half,
    shown_agreement,
)
from vivavoce.stats.ranking import rank_intervals

COEFFICIENTS = ("pearson", "spearman", "kendall")


@pytest.fixture(scope="module")
def comprehension(items):
    return marks(items)


@pytest.fixture(scope="module")
def f1(hivmedqa, comprehension):
    return medsyn_f1(hivmedqa, comprehension.names)


@pytest.mark.parametrize(
    ("level", "expected", "n"),
    [
        ("system", (0.3671, 0.3455, 0.2444), 10),
        ("item", (0.3171, 0.2860, 0.2018), 61),
        ("item_centred", (0.1891, 0.1858, 0.1274), 610),
        ("double_centred", (0.1171, 0.1165, 0.0788), 610),
        ("pooled", (0.2270, 0.2089, 0.1507), 610),
    ],
)
def test_golden_comprehension_and_medsyn_f1(comprehension, f1, level, expected, n):
    for coefficient, value in zip(COEFFICIENTS, expected, strict=True):
        found = correlation_at(comprehension.values, f1, level=level, coefficient=coefficient)
        assert near(value, 4) == found.value
        assert (n, 10, 61, 0) == (found.n, found.n_systems, found.n_items, found.n_dropped)


def test_golden_system_level_without_the_weakest_model(comprehension, f1):
    kept = [at for at, model in enumerate(MODELS) if model != "Llama 3.2-1B-Instruct"]
    for coefficient, value in zip(COEFFICIENTS, (0.2094, 0.1833, 0.1111), strict=True):
        found = correlation_at(comprehension.values[kept], f1[kept], level="system", coefficient=coefficient)
        assert near(value, 4) == found.value


def test_golden_criteria_marked_in_one_call_correlate_by_construction(comprehension, items):
    harm = marks(items, "harm")
    assert comprehension.names == harm.names
    for level, value in (("system", 0.9923), ("pooled", 0.8141)):
        found = correlation_at(comprehension.values, harm.values, level=level, coefficient="pearson")
        assert near(value, 4) == found.value


def test_golden_28_of_45_pairs_stand_in_the_same_order(comprehension, f1):
    found = order_agreement(comprehension.values.mean(axis=1), f1.mean(axis=1))
    assert (28, 17, 0, pytest.approx(28 / 45)) == found


def test_pairs_told_apart_by_both_are_few(comprehension, f1):
    found = shown_agreement(
        rank_intervals(comprehension.values, comprehension.groups).better,
        rank_intervals(f1, comprehension.groups).better,
    )
    assert 45 == found.same + found.opposite + found.left_out
    assert 24 >= found.same + found.opposite


def test_golden_a_correlation_of_nine_tenths_with_nine_systems():
    assert (near(0.586, 3), near(0.979, 3)) == fisher_interval(0.9, 9)


@pytest.mark.parametrize(("n", "r"), [(7, 0.7545), (9, 0.6664), (10, 0.6319), (11, 0.6021)])
def test_golden_critical_r(n, r):
    assert near(r, 4) == critical_r(n)


def test_critical_r_is_where_the_t_test_turns():
    x = np.arange(9.0)
    noise = np.array([3, -1, 2, -4, 1, 0, -2, 4, -3.0])
    for share in np.linspace(0, 2, 41):
        r, p = stats.pearsonr(x, share * x + noise)
        assert (p < 0.05) == (abs(r) > critical_r(9))


def test_fisher_interval_is_that_of_scipy():
    x, y = np.random.default_rng(1).normal(size=(2, 12))
    found = stats.pearsonr(x, y)
    assert pytest.approx(tuple(found.confidence_interval(0.9))) == fisher_interval(
        pearson(x, y), 12, level=0.9
    )


def test_three_points_or_a_line_have_no_interval():
    assert fisher_interval(0.5, 3) is None
    assert fisher_interval(1.0, 10) is None
    assert fisher_interval(-1.0, 10) is None
    assert fisher_interval(0.0, 4) is not None


# Scores are few and tied, means are not.
numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100))
vectors = st.integers(2, 40).flatmap(
    lambda n: st.tuples(*(st.lists(numbers, min_size=n, max_size=n) for _ in range(2)))
)


@given(vectors)
def test_coefficients_are_those_of_scipy(data):
    x, y = (np.round(side, 3) for side in data)
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    assert pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9) == pearson(x, y)
    assert pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9) == spearman(x, y)
    assert pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9) == kendall(x, y)


def test_coefficients_of_many_tied_points_are_those_of_scipy():
    x, y = np.random.default_rng(2).integers(0, 25, (2, 20_000)) / 5
    assert pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12) == kendall(x, y)
    assert pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12) == spearman(x, y)


def test_hand_worked_coefficients():
    """x = 1 2 3 4, y = 1 3 2 2: 3 pairs one way, 2 the other, 1 tied in y; ranks 1 4 2.5 2.5."""
    x, y = [1, 2, 3, 4], [1, 3, 2, 2]
    assert pytest.approx(1 / math.sqrt(6 * 5)) == kendall(x, y)
    assert pytest.approx(1.5 / math.sqrt(5 * 4.5)) == spearman(x, y)
    assert pytest.approx(1 / math.sqrt(5 * 2)) == pearson(x, y)


def test_rounding_makes_no_false_order():
    """.1 + .2 and .3 are one score."""
    x, y = [0.1 + 0.2, 0.3, 1.0], [1.0, 2.0, 3.0]
    assert kendall([0.3, 0.3, 1.0], y) == kendall(x, y)
    assert spearman([0.3, 0.3, 1.0], y) == spearman(x, y)
    assert (2, 0, 1, 1.0) == order_agreement(x, y)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_side_without_variance_has_no_coefficient(coefficient):
    for flat in ([4.0, 4.0, 4.0], [0.1 + 0.2, 0.3, 0.3]):
        assert correlation(flat, [1, 2, 3], coefficient=coefficient) is None
        assert correlation([1, 2, 3], flat, coefficient=coefficient) is None
        assert permute_systems(flat, [1, 2, 3], coefficient=coefficient, rng=np.random.default_rng(0)) is None
    assert correlation([1], [2], coefficient=coefficient) is None


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_two_systems_lie_on_a_line(coefficient):
    assert 1.0 == correlation([1, 2], [5, 9], coefficient=coefficient)
    assert -1.0 == correlation([1, 2], [9, 5], coefficient=coefficient)
    found = permute_systems([1, 2], [5, 9], coefficient=coefficient, rng=np.random.default_rng(0))
    assert (1.0, 2, 2, True) == found


@given(vectors, st.randoms(use_true_random=False))
def test_order_of_points_and_of_sides_do_not_matter(data, random):
    x, y = map(np.array, data)
    order = list(range(len(x)))
    random.shuffle(order)
    for coefficient in COEFFICIENTS:
        r = correlation(x, y, coefficient=coefficient)
        assert (r is None) == (correlation(y, x, coefficient=coefficient) is None)
        if r is not None:
            assert pytest.approx(r, abs=1e-9) == correlation(y, x, coefficient=coefficient)
            assert pytest.approx(r, abs=1e-9) == correlation(x[order], y[order], coefficient=coefficient)
            assert pytest.approx(-r, abs=1e-9) == correlation(x, -y, coefficient=coefficient)


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=20), st.integers(0, 10**6))
def test_ranks_do_not_see_a_monotone_scale(x, seed):
    x = np.array(x, dtype=float)
    y = np.random.default_rng(seed).normal(size=len(x))
    for coefficient in ("spearman", "kendall"):
        r = correlation(x, y, coefficient=coefficient)
        assert r == correlation(np.exp(x / 10), y, coefficient=coefficient)
    r = pearson(x, y)
    assert r is None or pytest.approx(r) == pearson(3 * x + 1e6, y)


def test_sizes_beyond_the_square_root_of_a_float_are_borne():
    assert pytest.approx(1.0) == pearson([1e300, 2e300, 3e300], [1e-8, 2e-8, 3e-8])
    assert 1.0 == kendall([1e300, 2e300, 3e300], [1, 2, 3])


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_p_of_few_systems_is_exact(coefficient):
    x, y = np.array([3, 1, 4, 1, 5, 9.0]), np.array([2, 7, 1, 8, 2, 8.0])
    found = permute_systems(x, y, coefficient=coefficient, rng=np.random.default_rng(0))
    oracle = stats.permutation_test(
        (y,),
        lambda b: correlation(x, b, coefficient=coefficient),
        permutation_type="pairings",
        n_resamples=np.inf,
    )
    sizes = np.abs(oracle.null_distribution)
    assert np.mean(sizes >= abs(oracle.statistic) - 1e-9) == pytest.approx(found.p)
    assert (6, 720, True) == found[1:]


def test_p_of_a_perfect_order_is_two_in_all_orders():
    found = permute_systems([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], rng=np.random.default_rng(0))
    assert (2 / 120, 5, 120, True) == found
    assert pytest.approx(stats.kendalltau(range(5), range(5), method="exact").pvalue) == found.p


def test_drawn_p_is_near_the_exact_one_and_can_be_redrawn(comprehension, f1):
    x, y = comprehension.values.mean(axis=1), f1.mean(axis=1)
    found = permute_systems(x, y, rng=np.random.default_rng(3))
    assert (10, 9999, False) == found[1:]
    assert pytest.approx(stats.kendalltau(x, y, method="exact").pvalue, abs=0.015) == found.p
    assert found == permute_systems(x, y, rng=np.random.default_rng(3))


def test_p_is_never_zero():
    x = np.arange(30.0)
    assert 1 / 100 == permute_systems(x, x, rng=np.random.default_rng(4), resamples=99).p


def test_one_system_can_carry_a_correlation():
    x, y = [0, 1, 0, 1, 10.0], [0, 0, 1, 1, 10.0]
    found = leave_one_out(x, y, coefficient="pearson")
    assert 5 == found.n
    assert pytest.approx(0) == found.low == found.values[4]
    assert found.high > 0.9


def test_a_family_is_left_out_together():
    x, y = np.array([1, 2, 3, 4, 9, 9.5]), np.array([4, 3, 2, 1, 9, 9.9])
    found = leave_one_out(x, y, families=["a", "b", "c", "d", "big", "big"])
    assert (5, -1.0) == (found.n, found.low)
    assert found.values[3] == kendall(x[[0, 1, 2, 4, 5]], y[[0, 1, 2, 4, 5]])


def test_what_is_left_may_have_no_variance():
    assert (None, None, (None, None), 2) == leave_one_out([1, 2], [1, 2])
    assert (None, None, (None,), 1) == leave_one_out([1, 2], [1, 2], families=["a", "a"])
    found = leave_one_out([1, 1, 2], [1, 2, 3], coefficient="pearson")
    assert (1.0, 1.0, None) == (found.low, found.high, found.values[2])


def test_hand_worked_order_agreement():
    """Pairs 12 and 13 agree, 23 is turned; a tie on either side is left out."""
    assert (2, 1, 0, pytest.approx(2 / 3)) == order_agreement([1, 2, 3], [1, 3, 2])
    assert (1, 1, 1, 0.5) == order_agreement([1, 2, 2], [1, 3, 0])
    assert (0, 0, 1, None) == order_agreement([1, 1], [1, 2])
    assert (0, 0, 0, None) == order_agreement([1], [1])


def test_pairs_are_counted_only_where_both_tell_them_apart():
    x, y = np.zeros((2, 3, 3), dtype=bool)
    x[0, 1] = x[0, 2] = y[0, 1] = y[2, 0] = y[1, 2] = True
    assert (1, 1, 1, 0.5) == shown_agreement(x, y) == shown_agreement(y, x)
    assert (0, 0, 3, None) == shown_agreement(x, np.zeros((3, 3), dtype=bool))


def test_levels_take_the_matrix_apart():
    x = np.array([[1.0, 2.0], [3.0, 8.0]])
    expected = {
        "system": [1.5, 5.5],
        "item": [2, 5],
        "item_centred": [-1, -3, 1, 3],
        "double_centred": [1, -1, -1, 1],
        "pooled": [1, 2, 3, 8],
    }
    for level, points in expected.items():
        assert pytest.approx(points) == at_level(x, -x, level=level).x
        assert pytest.approx([-p for p in points]) == at_level(x, -x, level=level).y


def test_levels_may_contradict_each_other():
    """Simpson: better answers to an item score lower, better systems higher."""
    x = np.array([[0, 1, 2.0], [10, 11, 12.0]])
    y = np.array([[2, 1, 0.0], [12, 11, 10.0]])
    assert -1.0 == correlation_at(x, y, level="item").value
    assert 1.0 == correlation_at(x, y, level="system").value
    assert pytest.approx(73 / 77) == correlation_at(x, y, level="pooled", coefficient="pearson").value


def test_an_item_that_one_system_lacks_is_left_out_for_all():
    x, y = np.random.default_rng(5).normal(size=(2, 4, 9))
    present = np.ones((4, 9), dtype=bool)
    present[2, 3] = present[0, 8] = False
    holed = np.where(present, x, np.nan)
    kept = [0, 1, 2, 4, 5, 6, 7]
    for level in ("system", "item", "item_centred", "double_centred", "pooled"):
        found = correlation_at(holed, y, level=level, present=present)
        assert (7, 2) == (found.n_items, found.n_dropped)
        assert found.value == correlation_at(x[:, kept], y[:, kept], level=level).value
    nothing = correlation_at(x, y, level="item", present=np.zeros((4, 9), dtype=bool))
    assert (None, 0, 0, 9) == (nothing.value, nothing.n, nothing.n_items, nothing.n_dropped)


def test_one_item_one_system_and_no_variance_are_not_estimable():
    assert correlation_at([[1], [2]], [[1], [2]], level="item").value is None
    assert 1.0 == correlation_at([[1], [2]], [[1], [2]], level="system").value
    assert correlation_at([[1, 2]], [[1, 2]], level="system").value is None
    assert correlation_at([[1, 2]], [[1, 2]], level="item_centred").value is None
    # Rounding in the centring is no variance.
    same = np.full((3, 1), 1.0) + np.array([0.1, 0.2, 0.3, 0.7])
    assert correlation_at(same, same, level="item_centred").value is None


def test_order_of_systems_and_items_does_not_matter(comprehension, f1):
    systems, names = np.random.default_rng(6).permutation(10), np.random.default_rng(7).permutation(61)
    for level in ("system", "item", "item_centred", "double_centred"):
        for coefficient in COEFFICIENTS:
            a = correlation_at(comprehension.values, f1, level=level, coefficient=coefficient)
            b = correlation_at(
                comprehension.values[systems][:, names],
                f1[systems][:, names],
                level=level,
                coefficient=coefficient,
            )
            assert pytest.approx(a.value, abs=1e-9) == b.value


def test_nan_nothing_and_misfits_are_refused():
    nan = float("nan")
    for function in (pearson, spearman, kendall, correlation, order_agreement, leave_one_out):
        with pytest.raises(ValueError, match="x holds nan at position 1"):
            function([1, nan], [1, 2])
        with pytest.raises(ValueError, match="x is empty"):
            function([], [])
        with pytest.raises(ValueError, match="y has 3 entries"):
            function([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="no coefficient named 'tau'"):
        correlation([1, 2], [1, 2], coefficient="tau")
    with pytest.raises(ValueError, match="no level named 'within'"):
        at_level([[1]], [[1]], level="within")
    with pytest.raises(ValueError, match="x holds nan for system 0, item 1"):
        at_level([[1, nan]], [[1, 2]], level="item")
    with pytest.raises(ValueError, match="y has the shape"):
        at_level([[1, 2]], [[1]], level="item")
    with pytest.raises(ValueError, match="present must be booleans"):
        at_level([[1, 2]], [[1, 2]], level="item", present=[[1, 1]])
    with pytest.raises(ValueError, match="x is empty"):
        at_level(np.empty((2, 0)), np.empty((2, 0)), level="item")
    with pytest.raises(ValueError, match="two dimensions"):
        at_level([1, 2], [1, 2], level="item")
    with pytest.raises(ValueError, match="r must lie"):
        fisher_interval(1.1, 10)
    with pytest.raises(ValueError, match="n must be at least 1"):
        fisher_interval(0.1, 0)
    with pytest.raises(ValueError, match="n must be at least 3"):
        critical_r(2)
    with pytest.raises(ValueError, match="resamples must be"):
        permute_systems([1, 2], [1, 2], rng=np.random.default_rng(0), resamples=0)
    with pytest.raises(ValueError, match="each better than the other"):
        shown_agreement(np.ones((2, 2), dtype=bool), np.zeros((2, 2), dtype=bool))
    with pytest.raises(ValueError, match="better_y must be a square matrix of booleans"):
        shown_agreement(np.zeros((2, 2), dtype=bool), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="the same systems"):
        shown_agreement(np.zeros((2, 2), dtype=bool), np.zeros((3, 3), dtype=bool))


def test_tau_across_halves_has_the_larger_p_of_two_shuffles_by_hand() -> None:
    """Five systems: all 120 orders of one half's systems, and of one measure's, by SciPy's tau."""
    x = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 3.0, 5.0]])
    y = np.array([[1.0, 3.0, 2.0, 4.0, 5.0], [1.0, 2.0, 4.0, 3.0, 5.0]])

    def size(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
        return abs(float(stats.kendalltau(a, b).statistic + stats.kendalltau(c, d).statistic))

    orders = [list(order) for order in itertools.permutations(range(5))]
    bar = size(x[0], y[1], x[1], y[0]) - 1e-9
    of_half = [size(x[0], y[1][o], x[1][o], y[0]) >= bar for o in orders]
    of_measure = [size(x[0], y[1][o], x[1], y[0][o]) >= bar for o in orders]
    halves = kendall_across_halves(x, y, rng=np.random.default_rng(1))
    assert (pytest.approx((bar + 1e-9) / 2), max(np.mean(of_half), np.mean(of_measure))) == (
        halves.value,
        halves.p,
    )


def test_r_across_halves_is_the_mean_of_both_crossings_on_fisher_s_scale() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 2, 9))
    z = (np.arctanh(pearson(x[0], y[1])) + np.arctanh(pearson(x[1], y[0]))) / 2
    half = 1.959964 / math.sqrt(6)
    halves = pearson_across_halves(x, y)
    assert pytest.approx(np.tanh([z, z - half, z + half]), abs=1e-6) == halves[:3]
    assert (1.0, None, None) == pearson_across_halves(x, x[::-1])[:3]


def test_a_half_that_does_not_vary_has_no_figure() -> None:
    x = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]])
    for halves in (
        kendall_across_halves(x, x, rng=np.random.default_rng(1)),
        pearson_across_halves(x, x),
    ):
        assert (None, None, None, None) == halves
    with pytest.raises(ValueError, match="one row for each of two halves, but has 3"):
        pearson_across_halves(np.ones((3, 4)), x)


@pytest.mark.parametrize(("n_groups", "n_chosen"), [(1, 0), (2, 1), (7, 3), (40, 20)])
def test_a_random_half_takes_whole_groups(n_groups: int, n_chosen: int) -> None:
    groups = np.repeat(np.arange(n_groups), 3)
    half = random_half(groups, np.random.default_rng(5))
    assert n_chosen == len(set(groups[half]))
    assert not set(groups[half]) & set(groups[~half])
