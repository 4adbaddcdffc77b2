"""Ranks of systems that all answered the same items, and how far each rank is known.

With a complete design systems are ranked by their means. The interval of a rank comes from paired tests:
ranks bootstrapped near a tie are far too sure of themselves, and marginal intervals that overlap show no tie.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Floats, group_codes, proportion
from vivavoce.stats._ranks import average_ranks, matrix
from vivavoce.stats.multiplicity import holm
from vivavoce.stats.paired import paired

__all__ = ["RankInterval", "RankIntervals", "mean_ranks", "rank_intervals"]


class RankInterval(NamedTuple):
    """Best and worst rank that the pairs shown leave open; 1 is the best of all."""

    best: int
    worst: int


class RankIntervals(NamedTuple):
    """Ranks of K systems by mean, in the order given.

    Attributes
    ----------
    means : array of shape (K,)
    ranks : array of shape (K,)
        By mean, 1 the highest; equal means (to 1e-9) share their mean rank.
    intervals : tuple of RankInterval
    better : boolean array of shape (K, K)
        [i, j]: i was shown better than j.
    p : array of shape (K, K)
        Holm's p of each pair, over all pairs; 1 on the diagonal.
    n_shown, n_pairs : int
        Pairs told apart, of K (K - 1) / 2.
    n_items, n_groups : int
    """

    means: Floats
    ranks: Floats
    intervals: tuple[RankInterval, ...]
    better: NDArray[np.bool_]
    p: Floats
    n_shown: int
    n_pairs: int
    n_items: int
    n_groups: int


def rank_intervals(
    values: ArrayLike, groups: ArrayLike, *, weights: ArrayLike | None = None, alpha: float = 0.05
) -> RankIntervals:
    """[1 + systems shown better, K - systems shown worse], by `paired` with Holm over all pairs.

    Parameters
    ----------
    values : array of shape (K, n)
        Item means of each system on the items common to all, higher being better.
    groups : array of shape (n,)
        What is drawn together; any labels.
    weights : array of shape (n,), optional
        Of the items, as in `paired`. Equal by default.
    alpha : float
        Error for the whole family: with probability 1 - alpha all K intervals hold at once.

    Returns
    -------
    RankIntervals
        A pair whose p speaks for nobody (`Paired.direction` 0) is not shown. One system: [1, 1]. With one
        group no pair is shown.

    Raises
    ------
    ValueError
        If there is no system or item, a value is NaN or infinite, a group is missing, lengths differ, or
        alpha does not lie between 0 and 1.

    Mogstad, Romano, Shaikh & Wilhelm (2024), Rev. Econ. Stud. 91, 476-518, with t(G - 1) on CR1 errors. Wide
    with few groups, and rightly. Distrust it where `paired` is to be distrusted: at a ceiling.
    """
    y = matrix("values", values)
    proportion("alpha", alpha)
    n_systems = len(y)
    first, second = np.triu_indices(n_systems, 1)
    pairs = [paired(y[i] - y[j], groups, weights=weights) for i, j in zip(first, second, strict=True)]
    adjusted = holm([pair.p for pair in pairs])
    p = np.ones((n_systems, n_systems))
    p[first, second] = p[second, first] = adjusted
    better = np.zeros((n_systems, n_systems), dtype=bool)
    for i, j, pair, holms in zip(first, second, pairs, adjusted, strict=True):
        if holms <= alpha and pair.direction:
            better[(i, j) if pair.direction > 0 else (j, i)] = True
    above, below = better.sum(axis=0), better.sum(axis=1)
    means = y.mean(axis=1) if weights is None else np.average(y, axis=1, weights=np.asarray(weights))
    return RankIntervals(
        means=means,
        ranks=average_ranks(-means),
        intervals=tuple(
            RankInterval(1 + int(over), n_systems - int(under))
            for over, under in zip(above, below, strict=True)
        ),
        better=better,
        p=p,
        n_shown=int(better.sum()),
        n_pairs=len(pairs),
        n_items=y.shape[1],
        n_groups=group_codes(groups, length=y.shape[1])[1],
    )


def mean_ranks(values: ArrayLike) -> Floats:
    """How far ahead in the order a system stands on average: 1 is always first.

    Parameters
    ----------
    values : array of shape (K, n)
        One column per item, or per group after averaging; higher is better.

    Returns
    -------
    array of shape (K,)
        Mean over columns of the ranks inside each; values equal to 1e-9 share their mean rank. They sum
        to K (K + 1) / 2.

    Raises
    ------
    ValueError
        If there is no system or column, or a value is NaN or infinite.

    Another question than the mean score: how often ahead, not by how much. The two may name different
    winners; print both, never mix them, nor ranks from different judges.
    """
    y = matrix("values", values)
    ranks: Floats = np.mean([average_ranks(-column) for column in y.T], axis=0)
    return ranks
