"""What lies at a path is looked at before SQLite opens it, since opening alone may write.

SQLite empties, rolls back and deletes the files that lie beside a run (`-wal`, `-journal`, `-shm`); beside a
stranger's run they are a stranger's too.
"""

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

from vivavoce.core.errors import StoreError

_FOLDER = "a folder"
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, _FOLDER),
    (stat.S_ISLNK, "a link"),
)
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""What a journal that is to be rolled back begins with. Where it also ends so, it names another file, which
SQLite deletes: https://www.sqlite.org/fileformat2.html#the_rollback_journal"""

Check = Callable[[sqlite3.Connection], object]


def refuse_special_files(path: Path) -> None:
    """Raise `StoreError` unless the path and what lies beside it are files, or nothing.

    SQLite would wait for ever for the other end of a pipe, and write through a link that lies beside the run.
    """
    real = os.path.realpath(path)
    kind = _kind(real)
    if kind == _FOLDER:
        raise StoreError(f"{path} is a folder; a run is a file, such as {path / 'exam.viva'}.")
    if kind:
        raise StoreError(f"{path} is {kind}, and a run is a file: give another path.")
    for suffix in ("-wal", "-shm", "-journal"):
        name = real + suffix
        if kind := _kind(name):
            raise StoreError(
                f"{name} is {kind}, and SQLite would write to it: remove it if nothing needs it, or "
                "give another path."
            )


def _kind(path: str) -> str | None:
    """What lies at a path that is no link to elsewhere; null for a file, and for nothing."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    return None if stat.S_ISREG(mode) else next(kind for is_kind, kind in _KINDS if is_kind(mode))


def is_empty(path: Path) -> bool:
    """Whether a file of 0 bytes lies there, which a process that was ended at once leaves."""
    try:
        status = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and not status.st_size


def side_file(path: Path, suffix: str) -> Path:
    """A file that SQLite lays beside a run, where a link to the run leads."""
    return Path(os.path.realpath(path) + suffix)


def check_unopened(path: Path, check: Check) -> None:
    """Run a check of the file's schema that writes nothing, whatever the check finds.

    Raises what the check raises. Where another process writes at this moment, the check is left to the
    connection that is opened next.
    """
    state = _state(path)
    try:
        _check_as_it_lies(path, check)
    except (StoreError, sqlite3.DatabaseError) as error:
        if state == _state(path) and not _is_locked(error):
            raise
    except OSError as error:
        if state == _state(path):
            raise StoreError(f"cannot read {path}: {error.strerror or error}.") from error


def _check_as_it_lies(path: Path, check: Check) -> None:
    wal, journal = side_file(path, "-wal"), side_file(path, "-journal")
    if _begins(journal):
        _refuse_deletion(path, journal)
        _check_copy(path, check)
    elif _size(wal) and not side_file(path, "-shm").exists():
        _check_copy(path, check)
    elif _size(wal):  # the index is there, and a connection that only reads leaves the rest as it is
        _check_at(path, "mode=ro", check)
    else:
        _check_at(path, "mode=ro&immutable=1", check)


def _check_at(path: Path, mode: str, check: Check) -> None:
    address = f"{path.absolute().as_uri()}?{mode}"
    with closing(sqlite3.connect(address, uri=True, timeout=0)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        check(db)


def _check_copy(path: Path, check: Check) -> None:
    """Let SQLite mend a copy, and check that: a run whose writer was killed is mended when it is opened."""
    with tempfile.TemporaryDirectory(prefix="viva-") as folder:
        copy = Path(folder, "run.viva")
        shutil.copyfile(path, copy)
        for suffix in ("-wal", "-journal"):
            if _size(original := side_file(path, suffix)):
                shutil.copyfile(original, side_file(copy, suffix))
        _check_at(copy, "mode=rw", check)


def _refuse_deletion(path: Path, journal: Path) -> None:
    with journal.open("rb") as file:
        file.seek(-len(_JOURNAL), 2)
        if file.read() == _JOURNAL:
            raise StoreError(
                f"{journal} would make SQLite delete another file, and no journal of a run does: remove it, "
                f"and do not trust {path.name}."
            )


def _begins(journal: Path) -> bool:
    """Whether the journal is one that SQLite would roll back."""
    if _size(journal) <= len(_JOURNAL):
        return False
    with journal.open("rb") as file:
        return file.read(len(_JOURNAL)) == _JOURNAL


def _is_locked(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _state(path: Path) -> list[tuple[int, int] | None]:
    """What changes when another process writes."""
    states: list[tuple[int, int] | None] = []
    for suffix in ("", "-wal", "-journal"):
        try:
            status = side_file(path, suffix).stat()
        except OSError:
            states.append(None)
        else:
            states.append((status.st_mtime_ns, status.st_size))
    return states


_QUERIES = {
    "candidate": "SELECT candidate FROM candidates LIMIT ?",
    "metric": "SELECT DISTINCT metric FROM measures LIMIT ?",
}


def unchecked_names(path: Path, kind: Literal["candidate", "metric"], limit: int) -> list[str]:
    """The candidates or metrics of the run at a path, `limit` at most: they may be a stranger's texts.

    Raises what SQLite raises where the file is no run, or is busy for longer than a fifth of a second.
    """
    path = path.resolve()
    live = all(Path(f"{path}{suffix}").exists() for suffix in ("-wal", "-shm"))
    # Opened so, SQLite makes no file beside the run; a run that is written now has both already.
    address = f"{path.as_uri()}?mode=ro{'' if live else '&immutable=1'}"
    with closing(sqlite3.connect(address, uri=True, timeout=0.2)) as db:
        db.execute("PRAGMA trusted_schema = OFF")  # a stranger's view may run no function
        return [str(name) for (name,) in db.execute(_QUERIES[kind], (limit,))]
