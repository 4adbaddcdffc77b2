"""The interval on which a gate decides: the widest of those that could be right.

A gate is asked over and over, so its error must hold where a plain interval fails. Near a ceiling losses are
rare and whole: t is too sure of an error that it saw too little of. Where large groups happen to be equal,
few small ones make the error. Where hardly any group differs there is no error at all, only a count. Where
no large loss was seen, the data do not exclude a few.
"""

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import (
    Floats,
    finite,
    group_codes,
    item_weights,
    scaled_weights,
)
from vivavoce.stats.estimate import Interval, skewed_interval
from vivavoce.stats.group_error import GroupDesign
from vivavoce.stats.paired import Paired, agresti_min, margin_interval, paired
from vivavoce.stats.rare_losses import RareLosses, unseen_shares
from vivavoce.stats.sums import rounded
from vivavoce.stats.verdict import LEAST_DIFFERENT


def gate_interval(
    differences: ArrayLike,
    groups: ArrayLike,
    *,
    span: float | None,
    weights: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval | None:
    """Interval of a paired difference that a system worse by a margin passes in at most 5 %.

    Where 6 groups or more differ: the hull of `margin_interval`, of `skewed_interval` by CR2 (only where
    `paired` tests by t), of Agresti-Min, and of what may not have been seen. Where fewer differ: -/+ span
    times the Clopper-Pearson upper limits of the shares of groups that lost and that won, among the effective
    groups.

    What may not have been seen: `RareLosses.end`, from the one-sided ends of `margin_interval`, where on a
    side no item differs by more than half the span.

    Parameters
    ----------
    differences, groups, span, weights, cells, level
        As in `margin_interval`, which this interval always holds where 6 groups or more differ.

    Returns
    -------
    Interval or None
        Null with one group, or one with all weight; without a span also where sign flips decide p. Without a
        span nothing bounds what was not seen, and the interval does not cover it.

    Raises
    ------
    ValueError
        As `agresti_min`; with a span also if the level is not above .5.

    Clopper & Pearson (1934), Biometrika 26; Hall (1992), JRSS B 54; Agresti & Min (2005), Stat. Med. 24.
    Worse by the margin passed in at most 5 % of the draws of each row of bench/gate.py, by `margin_interval`
    alone in up to 12 %.
    """
    result = paired(differences, groups, weights=weights, cells=cells)
    if result.df < 1:
        return None
    d = rounded(finite("differences", differences))
    if result.n_different < LEAST_DIFFERENT:
        return None if span is None else _by_count(d, result.effective_groups, span, weights, level)
    parts = list(_tails(d, groups, result, (weights, cells), level))
    if span is not None:
        judged = margin_interval(d, groups, span=span, weights=weights, cells=cells, level=level)
        parts += [judged] if judged else []
        parts.append(agresti_min(d, groups, span=span, weights=weights, cells=cells, level=level))
        # What was not seen has a one-sided limit at the level, or equal systems hardly pass.
        one_sided = 2 * level - 1
        ends = margin_interval(d, groups, span=span, weights=weights, cells=cells, level=one_sided)
        if ends is not None:
            parts.append(_with_unseen(d, result, ends, span, level))
    return Interval(min(p.low for p in parts), max(p.high for p in parts)) if parts else None


def _with_unseen(d: Floats, result: Paired, ends: Interval, span: float, level: float) -> Interval:
    """The ends, each with the whole differences of which the data hold none."""
    n, df = result.effective_groups, result.df if result.test == "t" else None
    shares = unseen_shares(d, n, span=span, level=level)
    low, high = ends
    if shares.negative is not None:
        unseen = RareLosses(0, n, span, result.difference, 0.0, df)
        low = unseen.end(result.difference - low, 1 - level)
    if shares.positive is not None:
        unseen = RareLosses(0, n, span, -result.difference, 0.0, df)
        high = -unseen.end(high - result.difference, 1 - level)
    return Interval(low, high)


def _tails(
    d: Floats,
    groups: ArrayLike,
    result: Paired,
    weighing: tuple[ArrayLike | None, ArrayLike | None],
    level: float,
) -> Iterator[Interval]:
    """By t that reaches farther on the side of the tail; nothing where sign flips decide p."""
    if result.se is None or result.test != "t":
        return
    codes, n_groups = group_codes(groups, length=len(d))
    weights, cells = weighing
    share = item_weights(weights, length=len(d))
    design = GroupDesign.of(codes, n_groups, share, cells)
    parts = share * (d - float(np.average(d, weights=share))) if cells is None else design.residuals(d)
    skewness = design.skewness(parts)
    yield skewed_interval(result.difference, result.se, result.df, skewness=skewness, level=level)


def _by_count(d: Floats, effective: float, span: float, weights: ArrayLike | None, level: float) -> Interval:
    """What the shares of losses and of gains could be, each taken for as large as the scale allows."""
    w = scaled_weights(weights, length=len(d))
    lost, won = (float(np.average(side, weights=w)) for side in (d < 0, d > 0))
    return Interval(-span * _upper_limit(lost, effective, level), span * _upper_limit(won, effective, level))


def _upper_limit(share: float, effective: float, level: float) -> float:
    """Clopper-Pearson's upper limit of a share of so many effective groups; the count need not be whole."""
    hits = share * effective
    if hits >= effective:
        return 1.0
    return float(scipy.special.betaincinv(hits + 1, effective - hits, 0.5 + level / 2))
