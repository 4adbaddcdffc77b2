"""SQLite's errors as one sentence each, told apart by their codes: https://www.sqlite.org/rescode.html."""

import errno
import os
import sqlite3
import tempfile
from pathlib import Path

from vivavoce.core.errors import StoreError
from vivavoce.store.damage import damaged, display


class Unwritable(StoreError):
    """The file cannot be written, for want of the right, of room or of a local disk; it may be readable."""


_LOCKS = frozenset(
    (
        sqlite3.SQLITE_IOERR_LOCK,
        sqlite3.SQLITE_IOERR_RDLOCK,
        sqlite3.SQLITE_IOERR_UNLOCK,
        sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
        sqlite3.SQLITE_IOERR_SHMLOCK,
        sqlite3.SQLITE_IOERR_SHMMAP,
    )
)
_READS = frozenset((sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ))
_BROKEN = frozenset((sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA))
_PROBE_BYTES = 1 << 20


_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def explain(error: sqlite3.DatabaseError, run: Path, written: Path, wait_s: float) -> StoreError | None:
    """The sentence for an error while `run` was read, or `written` was written; null where none fits.

    An error that our own statements make, such as a constraint, has none: it is ours to mend. `wait_s` is for
    how many seconds a lock was waited for.
    """
    words, name = display(str(error)), getattr(error, "sqlite_errorname", "")
    extended = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    code = extended & 0xFF
    if _is_damage(extended, words):
        return damaged(run, words)
    if code == sqlite3.SQLITE_NOTADB:
        return StoreError(
            f"{run} is no readable run file ({words}): it is another kind of file, or it is damaged. Restore "
            "a copy, or give another path."
        )
    if code in _READ_ONLY:
        return _closed(run, written)
    if code == sqlite3.SQLITE_TOOBIG:
        return StoreError(
            f"no value of more than 1 GB can stand in {written}: shorten it, or, where nothing was to be "
            "written, restore a copy of the file, which is damaged."
        )
    if code in _LOCKED:
        return StoreError(
            f"{written} was kept locked by another process for {wait_s:.0f} s; try again later."
        )
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL):
        return _disk_error(extended, name, written)
    if isinstance(error, sqlite3.OperationalError):
        return StoreError(f"SQLite cannot use {written}: {words}.")
    return None


def _disk_error(code: int, name: str, written: Path) -> StoreError:
    """What the disk refused: to lock, to take more, or to work at all."""
    if code == sqlite3.SQLITE_PROTOCOL or code in _LOCKS:
        return StoreError(
            f"{written} lies on a disk that does not lock files as SQLite needs ({name}), as network disks "
            "do: copy the run to a local disk and use it there."
        )
    if code == sqlite3.SQLITE_FULL or (code not in _READS and _is_full(written)):
        return _full_disk(written)
    return StoreError(
        f"the disk failed under {written} ({name}): nothing of this step was written. Copy the run to "
        "another disk, run the same command there, and check this disk."
    )


def _closed(run: Path, written: Path) -> StoreError:
    """What keeps a run from being read, or written."""
    if _is_unreadable(run):
        return StoreError(
            f"cannot read {run}: its permissions do not allow it. Ask its owner for the right to read it, or "
            "for a copy."
        )
    if _is_full(written):  # opened as unchanging, since there was no room for files beside it
        return _full_disk(written)
    return Unwritable(
        f"cannot write {written}: the file or its folder is read-only. Copy the run to a folder that can "
        "be written and use it there."
    )


def _full_disk(written: Path) -> Unwritable:
    return Unwritable(
        f"the disk is full: nothing of this step was written to {written}, and what was there before is "
        "safe. Make room and run the same command again."
    )


def _is_damage(code: int, words: str) -> bool:
    """Whether a page or a stored value cannot be decoded; for values there are words and no code."""
    if code & 0xFF == sqlite3.SQLITE_CORRUPT or code in _BROKEN:
        return True
    return "decode to UTF-8" in words or "malformed JSON" in words


def _is_unreadable(path: Path) -> bool:
    """Whether a file lies there that we may not read."""
    # It is not opened: to close it would end SQLite's own locks on it.
    effective = os.access in os.supports_effective_ids
    return os.path.exists(path) and not os.access(path, os.R_OK, effective_ids=effective)


def _is_full(path: Path) -> bool:
    """Whether the folder takes no further megabyte: for want of room, of a quota or by a limit on files.

    SQLite reports a full disk as such, and a quota or a limit as an error of the disk.
    """
    try:
        with tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))) as probe:
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return False
