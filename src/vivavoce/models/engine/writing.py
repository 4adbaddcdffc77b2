"""Outcomes are stored some at a time, in a thread beside the event loop."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

from vivavoce.core.errors import StoreError
from vivavoce.models.engine.calls import CompletedCall
from vivavoce.models.engine.leases import LeaseLostError
from vivavoce.store.sqlite_errors import Unwritable

BATCH = 16
"""Outcomes in one transaction, at most."""
BATCH_S = 0.05
"""Seconds for which an outcome waits for others of its batch, at most."""
MAX_UNSTORED = 64
"""Outcomes that may wait for the disk while new requests are sent."""

Store = Callable[[Sequence[CompletedCall]], None]
"""Stores outcomes in their order, all of them or none."""


class _Written(NamedTuple):
    """The outcomes of a batch that are stored, and why the others are not."""

    stored: Sequence[CompletedCall]
    error: BaseException | None = None


class BatchWriter:
    """Stores outcomes in the order in which they come: a batch when it is full, or its first is 50 ms old.

    `store` is called in the thread. `on_stored` and `on_error` are called in the event loop: with each
    outcome that is stored, and with the reason why some are not and their number. Where the run is locked,
    nothing more is tried. Where `store` raises `LeaseLostError`, the batch is stored, and so is what still
    comes. Where anything else is wrong, each outcome of the batch is stored alone, so that one that cannot be
    stored takes no other with it.
    """

    def __init__(
        self,
        store: Store,
        thread: Executor,
        *,
        on_stored: Callable[[CompletedCall], None],
        on_error: Callable[[BaseException, int], None],
    ) -> None:
        self._store, self._thread = store, thread
        self._on_stored, self._on_error = on_stored, on_error
        self._waiting: deque[CompletedCall] = deque()
        self._batch: Sequence[CompletedCall] = ()
        self._timer: asyncio.TimerHandle | None = None
        self._due = False
        self._refused: StoreError | None = None
        self._ended = asyncio.Event()

    def put(self, completed: CompletedCall) -> None:
        """Store an outcome with the next batch."""
        self._waiting.append(completed)
        self._schedule()

    async def room(self) -> None:
        """Return when so few outcomes wait for the disk that another request may be sent."""
        while len(self._waiting) + len(self._batch) >= MAX_UNSTORED:
            await self._ended.wait()

    async def flush(self) -> None:
        """Return when no outcome waits."""
        while self._waiting or self._batch:
            self._on_timer()
            await self._ended.wait()

    def _schedule(self) -> None:
        if len(self._waiting) >= BATCH or (self._due and self._waiting):
            self._begin()
        elif self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_S, self._on_timer)

    def _on_timer(self) -> None:
        self._due = True
        self._schedule()

    def _begin(self) -> None:
        """Store the next batch, unless one is being stored."""
        if self._batch:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due = None, False
        self._batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        loop = asyncio.get_running_loop()
        loop.run_in_executor(self._thread, self._write, self._batch).add_done_callback(self._end)

    def _write(self, batch: Sequence[CompletedCall]) -> _Written:
        """Store a batch, in the thread."""
        error = self._fault_of(batch)
        if error is None or isinstance(error, LeaseLostError):
            return _Written(batch, error)
        if self._refused or len(batch) == 1:
            return _Written((), error)
        singly = [self._write([completed]) for completed in batch]
        stored = [completed for written in singly for completed in written.stored]
        return _Written(stored, next((written.error for written in singly if written.error), None))

    def _fault_of(self, batch: Sequence[CompletedCall]) -> Exception | None:
        """Why a batch could not be stored, or nothing more is to be asked; null if neither is so."""
        if self._refused:
            return self._refused
        try:
            self._store(batch)
        except Exception as error:
            if isinstance(error, StoreError) and not _may_be_tried_on(error):
                self._refused = error
            return error
        return None

    def _end(self, future: asyncio.Future[_Written]) -> None:
        batch, self._batch = self._batch, ()
        fault = future.exception()
        written = _Written((), fault) if fault else future.result()
        for completed in written.stored:
            self._on_stored(completed)
        if written.error is not None:
            self._on_error(written.error, len(batch) - len(written.stored))
        ended, self._ended = self._ended, asyncio.Event()
        ended.set()
        self._schedule()


def _may_be_tried_on(error: StoreError) -> bool:
    """Whether others may be stored: these are, the disk is full, or one holds what no file takes."""
    return isinstance(error, LeaseLostError | Unwritable) or isinstance(error.__cause__, UnicodeError)
