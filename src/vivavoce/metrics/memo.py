"""Results of a function that texts ask for word by word."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Memo(dict[str, T]):
    """`function(key)` by key, computed when it is first looked up; at `MOST` all is dropped.

    `map(memo.__getitem__, words)` stays in C where every word is known, at half the cost of `lru_cache`.
    """

    MOST = 1 << 16

    def __init__(self, function: Callable[[str], T]) -> None:
        self._function = function

    def __missing__(self, key: str) -> T:
        if len(self) >= self.MOST:
            self.clear()
        result = self[key] = self._function(key)
        return result
