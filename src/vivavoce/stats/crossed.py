"""Where the variance of several models on common items comes from: items, models, both together, repeats.

Analysis of variance on complete tables, as in `variance`; for planning see `allocation`. A generalisability
study in the terms of Brennan (2001), Generalizability Theory, ch. 3, with repeats nested: runs of two models
share no seed, so repeat 3 of one has nothing to do with repeat 3 of another.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import finite
from vivavoce.stats._squares import Component, component, mean_square, rounding

__all__ = ["CrossedVariance", "crossed_variance"]


class CrossedVariance(NamedTuple):
    """Several models on common items: variance of items, of models, of their interaction, of repeats.

    Attributes
    ----------
    ms_model, ms_item, ms_interaction, ms_within : float or None
        Mean squares; null where there are no degrees of freedom (one model, one item, one repeat).
    s2_item, s2_model : Component or None
        Null with one model or one item. s2_model is for "signal over wording"; the models are not a sample.
    s2_interaction : Component or None
        Which model is better differs between items: s2_mi. Null without a second repeat, too.
    s2_within : float or None
        Between repeats, s2_e = ms_within.
    n_models, n_items, n_repeats : int
    """

    ms_model: float | None
    ms_item: float | None
    ms_interaction: float | None
    ms_within: float | None
    s2_item: Component | None
    s2_model: Component | None
    s2_interaction: Component | None
    s2_within: float | None
    n_models: int
    n_items: int
    n_repeats: int


def crossed_variance(values: ArrayLike) -> CrossedVariance:
    """Variance of several models' scores on common items, repeats nested in model and item.

    With M models, n items, R repeats: s2_within = MSE, s2_interaction = (MSmi - MSE) / R,
    s2_item = (MSi - MSmi) / (M R), s2_model = (MSm - MSmi) / (n R).

    Parameters
    ----------
    values : array of shape (n_models, n_items, n_repeats)
        Complete: the items that every model answered equally often. Leave out models whose repeats are one
        text. Repeats of the same number have nothing in common, so their order does not matter.

    Raises
    ------
    ValueError
        If the array is ragged, empty or not three-dimensional, or holds NaN or an infinity.
    """
    try:
        y = np.asarray(values, dtype=np.float64)
    except ValueError:
        raise ValueError("values is ragged: keep the items that every model answered equally often") from None
    if y.ndim != 3:
        raise ValueError(f"values must have three dimensions, models, items, repeats, not {y.ndim}")
    finite("values", y.ravel())
    m, n, r = y.shape
    zero = rounding(y)
    cells = y.mean(axis=2)
    middle = cells.mean()
    models, items = cells.mean(axis=1) - middle, cells.mean(axis=0) - middle
    rest = cells - middle - models[:, None] - items
    ms_model = mean_square(n * r * float(models @ models), m - 1, zero)
    ms_item = mean_square(m * r * float(items @ items), n - 1, zero)
    ms_mi = mean_square(r * float(np.sum(rest**2)), (m - 1) * (n - 1), zero)
    ms_within = mean_square(float(np.sum((y - cells[:, :, None]) ** 2)), m * n * (r - 1), zero)

    def above(upper: float | None, lower: float | None, count: int) -> Component | None:
        return None if upper is None or lower is None else component((upper - lower) / count)

    return CrossedVariance(
        ms_model=ms_model,
        ms_item=ms_item,
        ms_interaction=ms_mi,
        ms_within=ms_within,
        s2_item=above(ms_item, ms_mi, m * r),
        s2_model=above(ms_model, ms_mi, n * r),
        s2_interaction=above(ms_mi, ms_within, r),
        s2_within=ms_within,
        n_models=m,
        n_items=n,
        n_repeats=r,
    )
