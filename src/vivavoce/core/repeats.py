"""Which of many keys occur more than once, without holding the keys."""

from array import array
from collections.abc import Hashable, Iterable
from itertools import pairwise


def hashes_of(keys: Iterable[Hashable]) -> "array[int]":
    """The hashes of keys, in their order: 8 bytes each."""
    return array("q", map(hash, keys))


def repeats(hashes: "array[int]") -> set[int]:
    """The hashes that occur more than once.

    A key whose hash is not among them occurs once. Two keys may share a hash by chance, so the keys of a
    repeated hash are still to be compared.
    """
    return {first for first, second in pairwise(sorted(hashes)) if first == second}
