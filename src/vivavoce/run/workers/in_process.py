"""The executor without workers: this process computes each shard when its result is drawn."""

from collections.abc import Iterable, Iterator

from vivavoce.run.workers.executor import Job, Lost, R, S, Shard


class InProcess:
    """Computes shards one after the other where it stands; nothing is rebuilt."""

    n_workers = n_lanes = 1
    has_workers = False

    def __enter__(self) -> "InProcess":
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def end_workers(self) -> None:
        """There are none."""

    def results(self, shards: Iterable[Shard[S]], job: Job[S, R]) -> Iterator[R | Lost]:
        """The result of each shard; a shard is drawn when the one before has been dealt with."""
        for shard in shards:
            yield job.compute(shard.work)
