"""Variance components of one model. Golden values: docs/statistics.md, section 4."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway
from tests.lazy import lazy_module

from vivavoce.stats.jackknife import by_group_jackknife
from vivavoce.stats.variance import (
    Component,
    crossed_variance,
    item_variance,
    nested_variance,
    pass_variance,
    repeats_worth_interval,
)

mixed_linear_model = lazy_module("statsmodels.regression.mixed_linear_model")


def near(expected, decimals=5):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


KEYS = ("question_id", "group")


@pytest.fixture(scope="module")
def marks(judge_scores):
    """A model's readable scores of the items it has five of: values, items, groups, row by row."""

    def of(model, criterion="comprehension"):
        rows = [row for row in judge_scores if row["model"] == model and row["parse_status"] == "ok"]
        names = [row["question_id"] for row in rows]
        rows = [row for row in rows if names.count(row["question_id"]) == 5]
        columns = ([float(row[criterion]) for row in rows], *([r[c] for r in rows] for c in KEYS))
        return tuple(np.array(column) for column in columns)

    return of


@pytest.mark.parametrize(
    ("model", "mean", "between", "within", "s2_item", "one", "five"),
    [
        ("Gemini 2.5 Pro", 4.14127, 1.66715, 0.15317, 0.30280, 0.08507, 0.07275),
        ("Claude 3.5 Sonnet", 4.05079, 2.45786, 0.19365, 0.45284, 0.10130, 0.08833),
        ("Llama 3.1-8B-Instruct", 3.35238, 3.04977, 0.48730, 0.51249, 0.12598, 0.09840),
        ("MedGemma 27B", 3.95397, 1.51585, 0.29603, 0.24396, 0.09258, 0.06937),
        ("NVLM-70B", 3.25079, 6.85141, 0.06508, 1.35727, None, None),
        ("Med42-70B", 3.64000, 4.79864, 0.05833, 0.94806, None, None),
    ],
)
def test_golden_items_and_repeats(marks, model, mean, between, within, s2_item, one, five):
    values, items, _ = marks(model)
    v = item_variance(values, items)
    assert near(mean) == values.mean()
    assert (near(between), near(within), near(within)) == (v.ms_item, v.ms_within, v.s2_within)
    assert Component(near(s2_item), near(s2_item)) == v.s2_item
    assert (5, 60 if model == "Med42-70B" else 63) == (v.repeats, v.n_items)
    if one is not None:
        assert (near(one), near(five)) == (v.se(1), v.se(5))


@pytest.mark.parametrize(
    ("model", "s2_group", "s2_item", "s2_repeat", "n0", "n_groups"),
    [
        ("Gemini 2.5 Pro", 0.27905, 0.02675, 0.15317, 1.49593, 42),
        ("Claude 3.5 Sonnet", 0.24660, 0.20889, 0.19365, 1.49593, 42),
        ("Llama 3.1-8B-Instruct", 0.49432, 0.02349, 0.48730, 1.49593, 42),
        ("MedGemma 27B", 0.15435, 0.09127, 0.29603, 1.49593, 42),
        ("NVLM-70B", 0.71126, 0.65365, None, 1.49593, 42),
        ("Med42-70B", 0.61973, 0.33533, None, 1.49573, 40),
    ],
)
def test_golden_groups_items_and_repeats(marks, model, s2_group, s2_item, s2_repeat, n0, n_groups):
    values, items, groups = marks(model)
    v = nested_variance(values, items, groups=groups)
    assert (near(s2_group), near(s2_item)) == (v.s2_group.raw, v.s2_item.raw)
    assert s2_repeat is None or near(s2_repeat) == v.s2_within
    assert (near(n0), 5, n_groups) == (v.items_per_group, v.repeats, v.n_groups)


