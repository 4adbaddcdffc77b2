"""Input validation shared by the estimators: arrays, groups, weights, limits, matrices, ranks."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats.sums import rounded

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

# What averaging in another order may change. Closer than this counts as equal, and as inside a limit.
ROUNDING = 1e-9


def finite(name: str, values: ArrayLike, *, length: int | None = None, empty: bool = False) -> Floats:
    """`values` as a vector of finite floats.

    Parameters
    ----------
    name : str
        What the caller calls the array; it opens the error.
    values : array of shape (n,)
        Anything NumPy reads as numbers.
    length : int, optional
        The length it must have.
    empty : bool
        Whether a vector of length 0 is accepted.

    Raises
    ------
    ValueError
        If it is not one-dimensional, empty, of another length, or holds NaN or an infinity; the error
        names the first such position, counted from 0.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if not (len(array) or empty):
        raise ValueError(f"{name} is empty: there is nothing to estimate from")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} has {len(array)} entries, {length} are needed: one for each value")
    wrong = ~np.isfinite(array)
    if wrong.any():
        position = int(np.argmax(wrong))
        raise ValueError(
            f"{name} holds {array[position]} at position {position}: drop or score such rows first, knowingly"
        )
    return array


def group_codes(groups: ArrayLike, *, length: int) -> tuple[Codes, int]:
    """Codes 0 … G - 1 for the labels in `groups`, and G, the number of labels that occur.

    Integers (not negative, not far above `length`) are counted without sorting; any other labels are
    sorted, which takes a second or two for 10^6 texts.

    Parameters
    ----------
    groups : array of shape (n,)
        Labels of any one kind: integers, texts.
    length : int
        The n it must have.

    Raises
    ------
    ValueError
        If it is not one-dimensional, of another length, or a label is missing (None or NaN).
    """
    labels = np.asarray(groups)
    if labels.shape != (length,):
        raise ValueError(f"groups has the shape {labels.shape}, ({length},) is needed: one for each value")
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < 4 * length + 1024:
        present = np.bincount(labels) > 0
        return (np.cumsum(present) - 1)[labels], int(present.sum())
    missing = np.zeros(length, dtype=bool)
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        # NaN is the one label that differs from itself
        missing = np.array([label is None or label != label for label in labels])
    if missing.any():
        position = int(np.argmax(missing))
        raise ValueError(
            f"groups has no label at position {position}: every row belongs to a group, if only its own"
        )
    names, codes = np.unique(labels, return_inverse=True)
    return codes, len(names)


def amount(name: str, value: float, *, least: float = 0.0) -> float:
    """`value` if it is a finite number of at least `least`.

    Raises
    ------
    ValueError
        If it is not; NaN is no number.
    """
    if not (math.isfinite(value) and value >= least):
        raise ValueError(f"{name} must be a finite number and at least {least:g}, but is {value}")
    return value


def proportion(name: str, value: float) -> float:
    """`value` if it lies strictly between 0 and 1.

    Raises
    ------
    ValueError
        If it does not; a level of 95 is a level of 0.95.
    """
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, both excluded, but is {value}")
    return value


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
    outer_of = np.empty(n_inner, dtype=np.intp)
    outer_of[inner] = outer
    astray = outer_of[inner] != outer
    if astray.any():
        position = int(np.argmax(astray))
        raise ValueError(
            f"{of} differs inside one of the {name}, at position {position}: all its rows must share one"
        )
    return outer_of


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
        position = int(np.argmax(w <= 0))
        raise ValueError(
            f"weights holds {w[position]} at position {position}: leave out rows that do not count"
        )
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


def within_limits(
    values: ArrayLike, low: float | None, high: float | None, *, name: str = "values"
) -> Floats:
    """Finite values that lie within the limits given; what rounding put outside is put back.

    Raises
    ------
    ValueError
        As `finite`, or if a value lies outside by more than 1e-9, with its position.
    """
    y = finite(name, values)
    floor, ceiling = -math.inf if low is None else low, math.inf if high is None else high
    beyond_limits = (y < floor - ROUNDING) | (y > ceiling + ROUNDING)
    if beyond_limits.any():
        position = int(np.argmax(beyond_limits))
        raise ValueError(
            f"{name} holds {y[position]} at position {position}, outside the limits {low} to {high}"
        )
    return np.clip(y, floor, ceiling)


def matrix(name: str, values: ArrayLike, *, n_systems: int = 1) -> Floats:
    """`values` as a finite matrix of shape (K, n): one row per system, one column per item.

    Parameters
    ----------
    name : str
        What the caller calls the matrix; it opens the error.
    values : array of shape (K, n)
        Anything NumPy reads as numbers.
    n_systems : int
        The rows it needs at least.

    Raises
    ------
    ValueError
        If it is not two-dimensional, has too few rows or no column, or holds NaN or an infinity; the
        error names the first such system and item, counted from 0.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, systems and items, not {array.ndim}")
    if array.shape[0] < n_systems:
        raise ValueError(f"{name} has {array.shape[0]} systems, at least {n_systems} are needed")
    if not array.shape[1]:
        raise ValueError(f"{name} is empty: there is nothing to estimate from")
    wrong = ~np.isfinite(array)
    if wrong.any():
        system, item = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} holds {array[system, item]} for system {system}, item {item}: "
            "leave out items that a system has no value for, or score them first, knowingly"
        )
    return array


def average_ranks(values: Floats) -> Floats:
    """Ranks of a vector, 1 for the smallest; values equal to 1e-9 share the mean of their places."""
    _, codes, counts = np.unique(rounded(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[codes]
    return ranks


def ranks_by_block(blocks: Floats) -> Floats:
    """Ranks inside each block, 1 for the highest, of values of shape (K, N): shape (N, K).

    Values equal to 1e-9 share the mean of their places. Time grows with N * K^2, and nothing is sorted.
    """
    y = rounded(blocks)
    # A place is 1, and 1 more for each that is higher, and a half for each other that is equal.
    doubled = np.array([2 * (y > system).sum(axis=0) + (y == system).sum(axis=0) for system in y])
    return np.asarray((doubled.T + 1) / 2)


def group_means(values: Floats, groups: ArrayLike) -> Floats:
    """Mean of each system in each group: shape (K, G), in the order of the sorted labels."""
    codes: Codes
    codes, n_groups = group_codes(groups, length=values.shape[1])
    sizes = np.bincount(codes, minlength=n_groups)
    return np.array([np.bincount(codes, weights=row, minlength=n_groups) for row in values]) / sizes


def unit(values: Floats) -> Floats:
    """`values` less their mean, with a sum of squares of 1; not all of them may be equal."""
    # Scaled on the way: the squares of very large or small values would overflow or vanish.
    centred = values / np.abs(values).max()
    centred = centred - centred.mean()
    centred /= np.abs(centred).max()
    result: Floats = centred / math.sqrt(float(centred @ centred))
    return result
