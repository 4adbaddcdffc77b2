"""A sample drawn inside a set: an estimate of the set's mean, and tests that take it for another set.

What is random is which items were drawn, so the error is that of the draw alone: (1 - f) s^2 / n in every
stratum (Cochran, 1977, Sampling Techniques, ch. 5 and 6). The tests of two samples are here because
publications use them; neither shows that two figures are the same.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Codes, Floats, finite, label_codes
from vivavoce.stats.estimate import NO_SPREAD
from vivavoce.stats.sums import exact_sum


class SampleRatio(NamedTuple):
    """A ratio of stratified means as an estimate of that of the set it was drawn from.

    `value` is null where the denominators are 0. `se` and `df` are those of the draw: `se` is 0 if everything
    was drawn, and null where one stratum has one item of several and no other is there to collapse it with.
    """

    value: float | None
    se: float | None
    df: float
    n: int
    population: int


class TwoSamples(NamedTuple):
    """A statistic of two samples with its two-sided p; both null without spread."""

    value: float | None
    p: float | None


def sample_ratio(
    numerators: ArrayLike, denominators: ArrayLike, *, strata: ArrayLike, sizes: ArrayLike
) -> SampleRatio:
    """Ratio of two stratified means with the error of the draw.

    theta = sum_h N_h abar_h / sum_h N_h bbar_h; with z = a - theta b and D = sum_h N_h bbar_h,
    SE^2 = sum_h N_h^2 (1 - n_h / N_h) s_h^2 / n_h / D^2, s_h^2 the variance of z in stratum h. A mean has
    denominators of 1; a mean over some of the items has a = b = 0 on the others. df are Satterthwaite's.

    Parameters
    ----------
    numerators, denominators : arrays of shape (n,)
        One of each per item drawn; denominators are 0 or more.
    strata : array of shape (n,)
        What the items were drawn inside of; any labels.
    sizes : array of shape (n,)
        N_h, the items of the set in the stratum of each item; the same in all rows of a stratum.

    Returns
    -------
    SampleRatio
        Strata with one item drawn of several have no variance of their own: they are collapsed, one alone
        with the smallest other that was not drawn whole, k / (k - 1) sum_h (N_h zbar_h - share_h T)^2, which
        errs on the wide side (Wolter, 2007, Introduction to Variance Estimation, 2.5).

    Raises
    ------
    ValueError
        If there is no item, a number is NaN or infinite, a denominator is below 0, a stratum is missing, or
        has two sizes or fewer items than were drawn.
    """
    a = finite("numerators", numerators)
    b = finite("denominators", denominators, length=len(a))
    size = finite("sizes", sizes, length=len(a))
    if (b < 0).any():
        position = int(np.argmax(b < 0))
        raise ValueError(f"denominators holds {b[position]} at position {position}: 0 or more is needed")
    codes, n_strata = label_codes("strata", strata, length=len(a))
    n_sampled = np.bincount(codes, minlength=n_strata)
    population = np.zeros(n_strata)
    population[codes] = size
    if (population[codes] != size).any() or (population < n_sampled).any():
        raise ValueError("sizes must be one number for each stratum, no smaller than the items drawn there")
    weights = (population / n_sampled)[codes]
    n, total = len(a), int(population.sum())
    denominator = exact_sum(weights * b)
    if denominator == 0:
        return SampleRatio(None, None, 0.0, n, total)
    theta = exact_sum(weights * a) / denominator
    z = a - theta * b
    # What is only rounding is no spread, and equal values have an error of 0.
    z[np.abs(z) <= NO_SPREAD * max(float(np.abs(a).max()), abs(theta) * float(b.max()))] = 0.0
    variances = _variances(z, codes, n_sampled, population)
    if variances is None:
        return SampleRatio(theta, None, 0.0, n, total)
    parts, dfs = variances
    variance = float(parts.sum())
    df = variance**2 / float((parts**2 / dfs).sum()) if variance else float(dfs.sum())
    return SampleRatio(theta, math.sqrt(variance) / denominator, df, n, total)


def _variances(z: Floats, codes: Codes, n_sampled: Codes, population: Floats) -> tuple[Floats, Floats] | None:
    """The variance of each stratum's total, with its degrees of freedom; null where one has none."""
    open_ = n_sampled < population
    combined = _collapsed(n_sampled, population, open_)
    if combined is None:
        return None
    means = np.bincount(codes, weights=z, minlength=len(n_sampled)) / n_sampled
    squares = np.bincount(codes, weights=(z - means[codes]) ** 2, minlength=len(n_sampled))
    open_[combined] = False
    n, size = n_sampled[open_], population[open_]
    parts, dfs = size * (size - n) * squares[open_] / (n - 1) / n, (n - 1).astype(np.float64)
    if not len(combined):
        return parts, dfs
    sizes, k = population[combined], len(combined)
    totals = sizes * means[combined]
    # How far their totals differ from shares of one total: strata that differ make it too large, never small.
    spread = k / (k - 1) * float(((totals - sizes / sizes.sum() * totals.sum()) ** 2).sum())
    return np.append(parts, spread), np.append(dfs, k - 1.0)


