"""Variance of several models on common items. Golden values: docs/statistics.md, section 4."""

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lazy import lazy_module

from vivavoce.stats.variance import Component, crossed_variance, item_variance

pd = lazy_module("pandas")
anova, formula = lazy_module("statsmodels.stats.anova"), lazy_module("statsmodels.formula.api")

# Their repeats are one text each, or they are no candidate.
LEFT_OUT = {"NVLM-70B", "Med42-70B", "Rephrased Gold Answers"}


def near(expected, decimals=5):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def cube(rows, column):
    """Models by items by repeats."""
    cells = {}
    for row in rows:
        if row["model"] not in LEFT_OUT:
            cells.setdefault((row["model"], row["question_id"]), []).append(float(row[column]))
    models, items = (sorted(set(keys)) for keys in zip(*cells, strict=True))
    return [[cells[model, item] for item in items] for model in models]


def test_golden_comprehension_of_eight_models(judge_scores):
    v = crossed_variance(cube(judge_scores, "comprehension"))
    assert (8, 63, 5) == (v.n_models, v.n_items, v.n_repeats)
    squares = (v.ms_model, v.ms_item, v.ms_interaction, v.ms_within)
    assert (near(136.29942), near(9.09630), near(1.64447), near(0.29038)) == squares
    assert (near(0.18630), near(0.27082), near(0.29038)) == three(v)


def test_golden_harm_of_eight_models(judge_scores):
    assert (near(0.11125), near(0.14462), near(0.23591)) == three(
        crossed_variance(cube(judge_scores, "harm"))
    )


def test_golden_medsynf1_of_eight_models(hivmedqa):
    with (hivmedqa / "questions.jsonl").open(encoding="utf-8") as lines:
        subset = {q["id"] for q in map(json.loads, lines) if q["paper_subset"]}
    with (hivmedqa / "f1.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["variant"] == "gptdict_lemma" and row["question_id"] in subset
        ]
    v = crossed_variance(cube(rows, "f1"))
    assert (8, 63, 5) == (v.n_models, v.n_items, v.n_repeats)
    assert (near(0.01018), near(0.00219), near(0.00313)) == three(v)


def three(v):
    return v.s2_item.raw, v.s2_interaction.raw, v.s2_within


def test_mean_squares_are_those_of_statsmodels():
    """statsmodels 0.15: anova_lm of the two-way model with interaction."""
    y = np.random.default_rng(3).normal(size=(3, 5, 4))
    model, item = (axis.ravel() for axis in np.indices(y.shape)[:2])
    data = pd.DataFrame({"y": y.ravel(), "model": model, "item": item})
    expected = anova.anova_lm(formula.ols("y ~ C(model) * C(item)", data).fit())["mean_sq"]
    v = crossed_variance(y)
    assert pytest.approx(expected.to_list()) == [v.ms_model, v.ms_item, v.ms_interaction, v.ms_within]
    assert pytest.approx((v.ms_model - v.ms_interaction) / 20) == v.s2_model.raw


def test_hand_worked():
    """Cell means 1 3 | 3 9: rows 2 6, columns 2 6, rest 1 throughout; each cell -/+ 1."""
    v = crossed_variance([[[0, 2], [2, 4]], [[2, 4], [8, 10]]])
    assert (32, 32, 8, 2) == (v.ms_model, v.ms_item, v.ms_interaction, v.ms_within)
    assert (Component(6, 6), Component(6, 6), Component(3, 3), 2) == v[4:8]


def test_a_negative_component_is_reported_raw_beside_its_zero():
    v = crossed_variance([[[0, 2], [0, 2]], [[0, 2], [0, 2]]])
    assert Component(0.0, -1.0) == v.s2_interaction


def test_one_repeat_cannot_part_interaction_from_repeats():
    v = crossed_variance([[[1], [3]], [[3], [9]]])
    assert (None, None, None) == (v.ms_within, v.s2_interaction, v.s2_within)
    assert Component(6, 6) == v.s2_item


def test_one_model_has_no_interaction():
    v = crossed_variance([[[1, 3], [5, 7]]])
    one = item_variance([1, 3, 5, 7], [0, 0, 1, 1])
    assert (one.ms_item, one.ms_within) == (v.ms_item, v.ms_within)
    assert (None, None, None, None) == (v.ms_model, v.ms_interaction, v.s2_item, v.s2_interaction)
    assert crossed_variance([[[1, 3]], [[5, 7]]]).s2_model is None


cubes = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(st.floats(0, 5), min_size=math.prod(shape), max_size=math.prod(shape)).map(
        lambda flat: np.reshape(flat, shape)
    )
)


@given(cubes, st.randoms(use_true_random=False))
def test_order_of_models_items_and_repeats_does_not_matter(y, random):
    moved = y
    for axis, size in enumerate(y.shape):
        moved = np.take(moved, random.sample(range(size), size), axis=axis)
    for a, b in zip(crossed_variance(y), crossed_variance(moved), strict=True):
        assert a is b or pytest.approx(a, abs=1e-9) == b


def test_what_is_not_complete_is_refused():
    with pytest.raises(ValueError, match="ragged: keep the items that every model answered equally often"):
        crossed_variance([[[1, 2], [1]]])
    with pytest.raises(ValueError, match="three dimensions, models, items, repeats, not 2"):
        crossed_variance([[1, 2]])
    with pytest.raises(ValueError, match="values is empty"):
        crossed_variance(np.empty((2, 0, 3)))
    with pytest.raises(ValueError, match="values holds nan at position 1"):
        crossed_variance([[[1, float("nan")]]])
