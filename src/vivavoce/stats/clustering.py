"""Which measures say the same: hierarchical clustering by correlation, with bootstrap support.

A tree of measures is a description, not a test: support says how often the same cluster comes back when
the groups of items are drawn again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Codes, Floats, group_codes, matrix
from vivavoce.stats.correlation import LEVELS, Coefficient, Level, correlation, points
from vivavoce.stats.draws import random_indices


class Clusters(NamedTuple):
    """A tree of M measures.

    Attributes
    ----------
    linkage : array of shape (M - 1, 4)
        One row per merger, in SciPy's form: two clusters (measures are 0 … M - 1, the i-th merger makes
        M + i), their distance 1 - r, and the measures in the new cluster.
    support : array of shape (M - 1,) or None
        Share of the draws whose tree holds the same cluster of measures, each in the order of `linkage`;
        the last is 1 by construction. Null with one group, or if no draw defined every correlation.
    n_defined, n_resamples : int
        Draws in which every correlation is defined, and all draws.
    n_groups : int
    """

    linkage: Floats
    support: Floats | None
    n_defined: int
    n_resamples: int
    n_groups: int


def cluster_measures(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    level: Level,
    rng: np.random.Generator,
    coefficient: Coefficient = "spearman",
    resamples: int = 1000,
) -> Clusters | None:
    """Average-linkage clusters of measures at distance 1 - r, with support from whole groups drawn again.

    Parameters
    ----------
    values : array of shape (M, K, n)
        M measures of the same answers of K systems to n items, each oriented so that higher is better;
        only items that all have. Without systems: K = 1, and level "pooled".
    groups : array of shape (n,)
        Items drawn together; any labels.
    level : {"system", "item", "item_centred", "double_centred", "pooled"}
        As in `at_level`.
    rng : numpy.random.Generator
        Required: a support that cannot be redrawn cannot be checked.
    coefficient : {"spearman", "kendall", "pearson"}
        As in `correlation`. Kendall's tau takes minutes for many measures over many cells.
    resamples : int
        Draws of G groups, all systems and measures together.

    Returns
    -------
    Clusters or None
        Null if a measure has no variance at this level.

    Raises
    ------
    ValueError
        If there are fewer than 2 measures, a value is NaN or infinite, a group is missing, shapes differ,
        there is no such level or coefficient, or `resamples` is below 1.

    Sokal & Michener (1958), Univ. Kansas Sci. Bull. 38, 1409-1438; support as in Felsenstein (1985),
    Evolution 39, 783-791. It is for these systems: systems are not drawn again. Equal distances are merged
    in the order of the measures, and then support is low.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 3:
        raise ValueError(f"values must have three dimensions, measures, systems, items, not {array.ndim}")
    if len(array) < 2:
        raise ValueError(f"values has {len(array)} measure, at least 2 are needed")
    measures = [matrix(f"measure {position} of values", measure) for position, measure in enumerate(array)]
    if level not in LEVELS:
        raise ValueError(f"no level named {level!r}: there are {', '.join(LEVELS)}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, but is {resamples}")
    codes, n_groups = group_codes(groups, length=array.shape[2])
    distances = _distances(measures, level, coefficient)
    if distances is None:
        return None
    linkage = average_linkage(distances)
    if n_groups < 2:
        return Clusters(linkage, None, 0, 0, n_groups)
    clusters = _members(linkage)
    hits, n_defined = np.zeros(len(linkage)), 0
    items = [np.flatnonzero(codes == g) for g in range(n_groups)]
    for _ in range(resamples):
        # Groups, not items, are resampled: items of a group do not vote by themselves.
        resample: Codes = np.concatenate([items[g] for g in random_indices(rng, n_groups, n_groups)])
        distances = _distances([measure[:, resample] for measure in measures], level, coefficient)
        if distances is not None:
            n_defined += 1
            resampled = set(_members(average_linkage(distances)))
            hits += [cluster in resampled for cluster in clusters]
    support = hits / n_defined if n_defined else None
    return Clusters(linkage, support, n_defined, resamples, n_groups)


def average_linkage(distances: ArrayLike) -> Floats:
    """Merge the two nearest clusters until one is left; distances between clusters are means over pairs.

    Parameters
    ----------
    distances : array of shape (M, M)
        Symmetric, 0 or more, M at least 2; the diagonal is not read.

    Returns
    -------
    array of shape (M - 1, 4)
        As in `Clusters`. Equal distances: the clusters made first are merged first.

    Raises
    ------
    ValueError
        If it is not square and symmetric, or a distance is NaN, infinite or negative.

    Equal to scipy.cluster.hierarchy.linkage(method="average"), SciPy 1.17.1, where no two distances tie.
    """
    d = matrix("distances", distances, n_systems=2).copy()
    n = len(d)
    if d.shape != (n, n) or not np.allclose(d, d.T) or (d < 0).any():
        raise ValueError(f"distances must be square, symmetric and 0 or more, not of the shape {d.shape}")
    # The diagonal must never be the smallest distance.
    np.fill_diagonal(d, np.inf)
    names, sizes = list(range(n)), [1] * n
    rows = []
    for step in range(n - 1):
        flat = int(np.argmin(d))
        i, j = sorted((flat // len(d), flat % len(d)))
        size = sizes[i] + sizes[j]
        rows.append((*sorted((names[i], names[j])), float(d[i, j]), size))
        # Average linkage: the new cluster's distance is the mean over all its members.
        merged = (sizes[i] * d[i] + sizes[j] * d[j]) / size
        remaining = [k for k in range(len(d)) if k not in (i, j)]
        grown = np.full((len(remaining) + 1, len(remaining) + 1), np.inf)
        grown[:-1, :-1] = d[np.ix_(remaining, remaining)]
        grown[-1, :-1] = grown[:-1, -1] = merged[remaining]
        d = grown
        names = [*(names[k] for k in remaining), n + step]
        sizes = [*(sizes[k] for k in remaining), size]
    return np.array(rows, dtype=np.float64)


def _distances(measures: list[Floats], level: Level, coefficient: Coefficient) -> Floats | None:
    """1 - r of every pair, or null if one is undefined."""
    vectors = [points(measure, level) for measure in measures]
    d = np.zeros((len(vectors), len(vectors)))
    for i, x in enumerate(vectors):
        for j, y in enumerate(vectors[:i]):
            r = correlation(x, y, coefficient=coefficient)
            if r is None:
                return None
            d[i, j] = d[j, i] = 1 - r
    return d


def _members(linkage: Floats) -> list[frozenset[int]]:
    """The measures in the cluster that each merger makes."""
    n = len(linkage) + 1
    members = [frozenset([leaf]) for leaf in range(n)]
    for row in linkage:
        members.append(members[int(row[0])] | members[int(row[1])])
    return members[n:]
