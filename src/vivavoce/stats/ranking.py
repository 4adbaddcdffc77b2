"""Ranks of systems that all answered the same items, and how far each rank is known.

With a complete design systems are ranked by their means. The interval of a rank comes from paired tests:
ranks bootstrapped near a tie are far too sure of themselves, and marginal intervals that overlap show no tie.
Where scores failed, a pair counts only if it is shown under both fillings of them.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Floats, group_codes, item_weights, matrix, proportion, ranks_by_block
from vivavoce.stats.group_error import GroupDesign
from vivavoce.stats.multiplicity import holm
from vivavoce.stats.paired import Paired, paired
from vivavoce.stats.strata import category_weights
from vivavoce.stats.sums import exact_means

LEAST_RUNS = 5
"""Runs, or other units that are drawn beside the items, whose spread a test can use."""


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
    detectable : tuple of K (K - 1) / 2 float or None, or empty
        The least difference of each pair that would be found with 80 % power, Bonferroni over all pairs; null
        where no spread tells it.
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
    detectable: tuple[float | None, ...] = ()

    @property
    def mde_first(self) -> float | None:
        """The largest `detectable` of two systems that may be first; null without two, or if unknown."""
        # In the order of `triu_indices`, as the pairs are.
        pairs = combinations([interval.best == 1 for interval in self.intervals], 2)
        of_first = [size for size, flags in zip(self.detectable, pairs, strict=False) if all(flags)]
        sizes = [size for size in of_first if size is not None]
        return max(sizes, default=None) if len(sizes) == len(of_first) else None

    def shown_by_both(self, second: "RankIntervals") -> "RankIntervals":
        """The same with those pairs alone that `second` shows too, for the same system."""
        better = self.better & second.better
        return self._replace(better=better, intervals=_intervals(better), n_shown=int(better.sum()))


def rank_intervals(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    categories: ArrayLike | None = None,
    runs: ArrayLike | None = None,
    alpha: float = 0.05,
) -> RankIntervals:
    """[1 + systems shown better, K - systems shown worse], by `paired` with Holm over all pairs.

    Parameters
    ----------
    values : array of shape (K, n), or (K, n, R) with `runs`
        Item means of each system on the items common to all, higher being better; or the same in each of
        R runs.
    groups : array of shape (n,)
        What is drawn together; any labels.
    weights : array of shape (n,), optional
        Of the items, as in `paired`. Equal by default.
    categories : array of shape (n,), optional
        Systems are then ranked by the mean of their category means, and a pair is tested by the macro mean
        of its differences (`macro_mean`, one stratum): groups may reach across categories.
    runs : array of shape (R,), optional
        What is drawn beside the groups, such as trainings of an evaluator; runs of one label were drawn
        together. At least 5 labels. A pair is then tested by the larger of two p: that of its means over
        runs, and that of `crossed_error`.
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

    Mogstad, Romano, Shaikh & Wilhelm (2024), Rev. Econ. Stud. 91, 476-518, with CR2 errors. Wide
    with few groups, and rightly. Distrust it where `paired` is to be distrusted: at a ceiling.
    """
    by_run = np.asarray(values, dtype=float)
    units = None if runs is None else _units(runs, by_run)
    y = matrix("values", by_run if units is None else by_run.mean(axis=2))
    proportion("alpha", alpha)
    n_systems = len(y)
    codes, n_groups = group_codes(groups, length=y.shape[1])  # once, not once for each pair
    first, second = np.triu_indices(n_systems, 1)
    pairs = [
        _pair(by_run[i] - by_run[j], codes, weights, categories, units)
        for i, j in zip(first, second, strict=True)
    ]
    shares = None if weights is None else np.asarray(weights)
    if categories is not None:
        shares = _shares(categories, weights, length=y.shape[1])
    means = exact_means(y, shares)
    ranked = ranks_of_pairs(
        means,
        [pair.p for pair in pairs],
        [pair.direction for pair in pairs],
        detectable=[pair.mde(alpha=alpha, k=len(pairs)) for pair in pairs],
        alpha=alpha,
    )
    return ranked._replace(n_items=y.shape[1], n_groups=n_groups)


def ranks_of_pairs(
    means: ArrayLike,
    p: Sequence[float],
    directions: Sequence[int],
    *,
    further: Sequence[float] = (),
    detectable: Sequence[float | None] = (),
    alpha: float = 0.05,
) -> RankIntervals:
    """Rank intervals from the test of every pair, however it was made, with Holm over all of them.

    Parameters
    ----------
    means : array of shape (K,)
        Of the systems, higher being better.
    p : sequence of K (K - 1) / 2
        Two-sided, of the pairs (0, 1), (0, 2) … (1, 2) …
    directions : sequence of the same length
        Whom each p speaks for: 1 the first of the pair, -1 the second, 0 nobody.
    further : sequence of any length
        p of further tests of the same family, which Holm counts and no rank does.
    detectable : sequence of K (K - 1) / 2, optional
        The least difference that each pair's test would find, as in `RankIntervals`; null where unknown.
    alpha : float
        As in `rank_intervals`.

    Returns
    -------
    RankIntervals
        `n_items` and `n_groups` are 0: they are the caller's to say.

    Raises
    ------
    ValueError
        If the numbers of pairs do not fit, or alpha does not lie between 0 and 1.
    """
    proportion("alpha", alpha)
    y = np.asarray(means, dtype=float)
    first, second = np.triu_indices(len(y), 1)
    if not len(p) == len(directions) == len(first):
        raise ValueError(
            f"{len(y)} systems have {len(first)} pairs, but there are {len(p)} p and {len(directions)} "
            "directions"
        )
    adjusted = holm([*p, *further])[: len(p)]
    table = np.ones((len(y), len(y)))
    table[first, second] = table[second, first] = adjusted
    better = _better(len(y), adjusted, directions, alpha)
    return RankIntervals(
        means=y,
        ranks=ranks_by_block(y[:, None])[0],
        intervals=_intervals(better),
        better=better,
        p=table,
        n_shown=int(better.sum()),
        n_pairs=len(first),
        n_items=0,
        n_groups=0,
        detectable=tuple(detectable),
    )


def ranks_under_fillings(
    observed: RankIntervals,
    worst: ArrayLike,
    best: ArrayLike,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    categories: ArrayLike | None = None,
    runs: ArrayLike | None = None,
    alpha: float = 0.05,
) -> RankIntervals:
    """`observed` with those pairs alone that are also shown whatever the failed scores are.

    Parameters
    ----------
    observed : RankIntervals
        Of the same systems, in the same order, on the items that have no failed score.
    worst, best : arrays of shape (K, n), or (K, n, R) with `runs`
        Item means with every failed score at its worst, and at its best, higher being better, on the items
        that every system has a value or a failed score on. NaN where nothing bounds a failed score: a pair
        that meets one is not shown.
    groups, weights, categories, runs, alpha
        As in `rank_intervals`, of these items.

    Returns
    -------
    RankIntervals
        Of a pair, first the one system is filled worst and the other best, then the reverse; the larger p of
        the two counts, with Holm over all pairs, and both must speak for the same system. So an interval is
        the union of what the two fillings of its system leave open, and holds the interval of `observed`.
        Means, ranks, p and the counts of items and groups stay those observed.

    Raises
    ------
    ValueError
        If the shapes differ, a group is missing, or alpha does not lie between 0 and 1.
    """
    proportion("alpha", alpha)
    low, high = np.asarray(worst, dtype=float), np.asarray(best, dtype=float)
    n_systems = len(observed.means)
    if low.shape != high.shape or low.ndim != (2 if runs is None else 3) or len(low) != n_systems:
        raise ValueError(
            f"worst and best must both have {n_systems} rows and as many columns, but have the shapes "
            f"{low.shape} and {high.shape}"
        )
    units = None if runs is None else _units(runs, low)
    codes, _ = group_codes(groups, length=low.shape[1])
    first, second = np.triu_indices(n_systems, 1)
    p, directions = [], []
    for i, j in zip(first, second, strict=True):
        least_favourable, favourable = low[i] - high[j], high[i] - low[j]
        # One unbounded score may be anything, so nothing is shown of a pair that meets it.
        if np.isnan(least_favourable).any() or np.isnan(favourable).any():
            p.append(1.0)
            directions.append(0)
            continue
        pairs = [_pair(d, codes, weights, categories, units) for d in (least_favourable, favourable)]
        p.append(max(pair.p for pair in pairs))
        directions.append(pairs[0].direction if pairs[0].direction == pairs[1].direction else 0)
    return observed.shown_by_both(ranks_of_pairs(observed.means, p, directions, alpha=alpha))


def _better(
    n_systems: int, adjusted: ArrayLike, directions: Sequence[int], alpha: float
) -> NDArray[np.bool_]:
    """[i, j]: i was shown better than j, from the pairs in the order of `triu_indices`."""
    better = np.zeros((n_systems, n_systems), dtype=bool)
    first, second = np.triu_indices(n_systems, 1)
    for i, j, p, direction in zip(first, second, np.asarray(adjusted), directions, strict=True):
        if p <= alpha and direction:
            better[(i, j) if direction > 0 else (j, i)] = True
    return better


def _intervals(better: NDArray[np.bool_]) -> tuple[RankInterval, ...]:
    """The ranks that the pairs shown leave open."""
    n_above, n_below = better.sum(axis=0), better.sum(axis=1)
    return tuple(
        RankInterval(1 + int(upper), len(better) - int(lower))
        for upper, lower in zip(n_above, n_below, strict=True)
    )


def _pair(
    differences: Floats,
    groups: NDArray[np.intp],
    weights: ArrayLike | None,
    categories: ArrayLike | None,
    runs: NDArray[np.intp] | None,
) -> Paired:
    """A pair by its mean difference, or by the mean of the category means of its differences.

    With runs drawn too, differences are (n, R), and p is the larger of that of their means over runs and that
    over both.
    """
    if categories is not None:
        weights = _shares(categories, weights, length=len(differences))
    by_item = differences if runs is None else differences.mean(axis=1)
    pair = paired(by_item, groups, weights=weights, cells=categories)
    error = None if runs is None else crossed_error(differences, groups, runs, weights=weights)
    if error is None or not error.se:
        return pair
    return pair._replace(p=max(pair.p, error.p(pair.difference)))


def _units(runs: ArrayLike, values: Floats) -> NDArray[np.intp]:
    """The codes of the runs that were drawn together."""
    if values.ndim != 3:
        raise ValueError(f"values of several runs must have the shape (K, n, R), but have {values.shape}")
    codes, n_units = group_codes(runs, length=values.shape[2])
    if n_units < LEAST_RUNS:
        raise ValueError(f"runs must have at least {LEAST_RUNS} labels, but have {n_units}")
    return codes


class CrossedError(NamedTuple):
    """Error of a mean over items and runs, both drawn.

    Attributes
    ----------
    v_groups, v_runs : float
        What each margin adds to the variance of the mean; the residual, which both hold, is out of `v_runs`.
    df_groups, df_runs : float
    """

    v_groups: float
    v_runs: float
    df_groups: float
    df_runs: float

    @property
    def se(self) -> float:
        """Standard error."""
        return math.sqrt(self.v_groups + self.v_runs)

    def p(self, difference: float) -> float:
        """Two-sided p of a mean of 0: the level at which t_groups^2 v_groups + t_runs^2 v_runs is its square.

        Cochran (1964), Biometrics 20, 191-195. With 5 runs of 4 equal systems on 60 to 600 items
        Satterthwaite's degrees of freedom told a pair apart in up to 9 % (Holm), and this does in up to 6 %.
        """
        low, high = 0.0, 1.0
        for _ in range(50):
            p = (low + high) / 2
            squares = scipy.special.stdtrit((self.df_groups, self.df_runs), p / 2) ** 2
            if float(squares @ (self.v_groups, self.v_runs)) > difference**2:
                low = p
            else:
                high = p
        return high


def crossed_error(
    values: ArrayLike, groups: ArrayLike, runs: ArrayLike, *, weights: ArrayLike | None = None
) -> CrossedError | None:
    """v_groups + v_runs - v_residual, each the variance of the mean by that margin alone.

    Parameters
    ----------
    values : array of shape (n, R)
        Of each item in each run.
    groups : array of shape (n,)
        Items that were drawn together; any labels.
    runs : array of shape (R,)
        Runs that were drawn together; any labels.
    weights : array of shape (n,), optional
        Of the items. Equal by default.

    Returns
    -------
    CrossedError or None
        v_runs less v_residual is at least 0, with U - 1 degrees of freedom for U runs drawn apart. Null with
        one group or run.

    Raises
    ------
    ValueError
        If a value is NaN or infinite, a label is missing, or lengths differ.

    Cornfield & Tukey (1956), Ann. Math. Stat. 27, 907-949.
    """
    y = matrix("values", values)
    codes, n_groups = group_codes(groups, length=len(y))
    units, n_units = group_codes(runs, length=y.shape[1])
    design = GroupDesign.of(codes, n_groups, item_weights(weights, length=len(y)))
    by_item = y.mean(axis=1)
    se = design.se(design.residuals(by_item))
    if se is None or n_units < 2:
        return None
    share = design.weights / design.weights.sum()
    by_run = share @ y
    of_units = np.bincount(units, weights=by_run - by_run.mean(), minlength=n_units) / len(units)
    v_runs = float(of_units @ of_units) * n_units / (n_units - 1)
    residuals = share[:, None] * (y - by_run - by_item[:, None] + by_run.mean())
    cells = np.zeros((n_groups, n_units))
    np.add.at(cells, (codes[:, None], units[None, :]), residuals / len(units))
    v_residual = float((cells**2).sum()) * n_groups / (n_groups - 1) * n_units / (n_units - 1)
    return CrossedError(se * se, max(v_runs - v_residual, 0.0), design.df, n_units - 1)


def _shares(categories: ArrayLike, weights: ArrayLike | None, *, length: int) -> Floats:
    """What each item is of a macro mean: v / (H sum of v in its category), v its weight."""
    share = category_weights(categories)
    if weights is None:
        return share
    v = item_weights(weights, length=length)
    codes = np.unique(np.asarray(categories), return_inverse=True)[1]
    return np.asarray(share * v * (np.bincount(codes) / np.bincount(codes, weights=v))[codes])


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
    return np.asarray(ranks_by_block(matrix("values", values)).mean(axis=0))