def test_golden_noise_of_the_judge_is_a_fifth_of_the_variance_between_repeats(marks):
    """.06508 and .05833 (identical text) of .29038 (other models' texts): 20 to 22 %."""
    noise = [item_variance(*marks(model)[:2]).s2_within for model in ("Med42-70B", "NVLM-70B")]
    assert [0.20, 0.22] == [round(one / 0.29038, 2) for one in noise]


def test_balanced_components_are_those_of_restricted_likelihood(marks):
    """statsmodels 0.15: MixedLM by REML, which meets the analysis of variance where data are balanced."""
    values, items, _ = marks("Gemini 2.5 Pro")
    fit = mixed_linear_model.MixedLM(values, np.ones(len(values)), groups=items).fit(reml=True)
    v = item_variance(values, items)
    assert pytest.approx(v.s2_item.value, rel=1e-3) == float(fit.cov_re[0, 0])
    assert pytest.approx(v.s2_within, rel=1e-3) == float(fit.scale)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=2, max_size=8))
def test_mean_squares_are_those_of_scipys_analysis_of_variance(table):
    """scipy 1.17: f_oneway, unequal numbers too."""
    values, items = np.concatenate(table), np.repeat(range(len(table)), [len(row) for row in table])
    v = item_variance(values, items)
    if v.ms_within:
        assert pytest.approx(f_oneway(*table).statistic, abs=1e-9) == v.ms_item / v.ms_within


def expectations(*levels):
    """Factors of the components in the expected mean squares, from traces: levels from coarse to fine."""
    n = len(levels[0])
    designs = [(labels[:, None] == np.unique(labels)).astype(float) for labels in levels] + [np.eye(n)]
    spaces = [x @ np.linalg.pinv(x) for x in (np.ones((n, 1)), *designs)]
    squares = [(finer - coarser) for coarser, finer in itertools.pairwise(spaces)]
    return np.array([[np.trace(q @ x @ x.T) / np.trace(q) for x in designs] for q in squares])


def test_unequal_numbers_are_solved_by_hendersons_coefficients():
    """Expected mean squares of the quadratic forms themselves, solved."""
    rng = np.random.default_rng(5)
    items = np.repeat(range(9), [1, 3, 2, 5, 2, 1, 4, 2, 3])
    groups = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3])[items]
    y = rng.normal(size=len(items)) + rng.normal(size=9)[items] + rng.normal(size=4)[groups]
    v = nested_variance(y, items, groups=groups)
    s2 = np.linalg.solve(expectations(groups, items), [v.ms_group, v.ms_item, v.ms_within])
    assert pytest.approx(s2) == [v.s2_group.raw, v.s2_item.raw, v.s2_within]
    one = item_variance(y, items)
    s2 = np.linalg.solve(expectations(items), [one.ms_item, one.ms_within])
    assert pytest.approx(s2) == [one.s2_item.raw, one.s2_within]
    assert pytest.approx(expectations(items)[0, 0]) == one.repeats


def test_hand_worked_items_and_repeats():
    """Means 2 and 6, R = 2: MSB 2 * 8; MSW (2 + 2) / 2 = 2; s2_item 7; SE^2 for R = 4: (7 + .5) / 2."""
    v = item_variance([1, 3, 5, 7], ["a", "a", "b", "b"])
    assert (16, 2, Component(7, 7), 2, 2, 2, 4) == tuple(v)
    assert pytest.approx(3.75**0.5) == v.se(4)


def test_a_negative_component_is_reported_raw_beside_its_zero():
    v = item_variance([1, 5, 5, 1], [0, 0, 1, 1])
    assert Component(0.0, -4.0) == v.s2_item
    assert pytest.approx(2.0) == v.se(1)
    n = nested_variance([1, 5, 5, 1, 3, 3], [0, 0, 1, 1, 2, 2], groups=[0, 0, 0, 0, 1, 1])
    assert n.s2_item.raw < 0
    assert 0 == n.s2_item.value


