"""N-grams in common of many pairs of sequences at once, in NumPy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_END = (1 << 31) - 1
"""Stands behind each sequence, so that no run goes from one into the next."""


def runs_in_common(references: Sequence[Ints], answers: Sequence[Ints], of: Ints, orders: int) -> Ints:
    """Shape (answers, orders): n-grams in common with the reference `of[k]`, as multisets, for n from 1 on.

    The numbers of a sequence, such as code points, lie from 0 to 2^31 - 2.

    Each distinct n-gram of a reference has a number, and is looked up as one integer: the number of its first
    n - 1 places, then what stands at its last. Only where these matched is the answer compared further.
    """
    reference_codes, reference_starts, owners = _joined(references)
    answer_codes, answer_starts, pairs = _joined(answers)
    numbers, grams = owners, of[pairs]  # a 0-gram has the number of its reference
    owner_of = np.arange(len(references))
    common = np.zeros((len(answers), orders), dtype=np.int64)
    for n in range(orders):
        last = reference_codes[reference_starts + n]
        inside = last != _END
        reference_starts = reference_starts[inside]
        keys = numbers[inside] << 32 | last[inside]
        table, numbers, limits = np.unique(keys, return_inverse=True, return_counts=True)
        if not len(table):
            break
        keys = grams << 32 | answer_codes[answer_starts + n]
        position = np.minimum(np.searchsorted(table, keys), len(table) - 1)
        hits = np.flatnonzero(table[position] == keys)
        answer_starts, pairs, grams = answer_starts[hits], pairs[hits], position[hits]
        owner_of = owner_of[table >> 32]
        common[:, n] = _matched(pairs, grams, of, owner_of, limits, len(references))
    return common


def _joined(sequences: Sequence[Ints]) -> tuple[Ints, Ints, Ints]:
    """All sequences in one array, each with its end; the places but for ends; the sequence of each."""
    end = np.array([_END])
    codes = np.concatenate([part for sequence in sequences for part in (sequence, end)])
    places = np.flatnonzero(codes != _END)
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    return codes, places, np.repeat(np.arange(len(sequences)), lengths)


def _matched(pairs: Ints, grams: Ints, of: Ints, owner_of: Ints, limits: Ints, n_references: int) -> Ints:
    """By pair the sum over its reference's n-grams of the lesser of both counts.

    A cell for each n-gram of each pair's reference: those of one reference stand side by side in `owner_of`.
    """
    first = np.searchsorted(owner_of, np.arange(n_references + 1))
    sizes = np.diff(first)[of]
    stops = np.cumsum(sizes)
    shift = stops - sizes - first[of]
    times = np.bincount(grams + shift[pairs], minlength=stops[-1])
    gram_of = np.arange(stops[-1]) - np.repeat(shift, sizes)
    sums = np.concatenate([[0], np.cumsum(np.minimum(times, limits[gram_of]))])
    matched: Ints = sums[stops] - sums[stops - sizes]
    return matched
