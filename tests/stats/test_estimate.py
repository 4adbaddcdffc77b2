"""Means, CR2 and intervals. Golden values: docs/golden.md, sections 1 and 2, recomputed by `matrices.py`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import stdtrit
from tests.lazy import lazy_module
from tests.stats.matrices import by_matrices

from vivavoce.stats import cluster_mean, estimate_mean, skewed_interval, t_interval, wilson

sm = lazy_module("statsmodels.api")


def near(expected, decimals):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


@pytest.mark.parametrize(
    ("model", "criterion", "mean", "se", "n_effective", "low", "high"),
    [
        ("Gemini 2.5 Pro", "comprehension", 4.14127, 0.09207, 419.5, 3.9381, 4.3124),
        ("Gemini 2.5 Pro", "harm", 4.89524, 0.04534, 249.5, 4.7566, 4.9556),
        ("MedGemma 27B", "demographic_bias", 5, 0, 33.7, 4.4527, 5),
        ("Gemini 2.5 Pro", "demographic_bias", 4.98730, 0.00989, 646.9, 4.9459, 4.9970),
    ],
)
def test_golden_wilson_of_the_published_marks(items, model, criterion, mean, se, n_effective, low, high):
    data = items(model, criterion)
    e = estimate_mean(data.values, data.groups, low=0, high=5)
    assert near(mean, 5) == e.value
    assert near(se, 5) == e.se
    assert (63, 42, near(32.6992, 4), near(33.6992, 4)) == (e.n, e.n_groups, e.df, e.effective_groups)
    assert pytest.approx(by_matrices(data.values, data.groups), abs=1e-9) == (e.value, e.se, e.df)
    assert near(n_effective, 1) == wilson(e.value, e.se, e.df, low=0, high=5).n_effective
    assert (near(low, 4), near(high, 4)) == (e.low, e.high)
    assert e.method == "Wilson, effective size, CR2 by group"


def test_golden_t_interval_of_the_published_marks(items):
    data = items("Gemini 2.5 Pro")
    m = cluster_mean(data.values, data.groups)
    assert (near(3.9539, 4), near(4.3287, 4)) == t_interval(m.value, m.se, m.df)


def test_golden_skewed_interval_of_the_published_marks(items):
    """Without limits the interval reaches farther down, where the scores tail off, and up as far as t."""
    data = items("Gemini 2.5 Pro")
    e = estimate_mean(data.values, data.groups)
    assert (near(3.9368, 4), near(4.3287, 4)) == (e.low, e.high)
    assert (None, "t, widened for skewness, CR2 by group") == (e.reason, e.method)


def test_golden_all_equal_without_limits_has_no_interval_and_a_reason(items):
    data = items("MedGemma 27B", "demographic_bias")
    e = estimate_mean(data.values, data.groups)
    assert (5, None, None, 0) == (e.value, e.low, e.high, e.se)
    assert "no interval: all values are equal, and nothing limits what the next may be" == e.reason


def test_golden_t_overshoots_a_ceiling_unless_it_is_clipped(items):
    data = items("Gemini 2.5 Pro", "demographic_bias")
    m = cluster_mean(data.values, data.groups)
    assert near(5.0074, 4) == t_interval(m.value, m.se, m.df).high
    assert 5 == t_interval(m.value, m.se, m.df, high=5).high


def test_golden_item_level_interval_is_narrower_than_the_group_level_one(items):
    values = items("Gemini 2.5 Pro").values
    m = cluster_mean(values, np.arange(63))
    assert (near(3.9958, 4), near(4.2867, 4)) == t_interval(m.value, m.se, 62)
    e = estimate_mean(values, np.arange(63))
    assert (near(3.9809, 4), near(4.2867, 4)) == (e.low, e.high)


@pytest.mark.parametrize(
    ("rule", "mean", "se", "n_groups"),
    [
        ({}, 3.6459, 0.1551, 41),
        ({"unparsed": 0}, 3.4794, 0.1798, 42),
        ({"unparsed": 5}, 3.7016, 0.1525, 42),
        ({"blank": 0}, 3.4667, 0.1833, 42),
        ({"blank": None}, 3.6400, 0.1576, 40),
    ],
    ids=["observed", "failed as worst", "failed as best", "as delivered", "when answered"],
)
def test_golden_med42_under_each_rule_for_its_blank_answers(items, rule, mean, se, n_groups):
    data = items("Med42-70B", **rule)
    m = cluster_mean(data.values, data.groups)
    assert (near(mean, 4), near(se, 4)) == (m.value, m.se)
    assert n_groups == m.n_groups
    assert pytest.approx(by_matrices(data.values, data.groups)) == (m.value, m.se, m.df)


def test_hand_worked_even_cases():
    """Mean 2; residuals -1, 0 | 1, 0 sum to -1 and 1, w = 1/2: SE^2 = (1 + 1) / (1/2) / 4^2, df 1."""
    m = cluster_mean([1, 2, 3, 2], ["x", "x", "y", "y"])
    assert (2.0, pytest.approx(0.5), 4, 2, 1) == tuple(m)


def test_hand_worked_weights():
    """Mean (3*1 + 1*5) / 4 = 2; u = -3, 3; w = 3/4, 1/4: SE^2 = (9 / (1/4) + 9 / (3/4)) / 16 = 3."""
    m = cluster_mean([1, 5], [0, 1], weights=[3, 1])
    assert (2.0, pytest.approx(math.sqrt(3))) == (m.value, m.se)


@pytest.mark.parametrize("weighted", [False, True])
def test_even_cases_have_the_error_of_statsmodels(weighted):
    """Its CR1 is CR2 where all cases have one share of the weight: 30 cases of 6, weights that repeat."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(30), 6)
    y = rng.normal(size=180) + rng.normal(size=30)[groups]
    w = np.tile(rng.uniform(0.5, 2, 6), 30) if weighted else np.ones(180)
    fit = sm.WLS(y, np.ones(180), weights=w).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}
    )
    m = cluster_mean(y, groups, weights=w)
    assert pytest.approx(fit.params[0], rel=1e-12) == m.value
    assert pytest.approx(fit.bse[0], rel=1e-12) == m.se