def test_without_a_second_repeat_items_and_repeats_are_one():
    v = item_variance([1, 2, 4], [0, 1, 2])
    assert (pytest.approx(7 / 3), None, None, None, 1) == v[:5]
    assert v.se(5) is None
    n = nested_variance([1, 2, 4, 6], [0, 1, 2, 3], groups=[0, 0, 1, 1])
    assert (None, None) == (n.s2_item, n.s2_within)
    assert pytest.approx((n.ms_group - n.ms_item) / 2) == n.s2_group.raw


def test_one_item_and_one_group_have_nothing_to_vary_between():
    v = item_variance([1, 2, 3], ["a"] * 3)
    assert (None, 1.0, None, 1.0, 3, 1, 3) == tuple(v)
    assert item_variance([2], ["a"]).s2_within is None
    n = nested_variance([1, 2, 3, 3], [0, 0, 1, 1], groups=["g"] * 4)
    assert (None, None, None) == (n.ms_group, n.s2_group, n.items_per_group)
    assert n.s2_item is not None


def test_one_item_to_each_group_cannot_tell_them_apart():
    n = nested_variance([1, 2, 3, 5], [0, 0, 1, 1], groups=[0, 0, 1, 1])
    assert (None, None, None, None) == (n.ms_item, n.s2_item, n.s2_group, n.repeats)
    assert n.ms_group == item_variance([1, 2, 3, 5], [0, 0, 1, 1]).ms_item
    assert n.ms_within is not None


def test_identical_repeats_have_no_variance_whatever_the_last_digit():
    v = item_variance([0.3, 0.1 + 0.2, 0.3, 0.7, 0.7, 0.7], [0, 0, 0, 1, 1, 1])
    assert 0.0 == v.s2_within
    assert (0.0, 0.0, Component(0.0, 0.0)) == item_variance([0.1] * 6, [0, 0, 0, 1, 1, 1])[:3]


rows = st.lists(st.tuples(st.integers(0, 5), st.floats(-5, 5)), min_size=1, max_size=30)


