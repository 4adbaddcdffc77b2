"""Leases: two collects never do the same work at once."""

import itertools
import os
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from vivavoce.core.errors import StoreError
from vivavoce.core.text import one_line, printable
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
        if self.lost is not None:
            raise StoreError(
                f"another collect ({self.lost}) has taken over this work while this one was halted: what "
                "came is stored, and the rest is left to it."
            )


@contextmanager
def leased(run: RunFile, works: Sequence[str]) -> Iterator[Lease]:
    """Hold the right to do these works, renewed while the block runs.

    That of a process which is gone ends at once if it ran on this machine, else in a minute. A clock that
    jumped holds nobody up: a lease that ends more than two lease times ahead is void. Raises
    `StoreError` if another collect holds one of them.
    """
    holder = f"{_machine()}, process {os.getpid()}, {next(_numbers)}"
    seconds, own_lease = LEASE_S, Lease()
    taken = lease(run, works, holder, seconds, gone=_has_ended)
    if taken is not None:
        raise StoreError(
            f"another collect ({_display(taken)}) is asking for the same answers into {run.path}: wait for "
            f"it, or stop it and try again in {seconds:.0f} s."
        )
    _ours.add(holder)
    done = threading.Event()

    def renew() -> None:
        while not done.wait(seconds / 3) and own_lease.lost is None:
            with suppress(StoreError):  # a full disk: the one who stores answers says so
                rival = lease(run, works, holder, seconds, gone=_has_ended)
                own_lease.lost = None if rival is None else _display(rival)

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


class _Process(NamedTuple):
    machine: str
    number: int


_HOLDER = re.compile(r"(?P<machine>.*), process (?P<number>[0-9]{1,18}), [0-9]+", re.DOTALL)


def _process(holder: str) -> _Process | None:
    """The process that holds a lease; null for words that no process of ours wrote."""
    match = _HOLDER.fullmatch(holder)
    return match and _Process(match["machine"], int(match["number"]))


def _display(holder: str) -> str:
    process = _process(holder)
    words = f"{process.machine.partition(' ')[0]}, process {process.number}" if process else holder
    return one_line(printable(words))


def _has_ended(holder: str) -> bool:
    """True if the holder was a process of this machine that has ended, or is this one, which is done."""
    process = _process(holder)
    if process is None or process.machine != _machine():
        return False
    if process.number == os.getpid():
        return holder not in _ours
    if os.name != "posix":  # elsewhere the question itself would end the process
        return False
    try:
        os.kill(process.number, 0)
    except (ProcessLookupError, OverflowError):  # no system numbers a process so
        return True
    except OSError:
        return False
    return False
