"""A sum over a sum, with its error by group: micro F1, pooled precision, and exp of a ratio.

The error is that of the linearised ratio, CR1 by group: closed form, no resampling. Cochran (1977),
Sampling Techniques, ch. 6; Woodruff (1971), JASA 66.
"""

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import evenness, finite, group_codes, item_weights
from vivavoce.stats.estimate import NO_SPREAD, Interval, t_interval, wilson

LARGEST_LOG = math.log(sys.float_info.max)


class Ratio(NamedTuple):
    """A ratio of sums with its interval.

    `value` is null if the denominators sum to 0; `low`, `high` and `se` then and with one group.
    """

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    n: int
    n_groups: int
    method: str


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

    theta = sum w a / sum w b; u_g = sum_{i in g} w_i (a_i - theta b_i);
    SE^2 = G / (G - 1) * sum_g u_g^2 / (sum w b)^2, with G - 1 degrees of freedom.

    Parameters
    ----------
    numerators, denominators : arrays of shape (n,)
        a and b, one of each per item. Micro F1: 2 TP and 2 TP + FP + FN. Pooled precision: true facts and
        facts. Denominators are 0 or more; an item of 0 over 0 says nothing but counts as drawn.
    groups : array of shape (n,)
        What is drawn together; any labels.
    weights : array of shape (n,), optional
        Above 0. Equal by default.
    low, high : float, optional
        Limits of the ratio. With both, Wilson with effective size; else t with G - 1.
    level : float
        0.95 by default.

    Returns
    -------
    Ratio
        Distrust it where a few groups hold most of the denominator: Cochran's rule asks for more than 30
        groups and a relative error of either sum under .1. Below, the ratio is biased and the interval
        too narrow.

    Raises
    ------
    ValueError
        If there is no item, a number is NaN or infinite, a denominator is below 0, a weight is not above
        0, a group is missing, or lengths differ.
    """
    theta, se, n, n_groups = _linearised(numerators, denominators, groups, weights)
    bounded = low is not None and high is not None
    method = f"{'Wilson, effective size' if bounded else 't'}, linearised ratio, CR1 by group"
    if theta is None or se is None:
        return Ratio(theta, None, None, None, n, n_groups, method)
    if low is not None and high is not None:
        even = evenness(item_weights(weights, length=n))
        ends = Interval(*wilson(theta, se, n_groups, low=low, high=high, level=level, evenness=even)[:2])
        theta = min(max(theta, low), high)
    else:
        ends = t_interval(theta, se, n_groups - 1, level=level, low=low, high=high)
    return Ratio(theta, ends.low, ends.high, se, n, n_groups, method)


def exp_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    groups: ArrayLike,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> ExpRatio:
    """Exp of `ratio`, its t interval taken on the log scale: perplexity.

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
    theta, se, n, n_groups = _linearised(numerators, denominators, groups, weights)
    method = "t on the log scale, linearised ratio, CR1 by group"
    if theta is None:
        return ExpRatio(None, None, None, None, n, n_groups, method)
    if theta > LARGEST_LOG:
        raise ValueError(f"the ratio is {theta}, whose exp is too large: are the logarithms natural?")
    if se is None:
        return ExpRatio(math.exp(theta), None, None, None, n, n_groups, method)
    ends = t_interval(theta, se, n_groups - 1, level=level)
    high = math.exp(ends.high) if ends.high <= LARGEST_LOG else None
    return ExpRatio(math.exp(theta), math.exp(ends.low), high, se, n, n_groups, method)


def _linearised(
    numerators: ArrayLike, denominators: ArrayLike, groups: ArrayLike, weights: ArrayLike | None
) -> tuple[float | None, float | None, int, int]:
    """Ratio, its SE, n and G."""
    a = finite("numerators", numerators)
    b = finite("denominators", denominators, length=len(a))
    if (b < 0).any():
        at = int(np.argmax(b < 0))
        raise ValueError(f"denominators holds {b[at]} at position {at}: 0 or more is needed")
    codes, n_groups = group_codes(groups, length=len(a))
    w = item_weights(weights, length=len(a))
    total = float(w @ b)
    if total == 0:
        return None, None, len(a), n_groups
    theta = float(w @ a) / total
    if n_groups < 2:
        return theta, None, len(a), n_groups
    u = np.bincount(codes, weights=w * (a - theta * b), minlength=n_groups)
    se = math.sqrt(n_groups / (n_groups - 1) * float(u @ u)) / total
    return theta, 0.0 if se <= NO_SPREAD * abs(theta) else se, len(a), n_groups
