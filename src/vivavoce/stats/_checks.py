"""What several estimators ask of their input: other labels than groups, weights, limits."""

import math

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import ROUNDING, Codes, Floats, finite, group_codes

__all__ = ["evenness", "inside", "item_weights", "label_codes", "scaled_weights", "within_limits"]


def label_codes(name: str, labels: ArrayLike, *, length: int) -> tuple[Codes, int]:
    """`group_codes` of labels that the caller calls `name`.

    Raises
    ------
    ValueError
        As `group_codes`, its first words being `name`.
    """
    try:
        return group_codes(labels, length=length)
    except ValueError as error:
        raise ValueError(str(error).replace("groups", name, 1)) from None


def inside(name: str, inner: Codes, n_inner: int, *, of: str, outer: Codes) -> Codes:
    """The one `outer` code of each inner code: the stratum of a group, the group of an item.

    Parameters
    ----------
    name, of : str
        What the caller calls the inner and the outer labels.
    inner, outer : arrays of shape (n,)
        Codes of the same rows.
    n_inner : int
        Inner codes are 0 … n_inner - 1, and all occur.

    Returns
    -------
    array of shape (n_inner,)

    Raises
    ------
    ValueError
        If rows of one inner label carry different outer labels, with the position of such a row.
    """
    found = np.empty(n_inner, dtype=np.intp)
    found[inner] = outer
    astray = found[inner] != outer
    if astray.any():
        at = int(np.argmax(astray))
        raise ValueError(
            f"{of} differs inside one of the {name}, at position {at}: all its rows must share one"
        )
    return found


def item_weights(weights: ArrayLike | None, *, length: int) -> Floats:
    """Weights above 0; ones if there are none.

    Raises
    ------
    ValueError
        As `finite`, or if a weight is not above 0, with its position.
    """
    if weights is None:
        return np.ones(length)
    w = finite("weights", weights, length=length)
    if (w <= 0).any():
        at = int(np.argmax(w <= 0))
        raise ValueError(f"weights holds {w[at]} at position {at}: leave out rows that do not count")
    return w


def evenness(weights: Floats) -> float:
    """(sum w)^2 / (n sum w^2): the share of n items that unequal weights leave to an estimate.

    1 for equal weights, 1/n where one item has them all. Kish (1965), Survey Sampling, sec. 11.7.
    """
    w = weights / weights.max()  # equal weights give 1 to the last digit, however large they are
    return min(1.0, float(w.sum()) ** 2 / (len(w) * float(w @ w)))


def scaled_weights(weights: ArrayLike | None, *, length: int) -> Floats | None:
    """Weights with the mean 1, so that sums of weighted counts stay of the size of counts; null stays null.

    Raises
    ------
    ValueError
        As `item_weights`.
    """
    if weights is None:
        return None
    w = item_weights(weights, length=length)
    return np.asarray(w / w.mean(), dtype=np.float64)


def within_limits(values: ArrayLike, low: float | None, high: float | None) -> Floats:
    """Finite values that lie within the limits given; what rounding put outside is put back.

    Raises
    ------
    ValueError
        As `finite`, or if a value lies outside by more than 1e-9, with its position.
    """
    y = finite("values", values)
    floor, ceiling = -math.inf if low is None else low, math.inf if high is None else high
    outside = (y < floor - ROUNDING) | (y > ceiling + ROUNDING)
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"values holds {y[at]} at position {at}, outside the limits {low} to {high}")
    return np.clip(y, floor, ceiling)
