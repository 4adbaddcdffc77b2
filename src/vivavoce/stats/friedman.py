"""Do several systems differ at all, and do measurements or rankings agree?

Friedman's test by groups, Nemenyi's distance of mean ranks, the intraclass correlation ICC(A,1), Kendall's W.
A block is what was drawn: the group. Repeats, rotations, seeds and runs are not blocks: with 301 rows for
41 groups the critical distance shrinks from 2.12 to .78. Prefer `rank_intervals` to Nemenyi: his distance
depends on which other systems are in the table.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats, group_means, matrix, proportion, ranks_by_block
from vivavoce.stats._ratings import complete_rows
from vivavoce.stats.draws import random_subset_sums, seeded_rng
from vivavoce.stats.estimate import NO_SPREAD
from vivavoce.stats.sign_flips import ENUMERATED, FLIP_SEED, FLIPS, TIE
from vivavoce.stats.sums import rounded

REACH = 9.0  # beyond it a float sees nothing of the normal density
LEAST_FLIPS, MOST_TURNED = 1_999, 20_000_000  # patterns, and patterns times blocks


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on -1 to 1; 60 ms, so only when a Nemenyi distance is asked for."""
    nodes, weights = np.polynomial.legendre.leggauss(256)
    return nodes, weights


class Friedman(NamedTuple):
    """Friedman's test over N blocks of k systems.

    Attributes
    ----------
    chi2, p_chi2 : float or None
        Corrected for ties, with k - 1 degrees of freedom. Null if every block is one tie: nothing is ranked.
    f, p_f : float or None
        Iman & Davenport's, with k - 1 and (k - 1)(N - 1) degrees of freedom. Null also with one block, and if
        all blocks agree entirely (F is infinite).
    mean_ranks : array of shape (k,)
        1 is the best.
    n_systems, n_blocks : int
    p : float or None
        By permutation within blocks, which holds whatever systems have in common. Null as `chi2` is.
    """

    chi2: float | None
    p_chi2: float | None
    f: float | None
    p_f: float | None
    mean_ranks: Floats
    n_systems: int
    n_blocks: int
    p: float | None


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

    Both also take systems for independent: where half of 4 to 10 equal ones gave the same answers, p_f was at
    most .05 in 6 to 13 % of simulated tables, and `p` in 2 to 6 %. For `p` systems that never differ are
    ranked as one, and the ranks of whole blocks are turned round at random (1 to k becomes k to 1), so what
    systems share stays shared: all 2^N patterns up to 16 blocks, beyond them 9,999 (1,999 from 10,000 blocks
    on), the same for the same data.
    """
    blocks = group_means(matrix("values", values, n_systems=2), groups)
    k, n = blocks.shape
    ranks = ranks_by_block(blocks)
    means: Floats = ranks.mean(axis=0)
    # In quarters of whole numbers, so exact: tied ranks are halves.
    spread = float((ranks**2).sum()) - n * k * (k + 1) ** 2 / 4
    if spread <= 0:
        return Friedman(None, None, None, None, means, k, n, None)
    between = float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    chi2 = (k - 1) * between / spread
    p_chi2 = float(scipy.special.chdtrc(k - 1, chi2))
    p = _turned_p(ranks)
    # N (k - 1) - chi2 up to the factor spread / (k - 1): 0 exactly where all blocks agree.
    residual = n * spread - between
    if n < 2 or residual <= 0:
        return Friedman(chi2, p_chi2, None, None, means, k, n, p)
    f = (n - 1) * between / residual
    p_f = float(scipy.special.fdtrc(k - 1, (k - 1) * (n - 1), f))
    return Friedman(chi2, p_chi2, f, p_f, means, k, n, p)


def _turned_p(ranks: Floats) -> float:
    """How often rank sums are as far apart, if a coin turns each block's ranks round."""
    distinct = np.unique(ranks, axis=1)
    if distinct.shape[1] < ranks.shape[1]:
        distinct = ranks_by_block(-distinct.T)
    centred = distinct - (distinct.shape[1] + 1) / 2
    # Neither the order of blocks nor what systems are called decides which patterns are drawn.
    columns = centred[:, np.argsort(centred.sum(axis=0), kind="stable")]
    rows = columns[np.lexsort(columns.T)]
    bar = float((rows.sum(axis=0) ** 2).sum()) * (1 - TIE)
    if len(rows) <= ENUMERATED:
        sums = rows[:1]
        for row in rows[1:]:  # turning all blocks changes nothing, so the first one stays
            sums = np.vstack([sums + row, sums - row])
        return float(np.mean((sums**2).sum(axis=1) >= bar))
    draws = max(min(FLIPS, MOST_TURNED // len(rows)), LEAST_FLIPS)
    subsets = random_subset_sums(rows, draws=draws, rng=seeded_rng(FLIP_SEED))
    hits = np.count_nonzero(((rows.sum(axis=0) - 2 * subsets) ** 2).sum(axis=1) >= bar)
    return (int(hits) + 1) / (draws + 1)


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
    nodes, weights = _quadrature()
    z = REACH * nodes
    density = REACH * weights * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    inside = (scipy.special.ndtr(z) - scipy.special.ndtr(z - ranges[..., None])) ** (n - 1)
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
    if n_systems < 2:
        raise ValueError(f"there must be at least 2 systems, but there is {n_systems}")
    if n_blocks < 1:
        raise ValueError(f"n_blocks must be at least 1, but is {n_blocks}")
    scale = math.sqrt(n_systems * (n_systems + 1) / (6 * n_blocks))
    low, high = 0.0, 2 * REACH
    for _ in range(60):  # halving: scipy.optimize takes a third of a second to import
        middle = (low + high) / 2
        if float(studentized_range(middle, n_systems)) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2 / math.sqrt(2) * scale


class IntraclassCorrelation(NamedTuple):
    """ICC(A,1) and the mean squares it is made of.

    Attributes
    ----------
    value : float or None
        At most 1; below 0 if units differ less than chance makes them. Null with fewer than two raters or
        two complete units, if nothing varies, and where the formula divides by 0.
    ms_units, ms_raters, ms_error : float or None
        Mean squares of the two-way table, in squared units; null with fewer than two raters or units.
    n_units, n_raters : int
        Complete units, and columns.
    n_dropped : int
        Units that some rater left out.
    """

    value: float | None
    ms_units: float | None
    ms_raters: float | None
    ms_error: float | None
    n_units: int
    n_raters: int
    n_dropped: int


class Concordance(NamedTuple):
    """Kendall's W, from 0 to 1; null with fewer than two raters or units, or if every rater ties them all.

    `n_units` counts the units that every rater ranked, `n_dropped` the others.
    """

    value: float | None
    n_units: int
    n_raters: int
    n_dropped: int


def icc_a1(ratings: ArrayLike, *, missing: ArrayLike | None = None) -> IntraclassCorrelation:
    """Intraclass correlation of single ratings, two-way random, absolute agreement.

    (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n), with the mean squares of units (MSR), raters
    (MSC) and rest (MSE), k raters and n units.

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Numbers.
    missing : array of bool, same shape, optional
        True where there is no rating. Such units are dropped and counted: with many of them take
        `krippendorff_alpha(ratings, "interval")`, which uses every pair.

    Raises
    ------
    ValueError
        If the table is empty or not two-dimensional, `missing` has another shape or is not boolean, or a
        rating is no finite number without being marked missing.

    ICC(A,1) of McGraw & Wong (1996), Psychol. Methods 1, 30-46; ICC(2,1) of Shrout & Fleiss (1979). A rater
    who is always a mark lower counts as disagreeing. It grows with the spread of the units, so it is not to
    be compared between samples; with two or three raters MSC rests on one or two degrees of freedom.
    """
    table = complete_rows(ratings, missing)
    n, k = table.shape
    dropped = len(np.asarray(ratings)) - n
    if n < 2 or k < 2:
        return IntraclassCorrelation(None, None, None, None, n, k, dropped)
    spread = table - table.mean()
    units, raters = spread.mean(axis=1), spread.mean(axis=0)
    residual = spread - units[:, None] - raters
    ms_units = k * float(units @ units) / (n - 1)
    ms_raters = n * float(raters @ raters) / (k - 1)
    ms_error = float(np.sum(residual**2)) / ((n - 1) * (k - 1))
    denominator = ms_units + (k - 1) * ms_error + k * (ms_raters - ms_error) / n
    value = None
    if denominator > (NO_SPREAD * float(np.abs(table).max())) ** 2:
        value = (ms_units - ms_error) / denominator
    return IntraclassCorrelation(value, ms_units, ms_raters, ms_error, n, k, dropped)


def kendall_w(ratings: ArrayLike, *, missing: ArrayLike | None = None) -> Concordance:
    """Kendall's coefficient of concordance, with average ranks for ties and the correction they need.

    W = 12 S / (m^2 (n^3 - n) - m sum T), with S the squared deviations of the n rank sums, m raters, and T
    the sum of t^3 - t over each rater's ties of t units.

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Scores or ranks of the units by each rater; rounded to 1e-9 before ranking, so that rounding
        neither makes nor breaks a tie. Whether high or low is best does not matter.
    missing : array of bool, same shape, optional
        True where there is no rating. Such units are dropped and counted.

    Raises
    ------
    ValueError
        As `icc_a1`.

    Kendall & Babington Smith (1939); ties as in Kendall (1970), Rank Correlation Methods, ch. 6. W cannot
    fall below 0, and is 1/m on average without any agreement: with few raters a W of .5 says nothing.
    """
    table = rounded(complete_rows(ratings, missing))
    n, m = table.shape
    dropped = len(np.asarray(ratings)) - n
    if n < 2 or m < 2:
        return Concordance(None, n, m, dropped)
    ranks, ties = zip(*(_ranks(column) for column in table.T), strict=True)
    sums = np.sum(ranks, axis=0)
    s = float(np.sum((sums - sums.mean()) ** 2))
    largest = m**2 * (float(n) ** 3 - n) - m * sum(ties)
    return Concordance(12 * s / largest if largest > 0 else None, n, m, dropped)


def _ranks(column: Floats) -> tuple[Floats, float]:
    """Average ranks, and sum of t^3 - t over the ties."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    ties = counts.astype(np.float64)
    return (np.cumsum(ties) - (ties - 1) / 2)[codes], float(np.sum(ties**3 - ties))
