"""The notebooks of the examples: they run from top to bottom, and lie in the repository without outputs."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient

NOTEBOOKS = ("your_model_your_judge", "scores_to_verdict")
pytestmark = pytest.mark.filterwarnings("default")  # of the kernel's machinery, which is not ours


def run_notebook(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """All that its cells show, by a kernel of this interpreter."""
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    manager = KernelManager(kernel_name="python3")
    spec = manager.kernel_spec
    assert spec is not None
    spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, km=manager, timeout=120, resources={"metadata": {"path": str(folder)}})
    client.execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    return "\n".join(str(output.get("data", output)) for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_ends_in_a_verdict(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shown = run_notebook(root / "examples" / f"{name}.ipynb", tmp_path, monkeypatch)
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
