"""One writer at a time of a run on a network disk: a file beside it says who writes.

The locks of network disks do not hold between machines; a file that is made only if it is not there yet does
(O_EXCL, on NFS since version 3). https://www.rfc-editor.org/rfc/rfc1813, CREATE with EXCLUSIVE
"""

import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from vivavoce.core.errors import StoreError
from vivavoce.core.private_files import create_private
from vivavoce.core.processes import has_ended, this_machine
from vivavoce.core.text import one_line, printable
from vivavoce.store.sqlite_errors import Unwritable

SUFFIX = ".writer"
PAUSE_S = 0.05
_HOLDER = re.compile(r"(?P<machine>.*), process (?P<number>[0-9]{1,18})", re.DOTALL)
_counts: dict[tuple[int, str], int] = {}
"""By process and file, how often this process holds the lock: its threads share it."""
_counting = threading.Lock()


@contextmanager
def only_writer(path: Path, *, wait_s: float) -> Iterator[None]:
    """While the block runs no other process writes the run; the threads of this one may.

    The lock of a process of this machine that has ended is taken over. Raises `StoreError` if another process
    keeps it for so many seconds, `Unwritable` if the folder cannot be written.
    """
    lock = Path(os.path.realpath(path) + SUFFIX)
    key = os.getpid(), str(lock)
    with _counting:
        if not _counts.get(key):
            _acquire(lock, path, wait_s)
        _counts[key] = _counts.get(key, 0) + 1
    try:
        yield
    finally:
        with _counting:
            _counts[key] -= 1
            if not _counts[key]:
                del _counts[key]
                lock.unlink(missing_ok=True)


def is_writing(path: Path) -> bool:
    """Whether this process holds the lock of a run."""
    return (os.getpid(), os.path.realpath(path) + SUFFIX) in _counts


def _acquire(lock: Path, path: Path, wait_s: float) -> None:
    end = time.monotonic() + wait_s
    holder = f"{this_machine()}, process {os.getpid()}"
    while not _make(lock, holder, path):
        _remove_of_ended(lock)
        if time.monotonic() > end:
            raise StoreError(
                f"{path} is being written by {_display(_content(lock))}, and on a network disk one process "
                f"writes at a time: try again when it is done. If it is gone, remove {lock.name} there."
            )
        time.sleep(PAUSE_S)


def _make(lock: Path, holder: str, path: Path) -> bool:
    """Make the file of the lock; false where it is there."""
    try:
        handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise Unwritable(f"cannot write beside {path}: {error.strerror or error}.") from error
    with os.fdopen(handle, "wb") as stream:
        stream.write(holder.encode("utf-8", "surrogateescape"))
    return True


def _content(lock: Path) -> str:
    try:
        return lock.read_bytes()[:500].decode("utf-8", "replace")
    except OSError:
        return ""


def _display(holder: str) -> str:
    match = _HOLDER.fullmatch(holder)
    if not match:
        return "another process"
    machine = match["machine"].partition(" ")[0]
    return one_line(printable(f"{machine}, process {match['number']}"), 120)


def _remove_of_ended(lock: Path) -> None:
    """Remove the lock of a process of this machine that has ended; two processes never do so at once."""
    if os.name != "posix" or not _has_ended(_content(lock)):
        return
    import fcntl

    local = (
        Path(tempfile.gettempdir()) / f"viva-{os.getuid()}-{sha256(str(lock).encode()).hexdigest()[:16]}.lock"
    )
    with suppress(OSError):
        create_private(local)
        with local.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _has_ended(_content(lock)):  # still: nobody took it over since
                lock.unlink(missing_ok=True)


def _has_ended(holder: str) -> bool:
    match = _HOLDER.fullmatch(holder)
    if not match or match["machine"] != this_machine() or int(match["number"]) == os.getpid():
        return False
    return has_ended(int(match["number"]))
