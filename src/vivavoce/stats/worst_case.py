"""Not the mean but the bad end: the worst of several answers, and the worst share of the questions.

Higher is better here; for what is better lower, turn the sign before and after.
"""

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import (
    ROUNDING,
    Floats,
    finite,
    group_codes,
    inside,
    item_weights,
    label_codes,
    proportion,
    within_limits,
)
from vivavoce.stats.estimate import ONE_GROUP, Estimate, cluster_mean, estimate_mean, mean_interval
from vivavoce.stats.group_error import LEAST_GROUPS, effective_groups, enough_groups

FEW_IN_TAIL = f"fewer than {LEAST_GROUPS} effective groups in the tail: no interval"


def worst_of_k(values: ArrayLike, items: ArrayLike, *, k: int) -> Floats:
    """Per item, the expected smallest of `k` answers drawn without replacement from its R.

    With x_(1) <= … <= x_(R): sum_j x_(j) C(R - j, k - 1) / C(R, k), the mean over all C(R, k) choices. For
    repeats that are independent it is an unbiased estimate of the worst of k new answers; the smallest of
    all R, taken as it stands, is that of R.

    Parameters
    ----------
    values : array of shape (n_rows,)
        One value per answer.
    items : array of shape (n_rows,)
        The item each belongs to; any labels. R may differ.
    k : int
        At least 1. With k = 1 these are the item means.

    Returns
    -------
    array of shape (n_items,)
        In the order of the sorted labels; for `paired`, subtract two of them.

    Raises
    ------
    ValueError
        If there is no value, one is NaN or infinite, an item is missing, lengths differ, k is below 1, or
        an item has fewer than k answers, naming a position of it.

    The minimum in place of the maximum in Chen et al. (2021), arXiv:2107.03374, sec. 2.1.
    """
    y = finite("values", values)
    codes, n_items = label_codes("items", items, length=len(y))
    if k < 1:
        raise ValueError(f"k must be at least 1, but is {k}")
    repeats = np.bincount(codes, minlength=n_items)
    short = repeats[codes] < k
    if short.any():
        position = int(np.argmax(short))
        raise ValueError(
            f"the item at position {position} has {repeats[codes[position]]} answers, fewer than k = {k}: "
            "lower k, or leave such items out, knowingly"
        )
    # Sorted inside each item, so that a value's rank is its position behind the item's start.
    order = np.lexsort((y, codes))
    starts = np.cumsum(repeats) - repeats
    rank = np.arange(len(y)) - starts[codes[order]]
    x, n_repeats = y[order], repeats[codes[order]]
    weighted = np.empty(len(y))
    for r in np.unique(repeats):
        rows = n_repeats == r
        weighted[rows] = _shares(int(r), k)[rank[rows]] * x[rows]
    # The clip undoes rounding: the worst of five fives is 5.
    return np.clip(np.add.reduceat(weighted, starts), x[starts], x[starts + repeats - 1])


