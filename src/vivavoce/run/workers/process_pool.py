"""The executor of worker processes: pools of `concurrent.futures`, one process each.

A pool breaks whole where a process of it is killed. Here that is one worker, and its pool is made anew.
"""

from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from vivavoce.models.worker_process import become_worker
from vivavoce.run.workers import worker as remote
from vivavoce.run.workers.executor import RemoteJob
from vivavoce.run.workers.open_files import allow_open_files
from vivavoce.run.workers.spawning import WorkerContext
from vivavoce.run.workers.worker_pool import WorkerPool

FILES_A_WORKER = 10
"""Files and pipes that this process opens for a worker, at most."""
IN_FLIGHT = 3
"""Shards for each process that are sent, computed or waiting for an earlier one."""


class _WorkerProcess:
    """A process, and the pool that it is alone in."""

    ends: tuple[type[Exception], ...] = (BrokenProcessPool,)
    loses_all = True

    def __init__(self) -> None:
        self._context = WorkerContext()
        self._pool = ProcessPoolExecutor(1, self._context, become_worker)

    def prepare(self, job: RemoteJob) -> "Future[Any]":
        """Get ready for a job."""
        return self._pool.submit(remote.prepare, job)

    def run(self, work: Any) -> "Future[Any]":
        """The result of a packed shard, or a `Refusal`."""
        return self._pool.submit(remote.run, work)

    def exit_words(self, error: Exception) -> str:
        """How the process ended."""
        self._end_pool()
        return self._context.exit_words

    def close(self) -> None:
        """End the process, whatever it does."""
        self._context.kill()
        self._end_pool()

    def _end_pool(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class ProcessPool(WorkerPool):
    """Computes shards in so many processes of this machine."""

    def __init__(self, n_workers: int) -> None:
        allow_open_files(n_workers * FILES_A_WORKER)
        super().__init__(n_workers, _WorkerProcess, IN_FLIGHT)
