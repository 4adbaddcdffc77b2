"""Means, CR1 and intervals. Golden values: docs/statistics.md, sections 1 and 2."""

import subprocess
import sys

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.stats import cluster_mean, estimate_mean, t_interval, wilson


def near(expected, decimals):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


@pytest.mark.parametrize(
    ("model", "criterion", "mean", "se", "n_effective", "low", "high"),
    [
        ("Gemini 2.5 Pro", "comprehension", 4.14127, 0.09184, 421.6, 3.9403, 4.3108),
        ("Gemini 2.5 Pro", "harm", 4.89524, 0.04520, 251.0, 4.7586, 4.9553),
        ("MedGemma 27B", "demographic_bias", 5, 0, 42, 4.5574, 5),
        ("Gemini 2.5 Pro", "demographic_bias", 4.98730, 0.00986, 652.1, 4.9467, 4.9970),
    ],
)
def test_golden_wilson_of_the_published_marks(items, model, criterion, mean, se, n_effective, low, high):
    data = items(model, criterion)
    e = estimate_mean(data.values, data.groups, low=0, high=5)
    assert near(mean, 5) == e.value
    assert near(se, 5) == e.se
    assert (63, 42) == (e.n, e.n_groups)
    assert near(n_effective, 1) == wilson(e.value, e.se, 42, low=0, high=5).n_effective
    assert (near(low, 4), near(high, 4)) == (e.low, e.high)
    assert e.method == "Wilson, effective size, CR1 by group"


@pytest.mark.parametrize(
    ("model", "criterion", "low", "high"),
    [("Gemini 2.5 Pro", "comprehension", 3.9558, 4.3267), ("MedGemma 27B", "demographic_bias", 5, 5)],
)
def test_golden_t_interval_of_the_published_marks(items, model, criterion, low, high):
    data = items(model, criterion)
    e = estimate_mean(data.values, data.groups)
    assert (near(low, 4), near(high, 4)) == (e.low, e.high)
    assert e.method == "t, CR1 by group"


def test_golden_t_overshoots_a_ceiling_unless_it_is_clipped(items):
    data = items("Gemini 2.5 Pro", "demographic_bias")
    assert near(5.0072, 4) == estimate_mean(data.values, data.groups).high
    assert estimate_mean(data.values, data.groups, high=5).high == 5


def test_golden_item_level_interval_is_narrower_than_the_group_level_one(items):
    values = items("Gemini 2.5 Pro").values
    e = estimate_mean(values, np.arange(63))
    assert (near(3.9958, 4), near(4.2867, 4)) == (e.low, e.high)


@pytest.mark.parametrize(
    ("rule", "mean", "se", "n_groups"),
    [
        ({}, 3.6459, 0.1546, 41),
        ({"unparsed": 0}, 3.4794, 0.1794, 42),
        ({"unparsed": 5}, 3.7016, 0.1520, 42),
        ({"blank": 0}, 3.4667, 0.1830, 42),
        ({"blank": None}, 3.6400, 0.1572, 40),
    ],
    ids=["observed", "failed as worst", "failed as best", "as delivered", "when answered"],
)
def test_golden_med42_under_each_rule_for_its_blank_answers(items, rule, mean, se, n_groups):
    data = items("Med42-70B", **rule)
    m = cluster_mean(data.values, data.groups)
    assert (near(mean, 4), near(se, 4)) == (m.value, m.se)
    assert n_groups == m.n_groups


def test_hand_worked_cr1():
    """Mean 2; residuals -1, 0 | 1, 0 sum to -1 and 1: SE^2 = 2/1 * (1 + 1) / 4^2."""
    m = cluster_mean([1, 2, 3, 2], ["x", "x", "y", "y"])
    assert (2.0, pytest.approx(0.5), 4, 2) == tuple(m)


def test_hand_worked_weights():
    """Mean (3*1 + 1*5) / 4 = 2; u = -3, 3: SE^2 = 2 * 18 / 16."""
    m = cluster_mean([1, 5], [0, 1], weights=[3, 1])
    assert (2.0, pytest.approx(1.5)) == (m.value, m.se)


