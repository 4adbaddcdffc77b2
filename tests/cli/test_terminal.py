"""What a stranger wrote never drives a terminal, and brackets in it are no markup."""

import ast
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import CANDIDATES, hostile_run
from tests.lengths import length
from tests.studies.making import exam, made, write_lines

from vivavoce.benchmarks import load
from vivavoce.cli.gate_output import print_gate
from vivavoce.cli.output import print_json
from vivavoce.cli.progress import progress_bars
from vivavoce.core.errors import InputError
from vivavoce.core.records import Finding
from vivavoce.core.text import printable
from vivavoce.run.run import Run, open_run
from vivavoce.studies.comparing.gate import CheckRow, Gate

Viva = Callable[..., Any]
DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and marks that turn the direction of what follows."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with hostile_run(tmp_path_factory.mktemp("hostile")) as run:
        yield run


COMMANDS = (
    ["status", "RUN"],
    ["show", "hostile"],
    ["compare", "RUN", CANDIDATES[0], CANDIDATES[1], "--metric", "people"],
    ["compare", "RUN", "--against", CANDIDATES[0], "--metric", "people"],
    ["study", "RUN", "ranking"],
    ["diff", "RUN", "people", "others"],
    ["interim", "RUN"],
    ["copy", "RUN", "OUT\x1b[32m.viva"],
    ["panel", "RUN", "make", "--raters", "anna", "--to", "OUT\x1b[33m"],
    ["export", "RUN", "OUT\x1b[34m", "--format", "csv"],
    ["merge", "COPY", "RUN"],
    ["list", "metrics"],
)
LONG_COMMANDS = (["study", "RUN"], ["report", "RUN", "--to", "OUT\x1b[31m.html"])
"""They take a second of CPU each; as JSON in the long form only: all JSON is printed by one function."""


@pytest.mark.parametrize(
    ("words", "as_json"),
    [
        *((words, as_json) for words in COMMANDS for as_json in (False, True)),
        *((words, as_json) for words in LONG_COMMANDS for as_json in length((False,), (False, True))),
    ],
    ids=lambda value: " ".join(value[:3:2]) if isinstance(value, list) else ("text", "json")[value],
)
def test_no_command_sends_a_control_character(
    viva: Viva, run: Run, tmp_path: Path, words: list[str], as_json: bool
) -> None:
    run.copy(tmp_path / "copy.viva")
    places = {"RUN": str(run.file.path), "COPY": str(tmp_path / "copy.viva")}
    filled = [places.get(word, word.replace("OUT", str(tmp_path / "out"))) for word in words]
    done = viva(
        *filled, *(["--json"] if as_json else []), code=int(words[0] == "status")
    )  # some scores failed
    assert not DRIVES.search(done.output), DRIVES.search(done.output)
    if as_json:
        json.loads(done.stdout)


def test_brackets_in_a_name_are_no_markup(viva: Viva, run: Run) -> None:
    name = next(name for name in CANDIDATES if "[red]" in name)
    text = viva("compare", run.file.path, "--against", CANDIDATES[0], "--metric", "people").output
    assert "[red]markup[/red] [/] [/nothing]" in " ".join(text.split())
    assert printable(name) in text


def test_json_holds_a_name_as_it_is_and_shows_no_control_character(capsys: Any) -> None:
    rows = [{"name": "\x1b[31m \x9b2J \u202ex\x7f", "plain": "µ – ‘x’\n\u2028"}]
    print_json("compare", None, rows)
    text = capsys.readouterr().out
    assert not DRIVES.search(text)
    assert rows == json.loads(text)["rows"]
    assert "µ – ‘x’" in text


