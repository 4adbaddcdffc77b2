"""A disk without room is read: nothing has to be written beside a run for that."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.studies.making import marked, twins

resource = pytest.importorskip("resource")
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))  # which SQLite takes for a disk without room
from vivavoce.cli import main
main()
"""


def limited(*words: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", LIMITED, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return marked(tmp_path, {"A": twins([1, 0] * 6), "B": twins([0, 0] * 6)}).file.path


@pytest.mark.parametrize("words", [("status",), ("status", "--verify")])
def test_status_reads_where_nothing_can_be_written(path: Path, words: tuple[str, ...]) -> None:
    verb, *options = words
    done = limited(verb, path, *options)
    assert (0, "") == (done.returncode, done.stderr)
    assert "Missing: nothing." in done.stdout or "integrity" in done.stdout


def test_what_has_to_be_written_says_that_the_disk_is_full(path: Path) -> None:
    content = path.read_bytes()
    done = limited("score", path, "exact")
    assert (2, "") == (done.returncode, done.stdout)
    assert f"the disk is full: nothing of this step was written to {path}" in done.stderr
    assert content == path.read_bytes()
