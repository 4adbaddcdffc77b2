"""What an executor is: a `Job` computes shards, and their results come in the order of the shards."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

S = TypeVar("S")
R = TypeVar("R")
S_contra = TypeVar("S_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


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
