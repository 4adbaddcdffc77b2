"""What a systems x items matrix must be, and ranks with ties."""

import math

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Codes, Floats, group_codes

__all__ = ["average_ranks", "group_means", "matrix", "rounded", "unit"]

# Above this 1e-9 is finer than a float's last digits, and multiplying by 1e9 may overflow.
COARSE = 1e6


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


def rounded(values: Floats) -> Floats:
    """`values` to 1e-9: averages of the same marks in another order differ in the 16th digit."""
    result = values.copy()
    fine = np.abs(values) < COARSE
    result[fine] = np.round(values[fine], 9)
    return result


def average_ranks(values: Floats) -> Floats:
    """Ranks of a vector, 1 for the smallest; values equal to 1e-9 share the mean of their places."""
    _, codes, counts = np.unique(rounded(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[codes]
    return ranks


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
