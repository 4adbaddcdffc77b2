"""The executor of worker processes: pools of `concurrent.futures`, one process each.

A pool breaks whole where a process of it is killed. Here that is one worker: its pool is made anew, and the
shards that it had not finished are sent again. A shard whose computing has ended three workers is lost.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from vivavoce.core.errors import MetricError
from vivavoce.models.worker_process import become_worker
from vivavoce.pipeline.workers import Job, Lost, R, RemoteJob, S, Shard
from vivavoce.pipeline.workers import worker as remote
from vivavoce.pipeline.workers.spawning import WorkerContext

MOST_KILLS = 3
"""How many workers a shard may end before it is given up."""
IN_FLIGHT = 3
"""Shards for each worker that are sent, computed or waiting for an earlier one: memory holds no more."""


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
        self.work, self.result, self.done = None, result, True


@dataclass(eq=False)
class _Lane:
    """A worker, and the shards that it has not finished, the one that it computes first."""

    pool: ProcessPoolExecutor | None = None
    context: WorkerContext = field(default_factory=WorkerContext)
    job: Any = None
    ready: "Future[None] | None" = None
    failed_starts: int = 0
    unfinished: deque[_Sent] = field(default_factory=deque)

    def send(self, sent: _Sent, job: RemoteJob) -> None:
        """Send a shard; the job goes first where the worker is new to it."""
        self.unfinished.append(sent)
        self._submit(sent, job)

    def _submit(self, sent: _Sent, job: RemoteJob) -> None:
        if self.pool is None:
            self.context = WorkerContext()
            self.pool = ProcessPoolExecutor(1, self.context, become_worker)
            self.job = None
        try:
            if self.job is not job:
                self.ready = self.pool.submit(remote.prepare, job)
                self.job = job
            sent.future = self.pool.submit(remote.run, sent.work)
        except BrokenProcessPool as error:  # it was killed between two shards
            sent.future = Future()
            sent.future.set_exception(error)

    def restart(self, job: RemoteJob) -> None:
        """Make a new worker in place of one that ended, and send again what that had not finished.

        Raises `MetricError` where workers end again and again before they are ready.
        """
        self._end_pool()
        cause = self.context.exit_words
        self._count_start(cause)
        first = self.unfinished[0]  # the others were waiting
        first.kills += 1
        if first.kills >= MOST_KILLS:
            self.unfinished.popleft()
            first.finish(
                Lost(f"{MOST_KILLS} worker processes ended while they computed it, the last {cause}")
            )
        for sent in self.unfinished:
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

    def _end_pool(self) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)
        self.pool = None

    def close(self) -> None:
        """End the worker, whatever it does."""
        self.unfinished.clear()
        self.context.kill()
        self._end_pool()


class ProcessPool:
    """Computes shards in so many processes, which start when there is work for them."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._lanes = [_Lane() for _ in range(n_workers)]

    def __enter__(self) -> "ProcessPool":
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
        while len(waiting) < IN_FLIGHT * self.n_workers and (shard := next(packed, None)):
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
        wait(
            [sent.future for lane in self._lanes for sent in lane.unfinished if sent.future],
            return_when=FIRST_COMPLETED,
        )
        for lane in self._lanes:
            self._take(lane, job)

    def _take(self, lane: _Lane, job: RemoteJob) -> None:
        """Take the results that have come from a worker."""
        while lane.unfinished and (future := lane.unfinished[0].future) and future.done():
            try:
                if lane.ready and lane.ready.done():
                    lane.ready.result()  # a job that cannot be sent
                result = future.result()
            except BrokenProcessPool:
                lane.restart(job)
                return
            if isinstance(result, remote.Refusal):
                raise MetricError(result.sentence)
            lane.unfinished.popleft().finish(result)