def _collapsed(n_sampled: Codes, population: Floats, open_: NDArray[np.bool_]) -> Codes | None:
    """The strata of one item that are taken together, with another where it is one; null without another."""
    singles = np.flatnonzero((n_sampled == 1) & open_)
    if len(singles) != 1:
        return singles
    larger = np.setdiff1d(np.flatnonzero(open_), singles)
    return np.append(singles, larger[np.argmin(population[larger])]) if len(larger) else None


def variance_ratio(first: ArrayLike, second: ArrayLike) -> TwoSamples:
    """F test of equal variances of two independent samples: s_1^2 / s_2^2, two-sided.

    Parameters
    ----------
    first, second : arrays of shape (n,) and (m,)
        Two values or more each, of no common item.

    Returns
    -------
    TwoSamples
        Null where a sample has fewer than two values or no spread. As R's `var.test`. A large p shows no
        equality, and where values are not normal, p is not the one it says.

    Raises
    ------
    ValueError
        If a sample is empty, or a value NaN or infinite.
    """
    x, y = finite("first", first), finite("second", second)
    if min(len(x), len(y)) < 2 or min(np.ptp(x), np.ptp(y)) == 0:
        return TwoSamples(None, None)
    f = float(np.var(x, ddof=1) / np.var(y, ddof=1))
    # Both tails by themselves: 1 less the other loses its digits far out.
    p_below = float(scipy.special.fdtr(len(x) - 1, len(y) - 1, f))
    p_above = float(scipy.special.fdtrc(len(x) - 1, len(y) - 1, f))
    return TwoSamples(f, min(2 * min(p_below, p_above), 1.0))


def two_sample_t(first: ArrayLike, second: ArrayLike) -> TwoSamples:
    """Student's t test of two independent samples of one variance, two-sided.

    Parameters
    ----------
    first, second : arrays of shape (n,) and (m,)
        Of no common item.

    Returns
    -------
    TwoSamples
        Null where neither sample has spread, or both hold one value. As R's `t.test(var.equal = TRUE)`. A
        large p shows no equality: too few values give one whatever the truth.

    Raises
    ------
    ValueError
        If a sample is empty, or a value NaN or infinite.
    """
    x, y = finite("first", first), finite("second", second)
    df = len(x) + len(y) - 2
    # Sums of squares about each sample's own mean, so that a difference of means is no spread.
    squares = float(((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum())
    if df < 1 or max(np.ptp(x), np.ptp(y)) == 0:
        return TwoSamples(None, None)
    t = float(x.mean() - y.mean()) / math.sqrt(squares / df * (1 / len(x) + 1 / len(y)))
    return TwoSamples(t, 2 * float(scipy.special.stdtr(df, -abs(t))))
