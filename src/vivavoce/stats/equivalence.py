"""A difference held against a margin: "not worse by more than m" and "the same within m", as p and interval.

Two one-sided tests (Schuirmann, 1987, J. Pharmacokinet. Biopharm. 15, 657-680) from the very interval that
`verdict` reads, so that p and verdict cannot contradict: an interval at 95 % gives each side 2.5 %, as ICH
E9 asks, not the 5 % of a 90 % interval.
"""

import math
from typing import Literal, NamedTuple

import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import proportion
from vivavoce.stats.estimate import t_interval
from vivavoce.stats.paired import agresti_min, paired


class Margin(NamedTuple):
    """A - B against -/+ margin, above 0 favouring A.

    Attributes
    ----------
    p_not_worse : float
        One-sided p against "A is worse than B by the margin or more".
    p_not_better : float
        One-sided p against "A is better than B by the margin or more".
    p_equivalent : float
        The larger of the two.
    low, high : float
        The interval at `level`.
    not_worse, equivalent : bool
        Whether the interval lies above -margin; inside -/+ margin. The same as that p being below
        (1 - level) / 2: .025 for one comparison, .025 / k for one of a family of k. Not .05.
    method : {"t", "Agresti-Min"}
    """

    p_not_worse: float
    p_not_better: float
    p_equivalent: float
    low: float
    high: float
    not_worse: bool
    equivalent: bool
    method: Literal["t", "Agresti-Min"]


def tost(
    difference: float, se: float | None, df: float, *, margin: float, level: float = 0.95
) -> Margin | None:
    """Margin tests of any difference that has a standard error: P(T >= (d + m) / SE), P(T <= (d - m) / SE).

    Parameters
    ----------
    difference, se : float
        In the metric's units. For paired items rather `margin_test`, which knows when not to trust the SE.
    df : float
        Degrees of freedom of t, at least 1.
    margin : float
        The difference that matters, above 0, set before the results were seen.
    level : float
        Of the interval: 0.95, for a family `bonferroni_level`.

    Returns
    -------
    Margin or None
        Null if the SE is null or 0: no error was seen, so none can be ruled out.

    Raises
    ------
    ValueError
        If a number is NaN or out of its range.
    """
    _check(margin, level)
    if se is None or se == 0:
        return None
    ends = t_interval(difference, se, df, level=level)
    return _judged(difference, se, df, margin, (ends.low, ends.high), "t")


def margin_test(
    differences: ArrayLike,
    groups: ArrayLike,
    *,
    margin: float,
    span: float | None,
    level: float = 0.95,
) -> Margin | None:
    """Equivalence and non-inferiority of two candidates on the same items, as p.

    By t from CR2; by Agresti-Min, with its own centre and error, where fewer than 10 effective groups
    differ or the SE is 0. p values and intervals come from the same centre, error and degrees of freedom.

    Parameters
    ----------
    differences, groups : arrays of shape (n,)
        As in `paired`.
    margin : float
        The difference that matters, above 0, set before the results were seen.
    span : float or None
        Width of the metric's range; None if it has no two limits.
    level : float
        Of the interval: 0.95, for a family `bonferroni_level`.

    Returns
    -------
    Margin or None
        Null where `margin_interval` is. A verdict asks besides for 10 groups of which 6 differ.

    Raises
    ------
    ValueError
        As `paired` and `agresti_min`; if the margin is not above 0.
    """
    _check(margin, level)
    result = paired(differences, groups)
    if result.df < 1:
        return None
    if result.test == "t":
        return tost(result.difference, result.se, result.df, margin=margin, level=level)
    if span is None:
        return None
    # The interval at a level this low is never clipped to the span: it gives centre and error back.
    narrow = agresti_min(differences, groups, span=span, level=0.01)
    centre = (narrow.low + narrow.high) / 2
    se = (narrow.high - narrow.low) / 2 / float(scipy.special.stdtrit(result.df, 0.505))
    ends = agresti_min(differences, groups, span=span, level=level)
    return _judged(centre, se, result.df, margin, (ends.low, ends.high), "Agresti-Min")


def _check(margin: float, level: float) -> None:
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin must be a finite number above 0, but is {margin}")
    proportion("level", level)


def _judged(
    centre: float,
    se: float,
    df: float,
    margin: float,
    ends: tuple[float, float],
    method: Literal["t", "Agresti-Min"],
) -> Margin:
    low, high = ends
    p_not_worse = float(scipy.special.stdtr(df, -(centre + margin) / se))
    p_not_better = float(scipy.special.stdtr(df, (centre - margin) / se))
    return Margin(
        p_not_worse=p_not_worse,
        p_not_better=p_not_better,
        p_equivalent=max(p_not_worse, p_not_better),
        low=low,
        high=high,
        not_worse=low > -margin,
        equivalent=-margin < low and high < margin,
        method=method,
    )
