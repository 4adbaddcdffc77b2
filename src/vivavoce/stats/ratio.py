"""A sum over a sum, with its error by group: micro F1, pooled precision, and exp of a ratio.

The error is that of the linearised ratio, CR2 by group: closed form, no resampling. Cochran (1977),
Sampling Techniques, ch. 6; Woodruff (1971), JASA 66.
"""

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import finite, group_codes, item_weights
from vivavoce.stats.estimate import NO_SPREAD, ONE_GROUP, Interval, clipped, t_interval, wilson
from vivavoce.stats.group_error import LEAST_GROUPS, GroupDesign, enough_groups
from vivavoce.stats.sums import exact_sum

LARGEST_LOG = math.log(sys.float_info.max)


class Ratio(NamedTuple):
    """A ratio of sums with its interval.

    `value` is null if the denominators sum to 0, and `se` then and with one group. `reason` says why `low`
    and `high` are null. `df` are the degrees of freedom of the error.
    """

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    n: int
    n_groups: int
    method: str
    df: float
    reason: str | None = None


class ExpRatio(NamedTuple):
    """exp of a ratio of sums; `se_log` is the error of the ratio, before exp.

    Null where `Ratio` is; `high` also where it is too large for a float.
    """

    value: float | None
    low: float | None
    high: float | None
    se_log: float | None
    n: int
    n_groups: int
    method: str
    df: float
    reason: str | None = None


NOTHING_BELOW = "the denominators sum to 0"
TOO_FEW_GROUPS = f"no interval: fewer than {LEAST_GROUPS} effective groups"
NO_ERROR = "no interval: the ratio is the same in every group, and nothing limits what the next may be"
BEYOND_FLOATS = "its upper end is above the largest number there is"


def ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    groups: ArrayLike,
    weights: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> Ratio:
    """Ratio of two sums with its interval.

    theta = sum w a / sum w b; u_g = sum_{i in g} w_i (a_i - theta b_i); w_g the group's share of sum w b;
    SE^2 = sum_g u_g^2 / (1 - w_g) / (sum w b)^2, with Satterthwaite's degrees of freedom for weights w b.

    Parameters
    ----------
    numerators, denominators : arrays of shape (n,)
        a and b, one of each per item. Micro F1: 2 TP and 2 TP + FP + FN. Pooled precision: true facts and
        facts. Denominators are 0 or more; an item of 0 over 0 counts in n, but carries no error.
    groups : array of shape (n,)
        What is drawn together; any labels.
    weights : array of shape (n,), optional
        Above 0. Equal by default.
    low, high : float, optional
        Limits of the ratio. With both, Wilson with effective size; else t on the log scale, or on the ratio's
        own where it, or a numerator, is below 0.
    level : float
        0.95 by default.

    Returns
    -------
    Ratio
        Without two limits no interval with fewer than 10 effective groups, or where all groups have one
        ratio. A few groups that hold most of the denominator leave few effective ones.

    Raises
    ------
    ValueError
        If there is no item, a number is NaN or infinite, a denominator is below 0, a weight is not above
        0, a group is missing, or lengths differ.
    """
    theta, se, n, design = _linearised(numerators, denominators, groups, weights)
    bounded = low is not None and high is not None
    method = (
        f"{'Wilson, effective size' if bounded else 't on the log scale'}, linearised ratio, CR2 by group"
    )
    blank = Ratio(theta, None, None, se, n, design.n_groups, method, design.df)
    if theta is None or se is None:
        return blank._replace(reason=NOTHING_BELOW if theta is None else ONE_GROUP)
    if low is not None and high is not None:
        ends = Interval(*wilson(theta, se, design.df, low=low, high=high, level=level)[:2])
        return blank._replace(value=min(max(theta, low), high), low=ends.low, high=ends.high)
    is_signed = bool((np.asarray(numerators, dtype=np.float64) < 0).any())
    ends_or_reason = _log_interval(theta, se, design.df, level, is_signed=is_signed)
    if isinstance(ends_or_reason, str):
        return blank._replace(reason=ends_or_reason)
    ends = clipped(ends_or_reason, low, high)
    return blank._replace(low=ends.low, high=ends.high)


def _log_interval(theta: float, se: float, df: float, level: float, *, is_signed: bool) -> Interval | str:
    """By t on the log scale, on the ratio's own where numbers below 0 are in it; or why there is none."""
    if not enough_groups(df + 1) or se == 0:
        return NO_ERROR if se == 0 else TOO_FEW_GROUPS
    if theta <= 0 or is_signed:
        return t_interval(theta, se, df, level=level)
    logs = t_interval(math.log(theta), se / theta, df, level=level)
    return Interval(math.exp(logs.low), math.exp(min(logs.high, LARGEST_LOG)))


def exp_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    groups: ArrayLike,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> ExpRatio:
    """Exp of `ratio` and of the ends of its interval: perplexity.

    Parameters
    ----------
    numerators : array of shape (n,)
        For a perplexity, the negative log likelihood of each text, in nats.
    denominators : array of shape (n,)
        Its number of units: tokens, words or bytes.
    groups, weights, level
        As in `ratio`.

    Returns
    -------
    ExpRatio
        The interval is not symmetric. Perplexities per token compare only models with one tokeniser.

    Raises
    ------
    ValueError
        As `ratio`, and if the value itself is too large for a float.
    """
    r = ratio(numerators, denominators, groups=groups, weights=weights, level=level)
    blank = ExpRatio(None, None, None, r.se, r.n, r.n_groups, r.method, r.df, r.reason)
    if r.value is None:
        return blank
    if r.value > LARGEST_LOG:
        raise ValueError(f"the ratio is {r.value}, whose exp is too large: are the logarithms natural?")
    blank = blank._replace(value=math.exp(r.value))
    if r.low is None or r.high is None:
        return blank
    if r.high > LARGEST_LOG:
        return blank._replace(low=math.exp(r.low), reason=BEYOND_FLOATS)
    return blank._replace(low=math.exp(r.low), high=math.exp(r.high))


def _linearised(
    numerators: ArrayLike, denominators: ArrayLike, groups: ArrayLike, weights: ArrayLike | None
) -> tuple[float | None, float | None, int, GroupDesign]:
    """Ratio, its SE, n and the design of its error: a mean of a / b, weighted by w b."""
    a = finite("numerators", numerators)
    b = finite("denominators", denominators, length=len(a))
    if (b < 0).any():
        position = int(np.argmax(b < 0))
        raise ValueError(f"denominators holds {b[position]} at position {position}: 0 or more is needed")
    codes, n_groups = group_codes(groups, length=len(a))
    w = item_weights(weights, length=len(a))
    total = exact_sum(w * b)
    # Without denominators there is no mean; the design of the items alone says how many groups there are.
    design = GroupDesign.of(codes, n_groups, w * b if total else w)
    if total == 0:
        return None, None, len(a), design
    theta = exact_sum(w * a) / total
    se = design.se(w * (a - theta * b))
    if se is not None and se <= NO_SPREAD * abs(theta):
        se = 0.0
    return theta, se, len(a), design
