"""Leases: two collects never do the same work at once."""

import itertools
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from vivavoce.errors import StoreError
from vivavoce.store import RunFile
from vivavoce.store.calls import lease, release

__all__ = ["Held", "leased"]

LEASED_SECONDS = 60.0

_numbers = itertools.count(1)
_ours: set[str] = set()


class Held:
    """The right to do some work, as long as nobody else has taken it."""

    def __init__(self) -> None:
        self.lost: str | None = None

    def check(self) -> None:
        """Raise `StoreError` if it went to another, after this process had not been heard of for long."""
        if self.lost:
            raise StoreError(
                f"another collect ({self.lost}) has taken over this work while this one was halted: what "
                "came is stored, and the rest is left to it."
            )


@contextmanager
def leased(run: RunFile, works: Sequence[str]) -> Iterator[Held]:
    """Hold the right to do these works, renewed while the block runs.

    That of a process which is gone ends at once if it ran on this machine, else in a minute. Raises
    `StoreError` if another collect holds one of them.
    """
    holder, seconds, held = f"{_machine()}, process {os.getpid()}, {next(_numbers)}", LEASED_SECONDS, Held()
    taken = lease(run, works, holder, seconds, gone=_gone)
    if taken:
        raise StoreError(
            f"another collect ({_shown(taken)}) is asking for the same answers into {run.path}: wait for it, "
            f"or stop it and try again in {seconds:.0f} s."
        )
    _ours.add(holder)
    done = threading.Event()

    def renew() -> None:
        while not done.wait(seconds / 3) and not held.lost:
            with suppress(StoreError):  # a full disk: the one who stores answers says so
                other = lease(run, works, holder, seconds, gone=_gone)
                held.lost = other and _shown(other)

    keeper = threading.Thread(target=renew, daemon=True)
    keeper.start()
    try:
        yield held
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


def _shown(holder: str) -> str:
    machine, process, _ = holder.rsplit(", ", 2)
    return f"{machine.partition(' ')[0]}, {process}"


def _gone(holder: str) -> bool:
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
