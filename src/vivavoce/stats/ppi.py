"""A judge on everything, people on a part: the judge's mean, corrected by what people found.

Prediction-powered inference: Angelopoulos et al. (2023), Science 382, 669-674, the difference estimator of
Cochran (1977), ch. 7. Judged yes/no facts: Rogan & Gladen (1978), Am. J. Epidemiol. 107, 71-76.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import amount, finite, group_codes, proportion
from vivavoce.stats.estimate import Mean, cluster_mean, t_interval
from vivavoce.stats.group_error import GroupDesign


class Powered(NamedTuple):
    """The mean that people would have given, and what it is made of.

    Attributes
    ----------
    value : float
        `judge_mean` + `correction`.
    low, high, se : float or None
        Null together, with one labelled item, or groups but one of them labelled.
    df : float
        Labelled items minus 1; with groups Satterthwaite's, 0 where `se` is null.
    judge_mean, correction : float
        Mean of the judge over all items; mean of person - judge over the labelled.
    labels_mean : float
    labels_se : float or None
        The labels alone: what the judge adds is the step from `labels_se` to `se`.
    n, n_labelled, n_groups : int
    """

    value: float
    low: float | None
    high: float | None
    se: float | None
    df: float
    judge_mean: float
    correction: float
    labels_mean: float
    labels_se: float | None
    n: int
    n_labelled: int
    n_groups: int


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


def prediction_powered(
    judged: ArrayLike,
    labels: ArrayLike,
    *,
    labelled: ArrayLike,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Powered:
    """Mean over all N items of what people would have said, from n labels and the judge's word on all.

    theta = mean_N(judge) + mean_n(r), r = person - judge. Items independent:
    SE^2 = s_h^2 / N + (1/n - 1/N) s_r^2, both variances (n - 1) on the labelled items, df n - 1. With groups,
    N_g items and n_g labels in group g:
    u_g = sum_{i in g} (judge_i - mean_N) / N / sqrt(1 - N_g / N)
    + sum_{labelled i in g} (r_i - mean_n) / n / sqrt(1 - n_g / n), SE^2 = sum_g u_g^2, df Satterthwaite's
    of the labelled groups.

    Parameters
    ----------
    judged : array of shape (N,)
        The judge's score of each item.
    labels : array of shape (n,)
        People's score of the labelled items, on the same scale.
    labelled : array of shape (n,)
        Positions of those items in `judged`, counted from 0, each once.
    groups : array of shape (N,), optional
        What is drawn together. None: every item by itself; with one item to each group the two formulas
        differ by what s_h^2 is estimated from, little if n is not small.
    level : float
        Of the t interval with `df`, 0.95 by default.

    Returns
    -------
    Powered
        Only if the labelled items are a random part: labels for the doubtful cases bias it without limit.
        Not kept inside the metric's limits. A judge that agrees poorly adds nothing, and may add noise.

    Raises
    ------
    ValueError
        If an array is empty, holds NaN or does not fit; if a position is out of range or occurs twice.
    """
    j = finite("judged", judged)
    h = finite("labels", labels)
    at = _positions(labelled, len(h), len(j))
    # The correction: how far a person's label lies from the judge's score, where both exist.
    r = h - j[at]
    n, total = len(h), len(j)
    judge_mean, correction = float(j.mean()), float(r.mean())
    se = labels_se = None
    df: float
    if groups is None:
        n_groups, df = total, n - 1
        if df:
            labels_se = math.sqrt(float(h.var(ddof=1)) / n)
            se = math.sqrt(float(h.var(ddof=1)) / total + (1 / n - 1 / total) * float(r.var(ddof=1)))
    else:
        codes, n_groups = group_codes(groups, length=total)
        # A group adds to both terms, so its two parts are summed before squaring: they covary.
        design = GroupDesign(
            groups=np.concatenate([codes, codes[at]]),
            n_groups=n_groups,
            weights=np.ones(total + n),
            cells=np.repeat(np.arange(2), (total, n)),
            shares=np.ones(2),
        )
        se = design.se(np.concatenate([j - judge_mean, r - correction]))
        # What people alone would give, to show what the judge's scores bring. The labels are the fewer, so
        # their degrees of freedom are those of the sum.
        people = cluster_mean(h, codes[at])
        labels_se, df = people.se, people.df
        if not df:
            se = None
    value = judge_mean + correction
    # Without spread an interval would have no width.
    ends = t_interval(value, se, df, level=level) if se else None
    return Powered(
        value=value,
        low=ends.low if ends else None,
        high=ends.high if ends else None,
        se=se,
        df=df,
        judge_mean=judge_mean,
        correction=correction,
        labels_mean=float(h.mean()),
        labels_se=labels_se,
        n=total,
        n_labelled=n,
        n_groups=n_groups,
    )


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


def _positions(labelled: ArrayLike, n: int, total: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    at = np.asarray(labelled)
    if at.shape != (n,) or at.dtype.kind not in "iu":
        raise ValueError(f"labelled must hold {n} positions, whole numbers: one for each label")
    wrong = (at < 0) | (at >= total)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(f"labelled holds {at[first]} at position {first}, outside 0 to {total - 1}")
    if len(np.unique(at)) < n:
        raise ValueError("labelled names an item twice: average its labels first")
    return at.astype(np.intp)
