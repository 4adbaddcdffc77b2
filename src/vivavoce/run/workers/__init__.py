"""Workers: what a batch comes to is computed through an executor, in this process or in others.

A `Job` computes shards. An executor yields their results in the order of the shards, so that the caller alone
stores them, as if nothing ran elsewhere. Another kind of executor, such as of a cluster, is another module.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from multiprocessing import current_process
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

S = TypeVar("S")
R = TypeVar("R")
S_contra = TypeVar("S_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

Workers = int | str
"""How many processes compute; `auto` is as many as this process may use cores, `ray` names workers of Ray."""
MOST_WORKERS = 512
_RAY = re.compile(r"ray(?:://(?P<host>\[[0-9A-Fa-f:.%]+\]|[\w.-]+):(?P<port>[0-9]{1,5}))?", re.ASCII)


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
    def has_workers(self) -> bool:
        """Whether shards are computed in other processes than this one."""
        ...

    @property
    def n_workers(self) -> int:
        """How many shards are computed at once."""
        ...

    @property
    def n_lanes(self) -> int:
        """How many workers compute shards that have a lane."""
        ...

    def end_workers(self) -> None:
        """Free what workers hold; the next shards start them again."""
        ...

    def results(self, shards: Iterable[Shard[S]], job: Job[S, R]) -> Iterator[R | Lost]:
        """The result of each shard, in their order; few are drawn before they are needed.

        Raises `VivaError` where a worker cannot open the job.
        """
        ...


def read_workers(workers: Workers) -> Workers:
    """What an option states: a number of processes, or an address of Ray as it is.

    Raises `InputError` for what is neither.
    """
    text = str(workers)
    if text == "auto":
        return n_cores()
    if re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= MOST_WORKERS:
        return int(text)
    if (ray := _RAY.fullmatch(text)) and int(ray["port"] or 1) in range(1, 65536):
        return text
    raise InputError(
        f"--workers {one_line(text, 40)}: state a number of processes from 1 to {MOST_WORKERS}, or auto for "
        "as many as there are cores, or ray or ray://HOST:PORT for workers of Ray."
    )


def ray_host(workers: Workers) -> str | None:
    """The host that an address of Ray names; null for anything else."""
    ray = _RAY.fullmatch(str(workers))
    return ray and ray["host"]


def n_cores() -> int:
    """How many cores this process may use: a scheduler may have given it fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_executor(workers: Workers = 1, check: Callable[[str], None] | None = None) -> Executor:
    """The executor of so many workers; with one of them this process computes.

    `check` is asked about each host away from this machine whose workers would get shards; it raises where
    they must not. Raises `InputError`, also in a process that may start no others.
    """
    from vivavoce.run.workers.in_process import InProcess
    from vivavoce.run.workers.process_pool import ProcessPool
    from vivavoce.run.workers.ray_executor import RayExecutor

    workers = read_workers(workers)
    if isinstance(workers, str):
        return RayExecutor(workers, check)
    if workers == 1:
        return InProcess()
    if current_process().daemon:
        raise InputError(
            f"this process is one of a pool that lets none of them start others: leave workers={workers} out "
            "here, or ask from the process that started it."
        )
    return ProcessPool(workers)
