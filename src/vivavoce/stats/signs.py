"""Two exact tests that read nothing but signs: of groups that went up or down, and of flipped group sums."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from vivavoce.stats._arrays import Floats, finite

__all__ = ["SignFlips", "sign_flips", "sign_test"]

ENUMERATED = 16  # groups: 2^16 sign patterns are all visited, more are sampled
CHUNK = 4_000_000  # signs held at once: 4 MB as drawn, 32 MB as floats


class SignFlips(NamedTuple):
    """`p`, from `n_patterns` sign patterns over `n_different` groups; `exact` if these were all there are."""

    p: float
    n_different: int
    n_patterns: int
    exact: bool


def sign_test(positive: int, negative: int) -> float:
    """Exact two-sided p of a fair coin: `positive` ups and `negative` downs, ties left out by the caller.

    Parameters
    ----------
    positive, negative : int
        Counts, 0 or more. None at all gives 1.

    Raises
    ------
    ValueError
        If a count is negative.

    Fewer than 6 groups that differ cannot reach .05: 2 * .5^5 = .0625. Arbuthnot (1710).
    """
    if positive < 0 or negative < 0:
        raise ValueError(f"counts must be 0 or more, but are {positive} and {negative}")
    # Doubling counts the middle pattern twice when the counts are equal.
    return min(1.0, 2 * float(bdtr(min(positive, negative), positive + negative, 0.5)))


def sign_flips(group_sums: ArrayLike, *, rng: np.random.Generator, resamples: int = 99_999) -> SignFlips:
    """Two-sided p of a sum of group sums, if each group's sign had been a coin's.

    Exact by enumeration up to 16 groups that are not 0; beyond, (hits + 1) / (resamples + 1).

    Parameters
    ----------
    group_sums : array of shape (G,)
        Sum of the differences in each group. Zeros (below 5e-10) say nothing and are dropped.
    rng : numpy.random.Generator
        Required: a p that cannot be redrawn cannot be checked. Unused when p is exact.
    resamples : int
        Patterns drawn beyond 16 groups. Time grows with G * resamples, memory does not.

    Returns
    -------
    SignFlips
        Patterns that only rounding (1e-8 of the sum of sizes) tells from the observed one count as ties,
        so as hits. p is 1 if no group differs.

    Raises
    ------
    ValueError
        If a sum is NaN or infinite, or `resamples` is below 1.

    Fisher (1935), Design of Experiments, sec. 21; the + 1 of Phipson & Smyth (2010), SAGMB 9. A check
    beside the t test: it tests symmetry about 0, and gives no interval.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, but is {resamples}")
    sums = finite("group_sums", group_sums, empty=True)
    sums = sums[np.round(sums, 9) != 0]
    size = float(np.abs(sums).sum())
    bar = abs(float(sums.sum())) - 1e-8 * size
    if len(sums) <= ENUMERATED:
        totals = np.zeros(1)
        for one in sums:
            totals = np.concatenate([totals + one, totals - one])
        return SignFlips(float(np.mean(np.abs(totals) >= bar)), len(sums), len(totals), True)
    hits = _drawn_hits(sums, bar, rng, resamples)
    return SignFlips((hits + 1) / (resamples + 1), len(sums), resamples, False)


def _drawn_hits(sums: Floats, bar: float, rng: np.random.Generator, resamples: int) -> int:
    rows = max(1, CHUNK // len(sums))
    hits = 0
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), len(sums))
        kept = rng.integers(0, 2, size=shape, dtype=np.int8).astype(np.float64) @ sums
        hits += int(np.count_nonzero(np.abs(2 * kept - sums.sum()) >= bar))
    return hits