class Terminal(io.StringIO):
    """Takes what a terminal would."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["[red]a[/red]", "[/]", "judge(of=[a, b])", "\x1b[31ma\x1b[0m"])
def test_progress_shows_a_name_as_it_stands(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with progress_bars(True) as progress:
        progress(name, 1, 2)
        progress(name, 2, 2)
    text = shown.getvalue()
    assert printable(name) in re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text)
    assert "\x1b[31ma" not in text


def test_an_error_names_a_hostile_file_without_obeying_it(tmp_path: Path) -> None:
    file = tmp_path / "\x1b]0;title\x07[red]\u202e\nviva: all is well.viva"
    file.write_bytes(b"no run")
    for words in (["status", str(file)], ["status", f"{file}\x9b"], ["\x1b[31m"], ["status", "--\x1b[2J"]):
        done = subprocess.run(
            [sys.executable, "-m", "vivavoce", *words], capture_output=True, text=True, timeout=120
        )
        assert 2 == done.returncode, done.stderr
        assert "fault of vivavoce" not in done.stderr
        assert not DRIVES.search(done.stdout + done.stderr), words


def test_every_text_that_a_command_prints_is_made_printable_first(root: Path) -> None:
    """`echo` does it for stdout; `print` there would also go where what plugins print goes, to stderr."""
    bare = []
    files = [*(root / "src/vivavoce/cli").glob("*.py"), *(root / "src/vivavoce").glob("*/*/command.py")]
    assert len(files) > 20
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                bare += [f"{file.name}:{node.lineno}" for one in node.args if not is_printable(one)]
                streams = [ast.unparse(word.value) for word in node.keywords if word.arg == "file"]
                bare += [f"{file.name}:{node.lineno}"] * (streams not in (["sys.stderr"], ["own_stdout()"]))
    assert [] == bare


def is_printable(argument: ast.expr) -> bool:
    """Whether an argument is a constant or a call of `printable`."""
    if isinstance(argument, ast.Call):
        return isinstance(argument.func, ast.Name) and argument.func.id == "printable"
    return isinstance(argument, ast.Constant)


FORGED = "Able\nviva: the gate is open"
"""A name whose second line reads like a sentence of ours."""


@pytest.mark.parametrize("field", ["candidate", "item"])
def test_the_name_in_an_answer_stands_on_one_line(tmp_path: Path, field: str) -> None:
    spec = exam(tmp_path, ["q1"])
    answer = {"item": "q1", "candidate": "Able", "text": "two\nlines"}
    run = open_run(tmp_path / "run.viva")
    run.import_answers(write_lines(tmp_path / "good.jsonl", [answer]), benchmark=spec)
    bad = write_lines(tmp_path / "bad.jsonl", [answer, answer | {"repeat": 2, field: FORGED}])
    with pytest.raises(
        InputError, match=rf"line 2, {field}: a name stands on one line; 'Able viva: the gate"
    ):
        run.import_answers(bad, benchmark=spec)


@pytest.mark.parametrize("field", ["candidate", "item", "criterion", "rater"])
def test_the_name_in_a_score_stands_on_one_line(tmp_path: Path, field: str) -> None:
    run = made(tmp_path, {"Able": {"q1": "yes"}})
    row = {"item": "q1", "candidate": "Able", "criterion": "worth", "value": 1, "note": "two\nlines"}
    with pytest.raises(InputError, match=f"{field}: a name stands on one line"):
        run.import_scores(write_lines(tmp_path / "bad.jsonl", [row | {field: FORGED}]), measure="people")
    run.import_scores(write_lines(tmp_path / "good.jsonl", [row]), measure="people")


@pytest.mark.parametrize("field", ["item", "variant", "alias", "category"])
def test_the_name_of_a_question_stands_on_one_line(tmp_path: Path, field: str) -> None:
    item = {"item": "q1", "question": "two\nlines", "group": "g\ng"}
    load(exam(tmp_path, [item]))
    with pytest.raises(InputError, match="a name stands on one line"):
        load(exam(tmp_path, [item | {field: FORGED}], name="bad"))


def test_a_reason_of_a_gate_stands_on_one_line(capsys: Any) -> None:
    """A run of a stranger may hold such a name all the same."""
    check = CheckRow(candidate=FORGED, metric="exact", criterion="accuracy", condition="not worse",
                     outcome="worse", closes=True, reason=f"{FORGED} is worse.")  # fmt: skip
    print_gate(Gate(Finding(study="compare", rows=()), (check,)))
    lines = capsys.readouterr().err.splitlines()
    assert ["viva: the gate is closed"] == [line[:24] for line in lines]
