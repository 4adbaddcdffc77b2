"""A judge corrected by people. Golden values: docs/golden.md; oracles: sampling from truth, `matrices.py`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from tests.stats.matrices import by_matrices

from vivavoce.stats import Mean, cluster_mean
from vivavoce.stats.ppi import prediction_powered, rogan_gladen


def near(expected, decimals=5):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


@pytest.fixture(scope="module")
def claude(hivmedqa, items):
    """Item means of Claude's comprehension by the judge without reference, and by that with it."""
    import csv
    from collections import defaultdict

    with_reference, without = items("Claude 3.5 Sonnet"), defaultdict(list)
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["model"], row["supervised"]) == ("Claude 3.5 Sonnet", "False"):
                without[row["question_id"]].append(float(row["comprehension"]))
    return np.array([np.mean(without[name]) for name in with_reference.names]), with_reference


def test_golden_arithmetic_of_a_weak_judge(claude):
    judged, people = claude
    third = np.array([k for k, name in enumerate(people.names) if name.startswith("c3")])
    r = prediction_powered(judged, people.values[third], labelled=third)
    assert (63, 21, 20) == (r.n, r.n_labelled, r.df)
    assert (near(4.73968), near(-0.77143), near(3.96825)) == (r.judge_mean, r.correction, r.value)
    assert (near(0.17859), near(3.97143), near(0.17904)) == (r.se, r.labels_mean, r.labels_se)
    assert pytest.approx(r.value + stdtrit(20, 0.975) * r.se) == r.high


def test_hand_worked():
    """Judge mean 2.5, r = 1, 0; s_h^2 = .5, s_r^2 = .5: SE^2 = .5 / 4 + (1/2 - 1/4) .5."""
    r = prediction_powered([1, 2, 3, 4], [2, 3], labelled=[0, 2])
    assert (3.0, pytest.approx(0.5), 1, 2.5, 0.5, 2.5, pytest.approx(0.5)) == (
        r.value,
        r.se,
        r.df,
        *r[5:9],
    )


def test_a_perfect_judge_leaves_the_error_of_all_items_and_labels_on_all_leave_the_labels():
    y = np.random.default_rng(1).normal(size=100)
    part = prediction_powered(y, y[:20], labelled=np.arange(20))
    assert pytest.approx(y[:20].std(ddof=1) / 10) == part.se
    assert pytest.approx(y.mean()) == part.value
    h = y + np.random.default_rng(2).normal(size=100)
    full = prediction_powered(y, h, labelled=np.arange(100))
    assert (pytest.approx(h.mean()), pytest.approx(full.labels_se)) == (full.value, full.se)


def test_groups_of_one_agree_and_groups_of_copies_do_not_add_up():
    rng = np.random.default_rng(3)
    j = rng.normal(size=200)
    h = j[:60] + rng.normal(0, 0.5, 60)
    single = prediction_powered(j, h, labelled=np.arange(60))
    by_group = prediction_powered(j, h, labelled=np.arange(60), groups=np.arange(200))
    assert pytest.approx(single.se, rel=0.1) == by_group.se
    assert (single.labels_se, 200, 59) == (pytest.approx(by_group.labels_se), by_group.n_groups, by_group.df)
    twice = prediction_powered(
        np.r_[j, j], np.r_[h, h], labelled=np.r_[:60, 200:260], groups=np.r_[np.arange(200), np.arange(200)]
    )
    assert (pytest.approx(by_group.value), pytest.approx(by_group.se)) == (twice.value, twice.se)
    assert by_group.df == twice.df


def test_labels_alone_by_group_are_the_cluster_mean():
    rng = np.random.default_rng(4)
    j, g = rng.normal(size=90), np.arange(90) // 3
    h = j[:45] + 1
    r = prediction_powered(j, h, labelled=np.arange(45), groups=g)
    m = cluster_mean(h, g[:45])
    assert (pytest.approx(m.value), pytest.approx(m.se)) == (r.labels_mean, r.labels_se)


def test_its_error_by_uneven_groups_is_that_of_the_matrices():
    """Two means of one sample of cases: the judge over all, person less judge over the labelled."""
    rng = np.random.default_rng(4)
    j, g = rng.normal(size=90), rng.integers(0, 20, 90)
    h = j[:40] + rng.normal(0.5, 0.5, 40)
    r = prediction_powered(j, h, labelled=np.arange(40), groups=g)
    both = np.r_[j, h - j[:40]]
    expected = by_matrices(both, np.r_[g, g[:40]], cells=np.repeat([0, 1], [90, 40]), shares=[1, 1])
    assert pytest.approx(expected[:2]) == (r.value, r.se)
    labels = by_matrices(h, g[:40])
    assert pytest.approx(labels) == (r.labels_mean, r.labels_se, r.df)
    assert pytest.approx(r.value + stdtrit(labels.df, 0.975) * r.se) == r.high


def test_its_error_is_the_spread_over_samples():
    """2,000 draws of 300 items of which 60 are labelled: the SE is right on average to 5 %."""
    rng = np.random.default_rng(5)
    values, errors = [], []
    for _ in range(2000):
        truth = rng.normal(size=300)
        r = prediction_powered(truth + rng.normal(0.5, 0.6, 300), truth[:60], labelled=np.arange(60))
        values.append(r.value)
        errors.append(r.se)
    assert pytest.approx(0, abs=0.01) == np.mean(values)
    assert pytest.approx(np.std(values), rel=0.05) == np.mean(errors)


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=20), st.integers(1, 20))
def test_order_does_not_matter(data, n):
    j, h = map(np.array, zip(*data, strict=True))
    at = np.arange(len(j))[:n]
    a = prediction_powered(j, h[at], labelled=at)
    b = prediction_powered(j[::-1], h[at], labelled=len(j) - 1 - at)
    assert pytest.approx(a.value, abs=1e-9) == b.value
    assert (a.se is None) == (len(at) < 2)
    assert a.se is None or pytest.approx(a.se, abs=1e-9) == b.se


