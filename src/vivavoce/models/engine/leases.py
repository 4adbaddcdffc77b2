"""Leases: two commands never ask a model for the same at once.

A command takes the lease of a work in the run before it asks, and gives it back when it is done. That of a
process which is gone ends at once if it ran on this machine, else in a minute. A clock that jumped holds
nobody up: a lease that ends more than two lease times ahead is void.
"""

import itertools
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from vivavoce.core.errors import StoreError
from vivavoce.core.processes import has_ended, this_machine
from vivavoce.core.text import one_line, printable
from vivavoce.store.calls import lease, release
from vivavoce.store.runfile import RunFile

LEASE_S = 60.0

_numbers = itertools.count(1)
_ours: set[str] = set()


class LeaseLostError(StoreError):
    """Another process took the work over: nothing more is to be asked, and what came may be stored."""


class Lease:
    """The right to do some works in a run, renewed until it is released or another process takes it.

    `verb` is what sentences call a command that does such work.
    """

    def __init__(self, run: RunFile, verb: str) -> None:
        self.lost: str | None = None
        self._run, self._verb = run, verb
        self._works: list[str] = []
        self._holder = f"{this_machine()}, process {os.getpid()}, {next(_numbers)}"
        self._done = threading.Event()
        self._keeper: threading.Thread | None = None

    def take(self, works: Sequence[str], asking: str = "asking for the same answers") -> None:
        """Take these works too; `asking` says what they are.

        Raises `StoreError` if another command holds one of them.
        """
        new = [work for work in works if work not in self._works]
        if not new:
            return
        seconds = LEASE_S
        rival = lease(self._run, new, self._holder, seconds, gone=_has_ended)
        if rival is not None:
            raise StoreError(
                f"another {self._verb} ({_display(rival)}) is {asking} into {self._run.path}: wait for "
                f"it, or stop it and try again in {seconds:.0f} s."
            )
        _ours.add(self._holder)
        self._works += new
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._renew, args=(seconds,), daemon=True)
            self._keeper.start()

    def check(self) -> None:
        """Raise `LeaseLostError` if another process took it, because this one had not renewed it in time.

        Call it once what came is stored: it was paid for, and no row of another process is overwritten.
        """
        if self.lost is not None:
            raise LeaseLostError(
                f"another {self._verb} ({self.lost}) has taken over this work while this one was halted: "
                "what came is stored, and the rest is left to it."
            )

    def release(self) -> None:
        """Give the works back."""
        if self._keeper is None:
            return
        self._done.set()
        self._keeper.join()
        self._keeper, self._done = None, threading.Event()
        _ours.discard(self._holder)
        with suppress(StoreError):  # it would stand in the way of what really went wrong
            release(self._run, self._works, self._holder)
        self._works = []

    def _renew(self, seconds: float) -> None:
        while not self._done.wait(seconds / 3) and self.lost is None:
            # Where the disk is full, say, the one who stores answers meets it too, and says so.
            with suppress(Exception):
                rival = lease(self._run, self._works.copy(), self._holder, seconds, gone=_has_ended)
                self.lost = None if rival is None else _display(rival)


@contextmanager
def leased(run: RunFile, works: Sequence[str], verb: str) -> Iterator[Lease]:
    """Hold the right to do these works while the block runs.

    Raises `StoreError` if another command holds one of them.
    """
    own_lease = Lease(run, verb)
    own_lease.take(works)
    try:
        yield own_lease
    finally:
        own_lease.release()


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
    if process is None or process.machine != this_machine():
        return False
    if process.number == os.getpid():
        return holder not in _ours
    return has_ended(process.number)