def test_the_error_with_one_item_per_group_is_the_ordinary_standard_error():
    y = np.random.default_rng(2).normal(size=50)
    assert pytest.approx(y.std(ddof=1) / np.sqrt(50)) == cluster_mean(y, np.arange(50)).se


def test_repeating_every_row_inside_its_group_changes_nothing():
    y, g = np.array([1.0, 4.0, 2.0, 2.5]), np.array([0, 0, 1, 2])
    once, twice = cluster_mean(y, g), cluster_mean(np.tile(y, 2), np.tile(g, 2))
    assert (pytest.approx(once.value), pytest.approx(once.se)) == (twice.value, twice.se)


def test_doubling_a_weight_is_asking_a_case_of_one_item_twice():
    """But for df: rows that were seen twice are two values inside a case, a weight of 2 is one."""
    y, g = np.array([1.0, 4.0, 2.0, 2.5]), np.array([0, 0, 1, 2])
    weighted = cluster_mean(y, g, weights=[1, 1, 2, 1])
    twice = cluster_mean(np.append(y, 2.0), np.append(g, 1))
    assert (pytest.approx(weighted.value), pytest.approx(weighted.se)) == (twice.value, twice.se)
    assert weighted.df < twice.df


rows = st.lists(
    st.tuples(st.floats(-100, 100), st.integers(0, 6), st.floats(0.1, 10)), min_size=1, max_size=40
)


@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_groups_do_not_matter(data, random):
    y, g, w = map(np.array, zip(*data, strict=True))
    a = cluster_mean(y, g, weights=w)
    order = list(range(len(y)))
    random.shuffle(order)
    names = np.array([f"note {(3 * k + 5) % 7}" for k in g])
    b = cluster_mean(y[order], names[order], weights=w[order])
    assert pytest.approx(a.value, abs=1e-9) == b.value
    assert (a.se is None) == (b.se is None)
    assert a.se is None or pytest.approx(a.se, abs=1e-9) == b.se
    assert (a.n, a.n_groups) == (b.n, b.n_groups)


@given(rows, st.floats(0.01, 100), st.floats(-50, 50))
def test_another_unit_moves_value_and_error_with_it(data, scale, shift):
    y, g, w = map(np.array, zip(*data, strict=True))
    a, b = cluster_mean(y, g, weights=w), cluster_mean(scale * y + shift, g, weights=w)
    assert pytest.approx(scale * a.value + shift, abs=1e-6) == b.value
    assert a.se is None or pytest.approx(scale * a.se, abs=1e-6) == b.se


def test_one_group_has_a_mean_and_no_interval():
    e = estimate_mean([1, 2, 3], ["a", "a", "a"], low=0, high=5)
    assert (2.0, None, None, None, 3, 1) == tuple(e)[:6]
    assert (0, 1, "one group only: no interval") == (e.df, e.effective_groups, e.reason)
    assert estimate_mean([3], ["a"]).se is None


