"""Processes that are forks of a server which has imported torch: else each of them takes seconds to do so.

    with fork_server() as forked:  # the fixture
        run.score("similarity", workers=2)
        process = forked("collect", ...)  # a function of forks/child_work.py, with these arguments

What workers and device processes compute is the same. How they start is a claim of `test_process_pool` and of
`devices/test_process`, which do not come here.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from vivavoce.models.worker_process import WorkerProcess

FOLDER = Path(__file__).with_name("forks")
MODULES = (
    *("polars", "torch", "vivavoce.run.score.score_job", "vivavoce.run.workers.worker"),
    *("transformers.models.bert.modeling_bert", "transformers.models.llama.modeling_llama"),
)
"""What the server has imported when it forks; it has one thread, and computes nothing."""


@contextmanager
def forked_processes() -> Iterator[Callable[..., WorkerProcess]]:
    """Processes of ours that start inside are forks of the server, which the first of them starts."""
    multiprocessing.set_forkserver_preload([*MODULES])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerProcess, "_Popen", staticmethod(ForkServerProcess._Popen))
        patch.syspath_prepend(str(FOLDER))
        yield _started


def _started(name: str, *arguments: Any) -> WorkerProcess:
    process = WorkerProcess(target=getattr(import_module("child_work"), name), args=arguments)
    process.start()
    return process


def end_server() -> None:
    """End the server and wait for it, if there is one."""
    forkserver._forkserver._stop()