@given(rows, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(data, random):
    items, y = (np.array(column) for column in zip(*data, strict=True))
    groups = items % 3
    order = random.sample(range(len(y)), len(y))
    names = np.array([f"q{(5 * i + 2) % 7}" for i in items])
    one = nested_variance(y, items, groups=groups)
    two = nested_variance(y[order], names[order], groups=[f"g{g}" for g in groups[order]])
    for a, b in zip(one, two, strict=True):
        assert a is b or pytest.approx(a, abs=1e-9) == b


@given(rows, st.floats(0.1, 10), st.floats(-50, 50))
def test_another_unit_scales_every_component(data, factor, shift):
    items, y = (np.array(column) for column in zip(*data, strict=True))
    one, two = item_variance(y, items), item_variance(factor * y + shift, items)
    assert (one.s2_item is None) == (two.s2_item is None)
    if one.s2_item is not None:
        assert pytest.approx(factor**2 * one.s2_item.raw, abs=1e-6) == two.s2_item.raw
        assert pytest.approx(factor**2 * one.s2_within, abs=1e-6) == two.s2_within


def test_hand_worked_passes():
    """One item, responses scored (1, 3) and (5, 7): s2_j 2, s2_w of the means 2 and 6 is 8, less 2 / 2."""
    v = pass_variance([1, 3, 5, 7], ["x", "x", "y", "y"], items=["q"] * 4)
    assert (16, 2, 2, 8, Component(7, 7), 2) == v[:6]
    assert (1, 2, 4) == v[6:]


def test_passes_are_taken_out_of_the_variance_between_repeats():
    """Simulated: 4,000 items, 2 responses, 3 passes; sampling .5, judge .2."""
    rng = np.random.default_rng(7)
    responses = np.repeat(np.arange(8_000), 3)
    items = responses // 2
    y = (
        rng.normal(size=4_000)[items]
        + rng.normal(0, 0.5**0.5, 8_000)[responses]
        + rng.normal(0, 0.2**0.5, 24_000)
    )
    v = pass_variance(y, responses, items=items)
    means = item_variance(y.reshape(-1, 3).mean(axis=1), items[::3])
    assert pytest.approx(means.s2_within) == v.s2_within
    assert pytest.approx(v.s2_within - v.s2_pass / 3) == v.s2_sampling.raw
    assert pytest.approx((0.2, 0.5), rel=0.05) == (v.s2_pass, v.s2_sampling.value)


def test_one_pass_or_one_response_cannot_part_judge_from_model():
    one_pass = pass_variance([1, 2, 3, 5], [0, 1, 2, 3], items=[0, 0, 1, 1])
    assert (None, None) == (one_pass.s2_pass, one_pass.s2_sampling)
    assert item_variance([1, 2, 3, 5], [0, 0, 1, 1]).s2_within == one_pass.s2_within
    one_response = pass_variance([1, 2, 3, 5], [0, 0, 1, 1], items=[0, 0, 1, 1])
    assert (None, None, None, 1.25) == (
        one_response.s2_within,
        one_response.s2_sampling,
        one_response.passes,
        one_response.s2_pass,
    )


def test_a_judge_noisier_than_the_repeats_leaves_less_than_nothing():
    v = pass_variance([1, 5, 5, 1], [0, 0, 1, 1], items=[0] * 4)
    assert Component(0.0, -4.0) == v.s2_sampling


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="values is empty"):
        item_variance([], [])
    with pytest.raises(ValueError, match="values holds nan at position 1"):
        item_variance([1, float("nan")], [0, 0])
    with pytest.raises(ValueError, match="items has no label at position 0"):
        item_variance([1, 2], [None, "a"])
    with pytest.raises(ValueError, match=r"items has the shape \(1,\), \(2,\) is needed"):
        nested_variance([1, 2], ["a"], groups=[0, 0])
    with pytest.raises(ValueError, match="item a lies in two groups: once at position 0"):
        nested_variance([1, 2], ["a", "a"], groups=[0, 1])
    with pytest.raises(ValueError, match="response a lies in two items"):
        pass_variance([1, 2], ["a", "a"], items=[0, 1])
    with pytest.raises(ValueError, match="repeats must be at least 1"):
        item_variance([1, 2], [0, 0]).se(0)


def crossed(n, seed=4):
    """Three models, n items and four repeats, and cases of two items."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((1, n)) + rng.standard_normal((3, n))
    return means[:, :, None] + 1.5 * rng.standard_normal((3, n, 4)), np.arange(n) // 2


def test_the_interval_of_what_repeats_are_worth_leaves_out_one_case_at_a_time():
    values, cases = crossed(30)

    def log_ratio(items):
        parts = crossed_variance(values[:, items])
        return float(np.log(parts.ms_interaction / parts.ms_within))

    by_hand = by_group_jackknife(log_ratio, cases, scale="raw")
    expected = [1 + 3 / np.exp(end) for end in (by_hand.high, by_hand.low)]
    assert pytest.approx(expected, abs=1e-9) == repeats_worth_interval(values, cases)


def test_repeats_are_worth_one_to_their_number():
    """Where items tell candidates apart no more than repeats do, the upper end is R."""
    values = np.random.default_rng(1).standard_normal((3, 40, 4))
    low, high = repeats_worth_interval(values, np.arange(40))
    assert 1 < low < high == 4


def test_what_repeats_are_worth_has_no_interval_without_spread_cases_or_repeats():
    values, cases = crossed(30)
    assert None is repeats_worth_interval(values[:, :18], cases[:18])
    assert None is repeats_worth_interval(values[:1], cases)
    assert None is repeats_worth_interval(values[:, :, :1], cases)
    assert None is repeats_worth_interval(np.repeat(values[:, :, :1], 4, axis=2), cases)
    assert None is repeats_worth_interval(np.ones((3, 30, 4)), cases)
    with pytest.raises(ValueError, match="groups has the shape"):
        repeats_worth_interval(values, cases[:-1])
