"""Which of many keys occur more than once, without holding the keys."""

from array import array
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Hashes = array[int]
else:
    Hashes = array


def hashes_of(keys: Iterable[Hashable]) -> Hashes:
    """The hashes of keys, in their order: 8 bytes each."""
    return array("q", map(hash, keys))


def repeats(hashes: Hashes) -> set[int]:
    """The hashes that occur more than once.

    A key whose hash is not among them occurs once. Two keys may share a hash by chance, so the keys of a
    repeated hash are still to be compared.
    """
    import numpy as np  # not where names are merely looked up

    in_order = np.sort(np.frombuffer(hashes, np.int64)) if hashes else np.empty(0, np.int64)
    return set(in_order[1:][in_order[1:] == in_order[:-1]].tolist())
