"""Executors of workers that may end: a shard goes to a worker, and to another one if that ends.

What a worker had not finished is sent again. A shard whose computing has ended three workers is lost. Kinds
of workers, such as processes, are other modules.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from vivavoce.core.errors import MetricError
from vivavoce.run.workers.executor import Job, Lost, R, RemoteJob, S, Shard
from vivavoce.run.workers.worker import Refusal

MOST_KILLS = 3
"""How many workers a shard may end before it is given up."""
PATIENCE_S = 5.0
"""Seconds without a result after which workers are looked after."""


class Worker(Protocol):
    """A worker as this process sees it."""

    ends: tuple[type[Exception], ...]
    """What its futures raise where it ends."""
    loses_all: bool
    """Whether all that it was sent is lost where it ends, or only what it computed then."""

    def prepare(self, job: RemoteJob) -> "Future[Any]":
        """Get ready for a job."""
        ...

    def run(self, work: Any) -> "Future[Any]":
        """The result of a packed shard, or a `Refusal`."""
        ...

    def exit_words(self, error: Exception) -> str:
        """How it ended, of what a future raised; it is cleared away first."""
        ...

    def close(self) -> None:
        """End it, whatever it does."""
        ...


@dataclass(eq=False)
class _Sent:
    """A shard on its way: where it is computed, and its result once it is there."""

    work: Any
    future: "Future[Any] | None" = None
    kills: int = 0
    result: Any = None
    done: bool = False

    def finish(self, result: Any) -> None:
        """Keep the result; the work need not be sent again."""
        self.work, self.future, self.result, self.done = None, None, result, True


@dataclass(eq=False)
class _Lane:
    """A place for a worker, and the shards that it has not finished, the one that it computes first."""

    start: Callable[[], Worker]
    worker: Worker | None = None
    job: RemoteJob | None = None
    ready: "Future[Any] | None" = None
    failed_starts: int = 0
    unfinished: deque[_Sent] = field(default_factory=deque)

    def send(self, sent: _Sent, job: RemoteJob) -> None:
        """Send a shard; the job goes first where the worker is new to it."""
        self.unfinished.append(sent)
        self._submit(sent, job)

    def _submit(self, sent: _Sent, job: RemoteJob) -> None:
        if self.worker is None:
            self.worker, self.job = self.start(), None
        try:
            if self.job is not job:
                self.ready, self.job = self.worker.prepare(job), job
            sent.future = self.worker.run(sent.work)
        except self.worker.ends as error:  # it was killed between two shards
            sent.future = Future()
            sent.future.set_exception(error)

    def take(self, job: RemoteJob) -> None:
        """Take the results that have come. Raises `MetricError` for a job that a worker cannot open."""
        while self.worker and self.unfinished and (future := self.unfinished[0].future) and future.done():
            try:
                if self.ready and self.ready.done():
                    self.ready.result()  # a job that cannot be sent
                result = future.result()
            except self.worker.ends as error:
                self._restart(self.worker, job, error)
                return
            if isinstance(result, Refusal):
                raise MetricError(result.sentence)
            self.unfinished.popleft().finish(result)

    def _restart(self, worker: Worker, job: RemoteJob, error: Exception) -> None:
        """Make a new worker in place of one that ended, and send again what that had not finished.

        Raises `MetricError` where workers end again and again before they are ready.
        """
        self.worker = None if worker.loses_all else worker
        cause = worker.exit_words(error)
        self._count_start(cause)
        self.ready = self.job = None
        first = self.unfinished[0]  # the others were waiting
        first.kills += 1
        lost = [*self.unfinished] if worker.loses_all else [first]
        if first.kills >= MOST_KILLS:
            self.unfinished.popleft()
            first.finish(
                Lost(f"{MOST_KILLS} worker processes ended while they computed it, the last {cause}")
            )
        for sent in lost:
            if not sent.done:
                self._submit(sent, job)

    def _count_start(self, cause: str) -> None:
        started = (
            self.ready and self.ready.done() and not self.ready.cancelled() and not self.ready.exception()
        )
        self.failed_starts = 0 if started else self.failed_starts + 1
        if self.failed_starts >= MOST_KILLS:
            raise MetricError(
                f"{MOST_KILLS} worker processes ended before they were ready, the last {cause}: state fewer "
                "--workers, or leave them out."
            )

    def close(self) -> None:
        """End the worker, whatever it does."""
        self.unfinished.clear()
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()


class WorkerPool:
    """Computes shards in so many workers, which `start` starts when there is work for them.

    At most `in_flight` shards for each are sent, computed or waiting for an earlier one, so that memory holds
    no more. `look_after` is called when nothing has come for some seconds; it may raise.
    """

    has_workers = True

    def __init__(
        self,
        n_workers: int,
        start: Callable[[], Worker],
        in_flight: int,
        look_after: Callable[[], None] | None = None,
    ) -> None:
        self.n_workers = self.n_lanes = n_workers
        self._in_flight, self._look_after = in_flight, look_after
        self._lanes = [_Lane(start) for _ in range(n_workers)]

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *error: object) -> None:
        self.end_workers()

    def end_workers(self) -> None:
        """End all workers, whatever they do."""
        for lane in self._lanes:
            lane.close()

    def results(self, shards: Iterable[Shard[S]], job: Job[S, R]) -> Iterator[R | Lost]:
        """The result of each shard, in their order.

        A shard without a lane goes to the worker with the least to do. Raises `MetricError` where a worker
        cannot open the job.
        """
        waiting: deque[_Sent] = deque()
        packed = ((job.pack(shard.work), shard.lane) for shard in shards)
        remote_job = job.remote()
        try:
            while True:
                self._fill(waiting, packed, remote_job)
                if not waiting:
                    return
                while not waiting[0].done:
                    self._hear(remote_job)
                result = waiting.popleft().result
                yield result if isinstance(result, Lost) else job.unpack(result)
        finally:
            for lane in self._lanes:  # nobody waits for these any more
                if lane.unfinished:
                    lane.close()

    def _fill(self, waiting: deque[_Sent], packed: Iterator[tuple[Any, int | None]], job: RemoteJob) -> None:
        """Send as many shards as may be on their way."""
        while len(waiting) < self._in_flight * self.n_workers and (shard := next(packed, None)):
            work, number = shard
            lane = (
                min(self._lanes, key=lambda lane: len(lane.unfinished))
                if number is None
                else self._lanes[number % self.n_workers]
            )
            sent = _Sent(work)
            waiting.append(sent)
            lane.send(sent, job)

    def _hear(self, job: RemoteJob) -> None:
        """Wait until a shard is finished, or its worker has ended."""
        futures = [sent.future for lane in self._lanes for sent in lane.unfinished if sent.future]
        if not wait(futures, PATIENCE_S, FIRST_COMPLETED).done and self._look_after:
            self._look_after()
        for lane in self._lanes:
            lane.take(job)
