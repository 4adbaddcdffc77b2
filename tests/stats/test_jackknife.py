"""Delete-one-group intervals. docs/statistics.md, section 6."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from tests.stats.matrices import by_matrices

from vivavoce.stats import cluster_mean, t_interval
from vivavoce.stats.agreement import krippendorff_alpha
from vivavoce.stats.jackknife import Jackknife, by_group_jackknife, labels_for_coefficient

VALUES = np.array([0.1, 0.5, 0.3, 0.7])


def mean(rows):
    return float(VALUES[rows].mean())


def test_raw_jackknife_of_a_mean_is_the_ordinary_t_interval():
    """Tukey's own check: SE^2 = s^2 / n."""
    j, m = by_group_jackknife(mean, range(4), scale="raw"), cluster_mean(VALUES, range(4))
    assert (pytest.approx(m.value), pytest.approx(m.se)) == (j.value, j.se)
    assert pytest.approx(t_interval(m.value, m.se, 3)) == (j.low, j.high)


def test_hand_worked_z():
    """z of .4 without each: (1.5, 1.1, 1.3, .9) / 3."""
    j = by_group_jackknife(mean, ["a", "b", "c", "d"], level=0.9)
    without = [math.atanh(s / 3) for s in (1.5, 1.1, 1.3, 0.9)]
    se = math.sqrt(3 / 4 * sum((z - sum(without) / 4) ** 2 for z in without))
    half = stdtrit(3, 0.95) * se
    assert (pytest.approx(0.4), pytest.approx(se), 4, 0, "z") == (j.value, *j[3:])
    assert pytest.approx(math.tanh(math.atanh(0.4) - half)) == j.low
    assert pytest.approx(math.tanh(math.atanh(0.4) + half)) == j.high


def test_whole_groups_go():
    """Twins repeated inside their group add nothing."""
    twice = by_group_jackknife(lambda rows: mean(rows // 2), np.repeat(range(4), 2))
    assert pytest.approx(tuple(by_group_jackknife(mean, range(4)))[:4]) == tuple(twice)[:4]


@given(st.permutations(range(12)), st.lists(st.integers(0, 4), min_size=12, max_size=12))
def test_order_of_rows_and_names_of_groups_do_not_matter(order, groups):
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 12)
    table = np.stack([truth, truth + rng.integers(0, 2, 12)], axis=1)
    moved, labels = table[order], [f"case {groups[row]}" for row in order]
    one = by_group_jackknife(lambda rows: krippendorff_alpha(table[rows], "ordinal").value, groups)
    two = by_group_jackknife(lambda rows: krippendorff_alpha(moved[rows], "ordinal").value, labels)
    assert one[4:] == two[4:]
    for a, b in zip(one[:4], two[:4], strict=True):
        assert a is b or pytest.approx(a) == b


def test_the_interval_of_alpha_lies_inside_its_limits(judge_scores):
    """Scores with the reference by two passes of the judge, 42 groups."""
    marks = {}
    for row in judge_scores:
        if row["model"] == "NVLM-70B" and row["iteration"] in ("1", "2"):
            marks.setdefault((row["question_id"], row["group"]), []).append(float(row["harm"]))
    table, groups = np.array(list(marks.values())), [group for _, group in marks]
    j = by_group_jackknife(lambda rows: krippendorff_alpha(table[rows], "ordinal").value, groups)
    assert 42 == j.n_groups
    assert -1 < j.low < j.value < j.high < 1


def test_one_group_has_a_value_and_no_interval():
    assert Jackknife(0.4, None, None, None, 1, 0, "z") == by_group_jackknife(lambda _: 0.4, ["a", "a"])


def test_full_agreement_has_no_interval_on_z():
    for value in (1.0, -1.0, None):
        j = by_group_jackknife(lambda _, v=value: v, range(5))
        assert (value, None, None, None, 5, 5) == j[:6]


def test_one_group_that_carries_all_the_disagreement_leaves_no_interval():
    table = np.array([[1, 1], [2, 2], [3, 3], [1, 2]])
    j = by_group_jackknife(lambda rows: krippendorff_alpha(table[rows], "nominal").value, range(4))
    assert (None, None, None, 4, 1) == j[1:6]
    raw = by_group_jackknife(
        lambda rows: krippendorff_alpha(table[rows], "nominal").value, range(4), scale="raw"
    )
    assert raw.low < raw.value < raw.high


def test_uneven_groups_have_the_degrees_of_freedom_of_their_sizes():
    """A mean of cases of 9, 3, 2, 1, 1, 1: t with those of the matrices, not with 5."""
    y, groups = np.random.default_rng(4).normal(size=17), np.repeat(np.arange(6), [9, 3, 2, 1, 1, 1])
    df = by_matrices(y, groups).df
    assert 1 < df < 3
    j = by_group_jackknife(lambda rows: float(y[rows].mean()), groups, scale="raw")
    half = stdtrit(df, 0.975) * j.se
    assert pytest.approx((j.value - half, j.value + half)) == (j.low, j.high)


def test_a_statistic_that_no_group_moves_has_no_error():
    """So no interval either: it would have no width."""
    assert (0.4, None, None, 0.0) == by_group_jackknife(lambda _: 0.4, range(3))[:4]


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="statistic returned nan: return None"):
        by_group_jackknife(lambda _: float("nan"), [1, 2])
    with pytest.raises(ValueError, match="level must lie"):
        by_group_jackknife(mean, range(4), level=95)
    with pytest.raises(ValueError, match="scale must be z or raw"):
        by_group_jackknife(mean, range(4), scale="log")
    with pytest.raises(ValueError, match=r"one label for each row, but has the shape \(0,\)"):
        by_group_jackknife(mean, [])
    with pytest.raises(ValueError, match="no label at position 1"):
        by_group_jackknife(mean, ["a", None, "b", "c"])


def test_half_the_error_takes_four_times_the_labels():
    assert 200 == labels_for_coefficient(50, 0.2, se_target=0.1)
    assert 4 == labels_for_coefficient(1, 0.3, se_target=0.15)
    assert 201 == labels_for_coefficient(50, 0.2001, se_target=0.1)
    assert 13 == labels_for_coefficient(50, 0.1, se_target=0.2)


def test_a_pilot_without_spread_promises_nothing():
    assert labels_for_coefficient(50, None, se_target=0.1) is None
    assert labels_for_coefficient(50, 0, se_target=0.1) is None


def test_plans_out_of_range_are_refused():
    with pytest.raises(ValueError, match="n_pilot must be a finite number and at least 1"):
        labels_for_coefficient(0, 0.2, se_target=0.1)
    with pytest.raises(ValueError, match="se_target must be"):
        labels_for_coefficient(50, 0.2, se_target=0)
    with pytest.raises(ValueError, match="se_pilot must be"):
        labels_for_coefficient(50, float("nan"), se_target=0.1)
