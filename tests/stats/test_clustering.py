"""Clusters of measures. Oracle: scipy.cluster.hierarchy, SciPy 1.17.1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from tests.stats.tables import marks, medsyn_f1

from vivavoce.stats.clustering import average_linkage, cluster_measures
from vivavoce.stats.correlation import correlation_at


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_linkage_is_that_of_scipy(n, seed):
    condensed = np.random.default_rng(seed).uniform(size=n * (n - 1) // 2)
    assert pytest.approx(linkage(condensed, "average")) == average_linkage(squareform(condensed))


def test_hand_worked_linkage():
    """0 and 1 meet at 1; 2 is 4 and 6 from them, so 5 on average."""
    d = [[0, 1, 4], [1, 0, 6], [4, 6, 0]]
    assert [[0, 1, 1, 2], [2, 3, 5, 3]] == average_linkage(d).tolist()


def test_equal_distances_are_merged_in_order():
    assert [[0, 1, 1, 2], [2, 3, 1, 3]] == average_linkage(1 - np.eye(3)).tolist()


@pytest.fixture(scope="module")
def related():
    """Two measures of one thing, two of another: 4 measures of 5 systems on 40 items in 20 groups."""
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(2, 5, 40))
    noise = rng.normal(size=(4, 5, 40))
    return np.array([one, other, one, other]) + 0.5 * noise


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_measures_of_one_thing_cluster_with_full_support(related, coefficient):
    found = cluster_measures(
        related,
        np.repeat(np.arange(20), 2),
        level="item_centred",
        coefficient=coefficient,
        rng=np.random.default_rng(2),
        resamples=40,
    )
    assert {(0, 2), (1, 3)} == {tuple(sorted(row[:2])) for row in found.linkage[:2]}
    assert [1, 1, 1] == list(found.support)
    assert (40, 40, 20) == (found.n_defined, found.n_resamples, found.n_groups)


def test_distance_is_one_less_the_correlation(related):
    found = cluster_measures(related[:2], range(40), level="item", rng=np.random.default_rng(0), resamples=3)
    r = correlation_at(related[0], related[1], level="item", coefficient="spearman").value
    assert [[0, 1, pytest.approx(1 - r), 2]] == found.linkage.tolist()


def test_published_criteria_are_nearer_to_each_other_than_to_f1(items, hivmedqa):
    comprehension = marks(items)
    values = [
        comprehension.values,
        marks(items, "harm").values,
        medsyn_f1(hivmedqa, comprehension.names),
    ]
    found = cluster_measures(
        values,
        comprehension.groups,
        level="item_centred",
        rng=np.random.default_rng(3),
        resamples=100,
    )
    assert [0, 1] == list(found.linkage[0, :2])
    assert 1 == found.support[0]
    assert 41 == found.n_groups


def test_noise_has_little_support():
    values = np.random.default_rng(4).normal(size=(6, 1, 15))
    found = cluster_measures(values, range(15), level="pooled", rng=np.random.default_rng(5), resamples=100)
    assert found.support[:-1].min() < 0.5
    assert 1 == found.support[-1]
    again = cluster_measures(values, range(15), level="pooled", rng=np.random.default_rng(5), resamples=100)
    assert list(again.support) == list(found.support)


def test_order_of_items_and_names_of_groups_do_not_matter_to_the_tree(related):
    order = np.random.default_rng(6).permutation(40)
    groups = np.repeat(np.arange(20), 2)
    a, b = (
        cluster_measures(v, g, level="system", rng=np.random.default_rng(0), resamples=2)
        for v, g in ((related, groups), (related[:, :, order], [f"case {k}" for k in groups[order]]))
    )
    assert pytest.approx(a.linkage) == b.linkage


def test_a_measure_without_variance_leaves_no_tree():
    flat = np.array([np.ones((2, 4)), np.arange(8.0).reshape(2, 4)])
    assert cluster_measures(flat, range(4), level="pooled", rng=np.random.default_rng(0)) is None


def test_draws_without_variance_are_counted():
    """Only one of two groups varies: a draw of the other alone says nothing, one draw in four."""
    values = np.array([[[1.0, 2, 3, 3]], [[3.0, 1, 5, 5]]])
    found = cluster_measures(
        values, [0, 0, 1, 1], level="pooled", rng=np.random.default_rng(0), resamples=200
    )
    assert 120 < found.n_defined < 180
    assert [1] == list(found.support)


def test_one_group_has_a_tree_without_support(related):
    found = cluster_measures(related, [0] * 40, level="item", rng=np.random.default_rng(0))
    assert (None, 0, 0, 1) == found[1:]
    assert (3, 4) == found.linkage.shape


def test_nan_and_misfits_are_refused(related):
    def refused(match, values=related, groups=tuple(range(40)), **changed):
        given = {"level": "item", "rng": np.random.default_rng(0), **changed}
        with pytest.raises(ValueError, match=match):
            cluster_measures(values, groups, **given)

    holed = related.copy()
    holed[1, 2, 3] = np.nan
    refused("measure 1 of values holds nan for system 2, item 3", holed)
    refused("three dimensions", related[0])
    refused("at least 2 are needed", related[:1])
    refused("no level named 'cell'", level="cell")
    refused("no coefficient named 'tau'", coefficient="tau")
    refused("resamples must be", resamples=0)
    refused("groups has the shape", groups=(1, 2))
    with pytest.raises(ValueError, match="distances must be square"):
        average_linkage([[0, 1], [2, 0]])
