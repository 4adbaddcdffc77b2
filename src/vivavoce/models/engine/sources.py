"""The calls of a queue, taken from their iterator some at a time, with what is known of them already."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from itertools import islice
from typing import NamedTuple

from vivavoce.models.engine.calls import Call, CallOutcome, CompletedCall, Queue
from vivavoce.models.requests import Model

MIN_TAKEN, MAX_TAKEN = 16, 256
"""Calls that are taken at a time: as many as may be on the wire at once, within these bounds."""

Recall = Callable[[Model, Sequence[Call]], Sequence[CallOutcome | None]]
"""The stored outcomes of calls of a model, in their order; null where none is stored."""


class KnownCall(NamedTuple):
    """A call, and what an equal one brought before; null where none did."""

    call: Call
    outcome: CallOutcome | None


class _Taken(NamedTuple):
    calls: Sequence[KnownCall]
    error: BaseException | None
    ended: bool


class CallSource:
    """The calls of one queue, which its workers share.

    The iterator and `recall` are called in the thread, one at a time and never while outcomes are stored
    there. Calls are taken before they are needed, twice as many at most as are taken at a time.
    """

    def __init__(self, queue: Queue, recall: Recall | None, thread: Executor) -> None:
        self._model, self._calls = queue.model, iter(queue.calls)
        self._recall, self._thread = recall, thread
        self._size = min(MAX_TAKEN, max(MIN_TAKEN, queue.limits.concurrency))
        self._ready: deque[KnownCall] = deque()
        self._taking: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self._ended = False
        self._keys: Counter[tuple[str, int]] = Counter()
        """By key and repeat, the calls that are ready."""
        self._fresh: dict[tuple[str, int], CallOutcome] = {}
        """What was stored of calls that are ready, since they were taken."""

    async def next(self) -> KnownCall | None:
        """The next call; null where there is none. Raises what the iterator or `recall` raises."""
        while not self._ready:
            if self._error is not None:
                raise self._error
            if self._ended:
                return None
            await asyncio.shield(self._take())
        call, outcome = self._ready.popleft()
        if len(self._ready) <= self._size // 2 and not self._ended:
            self._take()
        key = call.request.key, call.repeat
        fresh = self._fresh.get(key)
        self._keys[key] -= 1
        if not self._keys[key]:
            del self._keys[key]
            self._fresh.pop(key, None)
        return KnownCall(call, fresh or outcome)

    def on_stored(self, completed: CompletedCall) -> None:
        """Remember what a call brought for equal ones that were taken before it was stored."""
        model, call, outcome = completed
        key = call.request.key, call.repeat
        if outcome.reply is not None and model.name == self._model.name and key in self._keys:
            self._fresh[key] = outcome

    async def remaining(self) -> int:
        """The number of calls that nobody has taken; they are used up."""
        if self._taking is not None:
            await self._taking
        loop = asyncio.get_running_loop()
        n_calls = await loop.run_in_executor(self._thread, lambda: sum(1 for _ in self._calls))
        return len(self._ready) + n_calls

    def _take(self) -> "asyncio.Future[None]":
        """Take the next calls, unless that is being done; the future ends when they are ready."""
        if self._taking is None:
            loop = asyncio.get_running_loop()
            self._taking = loop.create_future()
            loop.run_in_executor(self._thread, self._taken).add_done_callback(self._on_taken)
        return self._taking

    def _taken(self) -> _Taken:
        calls: list[Call] = []
        error: Exception | None = None
        outcomes: Sequence[CallOutcome | None] = ()
        try:
            calls.extend(islice(self._calls, self._size))  # those before a fault are asked all the same
        except Exception as fault:
            error = fault
        try:
            outcomes = self._recall(self._model, calls) if self._recall and calls else [None] * len(calls)
        except Exception as fault:
            return _Taken((), error or fault, True)
        taken = [KnownCall(call, outcome) for call, outcome in zip(calls, outcomes, strict=True)]
        return _Taken(taken, error, error is not None or len(calls) < self._size)

    def _on_taken(self, result: "asyncio.Future[_Taken]") -> None:
        fault = result.exception()
        taken = _Taken((), fault, True) if fault else result.result()
        self._error, self._ended = taken.error, taken.ended
        self._ready.extend(taken.calls)
        self._keys.update((call.request.key, call.repeat) for call, _ in taken.calls)
        taking, self._taking = self._taking, None
        if taking is not None:
            taking.set_result(None)
