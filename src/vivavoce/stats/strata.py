"""Means over categories of equal weight, and a Wald test of whether profiles differ between categories.

A macro mean gives every category the same say, whatever its number of items; its error is that of the
groups, compared inside the strata they were drawn from (Cochran, 1977, Sampling Techniques, ch. 5; Wolter,
2007, Introduction to Variance Estimation, ch. 6).
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import (
    Floats,
    finite,
    group_codes,
    inside,
    item_weights,
    label_codes,
    within_limits,
)
from vivavoce.stats.estimate import (
    ONE_IN_CELL,
    Estimate,
    Mean,
    MeanParts,
    estimated,
    mean_interval,
    spread,
)
from vivavoce.stats.group_error import GroupDesign


def category_weights(categories: ArrayLike) -> Floats:
    """Weight of each item in a macro mean: 1 / (H n_h), H categories of n_h items.

    Parameters
    ----------
    categories : array of shape (n,)
        The category of each item; any labels.

    Returns
    -------
    array of shape (n,)
        Sums to 1.

    Raises
    ------
    ValueError
        If there is no item or a category is missing.
    """
    length = np.shape(categories)[0] if np.ndim(categories) else 0
    if not length:
        raise ValueError("categories is empty: there is nothing to weight")
    codes, n_categories = label_codes("categories", categories, length=length)
    return np.asarray(1 / (n_categories * np.bincount(codes))[codes], dtype=np.float64)


def macro_mean(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    categories: ArrayLike,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Mean:
    """Mean of the category means with its CR2 error by group.

    theta = sum_h ybar_h / H. Inside a cell, a category or a category's part in one stratum, a group's
    weighted sum of residuals r_gc is divided by sqrt(1 - w_gc), w_gc its share of the cell's weight:
    SE^2 = sum_g (sum_c share_c r_gc / W_c / sqrt(1 - w_gc))^2, share_c what the cell is of theta, with
    Satterthwaite's degrees of freedom: (sum_h tr M_h)^2 / sum_h tr(M_h^2) where no group crosses cells.

    Parameters
    ----------
    values, groups : arrays of shape (n,)
        As in `cluster_mean`.
    categories : array of shape (n,)
        What is averaged first; any labels.
    strata : array of shape (n,), optional
        What the groups were drawn inside of: one label for all rows of a group, e.g. the category of its
        source item. None: one stratum, for groups drawn across categories (a paragraph with a question in
        each format).
    weights : array of shape (n,), optional
        v, above 0: weights inside a category. Equal by default.

    Returns
    -------
    Mean
        `se` is null where a cell holds one group only: it says nothing about the next one. With one category
        and one stratum this is `cluster_mean`. Distrust an error from cells of two or three groups.

    Raises
    ------
    ValueError
        As `cluster_mean`; if a category or stratum is missing, or a group's rows lie in different strata.
    """
    return _macro(finite("values", values), groups, categories, strata, weights).mean


def _macro(
    y: Floats,
    groups: ArrayLike,
    categories: ArrayLike,
    strata: ArrayLike | None,
    weights: ArrayLike | None,
) -> MeanParts:
    codes, n_groups = group_codes(groups, length=len(y))
    category, n_categories = label_codes("categories", categories, length=len(y))
    cell = category
    if strata is not None:
        stratum, _ = label_codes("strata", strata, length=len(y))
        inside("groups", codes, n_groups, of="strata", outer=stratum)
        # Groups are compared inside the stratum they were drawn from, so a category has a cell in each.
        _, cell = np.unique(category * (stratum.max() + 1) + stratum, return_inverse=True)
    v = item_weights(weights, length=len(y))
    of_category = np.bincount(category, weights=v, minlength=n_categories)
    of_cell = np.bincount(cell, weights=v)
    means = np.bincount(cell, weights=v * y) / of_cell
    shares = np.bincount(cell, weights=v / (n_categories * of_category[category])).astype(np.float64)
    by_category = np.bincount(category, weights=v * y, minlength=n_categories) / of_category
    # The clip undoes rounding: a mean of fives is 5, not 5.000000000000001.
    theta = min(max(float(by_category.mean()), float(y.min())), float(y.max()))
    design, parts = GroupDesign(codes, n_groups, v, cell, shares), v * (y - means[cell])
    mean = Mean(theta, spread(design.se(parts), y), len(y), n_groups, design.df)
    return MeanParts(mean, design, parts)


def estimate_macro(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    categories: ArrayLike,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> Estimate:
    """Macro mean with the default interval: Wilson with effective size if there are two limits, else t.

    Parameters
    ----------
    values, groups, categories, strata, weights : arrays of shape (n,)
        As in `macro_mean`.
    low, high : float, optional
        The metric's limits, where it has them. With one limit the t interval is clipped to it.
    level : float
        0.95 by default.

    Returns
    -------
    Estimate
        As `estimate_mean`; besides, `low`, `high` and `se` are null where a category, or its part in a
        stratum, holds one group.

    Raises
    ------
    ValueError
        As `macro_mean`, and if a value lies outside the limits, naming its position.
    """
    y = within_limits(values, low, high)
    mean, design, parts = _macro(y, groups, categories, strata, weights)
    bounded = low is not None and high is not None
    ends = mean_interval(
        mean, skewness=0.0 if bounded else design.skewness(parts), low=low, high=high, level=level
    )
    if mean.se is None and mean.n_groups > 1:
        ends = ONE_IN_CELL
    error = "CR2 by group" if strata is None else "CR2 by group inside strata"
    return estimated(mean, ends, error, bounded=bounded)


class Wald(NamedTuple):
    """F with its degrees of freedom and p; null where the groups are too few to estimate the covariance."""

    f: float | None
    p: float | None
    df1: int
    df2: int
    n_categories: int
    n_groups: int


def category_test(values: ArrayLike, categories: ArrayLike, groups: ArrayLike) -> Wald:
    """Test that the mean of `values` is the same in every category.

    With category means m_h and u_gh = sum_{i in g, h} (y_i - m_h) / n_h, the covariance of the means is
    V = sum_g v_g v_g', v_gh = sqrt(G_h / (G_h - 1)) u_gh, G_h the groups in category h: CR1 in each. For
    the H - 1 contrasts c = m_h - m_1 with covariance C V C': T2 = c' (C V C')^-1 c and
    F = (G - q) / (q (G - 1)) T2 with q = H - 1 and G - q degrees of freedom (Hotelling 1931). A group may
    lie in several categories, as twins do; where each lies in all, F is exact for normal values.

    Parameters
    ----------
    values : array of shape (n,)
        One per item. For a candidate's profile: its value minus the mean of all candidates on the item, so
        that hard categories do not count as differences between candidates.
    categories, groups : arrays of shape (n,)
        Any labels.

    Returns
    -------
    Wald
        F and p null with one category, a category of one group, fewer than q + 2 groups, or a covariance
        that is not of full rank (two categories without spread). Values that are all equal: nothing
        differs, F 0 and p 1.

    Raises
    ------
    ValueError
        If there is no item, a value is NaN or infinite, a label is missing, or lengths differ.

    Distrust it where a category has fewer than 10 groups: the covariance of its mean is then hardly known.
    Type I error, simulated: 6 % with 4 categories of 10 groups, 10 % with 10 of 10, 23 % with 38 and 2.
    """
    y = finite("values", values)
    kind, n_categories = group_codes(categories, length=len(y))
    group, n_groups = group_codes(groups, length=len(y))
    q = n_categories - 1
    df2 = n_groups - q
    untested = Wald(None, None, q, max(df2, 0), n_categories, n_groups)
    if q < 1:
        return untested
    if np.ptp(np.round(y, 9)) == 0:
        return untested._replace(f=0.0, p=1.0)
    size = np.bincount(kind, minlength=n_categories)
    means = np.bincount(kind, weights=y, minlength=n_categories) / size
    spread = np.zeros((n_groups, n_categories))
    # Rounded, as differences are in `paired`: where nothing varies, 1e-17 is no spread.
    np.add.at(spread, (group, kind), np.round(y - means[kind], 9) / size[kind])
    occurs = np.zeros_like(spread)
    occurs[group, kind] = 1
    sizes = occurs.sum(axis=0)
    if df2 < 2 or sizes.min() < 2:
        return untested
    spread *= np.sqrt(sizes / (sizes - 1))
    covariance = spread.T @ spread
    contrast = np.hstack([-np.ones((q, 1)), np.eye(q)])
    inner = contrast @ covariance @ contrast.T
    if np.linalg.matrix_rank(inner) < q:
        return untested
    c = contrast @ means
    f = float(df2 / (q * (n_groups - 1)) * c @ np.linalg.solve(inner, c))
    return untested._replace(f=f, p=float(scipy.special.fdtrc(q, df2, f)))
