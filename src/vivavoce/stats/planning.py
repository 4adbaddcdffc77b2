"""How small a difference an exam can find, and how many groups it takes to find a given one.

Neither looks at the difference that was observed: "power" computed from it only repeats its p value.
"""

import math
from typing import Literal

from scipy.special import stdtrit

from vivavoce.stats._arrays import amount, proportion

__all__ = ["group_variance", "groups_needed", "items_needed", "mde"]


def mde(
    se: float | None, n_groups: int, *, alpha: float = 0.05, k: int = 1, power: float = 0.8
) -> float | None:
    """Smallest difference found with probability `power`: (t(1 - alpha / 2k) + t(power)) * SE, t(G - 1).

    Parameters
    ----------
    se : float or None
        SE of the difference over `n_groups` groups, in the metric's units.
    n_groups : int
        G.
    alpha, power : float
        Two-sided error, .05; probability of finding it, .8.
    k : int
        Comparisons in the family (Bonferroni); 1 for the pair alone.

    Returns
    -------
    float or None
        Null if the SE is null or 0, or G is below 2: no spread was seen, so none can be promised.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if se is None or n_groups < 2:
        return None
    if not (math.isfinite(se) and se >= 0):
        raise ValueError(f"se must be a finite number, 0 or more, but is {se}")
    factor = _quantiles(n_groups - 1, alpha, k, power)
    return factor * se if se > 0 else None


def group_variance(
    se: float,
    n_groups: int,
    *,
    n_items: int,
    repeats: float | None = None,
    repeats_wanted: float | None = None,
    within: float | None = None,
) -> float | None:
    """Variance of a difference per group, for another number of repeats if wanted.

    s_G^2(R') = G SE^2 - (1 / R - 1 / R') s_w^2 G / n, so that SE(R', G') = sqrt(s_G^2(R') / G').

    Parameters
    ----------
    se : float
        SE of the difference, by group.
    n_groups, n_items : int
        G and n it was computed from.
    repeats, repeats_wanted : float, optional
        R as it was and R' as planned, at least 1. Without `repeats_wanted`, R' = R.
    within : float, optional
        s_w^2, variance between repeats of one item, summed over the two candidates. Unknown, so null, if
        a candidate's repeats are identical by construction: 0 would promise what nobody saw.

    Returns
    -------
    float or None
        Null if R' differs from R and `within` or `repeats` is unknown. It may come out below 0, when
        `within` is large and the exam short: read it as "not estimable", as `groups_needed` does.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not (math.isfinite(se) and se >= 0):
        raise ValueError(f"se must be a finite number, 0 or more, but is {se}")
    if not 1 <= n_groups <= n_items:
        raise ValueError(f"{n_groups} groups of {n_items} items: each group holds at least one item")
    if repeats_wanted is None or repeats_wanted == repeats:
        return n_groups * se**2
    if repeats is None or within is None:
        return None
    if not (repeats >= 1 and repeats_wanted >= 1):
        raise ValueError(f"repeats must be at least 1, but are {repeats} and {repeats_wanted}")
    if not (math.isfinite(within) and within >= 0):
        raise ValueError(f"within must be a finite number, 0 or more, but is {within}")
    return n_groups * se**2 - (1 / repeats - 1 / repeats_wanted) * within * n_groups / n_items


def groups_needed(
    margin: float,
    variance: float | None,
    *,
    goal: Literal["difference", "equivalence"] = "difference",
    alpha: float = 0.05,
    k: int = 1,
    power: float = 0.8,
) -> int | None:
    """Smallest G' with G' >= (t(1 - alpha / 2k) + t(power))^2 s_G^2 / margin^2, t(G' - 1).

    The fixed point of G' = ceil(...), found by bisection: the right-hand side falls as G' grows, so the
    iteration has one fixed point or alternates around this same number.

    Parameters
    ----------
    margin : float
        The difference that matters, in the metric's units, above 0. Never the observed one.
    variance : float or None
        s_G^2, of `group_variance`.
    goal : {"difference", "equivalence"}
        To find a difference of `margin`; or to show that two equal candidates are within it, which takes
        t((1 + power) / 2) in place of t(power).
    alpha, k, power
        As in `mde`.

    Returns
    -------
    int or None
        At least 2; null if the variance is null, or 0 or less. A verdict also takes 10 groups of which
        6 differ, whatever comes out here.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin must be a finite number above 0, but is {margin}")
    reached = power if goal == "difference" else (1 + proportion("power", power)) / 2
    _quantiles(1, alpha, k, reached)  # refuses numbers out of range before any early return
    if variance is not None and not math.isfinite(variance):
        raise ValueError(f"variance must be a finite number, but is {variance}")
    if variance is None or variance <= 0:
        return None
    ratio = variance / margin**2

    def enough(groups: int) -> bool:
        return groups >= _quantiles(groups - 1, alpha, k, reached) ** 2 * ratio

    high = 2
    while not enough(high):
        high *= 2
    low = max(1, high // 2)  # not enough, or below the least
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def items_needed(groups: int, *, n_items: int, n_groups: int) -> int:
    """Items in `groups` groups of the size seen so far, rounded up: G' n / G.

    Parameters
    ----------
    groups : int
        G', of `groups_needed`.
    n_items, n_groups : int
        n and G of the exam at hand.

    Raises
    ------
    ValueError
        If there is no group, fewer items than groups, or a number that is not whole.
    """
    if not 1 <= n_groups <= n_items or groups != int(amount("groups", groups)):
        raise ValueError(f"no whole numbers: {groups} groups, of {n_items} items in {n_groups} groups")
    return -(-groups * n_items // n_groups)


def _quantiles(df: int, alpha: float, k: int, power: float) -> float:
    proportion("alpha", alpha)
    proportion("power", power)
    if k < 1:
        raise ValueError(f"k must be at least 1, but is {k}")
    return float(stdtrit(df, 1 - alpha / (2 * k)) + stdtrit(df, power))
