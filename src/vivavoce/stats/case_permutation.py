"""Whether one member of several has another mean than the rest: members permuted over cases.

Every case may hold rows of several members, as candidates answer the same questions. Permutations take rows
of one case for independent, which is careful where members share their cases and too bold where each has
cases of its own; a t test by case is too bold where few values vary. So p is the larger of the two.
"""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Floats, finite, group_codes, item_weights
from vivavoce.stats.draws import random_orders, seeded_rng

PERMUTATIONS = 9_999
MOST_ENTRIES = 20_000_000
"""Permutations times blocks; with more than 2,000 blocks fewer permutations are drawn."""
CHUNK = 1_000
SEED = 0


def member_permutation(
    values: ArrayLike, members: ArrayLike, groups: ArrayLike, *, weights: ArrayLike | None = None
) -> Floats:
    """Two-sided p of each member's mean being that of all others, for each member alone.

    A block is what one member has in one case, and the statistic |sum of w (x - xbar)| over a member's
    blocks. p is the larger of two: (hits + 1) / (permutations + 1), members permuted over all blocks, the
    same permutations for all members; and that of t of the difference of both means, with their error by
    case (CR1) and G - 1 degrees of freedom.

    Parameters
    ----------
    values : array of shape (n,)
        Such as 1 where a judge was right, else 0.
    members, groups : array of shape (n,)
        Whose row it is, and its case; any labels.
    weights : array of shape (n,), optional
        How many rows of a larger set each stands for; above 0, on any scale. Equal by default.

    Returns
    -------
    array of shape (K,)
        In the order of the sorted members; 1 throughout where values do not vary or there is one member.

    Raises
    ------
    ValueError
        If there is no row, a value is NaN or infinite, a weight is not above 0, or lengths differ.

    Draws are raw words of PCG64 with a fixed seed: the same data in another order of rows give the same p.
    """
    x = finite("values", values)
    owners, n_members = group_codes(members, length=len(x))
    cases, _ = group_codes(groups, length=len(x))
    w = item_weights(weights, length=len(x))
    place, block_of = np.unique(cases * n_members + owners, return_inverse=True)
    if n_members < 2:
        return np.ones(n_members)
    sums = np.bincount(block_of, weights=w * (x - float(np.average(x, weights=w)))).astype(np.float64)
    codes = (place % n_members).astype(np.intp)
    bar = _totals(codes[None], n_members, sums)[0] - 1e-9 * float(np.abs(sums).sum())
    hits = np.zeros(n_members, dtype=np.int64)
    permutations = int(min(PERMUTATIONS, max(MOST_ENTRIES // len(place), 999)))
    rng = seeded_rng(SEED)
    for start in range(0, permutations, CHUNK):
        n = min(CHUNK, permutations - start)
        hits += (_totals(codes[random_orders(rng, len(place), n)], n_members, sums) >= bar).sum(axis=0)
    by_case = [_wald_p(x, owners == member, cases, w) for member in range(n_members)]
    return np.maximum((hits + 1) / (permutations + 1), by_case)


def _totals(codes: NDArray[np.intp], n_members: int, sums: Floats) -> Floats:
    """|sum of the blocks| of each member, shape (permutations, K), from the members of the blocks."""
    totals: Floats = np.abs(np.stack([(codes == member) @ sums for member in range(n_members)], axis=1))
    return totals


def _wald_p(x: Floats, z: NDArray[np.bool_], cases: NDArray[np.intp], w: Floats) -> float:
    """Two-sided p by t of the difference of two means with its CR1 error by case; 0 without spread."""
    first, second = (np.average(x[part], weights=w[part]) for part in (z, ~z))
    deviations = np.where(z, w * (x - first) / w[z].sum(), -w * (x - second) / w[~z].sum())
    sums = np.bincount(cases, weights=deviations)
    n = len(sums)
    se = math.sqrt(float(sums @ sums) * n / (n - 1)) if n > 1 else math.inf
    difference = abs(float(first - second))
    if se <= 1e-9 * float(np.abs(x).max(initial=0.0)):
        return 0.0 if difference else 1.0
    return 2 * float(scipy.special.stdtr(max(n - 1, 1), -difference / se))