def test_one_label_or_one_group_has_no_error():
    r = prediction_powered([1, 2, 3], [2], labelled=[0])
    assert (3.0, None, None, None, 0, None) == (*r[:5], r.labels_se)
    assert prediction_powered([1, 2, 3], [2, 2], labelled=[0, 1], groups=[0, 0, 1]).se is None


def test_misfits_are_refused_with_their_position():
    with pytest.raises(ValueError, match="judged holds nan at position 1"):
        prediction_powered([1, math.nan], [1], labelled=[0])
    with pytest.raises(ValueError, match="labels is empty"):
        prediction_powered([1, 2], [], labelled=[])
    with pytest.raises(ValueError, match="labelled holds 2 at position 1, outside 0 to 1"):
        prediction_powered([1, 2], [1, 1], labelled=[0, 2])
    with pytest.raises(ValueError, match="names an item twice"):
        prediction_powered([1, 2], [1, 1], labelled=[0, 0])
    with pytest.raises(ValueError, match="must hold 2 positions"):
        prediction_powered([1, 2], [1, 1], labelled=[True, False])


def share(value, se=0.02, n_groups=50):
    return Mean(value, se, 500, n_groups, n_groups - 1)


def test_hand_worked_rogan_gladen():
    """(.7 + .9 - 1) / (.8 + .9 - 1) = 6/7; the errors of se and sp weigh 6/7 and 1/7."""
    r = rogan_gladen(share(0.7), sensitivity=share(0.8), specificity=share(0.9))
    assert pytest.approx(6 / 7) == r.value == r.raw
    assert pytest.approx(0.02 / 0.7 * math.sqrt(1 + (6 / 7) ** 2 + (1 / 7) ** 2)) == r.se
    parts = np.array([1, (6 / 7) ** 2, (1 / 7) ** 2])
    df = parts.sum() ** 2 / (parts**2 / 49).sum()
    assert pytest.approx(r.value - stdtrit(df, 0.975) * r.se) == r.low


def test_a_perfect_judge_needs_no_correction():
    certain = Mean(1.0, 0.0, 99, 50, 49)
    r = rogan_gladen(share(0.7), sensitivity=certain, specificity=certain)
    assert (pytest.approx(0.7), pytest.approx(0.02), pytest.approx(0.7 - stdtrit(49, 0.975) * 0.02)) == (
        r.value,
        r.se,
        r.low,
    )
    no_error = rogan_gladen(Mean(0.7, 0.0, 9, 9, 8), sensitivity=certain, specificity=certain)
    assert (pytest.approx(0.7), None, None, 0.0) == no_error[:4]  # no interval of width 0


def test_exchanging_true_and_false_mirrors():
    a = rogan_gladen(share(0.7), sensitivity=share(0.8, 0.03), specificity=share(0.9, 0.01))
    b = rogan_gladen(share(0.3), sensitivity=share(0.9, 0.01), specificity=share(0.8, 0.03))
    assert pytest.approx((1 - a.value, a.se, 1 - a.high, 1 - a.low)) == (b.value, b.se, b.low, b.high)


def test_the_error_carried_along_is_that_of_simulation():
    rng = np.random.default_rng(6)
    p, se, sp = (rng.normal(m, s, 200_000) for m, s in ((0.6, 0.02), (0.85, 0.03), (0.8, 0.04)))
    spread = ((p + sp - 1) / (se + sp - 1)).std()
    r = rogan_gladen(share(0.6, 0.02), sensitivity=share(0.85, 0.03), specificity=share(0.8, 0.04))
    assert pytest.approx(spread, rel=0.03) == r.se


def test_a_share_outside_its_range_is_put_back_and_kept_raw():
    r = rogan_gladen(share(0.05), sensitivity=share(0.8), specificity=share(0.9))
    assert (0.0, 0.0, pytest.approx(-0.05 / 0.7)) == (r.value, r.low, r.raw)


def test_a_judge_no_better_than_chance_knows_nothing():
    assert (None,) * 5 == rogan_gladen(share(0.5), sensitivity=share(0.4), specificity=share(0.6))
    r = rogan_gladen(share(0.7, None, 1), sensitivity=share(0.8), specificity=share(0.9))
    assert (pytest.approx(6 / 7), None, None, None) == r[:4]
    with pytest.raises(ValueError, match=r"judged has an SE but 0.5 degrees of freedom"):
        rogan_gladen(Mean(0.7, 0.1, 9, 9, 0.5), sensitivity=share(0.8), specificity=share(0.9))
    with pytest.raises(ValueError, match="specificity must be a share"):
        rogan_gladen(share(0.7), sensitivity=share(0.8), specificity=share(90))
    with pytest.raises(ValueError, match="level must lie"):
        rogan_gladen(share(0.7), sensitivity=share(0.8), specificity=share(0.9), level=95)


def test_a_million_items_are_no_matter():
    rng = np.random.default_rng(7)
    truth = rng.normal(size=10**6)
    r = prediction_powered(
        truth + rng.normal(1, 0.1, 10**6),
        truth[:50_000],
        labelled=np.arange(50_000),
        groups=np.arange(10**6) // 2,
    )
    assert pytest.approx(math.sqrt(1e-6 + 0.01 / 50_000), rel=0.05) == r.se
