"""Hashes of the files that a spec names, which belong to the signature of what it builds."""

import hashlib
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from vivavoce.core.errors import InputError

LOCK = "viva.lock"
"""The file that says what `viva fetch` brought into a folder."""
_LARGE, _RECENT_S = 1 << 20, 10
"""Bytes from which a hash is kept, and seconds in which a file may change again without other times."""


def file_hash(path: Path) -> str:
    """First 8 hex digits of SHA-256 over a file, or over the names and contents of a folder's plain files.

    The lock of what was fetched into a folder is none of its data. Raises `InputError` if one cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for file in [path] if path.is_file() else sorted(_data_files(path)):
            if file != path:
                digest.update(file.name.encode("utf-8", "surrogateescape"))
            with file.open("rb") as stream:
                while chunk := stream.read(1 << 20):
                    digest.update(chunk)
    except OSError as error:
        raise InputError(f"cannot read {error.filename or path}: {error.strerror or error}.") from error
    return digest.hexdigest()[:8]


def cached_hash(path: Path) -> str:
    """`file_hash`; that of a large file is kept in this process until its size or its times change."""
    status = path.stat() if path.is_file() else None
    if status is None or status.st_size < _LARGE or status.st_ctime > time.time() - _RECENT_S:
        return file_hash(path)
    return _hash(path, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


@lru_cache(maxsize=64)
def _hash(path: Path, stamp: tuple[int, ...]) -> str:
    return file_hash(path)


def _data_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_file() and path.name != LOCK)
