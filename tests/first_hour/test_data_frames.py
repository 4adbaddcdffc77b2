"""A new user's first ten minutes: from a pandas frame of 30 mixed questions to a verdict and a report."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.first_hour.frames import FORMATS, MODELS, mixed_frame

SCRIPT = """
import pandas as pd
import vivavoce as viva

frame = pd.read_json("answers.json")
run = viva.evaluate(frame, to="exam.viva")
print(run.imported.formats)
print(run.scored)
verdict = run.compare()  # by the overall of the formats
print(verdict)
print(verdict.to_pandas().columns)
print(run.report("report.html"))
print(run.scores)
"""
"""Twelve lines at most, and nothing but them."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the script prints, and the folder that it ran in."""
    folder = tmp_path_factory.mktemp("ten-minutes")
    mixed_frame().to_json(folder / "answers.json", orient="records")
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder


def test_it_is_twelve_lines():
    assert len([line for line in SCRIPT.splitlines() if line.strip()]) <= 12


def test_the_formats_are_those_of_the_questions(session: tuple[str, Path]):
    assert str(FORMATS) in session[0]


def test_it_ends_in_a_verdict(session: tuple[str, Path]):
    assert "No significant difference" in session[0] or "is better" in session[0]
    assert all(model in session[0] for model in MODELS)


def test_the_report_names_both_models(session: tuple[str, Path]):
    page = (session[1] / "report.html").read_text(encoding="utf-8")
    assert all(model in page for model in MODELS)


def test_the_run_is_read_later_without_the_frame(
    session: tuple[str, Path], viva: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    """Another process than that which made it scores, compares, studies and reports from the file alone."""
    monkeypatch.chdir(session[1])
    (session[1] / "answers.json").unlink(missing_ok=True)
    for command in (
        ["score", "exam.viva", "rouge(n=1)"],
        ["score", "exam.viva", "accuracy", "--items", "table(name=exam)"],
        ["compare", "exam.viva", "--metric", "exact", "--items", "table(name=exam)"],
        ["study", "exam.viva"],
        ["report", "exam.viva", "--to", "again.html"],
        ["status", "exam.viva", "--verify"],
    ):
        viva(*command, code=1 if command[1:3] == ["exam.viva", "rouge(n=1)"] else 0)


def test_the_frame_is_as_people_have_it():
    """Capitals, others' names, a float for a whole number, a key of every kind in one column."""
    frame = mixed_frame()
    assert (len(frame), len(set(frame["Question"]))) == (60, 30)
    assert {"ID", "Question", "Choices", "Correct Answer", "Model", "Response"} <= set(frame.columns)


def test_what_was_imported_is_a_sentence_when_printed(tmp_path: Path):
    import vivavoce as viva

    run = viva.evaluate(mixed_frame(), to=tmp_path / "exam.viva")
    assert str(run.imported).startswith("60 answers of 2 candidates to 30 items (60 new, ")


def test_questions_without_answers_are_no_answers_and_the_sentence_says_what_to_do(tmp_path: Path):
    import vivavoce as viva
    from vivavoce.core.errors import InputError

    run = viva.open(tmp_path / "exam.viva")
    questions = [{"id": "q1", "question": "Which vitamin antagonises warfarin?", "answer": "Vitamin K"}]
    with pytest.raises(InputError, match=r"answer|model"):
        run.import_answers(questions)