@pytest.mark.parametrize("weighted", [False, True])
def test_cr1_is_that_of_statsmodels_but_for_its_factor(weighted):
    """Statsmodels multiplies by (n - 1) / (n - k) besides, which is 1 for a mean alone (k = 1)."""
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 30, 200)
    y = rng.normal(size=200) + rng.normal(size=30)[groups]
    w = rng.uniform(0.5, 2, 200) if weighted else np.ones(200)
    fit = sm.WLS(y, np.ones(200), weights=w).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}
    )
    m = cluster_mean(y, groups, weights=w)
    assert pytest.approx(fit.params[0], rel=1e-12) == m.value
    assert pytest.approx(fit.bse[0], rel=1e-12) == m.se


def test_cr1_with_one_item_per_group_is_the_ordinary_standard_error():
    y = np.random.default_rng(2).normal(size=50)
    assert pytest.approx(y.std(ddof=1) / np.sqrt(50)) == cluster_mean(y, np.arange(50)).se


def test_repeating_every_row_inside_its_group_changes_nothing():
    y, g = np.array([1.0, 4.0, 2.0, 2.5]), np.array([0, 0, 1, 2])
    once, twice = cluster_mean(y, g), cluster_mean(np.tile(y, 2), np.tile(g, 2))
    assert (pytest.approx(once.value), pytest.approx(once.se)) == (twice.value, twice.se)


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
    assert estimate_mean([3], ["a"]).se is None


def test_two_groups_have_one_degree_of_freedom():
    e = estimate_mean([1, 3], ["a", "b"])
    assert (pytest.approx(2 - 12.7062047), pytest.approx(2 + 12.7062047)) == (e.low, e.high)


def test_all_equal_has_no_error_and_wilson_still_has_a_width():
    e = estimate_mean([0.3] * 12, np.arange(12), low=0, high=1)
    assert e.se == 0
    assert 12 == wilson(0.3, 0, 12, low=0, high=1).n_effective
    assert e.low < 0.3 < e.high


def test_spread_that_is_only_rounding_counts_as_none():
    """0.1 + 0.2 is not 0.3; taken at its word it would give an interval of width 1e-16."""
    e = estimate_mean([0.3, 0.1 + 0.2] * 6, np.arange(12), low=0, high=1)
    assert e.se == 0
    assert e.high - e.low > 0.1


@pytest.mark.parametrize("value", [0, 5, 1e-13, 5 - 1e-12, 5 + 1e-13])
def test_wilson_at_a_limit_uses_the_number_of_groups(value):
    w = wilson(value, 0.2, 42, low=0, high=5)
    assert 42 == w.n_effective
    assert (w.low == 0) == (value < 1)
    assert (w.high == 5) == (value > 1)


def test_wilson_never_has_fewer_effective_answers_than_groups():
    assert 20 == wilson(0.5, 0.4, 20, low=0, high=1).n_effective


@given(st.floats(0, 1), st.floats(0, 0.5), st.integers(2, 500), st.floats(-10, 10), st.floats(0.1, 100))
def test_wilson_stays_in_the_range_holds_the_value_and_mirrors(m, s, n_groups, a, span):
    b = a + span
    value = min(b, a + m * span)
    w = wilson(value, s * span, n_groups, low=a, high=b)
    assert a <= w.low <= value + 1e-9
    assert value - 1e-9 <= w.high <= b
    mirrored = wilson(-value, s * span, n_groups, low=-b, high=-a)
    assert (pytest.approx(-w.high, abs=1e-6), pytest.approx(-w.low, abs=1e-6)) == mirrored[:2]


def test_a_higher_level_is_wider():
    narrow, wide = wilson(4, 0.1, 30, low=0, high=5, level=0.9), wilson(4, 0.1, 30, low=0, high=5, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert t_interval(4, 0.1, 29, level=0.9).low > t_interval(4, 0.1, 29, level=0.99).low


def test_one_limit_clips_the_t_interval_on_its_side_only():
    e = estimate_mean([0, 0, 1, 9], np.arange(4), low=0)
    assert e.low == 0
    assert pytest.approx(t_interval(e.value, e.se, 3).high) == e.high
    assert e.method == "t, CR1 by group"


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
    with pytest.raises(ValueError, match="n_groups must be at least 2"):
        wilson(1, 1, 1, low=0, high=5)
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


def test_the_layer_imports_neither_scipy_stats_nor_tables():
    code = (
        "import sys, vivavoce.stats; "
        "print([m for m in ('scipy.stats', 'pandas', 'polars', 'statsmodels') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
