"""Do several systems differ at all: Friedman's test by groups, and Nemenyi's distance of mean ranks.

A block is what was drawn: the group. Repeats, rotations, seeds and runs are not blocks: with 301 rows for
41 groups the critical distance shrinks from 2.12 to .78. Prefer `rank_intervals` to Nemenyi: his distance
depends on which other systems are in the table.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc, ndtr

from vivavoce.stats._arrays import Floats, finite, proportion
from vivavoce.stats._ranks import average_ranks, group_means, matrix

__all__ = ["Friedman", "friedman", "nemenyi_distance", "nemenyi_p", "studentized_range"]

# Gauss-Legendre nodes on the part of the normal density that a float can see.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(256)
REACH = 9.0


class Friedman(NamedTuple):
    """Friedman's test over N blocks of k systems.

    Attributes
    ----------
    chi2, p_chi2 : float or None
        Corrected for ties, with k - 1 degrees of freedom. Null if every block is one tie: nothing is ranked.
    f, p_f : float or None
        Iman & Davenport's, with k - 1 and (k - 1)(N - 1) degrees of freedom: the better approximation. Null
        also with one block, and if all blocks agree entirely (F is infinite).
    mean_ranks : array of shape (k,)
        1 is the best.
    n_systems, n_blocks : int
    """

    chi2: float | None
    p_chi2: float | None
    f: float | None
    p_f: float | None
    mean_ranks: Floats
    n_systems: int
    n_blocks: int


def friedman(values: ArrayLike, groups: ArrayLike) -> Friedman:
    """Friedman's test of k systems, groups being the blocks.

    chi2 = (k - 1) sum_j (R_j - N (k + 1) / 2)^2 / (sum_ij r_ij^2 - N k (k + 1)^2 / 4), r the ranks inside
    blocks, R_j their sums;  F = (N - 1) chi2 / (N (k - 1) - chi2).

    Parameters
    ----------
    values : array of shape (k, n)
        Item means of each system on the items common to all, higher being better.
    groups : array of shape (n,)
        Blocks. Items of one group are averaged first, so every group counts once; means are rounded to
        1e-9 before they are ranked, ties share their mean rank.

    Raises
    ------
    ValueError
        If there are fewer than 2 systems or no item, a value is NaN or infinite, a group is missing, or
        lengths differ.

    Friedman (1937), JASA 32, 675-701; ties as in Conover (1999), Practical Nonparametric Statistics, 5.8;
    Iman & Davenport (1980), Commun. Stat. A9, 571-595. chi2 equal to scipy.stats.friedmanchisquare, SciPy
    1.17.1. Distrust both with fewer than about 10 blocks; with two systems the test is a sign test, and
    `paired` the better one.
    """
    blocks = group_means(matrix("values", values, n_systems=2), groups)
    k, n = blocks.shape
    ranks = np.array([average_ranks(-column) for column in blocks.T])
    means: Floats = ranks.mean(axis=0)
    # In quarters of whole numbers, so exact: tied ranks are halves.
    spread = float((ranks**2).sum()) - n * k * (k + 1) ** 2 / 4
    if spread <= 0:
        return Friedman(None, None, None, None, means, k, n)
    between = float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    chi2 = (k - 1) * between / spread
    p_chi2 = float(chdtrc(k - 1, chi2))
    # N (k - 1) - chi2 up to the factor spread / (k - 1): 0 exactly where all blocks agree.
    left = n * spread - between
    if n < 2 or left <= 0:
        return Friedman(chi2, p_chi2, None, None, means, k, n)
    f = (n - 1) * between / left
    return Friedman(chi2, p_chi2, f, float(fdtrc(k - 1, (k - 1) * (n - 1), f)), means, k, n)


def studentized_range(q: ArrayLike, n: int) -> Floats:
    """P(range of `n` standard normals <= q): the studentized range with infinite degrees of freedom.

    n * integral of phi(z) (Phi(z) - Phi(z - q))^(n - 1) dz, by 256 Gauss-Legendre nodes.

    Parameters
    ----------
    q : array of any shape
        0 or more.
    n : int
        At least 2.

    Raises
    ------
    ValueError
        If a q is negative or NaN, or n is below 2.

    Equal to scipy.stats.studentized_range (SciPy 1.17.1) to 1e-9, which takes two seconds to import.
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, but is {n}: a range needs two")
    ranges = np.asarray(q, dtype=np.float64)
    if not (ranges >= 0).all():
        raise ValueError("q must be 0 or more, and no NaN")
    z = REACH * NODES
    density = REACH * WEIGHTS * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    inside = (ndtr(z) - ndtr(z - ranges[..., None])) ** (n - 1)
    result: Floats = np.clip(n * (inside @ density), 0.0, 1.0)
    return result


def nemenyi_distance(n_systems: int, n_blocks: int, *, level: float = 0.95) -> float:
    """Mean ranks further apart than this differ, at `level` for all pairs: q sqrt(k (k + 1) / 6N).

    Parameters
    ----------
    n_systems : int
        k, at least 2.
    n_blocks : int
        N, at least 1: groups.
    level : float
        0.95 by default; q is that quantile of `studentized_range` over sqrt(2), 3.1637 for k = 10.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Nemenyi (1963); Demšar (2006), JMLR 7, 1-30, table 5. Ties are not corrected for: with many it is too
    wide.
    """
    proportion("level", level)
    scale = _rank_error(n_systems, n_blocks)
    low, high = 0.0, 2 * REACH
    for _ in range(60):  # halving: scipy.optimize takes a third of a second to import
        middle = (low + high) / 2
        if float(studentized_range(middle, n_systems)) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2 / math.sqrt(2) * scale


def nemenyi_p(mean_ranks: ArrayLike, n_blocks: int) -> Floats:
    """Nemenyi's p of every pair of systems, for all pairs together.

    Parameters
    ----------
    mean_ranks : array of shape (k,)
        Over the same blocks, as `friedman` returns them; at least 2.
    n_blocks : int
        N, at least 1: groups.

    Returns
    -------
    array of shape (k, k)
        Symmetric, 1 on the diagonal; 1 - `studentized_range` of the distance. Below 1e-15 it may be 0.

    Raises
    ------
    ValueError
        If a rank is NaN or infinite, or a number is out of its range.

    Nemenyi (1963). Equal to scikit_posthocs.posthoc_nemenyi_friedman, scikit-posthocs 0.17.1.
    """
    ranks = finite("mean_ranks", mean_ranks)
    scale = _rank_error(len(ranks), n_blocks)
    first, second = np.triu_indices(len(ranks), 1)
    distances = np.abs(ranks[first] - ranks[second])
    p = np.ones((len(ranks), len(ranks)))
    p[first, second] = 1 - studentized_range(distances / scale * math.sqrt(2), len(ranks))
    p[second, first] = p[first, second]
    return p


def _rank_error(n_systems: int, n_blocks: int) -> float:
    if n_systems < 2:
        raise ValueError(f"there must be at least 2 systems, but there is {n_systems}")
    if n_blocks < 1:
        raise ValueError(f"n_blocks must be at least 1, but is {n_blocks}")
    return math.sqrt(n_systems * (n_systems + 1) / (6 * n_blocks))
