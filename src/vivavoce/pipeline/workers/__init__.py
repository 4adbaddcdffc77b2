"""Workers: what a batch comes to is computed through an executor, in this process or in others.

A `Job` computes shards. An executor yields their results in the order of the shards, so that the caller alone
stores them, as if nothing ran elsewhere. Another kind of executor, such as of a cluster, is another module.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

S = TypeVar("S")
R = TypeVar("R")
S_contra = TypeVar("S_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

Workers = int | str
"""How many processes compute; `auto` is as many as this process may use cores."""
MOST_WORKERS = 512


class RemoteJob(Protocol):
    """A job as workers get it: it can be pickled."""

    def open(self) -> Callable[[Any], Any]:
        """What computes a packed shard, rebuilt in a worker.

        Raises `VivaError` where it cannot be rebuilt as it is in the process that sends the shards.
        """
        ...


class Job(Protocol[S_contra, R_co]):
    """What computes shards, here or in workers."""

    def compute(self, work: S_contra) -> R_co:
        """The result of a shard, computed in this process."""
        ...

    def remote(self) -> RemoteJob:
        """The job as workers get it."""
        ...

    def pack(self, work: S_contra) -> Any:
        """A shard as it is sent to a worker: it can be pickled, and soon."""
        ...

    def unpack(self, sent: Any) -> R_co:
        """The result, of what came back from a worker."""
        ...


class Shard(NamedTuple, Generic[S]):
    """A piece of the work. Those of one `lane` are computed by the same worker; null leaves it open."""

    work: S
    lane: int | None = None


class Lost(NamedTuple):
    """A shard without a result: the workers that computed it ended, and `cause` says how."""

    cause: str


class Executor(AbstractContextManager["Executor"], Protocol):
    """Computes shards. As a context it ends its workers when the block does."""

    @property
    def n_workers(self) -> int:
        """How many shards are computed at once."""
        ...

    def end_workers(self) -> None:
        """Free what workers hold; the next shards start them again."""
        ...

    def results(self, shards: Iterable[Shard[S]], job: Job[S, R]) -> Iterator[R | Lost]:
        """The result of each shard, in their order; few are drawn before they are needed.

        Raises `VivaError` where a worker cannot open the job.
        """
        ...


def count_workers(workers: Workers) -> int:
    """The number of workers that an option states. Raises `InputError` for what is no number of them."""
    text = str(workers)
    if text == "auto":
        return _cores()
    if re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= MOST_WORKERS:
        return int(text)
    raise InputError(
        f"--workers {one_line(text, 40)}: state a number of processes from 1 to {MOST_WORKERS}, or auto for "
        "as many as there are cores."
    )


def _cores() -> int:
    """How many cores this process may use: a scheduler may have given it fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_executor(workers: Workers = 1) -> Executor:
    """The executor of so many workers; with one of them this process computes. Raises `InputError`."""
    from vivavoce.pipeline.workers.in_process import InProcess
    from vivavoce.pipeline.workers.process_pool import ProcessPool

    n_workers = count_workers(workers)
    return InProcess() if n_workers == 1 else ProcessPool(n_workers)
