"""Sums of random subsets of rows: what flips of signs and swaps of groups are made of."""

import numpy as np

from vivavoce.stats._arrays import Floats

BITS = 8  # rows that one random byte decides
MEMBERS = (np.arange(2**BITS)[:, None] >> np.arange(BITS) & 1).astype(np.float64)
"""The rows of each of the 256 subsets of 8."""


def random_subset_sums(rows: Floats, *, draws: int, rng: np.random.Generator) -> Floats:
    """Column sums of random subsets, each row being in or out by a fair coin.

    Parameters
    ----------
    rows : array of shape (n, k)
        What is summed.
    draws : int
        Number of subsets.
    rng : numpy.random.Generator
        One byte of it decides 8 rows.

    Returns
    -------
    array of shape (draws, k)
        Time grows with draws * n / 8: the 256 sums of every 8 rows are computed once and looked up.
    """
    totals = np.zeros((draws, rows.shape[1]))
    for start in range(0, len(rows), BITS):
        block = rows[start : start + BITS]
        # The last rows may be fewer than 8; the bits without a row then decide nothing.
        sums = MEMBERS[:, : len(block)] @ block
        totals += sums.take(np.frombuffer(rng.bytes(draws), dtype=np.uint8), axis=0)
    return totals
