"""The folders that `viva demo` and its example in Python leave, once for all workers."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.finished_runs import finished_run

EXAMPLE = Path(__file__).parents[1] / "examples" / "demo.py"


def demo_folder(folder: Path) -> tuple[Path, str]:
    """The folder in which the demo ran, in a process of its own without a network, and what it printed."""
    finished_run(folder, _run_demo)
    return folder, (folder / "printed.txt").read_text(encoding="utf-8")


def _run_demo(folder: Path) -> None:
    """It runs under a umask that hides nothing."""
    alone = ("unshare", "-rn") if can_be_cut_off() else ()
    words = [*alone, sys.executable, "-m", "vivavoce", "demo"]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, timeout=120, umask=0
    )
    assert (0, "") == (done.returncode, done.stderr)
    (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")


def python_demo_folder(folder: Path) -> tuple[Path, str]:
    """The folder in which `examples/demo.py` ran as a program, and what it printed."""
    finished_run(folder, _run_example)
    return folder, (folder / "printed.txt").read_text(encoding="utf-8")


def _run_example(folder: Path) -> None:
    words = [sys.executable, str(EXAMPLE)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert 0 == done.returncode, done.stderr
    (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")


def can_be_cut_off() -> bool:
    """True where a process can be cut off from every network."""
    if shutil.which("unshare") is None:
        return False
    return 0 == subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode
