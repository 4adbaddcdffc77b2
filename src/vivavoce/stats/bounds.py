"""What failed scores could have done to a mean: the identified set, and the same with sampling error.

Only scores that are missing through our doing (`failed`) have bounds. A candidate's silence is resolved by
the criterion's rule before and is not missing. Manski (2003), Partial Identification, ch. 1.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import ROUNDING, finite, proportion
from vivavoce.stats.estimate import Interval, Mean, cluster_mean, t_interval, wilson
from vivavoce.stats.group_error import enough_groups


class Bounds(NamedTuple):
    """`set_…`: the means that the failed scores could have led to; `bound_…`: the same with sampling error.

    A side is null if the metric has no limit there; the two with sampling also if there is one group only.
    """

    set_low: float | None
    set_high: float | None
    bound_low: float | None
    bound_high: float | None


class ImbensManski(NamedTuple):
    """Ends of the interval, and `c`, what the standard errors are multiplied by."""

    low: float
    high: float
    c: float


def bounds(
    values_low: ArrayLike | None,
    values_high: ArrayLike | None,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
    covers: Literal["set", "mean"] = "set",
) -> Bounds:
    """Means under the two fillings, theta_L and theta_U, and [theta_L - t SE_L, theta_U + t SE_U], t(df).

    Parameters
    ----------
    values_low, values_high : array of shape (n,), or None
        Item values (or differences) with every failed score set to what makes the result lowest, and
        highest; then the ordinary averaging. For a difference A - B the low filling gives A the
        metric's lower and B its upper limit. None where the metric has no limit.
    groups, weights, cells : arrays of shape (n,)
        As in `cluster_mean`, of all the items, answered or failed.
    low, high : float, optional
        Limits to clip at; for a difference -/+ the width of the metric's range.
    level : float
        0.95 by default.
    covers : {"set", "mean"}
        What is covered at `level`: the whole identified set; or the one true mean wherever it lies in the
        set, which is narrower: `imbens_manski`, large samples only.

    Returns
    -------
    Bounds
        The default covers the whole identified set at `level`, and so the one true mean more often than
        that: wide on purpose. If nothing failed it is the clipped t interval; the headline's interval is
        then the better one for a bounded metric (`wilson`). That may reach farther out on a side; an estimate
        takes the farther end of the two, so that a score that failed adds no certainty.

    Raises
    ------
    ValueError
        As `cluster_mean`; also if a low filling is above the high one by more than 1e-9, naming the item.
    """
    if values_low is not None and values_high is not None:
        floor = finite("values_low", values_low)
        ceiling = finite("values_high", values_high, length=len(floor))
        crossed = floor > ceiling + ROUNDING
        if crossed.any():
            k = int(np.argmax(crossed))
            raise ValueError(
                f"values_low holds {floor[k]} at position {k}, above values_high with {ceiling[k]}: "
                "swap the fillings"
            )
    at_low = _filling("values_low", values_low, groups, weights, cells)
    at_high = _filling("values_high", values_high, groups, weights, cells)
    set_low, set_high = at_low.value if at_low else None, at_high.value if at_high else None
    if covers == "set":
        # The set holds every filling: each end is the t end of the filling on its side.
        ends = [_t_ends(mean, (low, high), level) for mean in (at_low, at_high)]
        return Bounds(set_low, set_high, ends[0].low if ends[0] else None, ends[1].high if ends[1] else None)
    # A missing side is infinitely far away, and its error plays no part.
    errors = [mean.se for mean in (at_low, at_high) if mean]
    if not errors or None in errors:
        return Bounds(set_low, set_high, None, None)
    narrow = imbens_manski(
        -math.inf if set_low is None else set_low,
        math.inf if set_high is None else set_high,
        se_low=(at_low and at_low.se) or 0.0,
        se_high=(at_high and at_high.se) or 0.0,
        level=level,
        low=low,
        high=high,
    )
    return Bounds(
        set_low,
        set_high,
        None if set_low is None else narrow.low,
        None if set_high is None else narrow.high,
    )


def imbens_manski(
    set_low: float,
    set_high: float,
    *,
    se_low: float,
    se_high: float,
    level: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> ImbensManski:
    """[theta_L - c SE_L, theta_U + c SE_U], wide enough for the one true mean but not for the whole set.

    Phi(c + (theta_U - theta_L) / max(SE_L, SE_U)) - Phi(-c) = level.

    Parameters
    ----------
    set_low, set_high : float
        theta_L and theta_U; infinite where a side has no limit.
    se_low, se_high : float
        Their standard errors, 0 or more.
    level : float
        Coverage of the one true mean, 0.95 by default.
    low, high : float, optional
        Limits to clip at.

    Returns
    -------
    ImbensManski
        c to 1e-12, between the one-sided normal quantile (a wide set) and the two-sided (a point).
        Normal, not t: with few groups it covers less than it says. Prefer the default of `bounds`.

    Raises
    ------
    ValueError
        If a number is NaN or out of its range, or theta_L is above theta_U by more than 1e-9.

    Imbens & Manski (2004), Econometrica 72, 1845-1857.
    """
    proportion("level", level)
    if math.isnan(set_low) or math.isnan(set_high) or set_low > set_high + ROUNDING:
        raise ValueError(f"set_low must be at most set_high, but they are {set_low} and {set_high}")
    for name, limit in (("low", low), ("high", high)):
        if limit is not None and math.isnan(limit):
            raise ValueError(f"{name} must be a number or None, but is {limit}")
    for name, se in (("se_low", se_low), ("se_high", se_high)):
        if not (math.isfinite(se) and se >= 0):
            raise ValueError(f"{name} must be a finite number, 0 or more, but is {se}")
    # Of rounding alone the set would be empty; the larger error is the cautious one for c.
    width, se = max(0.0, set_high - set_low), max(se_low, se_high)
    gap = width / se if se > 0 else math.inf
    # The left side rises with c, and is at most `level` at one quantile, at least at the other.
    short, longest = float(scipy.special.ndtri(level)), float(scipy.special.ndtri(0.5 + level / 2))
    while longest - short > 1e-13 * (1 + longest):
        c = (short + longest) / 2
        short, longest = (
            (c, longest)
            if float(scipy.special.ndtr(c + gap) - scipy.special.ndtr(-c)) < level
            else (short, c)
        )
    # Only the end is limited by the scale; c and the set are reported as computed.
    start, end = set_low - longest * se_low, set_high + longest * se_high
    return ImbensManski(
        start if low is None else max(start, low), end if high is None else min(end, high), longest
    )


def _filling(
    name: str,
    values: ArrayLike | None,
    groups: ArrayLike,
    weights: ArrayLike | None,
    cells: ArrayLike | None,
) -> Mean | None:
    if values is None:
        return None
    return cluster_mean(finite(name, values), groups, weights=weights, cells=cells)


def _t_ends(mean: Mean | None, limits: tuple[float | None, float | None], level: float) -> Interval | None:
    if mean is None or mean.se is None:
        return None
    if None in limits and (mean.se == 0 or not enough_groups(mean.effective_groups)):
        return None
    low, high = limits
    if mean.se == 0 and low is not None and high is not None:
        return Interval(*wilson(mean.value, 0.0, mean.df, low=low, high=high, level=level)[:2])
    return t_interval(mean.value, mean.se, mean.df, level=level, low=low, high=high)
