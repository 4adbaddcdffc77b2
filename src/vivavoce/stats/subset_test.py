"""Whether a few cases are worse than the rest: an exact test of the subset that they are."""

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import ROUNDING, Codes, Floats, finite

SEED, DRAWS = 0, 9_999


def subset_test(values: ArrayLike, members: ArrayLike) -> float:
    """One-sided p that so many cases drawn at random have a sum as low as these members have.

    Parameters
    ----------
    values : array of shape (n,)
        One per case, higher being better; rounded to 1e-9. Cases are alike but for where they belong.
    members : boolean array of shape (n,)
        Whether a case is of the subset.

    Returns
    -------
    float
        Of two values, Fisher's exact p: hypergeometric. Of more, (hits + 1) / 10,000 over drawn subsets, for
        the same data the same; ties count as hits. 1 where all values are equal, and where no case or every
        case is a member.

    Raises
    ------
    ValueError
        If there is no value, one is NaN or infinite, or lengths differ.

    Fisher (1935), Design of Experiments; Phipson & Smyth (2010), SAGMB 9.
    """
    y = np.round(finite("values", values), 9)
    chosen = np.asarray(members, dtype=bool)
    if chosen.shape != y.shape:
        raise ValueError(f"members must have the shape of values, {y.shape}, but has {chosen.shape}")
    n, k = len(y), int(chosen.sum())
    levels = np.unique(y)
    if k in {0, n} or len(levels) == 1:
        return 1.0
    if len(levels) == 2:
        return _fisher(int((y == levels[1]).sum()), n, k, int((y[chosen] == levels[1]).sum()))
    bar = float(y[chosen].sum()) + ROUNDING
    hits = int(np.count_nonzero(y[_drawn_subsets(n, k)].sum(axis=1) <= bar))
    return (hits + 1) / (DRAWS + 1)


def _fisher(n_high: int, n: int, k: int, hits: int) -> float:
    """P of `hits` or fewer high values among k of n, of which `n_high` are high."""
    counts = np.arange(max(0, k - (n - n_high)), hits + 1)
    logs = _log_choose(n_high, counts) + _log_choose(n - n_high, k - counts)
    return min(1.0, float(np.exp(logs - _log_choose(n, np.array([k]))).sum()))


def _log_choose(total: int, part: Codes) -> Floats:
    gammaln = scipy.special.gammaln
    return np.asarray(gammaln(total + 1) - gammaln(part + 1) - gammaln(total - part + 1))


@lru_cache(maxsize=32)
def _drawn_subsets(n: int, k: int) -> Codes:
    """Subsets of k of n positions, by Floyd's algorithm: time grows with k squared."""
    bits, picked = np.random.PCG64(SEED), np.empty((DRAWS, k), dtype=np.intp)
    for column, last in enumerate(range(n - k, n)):
        place = (bits.random_raw(DRAWS) % np.uint64(last + 1)).astype(np.intp)
        is_taken = (picked[:, :column] == place[:, None]).any(axis=1)
        picked[:, column] = np.where(is_taken, last, place)
    return picked
