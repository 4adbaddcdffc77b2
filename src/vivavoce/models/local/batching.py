"""Requests that arrive one by one, run in batches by one thread.

Waiting requests are taken together, sorted by length and run in batches of one kind, the longest first: what
does not fit in memory shows at once, and the batch size learnt from it serves the rest.
"""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, Protocol, TypeAlias

from vivavoce.core.errors import ModelError
from vivavoce.core.text import one_line
from vivavoce.models.requests import FatalError, RejectedError, Reply, Request

LINGER_S = 0.005
"""Seconds that a round waits for others: those whose answers have just gone out come back at once."""

Outcome: TypeAlias = "Reply | Exception"


class Job(NamedTuple):
    """A prepared request: only jobs of equal `kind` share a batch. `length` is in tokens, 1 or more."""

    kind: Hashable
    length: int
    payload: Any


class _Pending(NamedTuple):
    job: Job
    future: "Future[Reply]"


class Batches(Protocol):
    """Where requests wait until they are run in a batch."""

    async def reply(self, request: Request) -> Reply:
        """The reply, when it is there. Raises what preparing or running this request raises."""
        ...

    async def close(self) -> None:
        """Drop what waits; a later request may come."""
        ...


class BatchWorker:
    """A queue of waiting requests, and one thread that runs them.

    `prepare` makes a request ready and `run` runs a batch, both in that thread: a reply or an exception for
    each job, in order. Where `run` raises, out of memory halves the batch, and the size in tokens is
    remembered; an error of the model as a whole (`ModelError`) goes to every job; after any other the jobs
    are run one by one, so that each fails for itself alone. A job that does not fit in memory alone is a
    `RejectedError`. Requests that were cancelled when a round begins are left out. What ends the thread
    itself, a fault of a library or of this class, is a `FatalError` for all that wait; a later request starts
    another thread.
    """

    def __init__(
        self,
        prepare: Callable[[Request], Job],
        run: Callable[[Sequence[Job]], Sequence[Outcome]],
        max_batch: int,
    ) -> None:
        self._prepare, self._run, self.max_batch = prepare, run, max_batch
        self._lock = threading.Lock()
        self._waiting: list[tuple[Request, Future[Reply]]] = []
        self._thread: ThreadPoolExecutor | None = None
        self._awake = False
        self._fits: dict[Hashable, int] = {}
        self._halt = threading.Event()

    def halted(self) -> bool:
        """True once no result is wanted any more."""
        return self._halt.is_set()

    async def reply(self, request: Request) -> Reply:
        """The reply, when it is there. Raises what preparing or running this request raises."""
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

        A request that is running fails with `FatalError`: its response may be incomplete.
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
        """Run round after round until nothing waits. It must not raise, because nothing would catch it."""
        taken: list[tuple[Request, Future[Reply]]] | None = None
        try:
            while (taken := self._take_waiting()) is not None:
                self._run_waiting(taken)
        except BaseException as error:
            with self._lock:
                waiting, self._waiting = [*(taken or ()), *self._waiting], []
                self._awake = False
            message = one_line(f"{type(error).__name__}: {error}", 160).rstrip(".: ")
            for _, future in waiting:
                with suppress(InvalidStateError):  # it has its outcome
                    future.set_exception(FatalError(f"the model's thread ended ({message}): ask again."))

    def _run_waiting(self, taken: "Sequence[tuple[Request, Future[Reply]]]") -> None:
        by_kind: dict[Hashable, list[_Pending]] = {}
        for request, future in taken:
            if future.set_running_or_notify_cancel():
                try:
                    job = self._prepare(request)
                except Exception as error:
                    future.set_exception(error)
                else:
                    by_kind.setdefault(job.kind, []).append(_Pending(job, future))
        for group in by_kind.values():
            self._run_kind(sorted(group, key=lambda a: -a.job.length))

    def _take_waiting(self) -> "list[tuple[Request, Future[Reply]]] | None":
        """All that wait; null, and the thread sleeps, if nothing does."""
        time.sleep(LINGER_S)
        with self._lock:
            taken, self._waiting = self._waiting, []
            self._awake = bool(taken)
        return taken or None

    def _run_kind(self, pending: list[_Pending]) -> None:
        """Run jobs of one kind, longest first."""
        outcomes = self.outcomes([request.job for request in pending])
        for (_, future), (_, outcome) in zip(pending, outcomes, strict=True):
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def outcomes(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        """Jobs of one kind, longest first, and what each comes to, run in this thread batch by batch."""
        while jobs:
            batch = jobs[: self._size(jobs[0])]
            outcomes = self._try_batch(batch) if not self.halted() else []
            if self.halted():
                outcomes = [closed()] * len(batch)
            if outcomes is None:  # outside the except block: what it held on to is free now
                free_memory()
                if len(batch) > 1:
                    self._fits[batch[0].kind] = len(batch) // 2 * batch[0].length
                    continue
                outcomes = [_too_large(batch[0])]
            yield from zip(batch, outcomes, strict=True)
            jobs = jobs[len(batch) :]

    def _size(self, job: Job) -> int:
        """The number of jobs, of this length or less, that run together."""
        fits = self._fits.get(job.kind)
        return self.max_batch if fits is None else max(1, min(self.max_batch, fits // max(1, job.length)))

    def _try_batch(self, jobs: Sequence[Job]) -> Sequence[Outcome] | None:
        """The outcomes of a batch, job by job; null where it did not fit in memory."""
        try:
            return self._run(jobs)
        except ModelError as error:
            return [error] * len(jobs)
        except Exception as error:
            if is_out_of_memory(error):
                return None
            if len(jobs) == 1:
                return [error]
        results = []
        for job in jobs:
            outcome = self._try_batch([job])
            results.append(_too_large(job) if outcome is None else outcome[0])
        return results


def batches_by_length(order: Sequence[int], ids: Sequence[Sequence[int]], budget: int) -> Iterator[list[int]]:
    """Places of texts in an order from short to long, as many together as the budget holds with filling."""
    batch: list[int] = []
    for k in order:
        if batch and (len(batch) + 1) * len(ids[k]) > budget:
            yield batch
            batch = []
        batch.append(k)
    if batch:
        yield batch


def is_out_of_memory(error: BaseException) -> bool:
    """True if an error says that memory, of the device or of this machine, is used up."""
    by_class = any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__)
    by_message = isinstance(error, RuntimeError) and any(
        words in str(error) for words in ("out of memory", "can't allocate memory", "ALLOC_FAILED")
    )
    return by_class or by_message or isinstance(error, MemoryError)


def closed() -> FatalError:
    """The outcome of a request that was running when its model was closed."""
    return FatalError("the model was closed while it was asked.")


def _too_large(job: Job) -> RejectedError:
    return RejectedError(
        f"it does not fit in memory even alone, with {job.length} tokens; take load=4bit or a GPU"
    )


def free_memory() -> None:
    """Free memory that nothing refers to any more."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
