"""Two candidates, yes or no, one item to a group: exact McNemar, with the interval of Agresti and Min."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats, finite, group_codes
from vivavoce.stats.paired import agresti_min
from vivavoce.stats.signs import sign_test

__all__ = ["McNemar", "mcnemar"]


class McNemar(NamedTuple):
    """Counts of items by who was right, the difference of the two shares, its interval, and p.

    `p` reads nothing but `n_only_a` and `n_only_b`. `low` and `high` are null with one item.
    """

    n_both: int
    n_only_a: int
    n_only_b: int
    n_neither: int
    difference: float
    low: float | None
    high: float | None
    p: float


def mcnemar(a: ArrayLike, b: ArrayLike, *, groups: ArrayLike | None = None, level: float = 0.95) -> McNemar:
    """Exact two-sided McNemar test, and the interval `agresti_min` of the difference, t(n - 1).

    Parameters
    ----------
    a, b : arrays of shape (n,)
        0 or 1 (or False, True) per item, one answer to each: a share of several repeats is not 0 or 1.
    groups : array of shape (n,), optional
        Given, no two items may share one.
    level : float
        0.95 by default.

    Returns
    -------
    McNemar
        p is 1 where no item differs, and cannot reach .05 with fewer than 6 that do. Test and interval
        are made differently, so near the border one may exclude 0 where the other does not: `paired` for
        a pair that cannot contradict itself. The exact test is conservative.

    Raises
    ------
    ValueError
        If there is no item, a value is NaN or neither 0 nor 1, lengths differ, or two items share a
        group: then use `paired`.

    McNemar (1947), Psychometrika 12; interval: Agresti & Min (2005), Statistics in Medicine 24, 729-740.
    """
    x = _yes_no("a", a)
    y = _yes_no("b", b, length=len(x))
    if groups is not None and group_codes(groups, length=len(x))[1] < len(x):
        raise ValueError("items share a group: McNemar needs one item to each, use paired instead")
    d = x - y
    only_a, only_b, both = (int(np.count_nonzero(rows)) for rows in (d > 0, d < 0, x * y))
    low, high = agresti_min(d, np.arange(len(d)), span=1, level=level) if len(d) > 1 else (None, None)
    return McNemar(
        n_both=both,
        n_only_a=only_a,
        n_only_b=only_b,
        n_neither=len(d) - both - only_a - only_b,
        difference=(only_a - only_b) / len(d),
        low=low,
        high=high,
        p=sign_test(only_a, only_b),
    )


def _yes_no(name: str, values: ArrayLike, *, length: int | None = None) -> Floats:
    array = finite(name, values, length=length)
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"{name} holds {array[at]} at position {at}, neither 0 nor 1: use paired instead")
    return array
