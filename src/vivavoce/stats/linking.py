"""Bridging: what a mean of old scores corresponds to on the scale of new ones.

A line through scores that both examiners gave to the same answers (the single-group design of linking). It
carries means over, never single scores, and it is as good as the answers it was drawn through.
"""

import math
from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats, finite, group_codes, item_weights, proportion
from vivavoce.stats.estimate import NO_SPREAD
from vivavoce.stats.group_error import GroupDesign

Linking = Literal["mean", "mean_sigma"]


class Carried(NamedTuple):
    """An old mean on the new scale.

    Attributes
    ----------
    value : float
    low, high : float or None
        Of the line alone, the old mean taken as known; null where the line has no error.
    clipped : bool
        Whether the line left the new scale there, and `value` is its end.
    """

    value: float
    low: float | None
    high: float | None
    clipped: bool


class Link(NamedTuple):
    """new = intercept + slope * old, with delete-one-group errors.

    Attributes
    ----------
    method : {"mean", "mean_sigma"}
    intercept, slope : float or None
        Null where `mean_sigma` has a side that does not vary.
    se_intercept, se_slope, covariance : float or None
        Null with one group, or where the line is undefined without some group.
    residual : float or None
        Root mean square of new - (intercept + slope * old): how far single values lie from the line.
    r : float or None
        Pearson's correlation of old and new; null where a side does not vary. Not above 0: the two do
        not rise together, and a line between them means nothing.
    n, n_groups : int
    df : float
        Degrees of freedom of the errors: Satterthwaite's for groups of these sizes, 0 with one group.
    """

    method: Linking
    intercept: float | None
    slope: float | None
    se_intercept: float | None
    se_slope: float | None
    covariance: float | None
    residual: float | None
    r: float | None
    n: int
    n_groups: int
    df: float

    @property
    def erring(self) -> bool:
        """Whether the line has an error: not where all cases, or one with all weight, lie on it."""
        return self.df >= 1 and bool(self.se_intercept or self.se_slope)

    def at(
        self, old: float, *, low: float | None = None, high: float | None = None, level: float = 0.95
    ) -> Carried | None:
        """The value that an old mean corresponds to, by t(df); null where there is no line.

        `low` and `high` are the limits of the new scale: value and interval are clipped to them. Raises
        `ValueError` if `old` is not finite or the level does not lie between 0 and 1.
        """
        if not math.isfinite(old):
            raise ValueError(f"old must be a finite number, but is {old}")
        proportion("level", level)
        if self.intercept is None or self.slope is None:
            return None
        floor, ceiling = -math.inf if low is None else low, math.inf if high is None else high

        def inside(value: float) -> float:
            return min(max(value, floor), ceiling)

        value = self.intercept + self.slope * old
        # Rounding puts a line that ends where the scale ends a digit beyond it.
        clipped = abs(inside(value) - value) > 1e-9
        if self.se_intercept is None or self.se_slope is None or self.covariance is None or not self.erring:
            return Carried(inside(value), None, None, clipped)
        variance = self.se_intercept**2 + 2 * old * self.covariance + old**2 * self.se_slope**2
        half = float(scipy.special.stdtrit(self.df, 0.5 + level / 2)) * math.sqrt(max(0.0, variance))
        return Carried(inside(value), inside(value - half), inside(value + half), clipped)


