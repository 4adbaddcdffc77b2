"""The mean of exactly this exam: its questions are all there are, and nothing but repeats varies.

For regression gates: "has this system changed?" Cochran (1977), Sampling Techniques, sec. 5.3.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import finite
from vivavoce.stats._checks import inside, item_weights, label_codes
from vivavoce.stats.estimate import NO_SPREAD, Interval, t_interval

__all__ = ["Fixed", "fixed_mean"]


class Fixed(NamedTuple):
    """A mean over items that are all there are; `se` is the error of repeats alone.

    `se` is null where an item was answered once; `df` (Welch-Satterthwaite) also where no repeat differs.
    """

    value: float
    se: float | None
    df: float | None
    n: int
    n_rows: int

    def interval(self, *, level: float = 0.95) -> Interval | None:
        """Interval by t; null without `df`."""
        if self.se is None or self.df is None:
            return None
        return t_interval(self.value, self.se, self.df, level=level)


def fixed_mean(values: ArrayLike, items: ArrayLike, *, weights: ArrayLike | None = None) -> Fixed:
    """Mean over exactly these items: only the repeats of each could have come out otherwise.

    theta = sum w_i ybar_i / sum w; SE^2 = sum_i w_i^2 s_i^2 / R_i / (sum w)^2, s_i^2 the variance (R_i - 1)
    of the R_i repeats of an item. df of Welch (1947) and Satterthwaite (1946).

    Parameters
    ----------
    values : array of shape (n_rows,)
        One value per answer: passes are averaged before.
    items : array of shape (n_rows,)
        The item each belongs to; any labels.
    weights : array of shape (n_rows,), optional
        Of the item, so the same on all its rows, above 0: for a macro mean the items' `category_weights`,
        repeated on their rows. Equal by default.

    Returns
    -------
    Fixed
        For "has this system changed on this exam?", not for "which system is better": the next exam's
        questions vary far more (Gemini's comprehension: .022 here, .092 by group). Texts that are
        identical by construction have an SE of judge noise only, or of 0.

    Raises
    ------
    ValueError
        If there is no value, a value or weight is NaN or infinite, a weight is not above 0 or differs
        inside an item, an item is missing, or lengths differ.
    """
    y = finite("values", values)
    codes, n_items = label_codes("items", items, length=len(y))
    repeats = np.bincount(codes, minlength=n_items)
    w = np.ones(n_items)
    if weights is not None:
        by_row = item_weights(weights, length=len(y))
        levels, level_codes = np.unique(by_row, return_inverse=True)
        w = levels[inside("items", codes, n_items, of="weights", outer=level_codes)]
    means = np.bincount(codes, weights=y, minlength=n_items) / repeats
    total = float(w.sum())
    theta = min(max(float(w @ means) / total, float(y.min())), float(y.max()))
    if repeats.min() < 2:
        return Fixed(theta, None, None, n_items, len(y))
    variances = np.bincount(codes, weights=(y - means[codes]) ** 2, minlength=n_items) / (repeats - 1)
    parts = (w / total) ** 2 * variances / repeats
    se = math.sqrt(float(parts.sum()))
    if se <= NO_SPREAD * float(np.abs(y).max()):
        return Fixed(theta, 0.0, None, n_items, len(y))
    df = 1 / float(((parts / parts.sum()) ** 2 / (repeats - 1)).sum())
    return Fixed(theta, se, df, n_items, len(y))
