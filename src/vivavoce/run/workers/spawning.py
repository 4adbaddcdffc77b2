"""How a pool of `concurrent.futures` starts its one process, and how we keep hold of it."""

import os
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.queues import SimpleQueue
from typing import Any

from vivavoce.models.worker_process import WorkerProcess, exit_words


class WorkerContext(SpawnContext):
    """Starts the one process of a pool, and keeps hold of it."""

    def __init__(self) -> None:
        super().__init__()
        self.process: SpawnProcess | None = None
        self._results: Any = None

    def SimpleQueue(self) -> "SimpleQueue[Any]":  # noqa: N802 - the pool asks for its queue by this name
        """The queue on which the pool hears results."""
        self._results = super().SimpleQueue()
        return self._results  # type: ignore[no-any-return]

    def Process(self, *args: Any, **settings: Any) -> "_Worker":  # type: ignore[override]  # noqa: N802
        """A process of the pool."""
        self.process = worker = _Worker(*args, **settings)
        worker.results = self._results
        return worker

    def kill(self) -> None:
        """End the process at once: it holds nothing that would be lost."""
        if self.process is not None and self.process.pid is not None:
            self.process.kill()

    @property
    def exit_words(self) -> str:
        """How the process ended; its pool has been shut down."""
        return exit_words(self.process)


class _Worker(WorkerProcess):
    """A process that sends results on a queue."""

    results: Any = None

    def start(self) -> None:
        super().start()
        if os.name == "posix" and self.results is not None:
            # Killed within a long result, the process leaves half of it in the pipe. As long as this process
            # could write there too, the pool would wait for the other half and not hear that the pipe ended.
            self.results._writer.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "results"}
