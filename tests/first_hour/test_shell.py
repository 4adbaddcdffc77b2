"""A new user's first ten minutes in the shell: a semicolon CSV of 30 mixed questions, a verdict, a report."""

import csv
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.scripts import run_script

from vivavoce.benchmarks import load
from vivavoce.benchmarks.sample import CANDIDATES, recorded
from vivavoce.core.tables import read_lines

SCRIPT = """
viva import exam.viva answers.csv
viva score exam.viva
viva compare exam.viva
viva report exam.viva --to report.html
"""
FORMATS = {"mcq": 10, "list": 6, "true_false": 6, "short": 8}
MODELS = CANDIDATES[::2]


def rows() -> list[dict[str, Any]]:
    """Two rows a question, with the names that a nested file has when it is written flat."""
    every = [item for item in load("sample").items if not item.variant]
    items = [item for name, n in FORMATS.items() for item in [i for i in every if i.format == name][:n]]
    with recorded() as path:
        texts = {(line.row["item"], line.row["candidate"]): line.row["text"] for line in read_lines(path)}
    return [
        {
            "question.id": item.item,
            "question.text": item.question,
            "question.options": list(item.options),
            "question.key": list(item.answer or item.references),
            "model.name": model,
            "output.text": texts[item.item, model] or "",
        }
        for item in items
        for model in MODELS
    ]


def semicolons(path: Path) -> None:
    """As Excel saves 'CSV UTF-8' where a comma stands in decimals."""
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        table = csv.writer(stream, delimiter=";")
        table.writerow(rows()[0])
        for row in rows():
            cells = [json.dumps(cell) if isinstance(cell, list) else cell for cell in row.values()]
            table.writerow(["" if cell == "[]" else cell for cell in cells])


def nested(path: Path) -> None:
    """The same as an evaluation harness logs it: objects within objects."""
    with path.open("w", encoding="utf-8") as stream:
        for row in rows():
            tree: dict[str, Any] = {}
            for name, cell in row.items():
                outer, inner = name.split(".")
                tree.setdefault(outer, {})[inner] = cell
            stream.write(json.dumps(tree) + "\n")


def shell(script: str, folder: Path) -> str:
    """What the script prints in an empty folder but for the answers; it must end well."""
    done = run_script(script, folder, shell=("sh", "-e", "-c"), COLUMNS="100")
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("ten-minutes")
    semicolons(folder / "answers.csv")
    return shell(SCRIPT, folder), folder


def test_it_is_four_commands_without_a_quote_or_a_bracket() -> None:
    commands = SCRIPT.strip().splitlines()
    assert 4 == len(commands)
    assert all(command.split() == shlex.split(command) for command in commands)
    assert not re.search(r"""["'()\[\]$&|;<>*?\\`!]""", SCRIPT)


def test_the_import_says_what_it_took_for_what(session: tuple[str, Path]) -> None:
    printed, _ = session
    assert "60 answers of 2 candidates to 30 items (60 new" in printed
    for words in ("item is 'question.id'", "answer is 'question.key'", "text is 'output.text'"):
        assert words in printed
    assert "Read with delimiter semicolon, encoding utf-8-sig." in printed
    assert "Formats of the questions, inferred: mcq 10, list 6, true_false 6, short 8." in printed


def test_it_ends_in_a_verdict_that_names_both(session: tuple[str, Path]) -> None:
    printed, _ = session
    assert re.search(r"is better|No significant difference", printed)
    assert all(model in printed for model in MODELS)


def test_the_report_names_both(session: tuple[str, Path]) -> None:
    page = (session[1] / "report.html").read_text(encoding="utf-8")
    assert all(model in page for model in MODELS)


def test_nested_objects_give_the_same_figures(
    session: tuple[str, Path], tmp_path: Path, viva: Callable[..., Any]
) -> None:
    nested(tmp_path / "answers.jsonl")
    printed = viva("import", tmp_path / "exam.viva", tmp_path / "answers.jsonl").stdout
    assert "item is 'question.id', candidate is 'model.name', text is 'output.text'" in printed
    copy = tmp_path / "copy.viva"  # the script's own run stays as it left it
    copy.write_bytes((session[1] / "exam.viva").read_bytes())
    texts = [viva("score", path, "--quiet", "--json").stdout for path in (copy, tmp_path / "exam.viva")]
    figures = [
        {
            (row["candidate"], row["metric"], row["criterion"]): row["estimate"]
            for row in json.loads(text)["rows"]
        }
        for text in texts
    ]
    assert figures[0] == figures[1]
    assert len(figures[0]) >= 4
