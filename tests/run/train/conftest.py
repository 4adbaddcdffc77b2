"""A small task and a small random encoder."""

from pathlib import Path

import pytest

from vivavoce.core import registry

PLUGIN = Path(__file__).with_name("small_task.py")


@pytest.fixture
def plugin() -> Path:
    """The file of the small task, whose benchmark is registered for this test."""
    registry.load_plugin(PLUGIN)
    return PLUGIN


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT that can learn which word stands twice."""
    import torch
    from tests.embeddings.tiny_bert import tiny_bert

    torch.set_num_threads(1)
    return tiny_bert(tmp_path_factory.mktemp("bert"), layers=1, initializer_range=0.1)
