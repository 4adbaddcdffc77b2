"""A disk that fails or is full: one sentence names it and the file, nothing is by half, the rerun works."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import answer_rows, exam, write_lines

import vivavoce as viva_package
from vivavoce.core.errors import StoreError, VivaError
from vivavoce.run.run import Run

FAULTS = {"EIO": "Input/output error", "ENOSPC": "No space left on device"}
COMMANDS = {
    "copy": ["copy", "r.viva", "out.viva"],
    "report": ["report", "r.viva", "--to", "out.html"],
    "csv": ["export", "r.viva", "out", "--format", "csv"],
    "parquet": ["export", "r.viva", "out", "--format", "parquet"],
    "run": ["export", "r.viva", "out.viva", "--format", "run"],
    "inspect": ["export", "r.viva", "out", "--format", "inspect"],
    "lm-eval": ["export", "r.viva", "out", "--format", "lm-eval"],
    "sft": ["export", "r.viva", "out", "--format", "sft"],
}
CALLS = ("fsync", "open", "rename")
BY_SQLITE = {("copy", "open"), ("run", "open")}
"""SQLite makes the draft where we cannot."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    run = viva_package.open(tmp_path / "r.viva")
    rows = answer_rows({"a": {"q1": "yes", "q2": "no"}, "b": {"q1": "no", "q2": "no"}})
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=exam(tmp_path, ["q1", "q2"]))
    run.score("rouge(n=1)")
    return run


def failing(monkeypatch: pytest.MonkeyPatch, call: str, code: int) -> None:
    """Let one kind of call fail as the system says it: making a draft durable, making it, naming it."""

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    if call == "rename":
        for name in ("replace", "rename", "link"):
            monkeypatch.setattr(os, name, fail)
        return
    genuine: Callable[..., Any] = getattr(os, call)

    def open_unless_new(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and ".part" in os.fspath(path):
            raise OSError(code, os.strerror(code), os.fspath(path))
        return genuine(path, flags, *more, **named)

    monkeypatch.setattr(os, call, open_unless_new if call == "open" else fail)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_of_the_disk_is_one_sentence_and_leaves_nothing(
    viva: Callable[..., Any], run: Run, tmp_path: Path, command: str, call: str, fault: str
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        failing(patched, call, getattr(errno, fault))
        if (command, call) in BY_SQLITE:
            viva(*COMMANDS[command])
        else:
            with pytest.raises(StoreError, match=rf"cannot write .*out.*{FAULTS[fault]}"):
                viva(*COMMANDS[command])
            assert [] == outputs(tmp_path)
            patched.undo()
            viva(*COMMANDS[command])
    assert [name for name in outputs(tmp_path) if ".part" in name] == []
    assert 1 == len(outputs(tmp_path))


def outputs(folder: Path) -> list[str]:
    """What commands left in a folder, under a final name or as a draft."""
    return [path.name for path in folder.iterdir() if "out" in path.name or ".part" in path.name]


def test_a_disk_that_fails_while_answers_are_read_is_named_as_such(viva, run, tmp_path):
    (tmp_path / "bad.jsonl").symlink_to("/proc/self/mem")  # whose first bytes nobody can read: EIO
    with pytest.raises(VivaError, match=r"cannot read bad\.jsonl: Input/output error"):
        viva("import", "r.viva", "bad.jsonl")
