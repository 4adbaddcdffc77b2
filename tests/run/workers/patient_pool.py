"""Worker processes that several verbs share, because each process imports anew what it computes with."""

from types import ModuleType
from typing import Any

import pytest

from vivavoce.run.workers.executor import Executor
from vivavoce.run.workers.process_pool import ProcessPool
from vivavoce.run.workers.worker_count import Workers
from vivavoce.store.view import View


class PatientPool(ProcessPool):
    """Workers that stay when a verb has ended; `end_workers` ends them."""

    def __exit__(self, *error: object) -> None:
        pass

    def lend(self, verb: ModuleType, patch: pytest.MonkeyPatch) -> None:
        """Let the verb of this module compute in these workers wherever it is asked to by more than one."""
        open_workers = verb.open_workers

        def lent(view: View, workers: Workers, *options: Any, **settings: Any) -> Executor:
            return self if workers != 1 else open_workers(view, workers, *options, **settings)

        patch.setattr(verb, "open_workers", lent)
