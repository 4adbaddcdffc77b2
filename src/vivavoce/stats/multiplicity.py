"""Several comparisons in one call: what it costs to look more than once."""

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats, finite, proportion


def holm(p: ArrayLike) -> Floats:
    """Holm's step-down adjustment: reject where the result is at most the error wanted for the whole family.

    The i-th smallest of k is multiplied by k - i + 1, then made monotone and capped at 1.

    Parameters
    ----------
    p : array of shape (k,)
        p values in [0, 1], of every comparison of the call, and of those only. May be empty.

    Returns
    -------
    array of shape (k,)
        In the order given; equal p values stay equal.

    Raises
    ------
    ValueError
        If a p is NaN or outside [0, 1], naming its position.

    Holm (1979), Scand. J. Statist. 6, 65-70. Holds under any dependence between the tests.
    """
    values = _probabilities(p)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Benjamini & Hochberg's q: reject where it is at most the share of false finds that is bearable.

    The i-th smallest of k is multiplied by k / i, then made monotone from the largest down.

    Parameters
    ----------
    p : array of shape (k,)
        As in `holm`, of exploratory comparisons: "5 % of what is listed is wrong", not "5 % chance that
        anything is". May be empty.

    Returns
    -------
    array of shape (k,)
        In the order given; equal p values stay equal. Never above Holm's.

    Raises
    ------
    ValueError
        If a p is NaN or outside [0, 1], naming its position.

    Benjamini & Hochberg (1995), JRSS B 57, 289-300. Proven for independent or positively dependent
    tests, which all pairs of a set of systems are not.
    """
    values = _probabilities(p)
    order = np.argsort(values, kind="stable")[::-1]
    k = len(values)
    stepped = np.minimum.accumulate(values[order] * (k / np.arange(k, 0, -1)))
    adjusted = np.empty(k)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def bonferroni_level(level: float, k: int) -> float:
    """Level of each of `k` intervals that together cover at `level`: 1 - (1 - level) / k.

    Parameters
    ----------
    level : float
        For the family, between 0 and 1.
    k : int
        Intervals in the family, at least 1.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    proportion("level", level)
    if k < 1:
        raise ValueError(f"k must be at least 1, but is {k}")
    return 1 - (1 - level) / k


def intersection_union(p: ArrayLike) -> float:
    """The p of "all of these claims hold": the largest of theirs, with no correction.

    Parameters
    ----------
    p : array of shape (k,)
        The p of each claim against its own null hypothesis; 1 where the data point the other way. At least
        one.

    Raises
    ------
    ValueError
        If there is no p, or one is NaN or outside [0, 1].

    Berger (1982), Technometrics 24, 295-300: each claim at level alpha keeps the conjunction at alpha.
    """
    return float(_probabilities(finite("p", p)).max())


def _probabilities(p: ArrayLike) -> Floats:
    values = finite("p", p, empty=True)
    impossible = (values < 0) | (values > 1)
    if impossible.any():
        position = int(np.argmax(impossible))
        raise ValueError(f"p holds {values[position]} at position {position}, outside 0 to 1")
    return values