def test_two_groups_have_one_degree_of_freedom():
    m = cluster_mean([1, 3], ["a", "b"])
    assert 1 == m.df
    assert pytest.approx((2 - 12.7062047, 2 + 12.7062047)) == t_interval(m.value, m.se, m.df)
    bounded = estimate_mean([1, 3], ["a", "b"], low=0, high=5)
    assert wilson(2, 1, 1, low=0, high=5)[:2] == (bounded.low, bounded.high)


@pytest.mark.parametrize("limits", [{}, {"low": 0}, {"high": 9}])
def test_without_two_limits_fewer_than_ten_effective_groups_have_no_interval(limits):
    """Nine cases, or sixty of which one holds most of the items."""
    y = np.random.default_rng(4).uniform(0, 5, 120)
    giant = np.minimum(np.arange(120), 60)[::-1]
    for values, groups in ((y[:9], range(9)), (y, giant)):
        e = estimate_mean(values, groups, **limits)
        assert (None, None) == (e.low, e.high)
        assert e.se > 0
        assert "no interval: fewer than 10 effective groups, and the metric has no two limits" == e.reason
    assert estimate_mean(y[:10], range(10), **limits).reason is None
    assert estimate_mean(y, giant, low=0, high=5).reason is None


@given(
    st.floats(-5, 5),
    st.floats(0.01, 3),
    st.floats(1, 80),
    st.floats(-3, 3),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_the_skewed_interval_is_the_wider_of_t_and_the_inverse_of_halls_cubic(value, se, df, skewness, level):
    """Hall's ends: value - T SE where T + a T^2 + a^2 T^3 / 3 + a / 2 = -/+ t, a a third of the skewness."""
    a = skewness / 3
    quantile = stdtrit(df, 0.5 + level / 2)
    far = 10 * (quantile + abs(a) + 1) ** 3 / max(abs(a), 1e-3) ** 2
    roots = [
        brentq(lambda x, t=t: x + a * x**2 + a**2 * x**3 / 3 + a / 2 - t, -far, far, xtol=1e-12, rtol=1e-12)
        for t in (quantile, -quantile)
    ]
    found = skewed_interval(value, se, df, skewness=skewness, level=level)
    by_t = t_interval(value, se, df, level=level)
    low, high = (value - x * se for x in roots)
    expected = [min(low, by_t.low), max(high, by_t.high)]
    assert pytest.approx(expected, rel=1e-6, abs=1e-6) == list(found)


def test_a_skewed_interval_leans_to_the_tail_mirrors_and_without_skewness_is_t():
    right, left = (skewed_interval(0, 1, 20, skewness=s) for s in (0.6, -0.6))
    plain = t_interval(0, 1, 20)
    assert plain == skewed_interval(0, 1, 20, skewness=0)
    assert plain.low == right.low < plain.high < right.high
    assert pytest.approx((-right.high, -right.low)) == left
    assert (right.low, 1) == skewed_interval(0, 1, 20, skewness=0.6, high=1)
    with pytest.raises(ValueError, match="skewness must be a finite number"):
        skewed_interval(0, 1, 20, skewness=math.nan)


def test_all_equal_has_no_error_and_wilson_still_has_a_width():
    e = estimate_mean([0.3] * 12, np.arange(12), low=0, high=1)
    assert e.se == 0
    assert 12 == wilson(0.3, 0, 11, low=0, high=1).n_effective
    assert e.low < 0.3 < e.high


def test_spread_that_is_only_rounding_counts_as_none():
    """0.1 + 0.2 is not 0.3; taken at its word it would give an interval of width 1e-16."""
    e = estimate_mean([0.3, 0.1 + 0.2] * 6, np.arange(12), low=0, high=1)
    assert e.se == 0
    assert e.high - e.low > 0.1


@pytest.mark.parametrize("value", [0, 5, 1e-13, 5 - 1e-12, 5 + 1e-13])
def test_wilson_at_a_limit_uses_the_effective_groups(value):
    w = wilson(value, 0.2, 41, low=0, high=5)
    assert 42 == w.n_effective
    assert (w.low == 0) == (value < 1)
    assert (w.high == 5) == (value > 1)


def test_wilson_never_has_fewer_effective_answers_than_effective_groups():
    assert 3.5 == wilson(0.5, 0.6, 2.5, low=0, high=1).n_effective
    assert 20 == wilson(0.5, 0.4, 19, low=0, high=1).n_effective


@given(st.floats(0, 1), st.floats(0, 0.5), st.floats(1, 500), st.floats(-10, 10), st.floats(0.1, 100))
def test_wilson_stays_in_the_range_holds_the_value_and_mirrors(m, s, df, a, span):
    b = a + span
    value = min(b, a + m * span)
    w = wilson(value, s * span, df, low=a, high=b)
    assert a <= w.low <= value + 1e-9
    assert value - 1e-9 <= w.high <= b
    mirrored = wilson(-value, s * span, df, low=-b, high=-a)
    assert (pytest.approx(-w.high, abs=1e-6), pytest.approx(-w.low, abs=1e-6)) == mirrored[:2]


def test_a_higher_level_is_wider():
    narrow, wide = wilson(4, 0.1, 30, low=0, high=5, level=0.9), wilson(4, 0.1, 30, low=0, high=5, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert t_interval(4, 0.1, 29, level=0.9).low > t_interval(4, 0.1, 29, level=0.99).low


def test_one_limit_clips_the_t_interval_on_its_side_only():
    y = [0] * 9 + [1, 1, 50]
    e, free = estimate_mean(y, np.arange(12), low=0), estimate_mean(y, np.arange(12))
    assert (0, free.high) == (e.low, e.high)
    assert free.low < 0
    assert e.method == "t, widened for skewness, CR2 by group"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_are_refused_with_their_position(bad):
    with pytest.raises(ValueError, match=r"values holds .* at position 2"):
        cluster_mean([1, 2, bad, bad], [0, 1, 2, 3])
    with pytest.raises(ValueError, match=r"weights holds .* at position 1"):
        cluster_mean([1, 2], [0, 1], weights=[1, bad])
    with pytest.raises(ValueError, match=r"values holds .* at position 0"):
        estimate_mean([bad], [0], low=0, high=5)


@pytest.mark.parametrize(
    "groups", [["a", None, "b"], [0.0, float("nan"), 1.0], np.array([1, np.nan, "x"], object)]
)
def test_a_missing_group_is_refused_with_its_position(groups):
    with pytest.raises(ValueError, match="no label at position 1"):
        cluster_mean([1, 2, 3], groups)


def test_nothing_and_misfits_are_refused():
    with pytest.raises(ValueError, match="values is empty"):
        cluster_mean([], [])
    with pytest.raises(ValueError, match=r"groups has the shape \(2,\)"):
        cluster_mean([1, 2, 3], [0, 1])
    with pytest.raises(ValueError, match="weights has 1 entries, 2 are needed"):
        cluster_mean([1, 2], [0, 1], weights=[1])
    with pytest.raises(ValueError, match=r"weights holds 0.0 at position 1: leave out"):
        cluster_mean([1, 2], [0, 1], weights=[1, 0])
    with pytest.raises(ValueError, match="one dimension"):
        cluster_mean([[1, 2]], [0])
    with pytest.raises(ValueError, match=r"holds 5.5 at position 1, outside the limits 0 to 5"):
        estimate_mean([5, 5.5], [0, 1], low=0, high=5)


def test_intervals_refuse_what_is_out_of_range():
    with pytest.raises(ValueError, match="df must be at least 1"):
        t_interval(0, 1, 0)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        t_interval(0, 1, 3, level=95)
    with pytest.raises(ValueError, match="outside the metric's limits"):
        t_interval(6, 1, 3, high=5)
    with pytest.raises(ValueError, match="se must be"):
        t_interval(0, float("nan"), 3)
    with pytest.raises(ValueError, match="value must be"):
        wilson(float("nan"), 1, 3, low=0, high=5)
    with pytest.raises(ValueError, match="df must be at least 1"):
        wilson(1, 1, 0.9, low=0, high=5)
    with pytest.raises(ValueError, match="outside the metric's limits"):
        wilson(5.1, 1, 9, low=0, high=5)
    with pytest.raises(ValueError, match="low below high"):
        wilson(1, 1, 9, low=5, high=0)
    with pytest.raises(ValueError, match="level must lie"):
        wilson(1, 1, 9, low=0, high=5, level=1)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_million_rows_give_the_closed_form(kind):
    """Ten rows a group that hold 0 … 9 have no spread; one value per group gives the SE of G values."""
    codes = np.repeat(np.arange(100_000), 10) * (1 if kind == "dense" else 10**6)
    assert cluster_mean(np.tile(np.arange(10), 100_000), codes).se == pytest.approx(0, abs=1e-9)
    y = np.repeat(np.random.default_rng(3).normal(size=100_000), 10)
    m = cluster_mean(y, codes)
    assert (10**6, 100_000) == (m.n, m.n_groups)
    assert pytest.approx(y[::10].std(ddof=1) / np.sqrt(100_000)) == m.se
