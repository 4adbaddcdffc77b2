"""Leases: two collects never do the same work at once."""

import itertools
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from vivavoce.core.errors import StoreError
from vivavoce.store.calls import lease, release
from vivavoce.store.runfile import RunFile

LEASE_S = 60.0

_numbers = itertools.count(1)
_ours: set[str] = set()


class Lease:
    """The right to do some work, until another process takes it."""

    def __init__(self) -> None:
        self.lost: str | None = None

    def check(self) -> None:
        """Raise `StoreError` if another process took it, because this one had not renewed it in time."""
        if self.lost:
            raise StoreError(
                f"another collect ({self.lost}) has taken over this work while this one was halted: what "
                "came is stored, and the rest is left to it."
            )


@contextmanager
def leased(run: RunFile, works: Sequence[str]) -> Iterator[Lease]:
    """Hold the right to do these works, renewed while the block runs.

    That of a process which is gone ends at once if it ran on this machine, else in a minute. Raises
    `StoreError` if another collect holds one of them.
    """
    holder = f"{_machine()}, process {os.getpid()}, {next(_numbers)}"
    seconds, own_lease = LEASE_S, Lease()
    taken = lease(run, works, holder, seconds, gone=_has_ended)
    if taken:
        raise StoreError(
            f"another collect ({_display(taken)}) is asking for the same answers into {run.path}: wait for "
            f"it, "
            f"or stop it and try again in {seconds:.0f} s."
        )
    _ours.add(holder)
    done = threading.Event()

    def renew() -> None:
        while not done.wait(seconds / 3) and not own_lease.lost:
            with suppress(StoreError):  # a full disk: the one who stores answers says so
                rival = lease(run, works, holder, seconds, gone=_has_ended)
                own_lease.lost = rival and _display(rival)

    keeper = threading.Thread(target=renew, daemon=True)
    keeper.start()
    try:
        yield own_lease
    finally:
        done.set()
        keeper.join()
        _ours.discard(holder)
        with suppress(StoreError):  # it would stand in the way of what really went wrong
            release(run, works, holder)


def _machine() -> str:
    """The name of this machine; containers may share it, and then have process numbers of their own."""
    try:
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _display(holder: str) -> str:
    machine, process, _ = holder.rsplit(", ", 2)
    return f"{machine.partition(' ')[0]}, {process}"


def _has_ended(holder: str) -> bool:
    """True if the holder was a process of this machine that has ended, or is this one, which is done."""
    machine, process, _ = holder.rsplit(", ", 2)
    number = int(process.rpartition(" ")[2])
    if machine != _machine():
        return False
    if number == os.getpid():
        return holder not in _ours
    if os.name != "posix":  # elsewhere the question itself would end the process
        return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
