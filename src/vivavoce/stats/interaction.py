"""Does a profile differ between categories? A Wald test with groups as the unit.

Before anything is said about one category, this asks whether the categories differ at all in what is
measured.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc

from vivavoce.stats._arrays import finite, group_codes

__all__ = ["Wald", "category_test"]


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
    none = Wald(None, None, q, max(df2, 0), n_categories, n_groups)
    if q < 1:
        return none
    if np.ptp(np.round(y, 9)) == 0:
        return none._replace(f=0.0, p=1.0)
    size = np.bincount(kind, minlength=n_categories)
    means = np.bincount(kind, weights=y, minlength=n_categories) / size
    spread = np.zeros((n_groups, n_categories))
    # Rounded, as differences are in `paired`: where nothing varies, 1e-17 is no spread.
    np.add.at(spread, (group, kind), np.round(y - means[kind], 9) / size[kind])
    there = np.zeros_like(spread)
    there[group, kind] = 1
    sizes = there.sum(axis=0)
    if df2 < 2 or sizes.min() < 2:
        return none
    spread *= np.sqrt(sizes / (sizes - 1))
    covariance = spread.T @ spread
    contrast = np.hstack([-np.ones((q, 1)), np.eye(q)])
    inner = contrast @ covariance @ contrast.T
    if np.linalg.matrix_rank(inner) < q:
        return none
    c = contrast @ means
    f = float(df2 / (q * (n_groups - 1)) * c @ np.linalg.solve(inner, c))
    return none._replace(f=f, p=float(fdtrc(q, df2, f)))
