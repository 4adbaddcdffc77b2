"""Processes of this machine, as a lock or a lease names its holder."""

import os
import socket
from contextlib import suppress
from pathlib import Path


def this_machine() -> str:
    """The name of this machine; containers may share it, and then have process numbers of their own."""
    try:
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def has_ended(number: int) -> bool:
    """Whether no process of this number runs on this machine; false where that cannot be told.

    One that was killed has ended, though whoever started it has not asked how.
    """
    if os.name != "posix":  # elsewhere the question itself would end the process
        return False
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):  # no system numbers a process so
        return True
    except OSError:
        return False
    return _is_zombie(number)


def _is_zombie(number: int) -> bool:
    """Whether a process has ended with all of its threads, and is still in the system's list."""
    place = Path(f"/proc/{number}")
    with suppress(OSError, IndexError):
        state = (place / "stat").read_bytes().rpartition(b")")[2].split()[0]
        return state == b"Z" and len(os.listdir(place / "task")) == 1
    return False
