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
from tempfile import TemporaryDirectory

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient

path, folder, target = sys.argv[1:]
book = nbformat.read(path, as_version=4)
with TemporaryDirectory() as sockets:
    manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/kernel")
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    NotebookClient(book, km=manager, timeout=120, resources={"metadata": {"path": folder}}).execute()
nbformat.write(book, target)
"""
"""Runs a notebook by a kernel of this interpreter, in a process of its own: a client leaves sockets open.

They are files: of the ports that Jupyter chooses before the kernel starts another process may take one.
"""


def run_notebook(path: Path, folder: Path) -> str:
    """All that its cells show."""
    target = folder / "executed.ipynb"
    places = {"IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, path, folder, target],
        env=os.environ | places, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    book = nbformat.read(target, as_version=4)
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    return "\n".join(str(output.get("data", output)) for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_ends_in_a_verdict(root: Path, tmp_path: Path, name: str) -> None:
    shown = run_notebook(root / "examples" / f"{name}.ipynb", tmp_path)
    assert "text/html" in shown
    assert "<svg" in shown
    assert "1 comparison made" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_lies_in_the_repository_without_outputs(root: Path, name: str) -> None:
    book = nbformat.read(root / "examples" / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert any("Not for clinical use" in cell.source for cell in book.cells)
