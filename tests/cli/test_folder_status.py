"""`viva` alone: the runs in this folder, and what comes next."""

import os
from pathlib import Path
from typing import Any

import pytest

import vivavoce as viva
from vivavoce.cli.folder_status import MOST_RUNS, show_runs

ROWS = [
    {"item": "q1", "question": "What is it?", "reference": "aspirin", "model": "A", "response": "aspirin"}
]


def a_run(folder: Path, name: str, age: int = 0) -> Path:
    run = viva.open(folder / name)
    run.import_answers(ROWS, name="exam")
    path = run.file.path
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def test_a_folder_without_a_run_says_how_to_get_one(tmp_path: Path, capsys: Any) -> None:
    show_runs(tmp_path)
    text = capsys.readouterr().out
    assert "No run lies in this folder. `viva demo`" in text
    assert "`viva look FILE`" in text


def test_a_run_is_shown_with_its_state_and_the_next_command(tmp_path: Path, capsys: Any) -> None:
    path = a_run(tmp_path, "exam.viva")
    show_runs(tmp_path)
    text = capsys.readouterr().out
    assert "Here: 1 question" in text
    assert f"Next: `viva score {path}`" in text


def test_the_latest_runs_come_first_and_older_ones_are_named_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for age in range(MOST_RUNS + 1):
        a_run(tmp_path, f"{age}.viva", age)
    show_runs(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert [f"{tmp_path / f'{age}.viva'}:" for age in range(MOST_RUNS)] == [
        line for line in lines if line.endswith(".viva:")
    ]
    assert f"Older: {tmp_path / f'{MOST_RUNS}.viva'}." in lines


def test_a_file_that_is_no_run_is_said_and_hides_no_other(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "broken.viva").write_text("no run", encoding="utf-8")
    a_run(tmp_path, "exam.viva", age=9)
    show_runs(tmp_path)
    text = capsys.readouterr().out
    assert text.index("exam.viva:") < text.index("broken.viva")
    assert "Here: 1 question" in text
