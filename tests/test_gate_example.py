"""examples/gate.yml: its commands, run as a runner would, stop a worse version and no other."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def answers(wrong: int) -> list[dict[str, object]]:
    """Three answers to each of twenty questions; to the first `wrong`, the second and third are wrong."""
    return [
        {"item": f"q{i:02}", "repeat": repeat, "text": WRONG if i < wrong and repeat > 1 else RIGHT}
        for i in range(20)
        for repeat in (1, 2, 3)
    ]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository as the comments in the file describe it, but for the new answers."""
    (tmp_path / "exam").mkdir()
    exam = [
        {"id": f"q{i:02}", "format": "mcq", "question": f"Which is the key of {i}?",
         "options": ["the key", "not it"], "answer": "the key"}
        for i in range(20)
    ]  # fmt: skip
    write(tmp_path / "exam" / "exam.jsonl", exam)
    write(tmp_path / "exam" / "old.jsonl", answers(wrong=6))
    return tmp_path


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-ec", script],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_file_is_yaml_with_the_steps_that_are_run_here(root, steps):
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((root / "examples" / "gate.yml").read_text(encoding="utf-8"))["jobs"]["exam"]
    assert [step["run"].strip() for step in job["steps"] if "run" in step] == steps
    assert {"Answer", "Import", "Score", "Gate", "Report"} == {s["name"] for s in job["steps"] if "name" in s}


@pytest.mark.parametrize(
    ("wrong", "code"), [(18, 3), (6, 0), (0, 0)], ids=["worse closes it", "the same", "better"]
)
def test_the_gate_closes_on_a_worse_version_only(steps, checkout, wrong, code):
    (checkout / "answer-the-exam.sh").write_text("#!/bin/sh\ncat theirs.jsonl\n", encoding="utf-8")
    (checkout / "answer-the-exam.sh").chmod(0o755)
    write(checkout / "theirs.jsonl", answers(wrong))
    install, *before, gate, report = steps
    assert install.startswith("pip install")
    for script in before:
        done = run(script, checkout)
        assert 0 == done.returncode, done.stderr
    assert "viva compare gate.viva new --against old" in gate
    done = run(gate, checkout)
    assert code == done.returncode, done.stdout + done.stderr
    assert 0 == run(report, checkout).returncode
    assert (checkout / "gate.html").is_file()


def test_a_version_that_leaves_questions_out_does_not_pass(steps, checkout):
    (checkout / "answer-the-exam.sh").write_text("#!/bin/sh\nhead -n 30 exam/old.jsonl\n", encoding="utf-8")
    (checkout / "answer-the-exam.sh").chmod(0o755)
    _, *before, gate, _ = steps
    assert [0, 0, 0] == [run(script, checkout).returncode for script in before]
    done = run(gate, checkout)
    assert 3 == done.returncode
    assert "has no marks on 10 questions that old has marks on" in done.stderr
