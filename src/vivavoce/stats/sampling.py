"""Samples from a set of known size: how many to mark, how sure the sample is, and how it is weighted.

Cochran (1977), Sampling Techniques, ch. 2, 4 and 5; design effect: Kish (1965), Survey Sampling.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from vivavoce.stats._arrays import Floats, amount, proportion

__all__ = ["proportion_n", "sample_se", "sampling_weights"]


def proportion_n(
    p: float,
    half_width: float,
    *,
    population: int | None = None,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> int:
    """Items to mark so that a share near `p` is known to -/+ `half_width`.

    n0 = z^2 p (1 - p) / h^2 * deff; from a set of N: n = n0 / (1 + (n0 - 1) / N). Rounded up, once.

    Parameters
    ----------
    p : float
        The share expected, 0 to 1, both excluded; .5 asks for most.
    half_width : float
        h, between 0 and 1.
    population : int, optional
        N, the set that the sample is from and speaks for. None: endless.
    design_effect : float
        How much larger the variance is than that of single items: 1 + (m - 1) rho for groups of m with
        correlation rho. At least 1 for groups; below 1 for good strata.
    level : float
        0.95 by default.

    Returns
    -------
    int
        At least 1, at most N. The normal formula: with n p or n (1 - p) below about 10 it promises too much.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    proportion("p", p)
    proportion("half_width", half_width)
    z = float(ndtri(0.5 + proportion("level", level) / 2))
    if not (math.isfinite(design_effect) and design_effect > 0):
        raise ValueError(f"design_effect must be a finite number above 0, but is {design_effect}")
    n = z**2 * p * (1 - p) / half_width**2 * design_effect
    if population is not None:
        amount("population", population, least=1)
        # Below one item the correction would enlarge the sample.
        n = n / (1 + max(0.0, n - 1) / population)
    # 1e-9: a whole number may come out a digit too high
    needed = max(1, math.ceil(n - 1e-9))
    return needed if population is None else min(needed, population)


def sample_se(se: float | None, n: int, *, population: int) -> float | None:
    """SE of a sample's mean as a guess at the full set's: sqrt(1 - n / N) * SE, which is (1 - f) s^2 / n.

    The sample lies inside the set, so the two are not independent: the difference between the sample's mean
    and the full set's has this SE too.

    Parameters
    ----------
    se : float or None
        SE of the mean as if the set were endless, as in `cluster_mean`.
    n : int
        Units drawn: items, or groups if whole groups were drawn.
    population : int
        N, the same units in the full set.

    Returns
    -------
    float or None
        0 if all were drawn; null if the SE is. Only for statements on this very set: "questions like
        these" know no finite set. It says nothing of repeats, which are not drawn from a finite set.

    Raises
    ------
    ValueError
        If the SE is NaN or below 0, or n is not in 1 … N.
    """
    if not 1 <= n <= amount("population", population):
        raise ValueError(f"{n} drawn of {population}: a sample has 1 to {population}")
    if se is None:
        return None
    if not (math.isfinite(se) and se >= 0):
        raise ValueError(f"se must be a finite number, 0 or more, but is {se}")
    return math.sqrt((population - n) / population) * se


def sampling_weights(strata: ArrayLike, sizes: Mapping[str, int]) -> Floats:
    """How many items of the full set each sampled item stands for: N_h / n_h.

    Parameters
    ----------
    strata : array of shape (n,)
        The stratum of each sampled item; texts, or what the mapping's keys are.
    sizes : mapping
        N_h of every stratum of the full set.

    Returns
    -------
    array of shape (n,)
        At least 1; sums to N. For `weights` of the estimators.

    Raises
    ------
    ValueError
        If there is no item, a stratum has no size, fewer items in the set than were sampled, or some in
        the set and none in the sample: no weight makes up for those.
    """
    labels = np.asarray(strata)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"strata must be a list with one label per item, but has the shape {labels.shape}")
    names, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    known = names.tolist()
    unsized = [name for name in known if name not in sizes]
    if unsized:
        raise ValueError(f"the stratum {unsized[0]!r} has no size: give one for each of {known}")
    small = [name for name, n in zip(known, counts.tolist(), strict=True) if sizes[name] < n]
    if small:
        raise ValueError(f"the stratum {small[0]!r} has {sizes[small[0]]} items, fewer than were sampled")
    unseen = [name for name, size in sizes.items() if size > 0 and name not in known]
    if unseen:
        raise ValueError(f"nothing was sampled from the stratum {unseen[0]!r}: no weight makes up for that")
    full = np.array([sizes[name] for name in known], dtype=np.float64)
    return np.asarray((full / counts)[codes], dtype=np.float64)
