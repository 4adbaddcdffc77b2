"""Agreement of measurements and of rankings: the intraclass correlation ICC(A,1), and Kendall's W."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats
from vivavoce.stats._ratings import DIGITS, complete_rows
from vivavoce.stats.estimate import NO_SPREAD

__all__ = ["Concordance", "IntraclassCorrelation", "icc_a1", "kendall_w"]


class IntraclassCorrelation(NamedTuple):
    """ICC(A,1) and the mean squares it is made of.

    Attributes
    ----------
    value : float or None
        At most 1; below 0 if units differ less than chance makes them. Null with fewer than two raters or
        two complete units, if nothing varies, and where the formula divides by 0.
    ms_units, ms_raters, ms_error : float or None
        Mean squares of the two-way table, in squared units; null with fewer than two raters or units.
    n_units, n_raters : int
        Complete units, and columns.
    n_dropped : int
        Units that some rater left out.
    """

    value: float | None
    ms_units: float | None
    ms_raters: float | None
    ms_error: float | None
    n_units: int
    n_raters: int
    n_dropped: int


class Concordance(NamedTuple):
    """Kendall's W, from 0 to 1; null with fewer than two raters or units, or if every rater ties them all.

    `n_units` counts the units that every rater ranked, `n_dropped` the others.
    """

    value: float | None
    n_units: int
    n_raters: int
    n_dropped: int


def icc_a1(ratings: ArrayLike, *, missing: ArrayLike | None = None) -> IntraclassCorrelation:
    """Intraclass correlation of single ratings, two-way random, absolute agreement.

    (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n), with the mean squares of units (MSR), raters
    (MSC) and rest (MSE), k raters and n units.

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Numbers.
    missing : array of bool, same shape, optional
        True where there is no rating. Such units are dropped and counted: with many of them take
        `krippendorff_alpha(ratings, "interval")`, which uses every pair.

    Raises
    ------
    ValueError
        If the table is empty or not two-dimensional, `missing` has another shape or is not boolean, or a
        rating is no finite number without being marked missing.

    ICC(A,1) of McGraw & Wong (1996), Psychol. Methods 1, 30-46; ICC(2,1) of Shrout & Fleiss (1979). A rater
    who is always a mark lower counts as disagreeing. It grows with the spread of the units, so it is not to
    be compared between samples; with two or three raters MSC rests on one or two degrees of freedom.
    """
    table = complete_rows(ratings, missing)
    n, k = table.shape
    dropped = len(np.asarray(ratings)) - n
    if n < 2 or k < 2:
        return IntraclassCorrelation(None, None, None, None, n, k, dropped)
    spread = table - table.mean()
    units, raters = spread.mean(axis=1), spread.mean(axis=0)
    rest = spread - units[:, None] - raters
    ms_units = k * float(units @ units) / (n - 1)
    ms_raters = n * float(raters @ raters) / (k - 1)
    ms_error = float(np.sum(rest**2)) / ((n - 1) * (k - 1))
    below = ms_units + (k - 1) * ms_error + k * (ms_raters - ms_error) / n
    value = None
    if below > (NO_SPREAD * float(np.abs(table).max())) ** 2:
        value = (ms_units - ms_error) / below
    return IntraclassCorrelation(value, ms_units, ms_raters, ms_error, n, k, dropped)


def kendall_w(ratings: ArrayLike, *, missing: ArrayLike | None = None) -> Concordance:
    """Kendall's coefficient of concordance, with average ranks for ties and the correction they need.

    W = 12 S / (m^2 (n^3 - n) - m sum T), with S the squared deviations of the n rank sums, m raters, and T
    the sum of t^3 - t over each rater's ties of t units.

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Scores or ranks of the units by each rater; rounded to 1e-9 before ranking, so that rounding
        neither makes nor breaks a tie. Whether high or low is best does not matter.
    missing : array of bool, same shape, optional
        True where there is no rating. Such units are dropped and counted.

    Raises
    ------
    ValueError
        As `icc_a1`.

    Kendall & Babington Smith (1939); ties as in Kendall (1970), Rank Correlation Methods, ch. 6. W cannot
    fall below 0, and is 1/m on average without any agreement: with few raters a W of .5 says nothing.
    """
    table = np.round(complete_rows(ratings, missing), DIGITS)
    n, m = table.shape
    dropped = len(np.asarray(ratings)) - n
    if n < 2 or m < 2:
        return Concordance(None, n, m, dropped)
    ranks, ties = zip(*(_ranks(column) for column in table.T), strict=True)
    sums = np.sum(ranks, axis=0)
    s = float(np.sum((sums - sums.mean()) ** 2))
    most = m**2 * (float(n) ** 3 - n) - m * sum(ties)
    return Concordance(12 * s / most if most > 0 else None, n, m, dropped)


def _ranks(column: Floats) -> tuple[Floats, float]:
    """Average ranks, and sum of t^3 - t over the ties."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    ties = counts.astype(np.float64)
    return (np.cumsum(ties) - (ties - 1) / 2)[codes], float(np.sum(ties**3 - ties))
