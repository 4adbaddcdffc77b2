"""Hashes of the files that a spec names, which belong to the signature of what it builds."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from vivavoce.core.errors import InputError

LOCK = "viva.lock"
"""The file that says what `viva fetch` brought into a folder."""


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


def _data_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.is_file() and path.name != LOCK)
