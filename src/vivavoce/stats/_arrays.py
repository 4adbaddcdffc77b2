"""What an array must be before anything is estimated from it."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ROUNDING", "Codes", "Floats", "finite", "group_codes", "proportion"]

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
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{name} holds {array[at]} at position {at}: drop or score such rows first, knowingly"
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
        at = int(np.argmax(missing))
        raise ValueError(
            f"groups has no label at position {at}: every row belongs to a group, if only its own"
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
