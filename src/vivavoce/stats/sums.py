"""Sums that are correctly rounded, and the one rule of rounding to nine digits.

Digits are the same in any order of summation and on any processor.

A mean half way between two printed numbers, such as .125, is printed by its last bit. NumPy adds in blocks
whose size depends on the processor, so that bit did too. Here values are split into parts whose sums are
exact in any order (Rump, Ogita & Oishi 2008, SIAM J. Sci. Comput. 31, 189-224, `ExtractVector`), and
`math.fsum` adds the few sums.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

CHUNK = 1 << 16
"""Values that are split at once: memory stays the same however many there are."""
LARGEST = 2.0**900
"""Beyond it what values are split by would overflow, and `math.fsum` takes them one by one."""


# Above this 1e-9 is finer than a float's last digits, and multiplying by 1e9 may overflow.
COARSE = 1e6


def exact_sum(values: ArrayLike) -> float:
    """The sum of a vector of finite values, rounded once; 0 of none. As `math.fsum`, five times as fast."""
    numbers, parts = np.asarray(values, dtype=np.float64), []
    for start in range(0, len(numbers), CHUNK):
        chunk = numbers[start : start + CHUNK]
        # The grid of a huge value would overflow.
        if np.abs(chunk).max() > LARGEST:
            parts += chunk.tolist()
        else:
            parts += (float(part.sum()) for part in _split(chunk))
    return math.fsum(parts)


def exact_mean(values: ArrayLike, weights: ArrayLike | None = None) -> float:
    """The mean of a vector of finite values, at least one; sum of w y over sum of w with weights.

    Sum and quotient are each rounded once, so the order of the values changes nothing.
    """
    y = np.asarray(values, dtype=np.float64)
    if weights is None:
        return exact_sum(y) / len(y)
    w = np.asarray(weights, dtype=np.float64)
    return exact_sum(w * y) / exact_sum(w)


def exact_means(rows: Floats, weights: ArrayLike | None = None) -> Floats:
    """`exact_mean` of each row of a matrix, shape (K,)."""
    return np.array([exact_mean(row, weights) for row in rows], dtype=np.float64)


def exact_group_sums(values: Floats, codes: NDArray[np.intp], n_groups: int) -> Floats:
    """The sum of each group, shape (n_groups,), rounded once; 0 of none. Values must be below 2^900."""
    sums = [np.bincount(codes, weights=part, minlength=n_groups) for part in _split(values)]
    # One addition of two exact sums rounds once; three or more would round twice.
    if len(sums) <= 1:
        return np.asarray(sums[0] if sums else np.zeros(n_groups), dtype=np.float64)
    if len(sums) == 2:
        return np.asarray(sums[0] + sums[1], dtype=np.float64)
    return np.array([math.fsum(of_group) for of_group in zip(*(part.tolist() for part in sums), strict=True)])


def _split(values: Floats) -> Iterator[Floats]:
    """Vectors that add to `values`, each a multiple of one power of two so large that its sum is exact."""
    remainder, spare_bits = values, math.ceil(math.log2(len(values) + 2))
    while len(remainder) and (largest := float(np.abs(remainder).max())) > 0:
        # Adding and subtracting it drops the bits of a value below its own last bit.
        grid = 1.5 * 2.0 ** (math.frexp(largest)[1] + spare_bits)
        part = (grid + remainder) - grid
        yield part
        remainder = remainder - part


def rounded(values: ArrayLike) -> Floats:
    """Numbers of any shape to 1e-9, halves to even: averages of one set of scores made in two ways are equal.

    The one rule of rounding to nine digits; `round(9)` of polars gives the same below 1e6. Larger numbers
    stay as they are.
    """
    result = np.array(values, dtype=np.float64)
    # False for NaN too, which stays NaN.
    fine = np.abs(result) < COARSE
    result[fine] = np.round(result[fine], 9)
    return result
