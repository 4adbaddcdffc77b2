"""What forks of the tests' server do until they are killed, see `tests/forked.py`. It imports no tests."""

import os
import signal
from pathlib import Path
from typing import Any


def train_until_killed(plugin: Path, folder: Path, encoder: Path, recipe: str, step: int) -> None:
    """Train by the small task, and end as by `kill -9` after so many steps."""
    import torch

    import vivavoce as viva
    from vivavoce.core.registry import load_plugin

    def kill(name: str, number: int, total: int) -> None:
        if number == step:
            os.kill(os.getpid(), signal.SIGKILL)

    torch.set_num_threads(1)
    load_plugin(plugin)
    settings: dict[str, Any] = {"arguments": "none", "runs": 1, "device": "cpu", "progress": kill}
    viva.train("small_task", to=folder, encoder=str(encoder), recipe=recipe, **settings)


def collect(path: Path, exam: str, model: str, metric: str) -> None:
    """Ask a local model what a metric scores."""
    import torch

    import vivavoce as viva

    torch.set_num_threads(1)
    viva.open(path).collect(exam, models=[model], for_=[metric])
