"""Worker processes that several verbs share, because each process imports anew what it computes with."""

from types import ModuleType

import pytest

from vivavoce.run.workers.process_pool import ProcessPool


class PatientPool(ProcessPool):
    """Workers that stay when a verb has ended; `end_workers` ends them."""

    def __exit__(self, *error: object) -> None:
        pass

    def lend(self, verb: ModuleType, patch: pytest.MonkeyPatch) -> None:
        """Let the verb of this module compute in these workers, however many it is asked to."""
        patch.setattr(verb, "open_workers", lambda *_, **__: self)
