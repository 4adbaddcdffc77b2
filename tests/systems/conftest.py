"""HIVMedQA recomputed once from the real data."""

from pathlib import Path

import pytest

from vivavoce.run.reproduce import Reproduction, reproduce


@pytest.fixture(scope="session")
def found(hivmedqa: Path) -> Reproduction:
    """What `viva reproduce hivmedqa` shows."""
    return reproduce("hivmedqa", hivmedqa)
