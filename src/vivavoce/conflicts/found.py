"""What a comparison gives: one conflict, with what was said and what was wanted."""

from collections.abc import Collection
from typing import NamedTuple

__all__ = ["Conflict", "alike"]


class Conflict(NamedTuple):
    """A conflict of `kind`: `said` (places `start` to `end` of the answer) and `wanted`."""

    kind: str
    said: str
    wanted: str
    start: int
    end: int


def alike(one: Collection[str], two: Collection[str]) -> float:
    """Share of the words of the smaller side that the larger has; 1 where a side has none."""
    if not one or not two:
        return 1.0
    return len(set(one) & set(two)) / min(len(set(one)), len(set(two)))