def worst_at_k(
    values: ArrayLike,
    items: ArrayLike,
    *,
    groups: ArrayLike,
    k: int,
    weights: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean over items of `worst_of_k`, with the default interval of a mean, by group.

    Parameters
    ----------
    values, items, k
        As in `worst_of_k`.
    groups : array of shape (n_rows,)
        What is drawn together; the same for all rows of an item.
    weights : array of shape (n_rows,), optional
        Of the item, so the same on all its rows, above 0. Equal by default.
    low, high : float, optional
        The metric's limits. With both, Wilson; else t.
    level : float
        0.95 by default.

    Returns
    -------
    Estimate
        `n` counts items. Repeats that are copies of one text hold the judge's noise only: the worst of k
        is then about the judge, not about the candidate.

    Raises
    ------
    ValueError
        As `worst_of_k` and `estimate_mean`; if a group or a weight differs inside an item.
    """
    worst = worst_of_k(values, items, k=k)
    codes, n_items = label_codes("items", items, length=len(np.asarray(values)))
    by_row, _ = group_codes(groups, length=len(codes))
    of_item = inside("items", codes, n_items, of="groups", outer=by_row)
    w = None
    if weights is not None:
        levels, by_level = np.unique(item_weights(weights, length=len(codes)), return_inverse=True)
        w = levels[inside("items", codes, n_items, of="weights", outer=by_level)]
    return estimate_mean(worst, of_item, weights=w, low=low, high=high, level=level)


def lower_tail_mean(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    share: float,
    weights: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of the worst `share` of the items (expected shortfall), with its error by influence function.

    With Q the `share` quantile, z_i = Q - max(Q - y_i, 0) / share: the mean of z is that of the worst share,
    an item on its border counting in part, and its CR2 error by group is that of z. What the error rests on
    are the groups in the tail: g is `share` of the effective groups, or the effective groups of the items in
    the tail where these are fewer. t has g - 1 degrees of freedom, and Wilson's effective size is at least g.

    Parameters
    ----------
    values, groups, weights : arrays of shape (n,)
        As in `cluster_mean`.
    share : float
        q, between 0 and 1: 0.1 is the worst tenth.
    low, high : float, optional
        The metric's limits. With both, Wilson; else t.
    level : float
        0.95 by default.

    Returns
    -------
    Estimate
        `se` is null with one group, `low` and `high` where fewer than 10 effective groups are in the tail:
        `n` and `n_groups` count all, `df` is g - 1. Redrawing published scores it covered 91 to 96 %: tenths
        of 100 to 200 groups, quarters of 42 to 100. It is optimistic by .01 to .2 of 5 where the tail is
        short. The spread of repeats is in the item means, so fewer repeats make a worse tail: compare tails
        of equal R only.

    Raises
    ------
    ValueError
        As `cluster_mean`; if `share` is not between 0 and 1, or a value lies outside the limits.

    Rockafellar & Uryasev (2000), J. Risk 2, 21-41; its error: Brazauskas et al. (2008), J. Stat. Plan.
    Inference 138, 3590-3604.
    """
    proportion("share", share)
    y = within_limits(values, low, high)
    w = item_weights(weights, length=len(y))
    order = np.argsort(y, kind="stable")
    filled = np.cumsum(w[order])
    border = int(np.searchsorted(filled, share * filled[-1] * (1 - ROUNDING)))
    quantile = y[order[border]]
    # The influence function of the tail mean (Rockafellar & Uryasev 2000): its mean is the tail mean.
    mean = cluster_mean(quantile - np.maximum(quantile - y, 0) / share, groups, weights=w)
    value = min(max(mean.value, float(y.min())), float(y.max()))
    # The tail is the sample: its groups, not all, give the degrees of freedom.
    is_low = y <= quantile
    in_tail = min(
        share * mean.effective_groups, effective_groups(np.asarray(groups)[is_low], weights=w[is_low])
    )
    bounded = low is not None and high is not None
    method = f"{'Wilson' if bounded else 't'}, influence function, {in_tail:.0f} effective groups in the tail"
    blank = Estimate(value, None, None, mean.se, mean.n, mean.n_groups, method, max(in_tail - 1, 0.0))
    if mean.se is None:
        return blank._replace(reason=ONE_GROUP)
    if not enough_groups(in_tail):
        return blank._replace(reason=FEW_IN_TAIL)
    of_tail = mean._replace(value=value, df=in_tail - 1)
    ends = mean_interval(of_tail, skewness=0.0, low=low, high=high, level=level)
    if isinstance(ends, str):
        return blank._replace(reason=ends)
    return blank._replace(low=ends.low, high=ends.high)


def _shares(repeats: int, k: int) -> Floats:
    """C(R - j, k - 1) / C(R, k) for j = 1 … R, by its own recurrence."""
    # The share of draws of k in which the j-th smallest is the smallest: C(R - j, k - 1) / C(R, k).
    shares = np.zeros(repeats)
    shares[0] = k / repeats
    for j in range(1, repeats - k + 1):
        shares[j] = shares[j - 1] * (repeats - j - k + 1) / (repeats - j)
    return shares
