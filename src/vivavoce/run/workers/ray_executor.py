"""The executor of Ray: rules are computed by tasks, wherever there is a core; encoders stay in actors.

A task runs in any worker. An actor is a worker that keeps its model: one for each GPU, or for each core where
there are none.
"""

import pickle
import platform
import sys
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from itertools import chain
from typing import Any

from vivavoce._version import __version__
from vivavoce.run.workers.executor import Job, Lost, R, RemoteJob, S, Shard
from vivavoce.run.workers.ray_connection import RaySession, connect
from vivavoce.run.workers.ray_worker import remote_actor, remote_call
from vivavoce.run.workers.worker import Refusal
from vivavoce.run.workers.worker_pool import WorkerPool

IN_FLIGHT = 4
"""Shards for each worker that are sent, computed or waiting for an earlier one."""


class RayExecutor:
    """Computes shards by workers of Ray, which is started, or reached, when there is work for them."""

    has_workers = True

    def __init__(self, address: str, check: Callable[[str], None] | None = None) -> None:
        self._address, self._check = address, check
        self._exits = ExitStack()
        self._session: RaySession | None = None
        self._pools: dict[bool, WorkerPool] = {}

    def __enter__(self) -> "RayExecutor":
        return self

    def __exit__(self, *error: object) -> None:
        self.end_workers()
        self._exits.close()

    @property
    def n_workers(self) -> int:
        """How many cores Ray has."""
        return self._connected().n_cores

    @property
    def n_lanes(self) -> int:
        """How many GPUs Ray has, or cores where it has none."""
        return self._connected().n_gpus or self.n_workers

    def end_workers(self) -> None:
        """End the workers that keep something; Ray itself goes on."""
        for pool in self._pools.values():
            pool.end_workers()

    def results(self, shards: Iterable[Shard[S]], job: Job[S, R]) -> Iterator[R | Lost]:
        """The result of each shard, in their order. Those of a job have all a lane, or none has.

        Raises `MetricError` where a worker cannot open the job, or Ray itself ends.
        """
        shards = iter(shards)
        first = next(shards, None)
        if first is None:
            return
        session = self._connected()
        pool = self._pool(session, keeps=first.lane is not None)
        try:
            yield from pool.results(chain([first], shards), job)
        except session.errors as error:
            raise session.ended(error) from None

    def _connected(self) -> RaySession:
        if self._session is None:
            self._session = self._exits.enter_context(connect(self._address, self._check))
        return self._session

    def _pool(self, session: RaySession, *, keeps: bool) -> WorkerPool:
        """The pool of workers that keep their model, or of those that do not; the other one is ended."""
        if pool := self._pools.get(not keeps):
            pool.end_workers()  # it may hold all cores
        if keeps not in self._pools:
            calls = _Calls(session)
            self._pools[keeps] = WorkerPool(
                self.n_lanes if keeps else self.n_workers,
                (lambda: _Actor(calls)) if keeps else (lambda: _Task(calls)),
                IN_FLIGHT,
                session.look_after,
            )
        return self._pools[keeps]


class _Calls:
    """What is the same for all workers: functions as Ray knows them, and the job that was sent last."""

    def __init__(self, session: RaySession) -> None:
        self.session, self._ray = session, session.ray
        needs = {"num_gpus": 1, "num_cpus": 0} if session.n_gpus else {"num_cpus": 1}
        self.task = self._ray.remote(remote_call()).options(
            num_cpus=1, max_retries=0, name="vivavoce", **session.placement
        )
        self.actor = self._ray.remote(remote_actor()).options(
            max_restarts=0, max_task_retries=0, **needs, **session.placement
        )
        self._job: RemoteJob | None = None
        self._arguments: tuple[Any, ...] = ()
        self._tasks: set[Any] = set()

    def arguments(self, job: RemoteJob) -> tuple[Any, ...]:
        """What every call of a job begins with; the job itself is sent once."""
        if self._job is not job:
            python = ".".join(platform.python_version_tuple()[:2])
            stored = self._ray.put(pickle.dumps(job))
            path = sys.path if self.session.is_own else []
            self._job, self._arguments = job, (__version__, python, path, [stored], uuid.uuid4().hex)
        return self._arguments

    def call_task(self, *arguments: Any) -> "Future[Any]":
        """What a task comes to."""
        reference = self.task.remote(*arguments)
        self._tasks.add(reference)
        future: Future[Any] = reference.future()
        future.add_done_callback(lambda done: self._tasks.discard(reference))
        return future

    def cancel_tasks(self) -> None:
        """End the tasks that are on their way."""
        for reference in tuple(self._tasks):
            self._ray.cancel(reference, force=True)
        self._tasks.clear()


class _RayWorker(ABC):
    """What tasks and actors have in common: what they are sent, and how they end."""

    def __init__(self, calls: _Calls) -> None:
        self._calls, self._session = calls, calls.session
        self.ends = self._session.worker_ends
        self._arguments: tuple[Any, ...] = ()

    @abstractmethod
    def _call(self, *arguments: Any) -> "Future[Any]":
        """What a call comes to."""

    def prepare(self, job: RemoteJob) -> "Future[Any]":
        """Get ready for a job."""
        self._arguments = self._calls.arguments(job)
        return self._call(*self._arguments)

    def run(self, work: Any) -> "Future[Any]":
        """The result of a packed shard, or a `Refusal`."""
        return _unpacked(self._call(*self._arguments, pickle.dumps(work)))

    def exit_words(self, error: Exception) -> str:
        """How it ended. Raises `MetricError` where Ray has ended with it."""
        self._session.look_after()
        return self._session.exit_words(error)


class _Task(_RayWorker):
    """A place for tasks: any worker computes them, and one that ends loses no other task."""

    loses_all = False

    def _call(self, *arguments: Any) -> "Future[Any]":
        return self._calls.call_task(*arguments)

    def close(self) -> None:
        """End all tasks."""
        self._calls.cancel_tasks()


class _Actor(_RayWorker):
    """An actor, which computes one shard after the other."""

    loses_all = True

    def __init__(self, calls: _Calls) -> None:
        super().__init__(calls)
        self._actor = calls.actor.remote()

    def _call(self, *arguments: Any) -> "Future[Any]":
        future: Future[Any] = self._actor.call.remote(*arguments).future()
        return future

    def exit_words(self, error: Exception) -> str:
        """How it ended; Ray may only have lost sight of it."""
        cause = super().exit_words(error)
        self.close()
        return cause

    def close(self) -> None:
        """End the actor, whatever it does."""
        self._session.ray.kill(self._actor)


def _unpacked(received: "Future[bytes | str]") -> "Future[Any]":
    """The result of what comes back."""
    future: Future[Any] = Future()

    def unpack(done: "Future[bytes | str]") -> None:
        try:
            result = done.result()
            future.set_result(Refusal(result) if isinstance(result, str) else pickle.loads(result))
        except BaseException as error:
            future.set_exception(error)

    received.add_done_callback(unpack)
    return future
