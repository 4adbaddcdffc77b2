"""Requests that arrive one by one, answered in batches by one thread.

What waits is taken together, sorted by length and run in batches of one kind, the longest first: what does
not fit in memory shows at once, and what is learnt from it serves the rest.
"""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from vivavoce.errors import ModelError
from vivavoce.models import Broken, Refused, Reply, Request
from vivavoce.text import one_line

__all__ = ["Batches", "Job", "free", "is_full"]

LINGER = 0.005
"""Seconds that a round waits for others: those whose answers have just gone out come back at once."""

Outcome: TypeAlias = "Reply | Exception"


class Job(NamedTuple):
    """A request made ready: only jobs of equal `kind` share a batch. `length` is in tokens, 1 or more."""

    kind: Hashable
    length: int
    what: Any


class _Asked(NamedTuple):
    job: Job
    future: "Future[Reply]"


class Batches:
    """The desk between many that wait and one thread that works.

    `prepare` makes a request ready and `run` answers a batch, both in that thread: a reply or an exception
    for each job, in order. Where `run` raises, out of memory halves the batch, which is remembered by the
    tokens it held; an error of the model as a whole (`ModelError`) is everybody's; after any other the jobs
    are run one by one, so that each fails for itself alone. A job that does not fit in memory alone is
    `Refused`. Whoever has gone away when a round begins is left out. What ends the thread itself, be it a
    fault of a library or of this class, is `Broken` to all that wait; a later request starts another.
    """

    def __init__(
        self, prepare: Callable[[Request], Job], run: Callable[[Sequence[Job]], Sequence[Outcome]], most: int
    ) -> None:
        self._prepare, self._run, self.most = prepare, run, most
        self._lock = threading.Lock()
        self._waiting: list[tuple[Request, Future[Reply]]] = []
        self._thread: ThreadPoolExecutor | None = None
        self._awake = False
        self._fits: dict[Hashable, int] = {}
        self._halt = threading.Event()

    def halted(self) -> bool:
        """True once nobody wants what is being made."""
        return self._halt.is_set()

    async def reply(self, request: Request) -> Reply:
        """The answer, when it is there. Raises what preparing or running this request raises."""
        future: Future[Reply] = Future()
        with self._lock:
            if not self._awake:
                self._halt.clear()
                self._thread = self._thread or ThreadPoolExecutor(1, "viva-local")
                self._thread.submit(self._work)
                self._awake = True
            self._waiting.append((request, future))
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Drop what waits, and return when the thread has ended; a later request starts another.

        What is being made when it is called fails as `Broken`: it may be half an answer.
        """
        self._halt.set()
        with self._lock:
            dropped, self._waiting = self._waiting, []
            thread, self._thread = self._thread, None
        for _, future in dropped:
            future.cancel()
        if thread:
            await asyncio.to_thread(thread.shutdown)

    def _work(self) -> None:
        """Round after round until nobody waits. Nobody hears what it raises, so it raises nothing."""
        taken: list[tuple[Request, Future[Reply]]] | None = None
        try:
            while (taken := self._taken()) is not None:
                self._round(taken)
        except BaseException as error:
            with self._lock:
                left, self._waiting = [*(taken or ()), *self._waiting], []
                self._awake = False
            said = one_line(f"{type(error).__name__}: {error}", 160).rstrip(".: ")
            for _, future in left:
                with suppress(InvalidStateError):  # it has its outcome
                    future.set_exception(Broken(f"the model's thread ended ({said}): ask again."))

    def _round(self, taken: "Sequence[tuple[Request, Future[Reply]]]") -> None:
        asked: dict[Hashable, list[_Asked]] = {}
        for request, future in taken:
            if future.set_running_or_notify_cancel():
                try:
                    job = self._prepare(request)
                except Exception as error:
                    future.set_exception(error)
                else:
                    asked.setdefault(job.kind, []).append(_Asked(job, future))
        for some in asked.values():
            self._through(sorted(some, key=lambda a: -a.job.length))

    def _taken(self) -> "list[tuple[Request, Future[Reply]]] | None":
        """All that wait; null, and the thread sleeps, if nobody does."""
        time.sleep(LINGER)
        with self._lock:
            taken, self._waiting = self._waiting, []
            self._awake = bool(taken)
        return taken or None

    def _through(self, asked: list[_Asked]) -> None:
        """Answer jobs of one kind, longest first."""
        while asked:
            batch = asked[: self._size(asked[0].job)]
            outcomes = self._tried([a.job for a in batch]) if not self.halted() else []
            if self.halted():
                outcomes = [Broken("the model was closed while it was asked.")] * len(batch)
            if outcomes is None:  # outside the except block: what it held on to is free now
                free()
                if len(batch) > 1:
                    self._fits[batch[0].job.kind] = len(batch) // 2 * batch[0].job.length
                    continue
                outcomes = [_too_large(batch[0].job)]
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)
            asked = asked[len(batch) :]

    def _size(self, job: Job) -> int:
        """How many jobs of this length and less run together."""
        fits = self._fits.get(job.kind)
        return self.most if fits is None else max(1, min(self.most, fits // max(1, job.length)))

    def _tried(self, jobs: Sequence[Job]) -> Sequence[Outcome] | None:
        """What came of a batch, job by job; null where it did not fit in memory."""
        try:
            return self._run(jobs)
        except ModelError as error:
            return [error] * len(jobs)
        except Exception as error:
            if is_full(error):
                return None
            if len(jobs) == 1:
                return [error]
        each = []
        for job in jobs:
            alone = self._tried([job])
            each.append(_too_large(job) if alone is None else alone[0])
        return each


def is_full(error: BaseException) -> bool:
    """True if an error says that memory, of the device or of this machine, is used up."""
    named = any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__)
    said = isinstance(error, RuntimeError) and any(
        words in str(error) for words in ("out of memory", "can't allocate memory", "ALLOC_FAILED")
    )
    return named or said or isinstance(error, MemoryError)


def _too_large(job: Job) -> Refused:
    return Refused(f"it does not fit in memory even alone, with {job.length} tokens; take load=4bit or a GPU")


def free() -> None:
    """Give memory back that nothing holds any more."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
