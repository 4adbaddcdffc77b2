"""What was made of a file, made again only when the file changes."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, TypeVarTuple

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


def cached_by_file(make: Callable[[Path, *Ts], T]) -> Callable[[Path, *Ts], T]:
    """`make`, called again only for another path, other arguments, or a file written since.

    Arguments must be hashable.
    """

    @lru_cache(maxsize=8)
    def cached(path: Path, stamp: tuple[int, int], *args: *Ts) -> T:
        return make(path, *args)

    def call(path: Path, *args: *Ts) -> T:
        return cached(path, _stamp(path), *args)

    return call


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):  # `make` says it in words
        return 0, 0
    return status.st_mtime_ns, status.st_size
