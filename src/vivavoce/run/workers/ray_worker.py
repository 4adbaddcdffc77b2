"""What runs in a worker of Ray. Jobs, shards and results travel as bytes, which we pack ourselves."""

import os
import pickle
from collections.abc import Callable, Sequence
from typing import Any

from vivavoce.core.extras import import_extra
from vivavoce.core.text import one_line
from vivavoce.models.worker_process import THREADS, secret_variables, stay_offline
from vivavoce.run.workers import worker as remote

_job: str | None = None


def remote_call() -> Callable[..., bytes | str]:
    """The function that Ray calls in a worker.

    Ray sends it as code and not as a name, since it is made here: so it can say what is wrong where vivavoce
    is missing or another one, which could not read what is packed.
    """

    def call(
        version: str, python: str, path: list[str], job: list[Any], name: str, work: bytes | None = None
    ) -> bytes | str:
        """The packed result of a shard, null without one, or a sentence that says why there is none."""
        import platform
        import sys

        sender = "the process that sends it work"
        installed = ".".join(platform.python_version_tuple()[:2])
        if installed != python:
            return f"a worker has Python {installed}, and {sender} has {python}: use the same for both."
        sys.path += [folder for folder in path if folder not in sys.path]
        try:
            from vivavoce._version import __version__
        except ImportError:
            return f"a worker has no vivavoce, and {sender} has {version}: install the same version for both."
        if __version__ != version:
            return (
                f"a worker has vivavoce {__version__}, and {sender} has {version}: install the same version "
                "for both."
            )
        from vivavoce.run.workers.ray_worker import compute

        return compute(job, name, work)

    return call


def remote_actor() -> type:
    """The class of workers that keep what they have loaded; sent as code too."""
    call = remote_call()

    class Worker:
        """A worker with a model of its own."""

        def call(self, *arguments: Any) -> bytes | str:
            """As the function of that name."""
            return call(*arguments)

    return Worker


def compute(job: Sequence[Any], name: str, work: bytes | None) -> bytes | str:
    """The packed result of a shard of the job of this name, or a sentence.

    The job is a reference, in a sequence so that Ray fetches it only when it is asked to.
    """
    try:
        _prepare(job, name)
        result = None if work is None else remote.run(pickle.loads(work))
    except (Exception, SystemExit) as error:  # third-party code, or a module that is missing here
        return f"a worker cannot go on: {type(error).__name__}: {one_line(str(error), 300)}."
    return result.sentence if isinstance(result, remote.Refusal) else pickle.dumps(result)


def _prepare(job: Sequence[Any], name: str) -> None:
    """Get ready for a job, once."""
    global _job
    if _job == name:
        return
    ray = import_extra("ray", extra="ray", user="a worker")
    if _job is None:
        for variable in secret_variables():
            if not variable.startswith("RAY_"):  # its own token
                del os.environ[variable]
        os.environ.update(THREADS)
        stay_offline()
    remote.prepare(pickle.loads(ray.get(job[0])))
    _job = name
