"""What runs in a worker process: it gets ready for a job, and computes the shards that are sent to it."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from vivavoce.core import net
from vivavoce.core.errors import VivaError
from vivavoce.pipeline.workers import RemoteJob

_exits = ExitStack()
_compute: Callable[[Any], Any] | None = None
_refused: "Refusal | None" = None


class Refusal(NamedTuple):
    """Why a worker computes nothing, as a sentence."""

    sentence: str


def initialise() -> None:
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


def prepare(job: RemoteJob) -> None:
    """Get ready for a job; if that fails, each of its shards is refused with the reason."""
    global _compute, _refused
    _compute = _refused = None
    try:
        _hold_torch()
        _compute = job.open()
    except VivaError as error:
        _refused = Refusal(str(error))
    except Exception as error:  # third-party code: what registers something, or builds it
        _refused = Refusal(f"a worker cannot get ready: {type(error).__name__}: {error}.")


def run(work: Any) -> Any:
    """The result of a shard, or a `Refusal`."""
    if _compute is None:
        return _refused or Refusal("a worker was sent a shard before its job.")
    return _compute(work)


def _hold_torch() -> None:
    """Hold torch to one thread where a plugin has imported it; else the variables do when it is imported."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