def linear_link(
    old: ArrayLike,
    new: ArrayLike,
    groups: ArrayLike,
    *,
    method: Linking = "mean_sigma",
    weights: ArrayLike | None = None,
) -> Link:
    """The line that takes old scores to new ones.

    mean: slope 1, intercept mean(new) - mean(old). mean_sigma: slope sd(new) / sd(old), intercept
    mean(new) - slope * mean(old). With theta_g the line without group g, the covariance of the two is
    (G - 1) / G * sum_g (theta_g - mean theta)(theta_g - mean theta)'.

    Parameters
    ----------
    old, new : arrays of shape (n,)
        Scores of the same answers in one order; of a candidate's item, averaged over repeats.
    groups : array of shape (n,)
        What is drawn together; any labels.
    method : {"mean", "mean_sigma"}
        "mean" only where both have the same unit: it moves the level and keeps the spread.
    weights : array of shape (n,), optional
        Above 0, on any scale. Equal by default.

    Raises
    ------
    ValueError
        If there is no value, a value is NaN or infinite, a weight is not above 0, a group is missing, lengths
        differ, or there is no such method.

    Kolen & Brennan (2014), Test Equating, Scaling, and Linking, 3rd ed., sections 2.2-2.3; the mean/sigma
    method of Marco (1977), J. Educ. Meas. 14. Unlike a regression it is symmetric: swapping old and new gives
    the inverse line. It does not look at whether the two agree: sd ratios rise with noise too, so read
    `r` and `residual`, and distrust it where candidates shifted by different amounts.
    """
    if method not in get_args(Linking):
        raise ValueError(f"method must be mean or mean_sigma, but is {method!r}")
    x = finite("old", old)
    y = finite("new", new, length=len(x))
    codes, n_groups = group_codes(groups, length=len(x))
    w = item_weights(weights, length=len(x))
    df = GroupDesign.of(codes, n_groups, w).df
    centre = np.array([np.average(x, weights=w), np.average(y, weights=w)])
    u, v = x - centre[0], y - centre[1]  # squares of what is far from 0 would lose digits
    # A variance below this is rounding: of the values, or of sums from which a group was taken.
    least = np.array(
        [
            max((NO_SPREAD * np.abs(side).max()) ** 2, NO_SPREAD * np.abs(values).max() ** 2)
            for side, values in ((x, u), (y, v))
        ]
    )
    # Sums by group, so that leaving a group out is one subtraction.
    terms = np.stack([w, w * u, w * v, w * u * u, w * v * v])
    sums = np.stack([np.bincount(codes, weights=term, minlength=n_groups) for term in terms])
    totals = sums.sum(axis=1)
    line = _line(totals[:, None], centre, least, method)[:, 0]
    variances = totals[3:] / totals[0] - (totals[1:3] / totals[0]) ** 2
    r = None
    if (variances > least).all():
        r = float(np.clip((w * u) @ v / totals[0] / np.sqrt(variances.prod()), -1, 1))
    if np.isnan(line).any():
        return Link(method, None, None, None, None, None, None, r, len(x), n_groups, df)
    intercept, slope = (float(number) for number in line)
    residual = math.sqrt(float(np.average((y - intercept - slope * x) ** 2, weights=w)))
    # The jackknife by group: every line without one group.
    leave_one_out = (
        _line(totals[:, None] - sums, centre, least, method) if n_groups > 1 else np.full((2, 1), np.nan)
    )
    se_intercept = se_slope = shared = None
    if not np.isnan(leave_one_out).any():
        deviations = leave_one_out - leave_one_out.mean(axis=1, keepdims=True)
        # Jackknife covariance of intercept and slope, which `at` needs at any old value.
        spread = (n_groups - 1) / n_groups * deviations @ deviations.T
        errors = [math.sqrt(float(spread[k, k])) for k in (0, 1)]
        # Of a line through all cases the rest is rounding.
        if max(errors[0], errors[1] * float(np.abs(x).max())) <= NO_SPREAD * float(np.abs(y).max()):
            errors, spread = [0.0, 0.0], np.zeros((2, 2))
        se_intercept, se_slope = errors
        shared = float(spread[0, 1])
    return Link(method, intercept, slope, se_intercept, se_slope, shared, residual, r, len(x), n_groups, df)


def _line(sums: Floats, centre: Floats, least: Floats, method: Linking) -> Floats:
    """Intercepts and slopes, shape (2, m), of weighted sums (5, m) about the centre; NaN where undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums[1:3] / sums[0]
        slopes = np.ones(sums.shape[1])
        if method == "mean_sigma":
            variances = sums[3:] / sums[0] - means**2
            # mean_sigma: the slope that gives both sides one standard deviation; no regression to the mean.
            slopes = np.where(
                (variances > least[:, None]).all(axis=0), np.sqrt(variances[1] / variances[0]), np.nan
            )
        return np.stack([centre[1] + means[1] - slopes * (centre[0] + means[0]), slopes])
