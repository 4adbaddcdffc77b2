"""The notebooks of the examples: they run from top to bottom, and lie in the repository without outputs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lazy import lazy_module

nbformat = lazy_module("nbformat")

NOTEBOOKS = ("your_model_your_judge", "scores_to_verdict")
EXECUTE = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient

place, *paths = sys.argv[1:]
for path in paths:
    folder = Path(place, Path(path).stem)
    folder.mkdir()
    book = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as sockets:
        manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/kernel")
        manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        NotebookClient(book, km=manager, timeout=120, resources={"metadata": {"path": folder}}).execute()
    nbformat.write(book, folder / "executed.ipynb")
"""
"""Runs notebooks, each in a folder of its own by a kernel of this interpreter.

In a process of their own, since a client leaves sockets open. They are files: of the ports that Jupyter
chooses before the kernel starts another process may take one.
"""


@pytest.fixture(scope="module")
def outputs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All that the cells of each notebook show."""
    folder = tmp_path_factory.mktemp("notebooks")
    places = {"IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    paths = [root / "examples" / f"{name}.ipynb" for name in NOTEBOOKS]
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, folder, *paths],
        env=os.environ | places, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    return {path.stem: text_of(folder / path.stem / "executed.ipynb") for path in paths}


def text_of(path: Path) -> str:
    book = nbformat.read(path, as_version=4)
    results = [output for cell in book.cells for output in cell.get("outputs", ())]
    return "\n".join(str(output.get("data", output)) for output in results)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_ends_in_a_verdict(outputs: dict[str, str], name: str) -> None:
    text = outputs[name]
    assert "text/html" in text
    assert "<svg" in text
    assert "1 comparison made" in text
    assert "Traceback" not in text


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_lies_in_the_repository_without_outputs(root: Path, name: str) -> None:
    book = nbformat.read(root / "examples" / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert any("Not for clinical use" in cell.source for cell in book.cells)
