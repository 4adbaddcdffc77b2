"""HIVMedQA recomputed once from the real data."""

import pickle
from pathlib import Path

import pytest
from tests.finished_runs import finished_run

from vivavoce.run.reproduce import Reproduction, reproduce

RESULT, TEMPORARY = "reproduction.pickle", "temporary"


def recompute(folder: Path, data: Path) -> None:
    """Write what `viva reproduce hivmedqa` shows, with a folder for temporary files beside it."""
    (folder / TEMPORARY).mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder / TEMPORARY))
        result = reproduce("hivmedqa", data)
    (folder / RESULT).write_bytes(pickle.dumps(result))


@pytest.fixture(scope="session")
def recomputed(hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the result and of temporary files."""
    folder = tmp_path_factory.mktemp("hivmedqa")
    finished_run(folder, recompute, hivmedqa)
    return folder


@pytest.fixture(scope="session")
def found(recomputed: Path) -> Reproduction:
    """What `viva reproduce hivmedqa` shows."""
    result: Reproduction = pickle.loads((recomputed / RESULT).read_bytes())
    return result
