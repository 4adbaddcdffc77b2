"""Workers: what a batch comes to is computed through an executor, in this process or in others.

A `Job` computes shards. An executor yields their results in the order of the shards, so that the caller alone
stores them, as if nothing ran elsewhere. Another kind of executor, such as of a cluster, is another module.
"""

from collections.abc import Callable
from multiprocessing import current_process

from vivavoce.core.errors import InputError
from vivavoce.run.workers.executor import Executor
from vivavoce.run.workers.worker_count import Workers, read_workers


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
