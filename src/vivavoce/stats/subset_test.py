"""Whether a few cases are worse than the rest, or events more frequent than their chances: exact tests."""

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import ROUNDING, Codes, Floats, finite
from vivavoce.stats.draws import random_indices, seeded_rng
from vivavoce.stats.sums import rounded

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
    y = rounded(finite("values", values))
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


def events_test(happened: int, chances: ArrayLike) -> float:
    """Two-sided p of so many of independent events, each with a chance of its own.

    Of an item that k of m raters say yes to, the chance that one of them does is k / m if all are alike: then
    it is the exact conditional test of a rater against the others, stratified by item.

    Parameters
    ----------
    happened : int
        How many events happened, 0 to n.
    chances : array of shape (n,)
        The chance of each, 0 to 1.

    Returns
    -------
    float
        Twice the smaller tail of the Poisson binomial distribution, the number itself counted by half on
        each side (mid-p); 1 without an event that can go both ways.

    Raises
    ------
    ValueError
        If a chance is NaN or not between 0 and 1, or `happened` is not between 0 and n.

    Hong (2013), Comput. Stat. Data Anal. 59; Birch (1964), J. R. Stat. Soc. B 26; mid-p of Lancaster (1961).
    """
    p = finite("chances", chances, empty=True)
    if p.size and (p.min() < 0 or p.max() > 1):
        raise ValueError("chances must lie between 0 and 1")
    if not 0 <= happened <= len(p):
        raise ValueError(f"happened must be between 0 and {len(p)}, but is {happened}")
    if not ((p > 0) & (p < 1)).any():
        return 1.0
    mass = np.ones(1)
    # Events of one chance are binomial together: few chances differ, however many events there are.
    for chance, times in zip(*np.unique(np.round(p, 12), return_counts=True), strict=True):
        mass = np.convolve(mass, _binomial(int(times), float(chance)))
    tail = min(mass[: happened + 1].sum(), mass[happened:].sum())
    return float(min(1.0, 2 * tail - mass[happened]))


def _binomial(n: int, p: float) -> Floats:
    """The probabilities of 0 to n of n events of chance p."""
    if p in {0.0, 1.0}:
        return np.asarray(np.eye(1, n + 1, 0 if p == 0 else n)[0])
    counts = np.arange(n + 1)
    logs = _log_choose(n, counts) + counts * np.log(p) + (n - counts) * np.log1p(-p)
    return np.asarray(np.exp(logs))


@lru_cache(maxsize=32)
def _drawn_subsets(n: int, k: int) -> Codes:
    """Subsets of k of n positions, by Floyd's algorithm: time grows with k squared."""
    rng, picked = seeded_rng(SEED), np.empty((DRAWS, k), dtype=np.intp)
    for column, last in enumerate(range(n - k, n)):
        place = random_indices(rng, last + 1, DRAWS)
        is_taken = (picked[:, :column] == place[:, None]).any(axis=1)
        picked[:, column] = np.where(is_taken, last, place)
    return picked
