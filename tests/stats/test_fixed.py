"""Means of exactly this exam. Golden values: docs/statistics.md. Oracle: Welch's t test of SciPy 1.17.1."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from vivavoce.stats.fixed_items import fixed_mean


def near(expected, decimals=4):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def test_golden_fixed_population_error_of_gemini(judge_scores):
    rows = [
        (float(r["comprehension"]), r["question_id"]) for r in judge_scores if r["model"] == "Gemini 2.5 Pro"
    ]
    f = fixed_mean(*map(list, zip(*rows, strict=True)))
    assert (near(4.14127, 5), near(0.0221), 63, 315) == (f.value, f.se, f.n, f.n_rows)
    assert f.interval().low < f.value < f.interval().high
    macro = fixed_mean(
        [y for y, _ in rows],
        [i for _, i in rows],
        weights=[{"c1": 1 / 11, "c2": 1 / 10, "c3": 1 / 21, "c5": 1 / 21}[i[:2]] for _, i in rows],
    )
    assert near(4.1209) == macro.value


def test_hand_worked_fixed_mean():
    """Means 2 and 5; variances 2 of two and 1 of three: SE^2 = (2/2 + 1/3) / 4; df = (4/3)^2 / (1 + 1/18)."""
    f = fixed_mean([1, 3, 4, 5, 6], list("aabbb"))
    assert (3.5, pytest.approx(math.sqrt(1 / 3)), pytest.approx((16 / 9) / (1 + 1 / 18)), 2, 5) == tuple(f)


def test_equal_repeats_have_welchs_degrees_of_freedom():
    f = fixed_mean([1, 3, 4, 6, 0, 2], list("aabbcc"))
    assert pytest.approx(3) == f.df


def test_weights_of_items_are_on_any_scale():
    y, i, w = [1, 3, 4, 5, 6], list("aabbb"), np.array([2, 2, 1, 1, 1])
    a, b = fixed_mean(y, i, weights=w), fixed_mean(y, i, weights=7 * w)
    assert (pytest.approx(3), pytest.approx(a.se), pytest.approx(a.df)) == (a.value, b.se, b.df)


def test_what_was_not_repeated_has_no_error_and_what_never_differs_no_interval():
    f = fixed_mean([1, 2, 3], list("aab"))
    assert (2.25, None, None, None) == (f.value, f.se, f.df, f.interval())
    same = fixed_mean([0.1 + 0.2, 0.3, 2, 2], list("aabb"))
    assert (0.0, None, None) == (same.se, same.df, same.interval())


def test_fixed_misfits_are_refused():
    with pytest.raises(ValueError, match="values holds nan at position 0"):
        fixed_mean([float("nan")], ["a"])
    with pytest.raises(ValueError, match="weights differs inside one of the items, at position"):
        fixed_mean([1, 2, 3], list("aab"), weights=[1, 2, 1])
    with pytest.raises(ValueError, match=r"weights holds -1\.0 at position 1"):
        fixed_mean([1, 2], list("aa"), weights=[1, -1])
    with pytest.raises(ValueError, match="items has no label at position 1"):
        fixed_mean([1, 2], ["a", None])


def test_two_items_have_the_error_and_df_of_welchs_test():
    """The mean of a and b varies as half their difference does."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 5), rng.normal(0, 3, 9)
    welch = ttest_ind(a, b, equal_var=False)
    f = fixed_mean(np.r_[a, b], ["a"] * 5 + ["b"] * 9)
    assert pytest.approx(welch.df) == f.df
    assert pytest.approx((a.mean() - b.mean()) / welch.statistic / 2) == f.se


def test_order_and_names_do_not_matter():
    y, i = np.random.default_rng(2).normal(size=30), np.arange(30) // 3
    a, b = fixed_mean(y, i), fixed_mean(y[::-1], [f"q{9 - k}" for k in i[::-1]])
    assert pytest.approx(tuple(a)) == tuple(b)


def test_nothing_is_refused_and_a_million_rows_are_no_matter():
    with pytest.raises(ValueError, match="values is empty"):
        fixed_mean([], [])
    f = fixed_mean(np.random.default_rng(3).normal(size=10**6), np.arange(10**6) // 5)
    assert pytest.approx(0.001, rel=0.01) == f.se
    assert (200_000, 10**6) == (f.n, f.n_rows)
