"""Seeded draws: every random number of a statistic is made of raw words of a bit generator.

NumPy promises the stream of a bit generator, and lets the methods of `Generator` change between versions:
a p or an interval that rests on draws is the same under every version and on every processor.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vivavoce.stats._arrays import Codes, Floats

BITS = 8  # rows that one random byte decides
MEMBERS = (np.arange(2**BITS)[:, None] >> np.arange(BITS) & 1).astype(np.float64)
"""The rows of each of the 256 subsets of 8."""
OF_64_BITS = (np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)


def seeded_rng(seed: int | str) -> np.random.Generator:
    """A generator over PCG64, seeded by a number, or by a name: the first 8 bytes of its SHA-256.

    A name seeds what must not depend on what else is computed.
    """
    if isinstance(seed, str):
        seed = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    return np.random.Generator(np.random.PCG64(seed))


def random_words(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    """The next `size` words of 64 bits.

    Raises `ValueError` where the bit generator of `rng` has words of 32 bits (MT19937).
    """
    if not isinstance(rng.bit_generator, OF_64_BITS):
        kind = type(rng.bit_generator).__name__
        raise ValueError(f"rng draws from {kind}, but words of 64 bits are needed: use PCG64")
    # Words of 32 bits would be taken for numbers near 0.
    words: Any = rng.bit_generator.random_raw(size)
    return np.asarray(words, dtype=np.uint64)


def random_indices(rng: np.random.Generator, n: int, size: int) -> Codes:
    """Numbers from 0 to `n` - 1, drawn with replacement: a word modulo `n`.

    The first numbers are more likely by `n` / 2^64, which no simulation can see.
    """
    return (random_words(rng, size) % np.uint64(n)).astype(np.intp)


def random_orders(rng: np.random.Generator, n: int, size: int) -> Codes:
    """Permutations of 0 … n - 1, one a row, shape (size, n): the order of n words."""
    return np.argsort(random_words(rng, size * n).reshape(size, n), axis=1)


def random_subset_sums(rows: Floats, *, draws: int, rng: np.random.Generator) -> Floats:
    """Column sums of random subsets, each row being in or out by a fair coin: flipped signs, swapped groups.

    Parameters
    ----------
    rows : array of shape (n, k)
        What is summed.
    draws : int
        Number of subsets.
    rng : numpy.random.Generator
        One byte of its words, the lowest first, decides 8 rows.

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
        # Little-endian, so that the lowest byte comes first on any machine.
        words = random_words(rng, -(-draws // 8)).astype("<u8")
        totals += sums.take(words.view(np.uint8)[:draws], axis=0)
    return totals
