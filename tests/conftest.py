"""What several test modules share: the real data, found through VIVA_SHARED."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data: skips where it is absent, fails where it is required."""
    path = Path(os.environ.get("VIVA_SHARED", ROOT.parent / "shared")).resolve()
    if not (path / "data").is_dir():
        message = f"no real data at {path}; set VIVA_SHARED to the folder that holds data/"
        if os.environ.get("VIVA_REQUIRE_SHARED") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def hivmedqa(shared: Path) -> Path:
    """The folder of HIVMedQA's questions, answers and judge scores."""
    return shared / "data" / "hivmedqa"
