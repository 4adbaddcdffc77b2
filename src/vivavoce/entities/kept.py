"""What was made of a file, kept until the file changes."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, TypeVarTuple

__all__ = ["kept"]

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


def kept(make: Callable[[Path, *Ts], T]) -> Callable[[Path, *Ts], T]:
    """`make`, called again only for another path, other arguments, or a file written since.

    Arguments must be hashable.
    """

    @lru_cache(maxsize=8)
    def made(path: Path, stamp: tuple[int, int], *args: *Ts) -> T:
        return make(path, *args)

    def call(path: Path, *args: *Ts) -> T:
        return made(path, _stamp(path), *args)

    return call


def _stamp(path: Path) -> tuple[int, int]:
    try:
        told = path.stat()
    except (OSError, ValueError):  # `make` says it in words
        return 0, 0
    return told.st_mtime_ns, told.st_size
