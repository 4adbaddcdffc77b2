"""One fetch at a time into a folder.

Two would write into one partial file, and each would write `viva.lock` without what the other had brought.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vivavoce.core.errors import InputError
from vivavoce.core.private_files import private_folder


@contextmanager
def only_fetch(folder: Path) -> Iterator[None]:
    """While the block runs no other fetch of this machine brings files into the folder.

    A folder that is not there is made, and removed if nothing lies in it afterwards. Where the system has no
    such locks, as Windows and some network disks, none is held. Raises `InputError` while another fetch is at
    work there, and where the folder cannot be made.
    """
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        private_folder(folder)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}.") from None
    handle = _locked(folder)
    try:
        yield
    finally:
        for path in missing:
            with suppress(OSError):  # something lies there now
                path.rmdir()
        if handle is not None:
            os.close(handle)


def _locked(folder: Path) -> int | None:
    """The open folder, locked until it is closed; null where it cannot be locked."""
    if os.name != "posix":
        return None
    import fcntl

    handle = None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if handle is not None:
            os.close(handle)
        if isinstance(error, BlockingIOError):
            raise InputError(
                f"another fetch is bringing files into {folder}: wait for it, and fetch again."
            ) from None
        return None
    return handle
