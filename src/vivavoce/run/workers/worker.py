"""What runs in a worker process: it gets ready for a job, and computes the shards that are sent to it."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from vivavoce.core.errors import VivaError
from vivavoce.core.text import error_text
from vivavoce.run.workers.executor import RemoteJob

_compute: Callable[[Any], Any] | None = None
_refused: "Refusal | None" = None


class Refusal(NamedTuple):
    """Why a worker computes nothing, as a sentence."""

    sentence: str


def prepare(job: RemoteJob) -> None:
    """Get ready for a job; if that fails, each of its shards is refused with the reason."""
    global _compute, _refused
    _compute = _refused = None
    try:
        _hold_torch()
        _compute = job.open()
    except VivaError as error:
        _refused = Refusal(str(error))
    except (Exception, SystemExit) as error:  # third-party code: what registers something, or builds it
        _refused = Refusal(f"a worker cannot get ready: {error_text(error)}.")


def run(work: Any) -> Any:
    """The result of a shard, or a `Refusal`."""
    if _compute is None:
        return _refused or Refusal("a worker was sent a shard before its job.")
    return _compute(work)


def _hold_torch() -> None:
    """Hold torch to one thread where a plugin has imported it; else the variables do when it is imported."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
