"""Processes that compute for this one: without keys, without a network, with one thread for each library."""

import multiprocessing
import os
import re
import signal
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess

from vivavoce.core import net
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
_KILL = 9
_exits = ExitStack()

STARTING = threading.Lock()
"""Held while a process starts in an environment of its own, because all threads share what is changed."""


class WorkerProcess(SpawnProcess):
    """A process that starts in an environment of its own; `variables` are set there beside ours."""

    variables: Mapping[str, str] = {}

    def start(self) -> None:
        """Start it; any thread may."""
        with STARTING, _environment(self.variables), _without_main(), _without_interrupts():
            super().start()


def exit_words(process: SpawnProcess | None) -> str:
    """How a process ended that has been joined."""
    if process is None or process.pid is None:
        return "it could not be started"
    code = process.exitcode
    if code is not None and code < 0:
        out_of_memory = ", as where memory runs out" if -code == _KILL else ""
        return f"killed by signal {-code}{out_of_memory}"
    return f"ended with code {code}"


def become_worker() -> None:
    """Make this process a worker: it outlives no other process, prints to stderr and stays offline."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that sends the work says when to stop
    if os.name == "posix":
        os.dup2(2, 1)  # what a plugin prints is no part of the command's output
    else:
        sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, daemon=True).start()
    stay_offline()


def stay_offline() -> None:
    """Let this process open no connection to another machine, as long as it runs."""
    _exits.enter_context(net.offline())


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


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
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The environment that a worker starts with, in place of ours.

    `os.environ` stays as it is, because other threads read keys there, and whether we are offline.
    """
    before, secret = dict(os.environ), secret_variables()
    added = {**THREADS, **_OFFLINE, **variables}
    for name in secret:
        os.unsetenv(name)
    for name, value in added.items():
        os.putenv(name, value)
    try:
        yield
    finally:
        for name in added.keys() | secret:
            if name in before:
                os.putenv(name, before[name])
            else:
                os.unsetenv(name)


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
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
