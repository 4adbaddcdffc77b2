"""How a worker process starts: without keys, without a network, with one thread for each library."""

import os
import re
import signal
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.queues import SimpleQueue
from typing import Any

from vivavoce.core.errors import VivaError
from vivavoce.models.endpoints import key_values

THREADS = {
    **dict.fromkeys(
        (
            *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
            *("VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"),
        ),
        "1",
    ),
    "TOKENIZERS_PARALLELISM": "false",
}
"""Variables that hold a library to one thread: workers share the cores, and libraries would each take all."""
_OFFLINE = {name: "1" for name in ("VIVA_OFFLINE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")}
_SECRET = re.compile(
    r"(?:^|_)(?:(?:API)?KEYS?|TOKENS?|SECRETS?|PASSW(?:OR)?D|CREDENTIALS?)(?:_|$)", re.IGNORECASE
)
_starting = threading.Lock()


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
        if self.process is None or self.process.pid is None:
            return "it could not be started"
        code = self.process.exitcode
        if code is not None and code < 0:
            out_of_memory = ", as where memory runs out" if -code == _KILL else ""
            return f"killed by signal {-code}{out_of_memory}"
        return f"ended with code {code}"


_KILL = 9


class _Worker(SpawnProcess):
    """A process that starts in an environment of its own."""

    results: Any = None

    def start(self) -> None:
        with worker_environment(THREADS | _OFFLINE), _without_main(), _without_interrupts():
            super().start()
        if os.name == "posix" and self.results is not None:
            # Killed within a long result, the process leaves half of it in the pipe. As long as this process
            # could write there too, the pool would wait for the other half and not hear that the pipe ended.
            self.results._writer.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "results"}


@contextmanager
def worker_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The environment that workers start with in place of ours: these variables, and no secrets."""
    with _starting:
        secret = secret_variables()
        before = dict(os.environ)
        for name in secret:
            del os.environ[name]
        os.environ.update(variables)
        try:
            yield
        finally:
            for name in variables.keys() | secret:
                os.environ.pop(name, None)
                if name in before:
                    os.environ[name] = before[name]


def secret_variables() -> set[str]:
    """The variables of this process that hold a key, or are named like one."""
    try:
        keys = key_values()
    except VivaError:  # a variable that no endpoint can be read from; names still tell what is secret
        keys = ()
    return {
        name
        for name, value in os.environ.items()
        if _SECRET.search(name) or any(key in value for key in keys)
    }


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main module: a worker needs nothing of it, and running a script again would start all anew."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C, which reaches the worker too: one that has just started would print where it was."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
