"""examples/gate.yml: its commands, run as a runner would, pass what is shown to be not worse alone."""

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.lengths import length
from tests.scripts import run_script

BLOCK = re.compile(
    r"^(?P<indent> *)(?:- )?run: (?:\|\n(?P<lines>(?:(?P=indent) +.*\n|\n)+)|(?P<line>.+)\n)", re.MULTILINE
)
RIGHT, WRONG = "A", "B"


@pytest.fixture(scope="module")
def steps(root: Path) -> list[str]:
    """The shell steps in order, each as one script."""
    text = (root / "examples" / "gate.yml").read_text(encoding="utf-8")
    return [
        "\n".join(line.strip() for line in (found["lines"] or found["line"]).strip().splitlines())
        for found in BLOCK.finditer(text)
    ]


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


QUESTIONS = 150


def answers(wrong: int, first: int = 0) -> list[dict[str, object]]:
    """Three answers to each question; of `wrong` of them, from the first on, the second is wrong."""
    return [
        {
            "item": f"q{i:03}",
            "repeat": repeat,
            "text": WRONG if first <= i < first + wrong and repeat == 2 else RIGHT,
        }
        for i in range(QUESTIONS)
        for repeat in (1, 2, 3)
    ]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository as the comments in the file describe it, but for the new answers."""
    (tmp_path / "exam").mkdir()
    exam = [
        {"id": f"q{i:03}", "format": "mcq", "question": f"Which is the key of {i}?",
         "options": ["the key", "not it"], "answer": "the key"}
        for i in range(QUESTIONS)
    ]  # fmt: skip
    write(tmp_path / "exam" / "exam.jsonl", exam)
    write(tmp_path / "exam" / "old.jsonl", answers(wrong=20))
    return tmp_path


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_script(script, folder, GITHUB_STEP_SUMMARY=str(folder / "summary.md"), shell=("bash", "-ec"))


def test_the_file_is_yaml_with_the_steps_that_are_run_here(root, steps):
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((root / "examples" / "gate.yml").read_text(encoding="utf-8"))["jobs"]["exam"]
    assert [step["run"].strip() for step in job["steps"] if "run" in step] == steps
    assert {"Answer", "Import", "Score", "Gate", "Report"} == {s["name"] for s in job["steps"] if "name" in s}


def new_version(checkout: Path, rows: list[dict[str, object]]) -> None:
    """Let the new version answer so; a runner leaves an empty file for the summary."""
    (checkout / "answer-the-exam.sh").write_text("#!/bin/sh\ncat theirs.jsonl\n", encoding="utf-8")
    (checkout / "answer-the-exam.sh").chmod(0o755)
    (checkout / "summary.md").touch()
    write(checkout / "theirs.jsonl", rows)


VERSIONS = {
    "perhaps worse": (answers(wrong=40), 3),
    "as good on other questions": (answers(wrong=20, first=60), 0),
    **length(
        {},
        {
            "worse": (answers(wrong=90), 3),
            "the same": (answers(wrong=20), 0),
            "better": (answers(wrong=1), 0),
        },
    ),
}
"""New versions with the exit code of the gate: those nearest to its margin; clearer ones in the long form."""


@pytest.mark.parametrize(("rows", "code"), VERSIONS.values(), ids=VERSIONS)
def test_the_gate_passes_what_is_shown_to_be_not_worse(steps, checkout, rows, code):
    new_version(checkout, rows)
    install, *before, gate, report = steps
    assert install.startswith("pip install")
    for script in before:
        done = run(script, checkout)
        assert 0 == done.returncode, done.stderr
    assert "viva compare gate.viva new --against old" in gate
    done = run(gate, checkout)
    assert code == done.returncode, done.stdout + done.stderr
    decision = "closed" if code else "open"
    assert f"## The gate is {decision}" in (checkout / "summary.md").read_text(encoding="utf-8")
    suite = ElementTree.parse(checkout / "gate.xml").getroot()[0]
    assert ("1", "1" if code else "0") == (suite.get("tests"), suite.get("failures"))
    assert 0 == run(report, checkout).returncode
    assert (checkout / "gate.html").is_file()


def test_a_version_that_leaves_questions_out_does_not_pass(steps, checkout):
    new_version(checkout, answers(wrong=1)[:420])
    _, *before, gate, _ = steps
    assert [0, 0, 0] == [run(script, checkout).returncode for script in before]
    done = run(gate, checkout)
    assert 3 == done.returncode
    assert "has no scores on 10 questions that old has scores on" in done.stderr
    assert "To open it, let new answer these questions too" in done.stderr
