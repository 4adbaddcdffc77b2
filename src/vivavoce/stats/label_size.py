"""How many cases people must label, beside a judge who scored all of them.

The variance is that of PPI++ (Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453) for n labelled of N cases:
lambda^2 var(d) / (N - n) + var(D - lambda d) / n, D people's figure of a case, d the judge's, and lambda as
the estimate itself takes it.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from vivavoce.stats._arrays import Floats, amount, proportion

FEWEST = 2
"""Labelled cases that an interval takes at least."""


class LabelSize(NamedTuple):
    """How many labelled cases a goal takes.

    Attributes
    ----------
    n : int or None
        With the judge. Null if all N cases are too few.
    n_alone : int or None
        With labels alone.
    half_width_all : float
        Of the interval if all N cases are labelled: no narrower one can be had from this benchmark.
    """

    n: int | None
    n_alone: int | None
    half_width_all: float


def label_half_widths(
    n_cases: int, *, judge_sd: float, people_sd: float, correlation: float, level: float = 0.95
) -> Floats:
    """Half width of the interval for 2, 3, … N labelled cases, with the judge.

    Parameters
    ----------
    n_cases : int
        N, cases that the judge scored; at least 2.
    judge_sd, people_sd : float
        Standard deviation over cases of d and of D, in the metric's units.
    correlation : float
        Of D with d, from -1 to 1. 0 or less: the judge adds nothing, and these are the labels alone.
    level : float
        Of the t interval with n - 1 degrees of freedom.

    Returns
    -------
    array of shape (N - 1,)
        All N labelled: just the labels.

    Raises
    ------
    ValueError
        If a figure lies outside its range.
    """
    return _errors(n_cases, judge_sd, people_sd, correlation) * _quantiles(n_cases, level, 0.5)


def labels_needed(
    goal: float,
    *,
    n_cases: int,
    judge_sd: float,
    people_sd: float,
    correlation: float,
    level: float = 0.95,
    power: float | None = None,
) -> LabelSize:
    """The least number of labelled cases that reach a half width, or find a difference of that size.

    Parameters
    ----------
    goal : float
        Half width of the interval, or with `power` the difference to find, in the metric's units; above 0.
    n_cases, judge_sd, people_sd, correlation, level
        As in `label_half_widths`.
    power : float, optional
        Chance of finding a difference of `goal`: the error then has to be goal / (t_level + t_power).

    Returns
    -------
    LabelSize
        With a spread of 0, two labels: such figures say nothing of what labels will spread.

    Raises
    ------
    ValueError
        If a figure lies outside its range.
    """
    if not goal > 0:
        raise ValueError(f"goal must be above 0, but is {goal}")
    quantiles = _quantiles(n_cases, level, 0.5 if power is None else proportion("power", power))
    needed = []
    for r in (correlation, 0.0):
        reached = _errors(n_cases, judge_sd, people_sd, r) * quantiles <= goal
        needed.append(int(np.argmax(reached)) + FEWEST if reached.any() else None)
    all_labelled = label_half_widths(
        n_cases, judge_sd=judge_sd, people_sd=people_sd, correlation=0, level=level
    )
    return LabelSize(needed[0], needed[1], float(all_labelled[-1]))


def _errors(n_cases: int, judge_sd: float, people_sd: float, correlation: float) -> Floats:
    """The standard error for 2, 3, … N labelled cases."""
    if n_cases < FEWEST:
        raise ValueError(f"n_cases must be at least {FEWEST}, but is {n_cases}")
    amount("judge_sd", judge_sd)
    amount("people_sd", people_sd)
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must be from -1 to 1, but is {correlation}")
    n = np.arange(FEWEST, n_cases + 1, dtype=np.float64)
    covariance = correlation * judge_sd * people_sd
    unlabelled = n_cases - n
    error_alone = people_sd**2 / n
    if covariance <= 0:
        return np.sqrt(error_alone)
    # n / (N - n) is infinite where all are labelled, and the judge then counts for nothing.
    slope = np.clip(covariance / judge_sd**2 * unlabelled / n_cases, 0.0, 1.0)
    judged = np.divide(slope**2 * judge_sd**2, unlabelled, out=np.zeros_like(n), where=unlabelled > 0)
    return np.sqrt(judged + error_alone + (slope**2 * judge_sd**2 - 2 * slope * covariance) / n)


def _quantiles(n_cases: int, level: float, power: float) -> NDArray[np.float64]:
    """What the error is multiplied by for 2, 3, … N labelled cases."""
    df = np.arange(FEWEST, n_cases + 1, dtype=np.float64) - 1
    tail = scipy.special.stdtrit(df, 0.5 + proportion("level", level) / 2)
    return np.asarray(tail + scipy.special.stdtrit(df, power), dtype=np.float64)
