"""The lock of a folder: which files were fetched, from where, at which commit, and their hashes."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import LOCK
from vivavoce.core.json_text import read_json
from vivavoce.core.private_files import write_private

SCHEMA = "viva.lock/1"


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file below the folder, as it was fetched; `bytes` and `sha256` are null as long as it was not.

    `url` is for the reader: nothing is ever fetched from an address that a lock names.
    """

    file: str
    url: str
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What was fetched for a benchmark. `patterns` are the files its declaration named.

    `requested` is the branch, tag or commit that became `revision`. `replaceable` are hashes of an earlier
    revision, as long as an update of its files is not complete.
    """

    source: str
    requested: str | None
    revision: str | None
    licence: str
    terms: str
    date: str
    patterns: tuple[str, ...]
    hosts: tuple[str, ...] = ()
    files: tuple[LockedFile, ...] = ()
    replaceable: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all of its files were fetched."""
        return bool(self.files) and all(file.sha256 for file in self.files)

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of each file that was fetched."""
        return {file.file: file.sha256 for file in self.files if file.sha256}


@dataclass(slots=True)
class Lock:
    """The lock of a folder: an entry for each benchmark that was fetched into it."""

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)

    def write(self) -> None:
        """Write it, as a whole or not at all."""
        entries = {name: asdict(entry) for name, entry in sorted(self.entries.items())}
        text = json.dumps({"schema": SCHEMA, "benchmarks": entries}, ensure_ascii=True, indent=1)
        write_private(self.path, text + "\n")


def read_lock(folder: Path) -> Lock:
    """The lock of a folder; an empty one where there is none. Raises `InputError` for another file."""
    path = folder / LOCK
    try:
        content = read_json(path.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise ValueError
        return Lock(path, {str(name): _entry(row) for name, row in content["benchmarks"].items()})
    except FileNotFoundError:
        return Lock(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError(f"{path} is no lock of `viva fetch`: move it away, and fetch again.") from None


def _entry(row: dict[str, Any]) -> Entry:
    files = tuple(LockedFile(**file) for file in row["files"])
    lists = {name: tuple(row[name]) for name in ("patterns", "hosts", "replaceable")}
    return Entry(**{**row, **lists, "files": files})


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file. Raises `InputError` where it cannot be read."""
    return _digest(path, hashlib.sha256())


def blob_of(path: Path) -> str:
    """The hash that git gives to the content of a file: SHA-1 over its length and the content."""
    sha1 = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    return _digest(path, sha1)


def _digest(path: Path, digest: Any) -> str:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    return str(digest.hexdigest())
