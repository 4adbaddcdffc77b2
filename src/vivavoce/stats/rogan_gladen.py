"""A judged share of yes/no facts, corrected by a judge's sensitivity and specificity on another set.

Rogan & Gladen (1978), Am. J. Epidemiol. 107, 71-76.
"""

import math
from typing import NamedTuple

from vivavoce.stats._arrays import amount, proportion
from vivavoce.stats.estimate import Mean, t_interval


class RoganGladen(NamedTuple):
    """A share corrected for a judge's mistakes; `raw` is the same before it was put inside 0 to 1.

    All null if sensitivity + specificity is not above 1: such a judge knows nothing. `se`, `low` and `high`
    also if one of the three has no error.
    """

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    raw: float | None


def rogan_gladen(judged: Mean, *, sensitivity: Mean, specificity: Mean, level: float = 0.95) -> RoganGladen:
    """Share of true facts behind a judge's share of "true": (p + sp - 1) / (se + sp - 1).

    SE^2 = (V_p + theta^2 V_se + (1 - theta)^2 V_sp) / (se + sp - 1)^2 (delta method), t with
    Welch-Satterthwaite df from those of the three.

    Parameters
    ----------
    judged : Mean
        Share the judge called true, of `cluster_mean` over answers.
    sensitivity, specificity : Mean
        Share called true of what people found true; called false of what they found false: `cluster_mean`
        of labelled facts, groups being answers. Taken as independent of each other and of `judged`.
    level : float
        0.95 by default.

    Returns
    -------
    RoganGladen
        Value and ends kept inside 0 to 1. Distrust it if se + sp - 1 is below about five times its own
        error, where a ratio is no longer normal, or if se or sp is 1 with an SE of 0: few labels look so.
        No interval if all of it lies outside 0 to 1: the three shares then contradict each other.

    Raises
    ------
    ValueError
        If a share lies outside 0 to 1, or an SE is negative, NaN or infinite, or of one group.
    """
    proportion("level", level)
    parts = {"judged": judged, "sensitivity": sensitivity, "specificity": specificity}
    for name, mean in parts.items():
        if not 0 <= mean.value <= 1:
            raise ValueError(f"{name} must be a share from 0 to 1, but is {mean.value}")
        if mean.se is None:
            continue
        amount(f"the SE of {name}", mean.se)
        if mean.df < 1:
            raise ValueError(f"{name} has an SE but {mean.df:g} degrees of freedom: an SE takes at least 1")
    # At or below 0 the judge does not tell right from wrong, and the formula divides by nothing.
    span = sensitivity.value + specificity.value - 1
    if span <= 0:
        return RoganGladen(None, None, None, None, None)
    theta = (judged.value + specificity.value - 1) / span
    value = min(max(theta, 0.0), 1.0)
    # Delta method: the derivative of theta by each of the three shares, times the span.
    pulls = {"judged": 1.0, "sensitivity": theta, "specificity": 1 - theta}
    variances = []
    for name, mean in parts.items():
        if mean.se is None:
            return RoganGladen(value, None, None, None, theta)
        variances.append(((pulls[name] * mean.se / span) ** 2, mean.df))
    variance = sum(v for v, _ in variances)
    if variance == 0:
        return RoganGladen(value, None, None, 0.0, theta)
    # Satterthwaite's degrees of freedom: three errors from three samples of different sizes.
    df = variance**2 / sum(v**2 / df for v, df in variances)
    ends = t_interval(theta, math.sqrt(variance), df, level=level)
    if ends.low > 1 or ends.high < 0:
        # Share, sensitivity and specificity contradict each other: cut to 0 to 1 it would look certain.
        return RoganGladen(value, None, None, math.sqrt(variance), theta)
    low, high = (min(max(end, 0.0), 1.0) for end in ends)
    return RoganGladen(value, low, high, math.sqrt(variance), theta)
