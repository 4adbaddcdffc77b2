"""stdout holds what the command says, whatever a plugin or a library prints while it runs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.lengths import length
from tests.studies.making import exam, made, twins, write_lines

from vivavoce.cli.stdout import others_to_stderr, own_stdout, terminal_width
from vivavoce.core import registry
from vivavoce.run.run import Run

Viva = Callable[..., Any]
VIVA = (sys.executable, "-m", "vivavoce")
NOISE = "noise"
LOUD = """
import atexit, ctypes, os, subprocess, sys, threading
from vivavoce import Criterion, Metric, Value, metric
from vivavoce.core import registry


def loud():
    print("noise by print")
    if sys.__stdout__:
        sys.__stdout__.write("noise by the first stdout\\n")
    if os.name == "posix":
        os.write(1, b"noise by the descriptor\\n")
        subprocess.run(["echo", "noise by a process"], check=True)
        ctypes.CDLL(None).printf(b"noise in a buffer of C\\n")


loud()
if "pytest" not in sys.modules:
    atexit.register(loud)
    atexit.register(print, "noise at the end")


@metric("loud")
class Loud(Metric):
    '''How long an answer is.'''

    criteria = (Criterion(criterion="length", high=100),)
    formats = ("short",)
    needs = ()

    def applies_to(self, item):
        loud()
        return super().applies_to(item)

    def values(self, rows, context):
        loud()
        thread = threading.Thread(target=loud)
        thread.start()
        thread.join()
        return [{"length": Value(float(len(row.reading.text)))} for row in rows]


def answer(messages):
    loud()
    return "yes"
"""
COMMAND = """

def greet():
    '''Greet. Example: `viva greet`'''
    print("hello")
    os.write(1, b"")


registry.command("greet")(greet)
"""


def small_run(tmp_path: Path) -> Run:
    return made(tmp_path, {"A": twins(["a", "bb"] * 6), "B": twins(["a", "b"] * 6)})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return small_run(tmp_path)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    file = tmp_path / "loud.py"
    file.write_text(LOUD, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a process in which the plugin is an installed package, with a command of its own."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "loud-1.dist-info").mkdir(parents=True)
    (folder / "loud_package.py").write_text(LOUD + COMMAND, encoding="utf-8")
    (folder / "loud-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1\n")
    (folder / "loud-1.dist-info" / "entry_points.txt").write_text("[vivavoce]\nloud = loud_package\n")
    return {**os.environ, "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}{os.pathsep}{folder}"}


@pytest.fixture(scope="module")
def quietly(
    tmp_path_factory: pytest.TempPathFactory, installed: dict[str, str]
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A run that a process has scored by the plugin, quietly; and that process."""
    path = small_run(tmp_path_factory.mktemp("scored")).file.path
    return path, process(["score", path, "loud", "--quiet"], env=installed)


def process(words: Sequence[object], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*VIVA, *map(str, words)], capture_output=True, text=True, timeout=120, check=False, **options
    )


WAYS = ("by print", "by the first stdout", "by the descriptor", "by a process", "in a buffer", "at the end")


def missing_ways(printed: str) -> list[str]:
    """The ways to print of which the noise is not there."""
    return [way for way in WAYS if f"noise {way}" not in printed]


def test_what_a_metric_prints_goes_to_stderr(
    quietly: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, done = quietly
    assert (0, "") == (done.returncode, done.stdout), done.stderr
    assert [] == missing_ways(done.stderr)


def test_what_a_metric_prints_in_other_processes_goes_to_stderr(run: Run, plugin: Path) -> None:
    done = process(["score", run.file.path, "loud", "--plugin", plugin, "--json", "--workers", 2])
    assert 0 == done.returncode, done.stderr
    assert 2 == len(json.loads(done.stdout)["rows"])
    assert [] == missing_ways(done.stderr)


OF_THE_GATE = (
    ["show", "loud", "--json"],
    ["compare", "RUN", "A", "B", "--metric", "loud", "--json"],
    ["collect", "RUN", "EXAM", "--model", "callable:path=loud_package:answer", "--json"],
)
"""A command that only loads the plugin, one that reads its scores and one that asks its model."""
OF_THE_LONG_TEST = (
    ["list", "metrics", "--json"],
    ["status", "RUN", "--json"],
    ["study", "RUN", "ranking", "--json"],
    ["interim", "RUN", "--json"],
    ["import", "RUN", "ANSWERS", "--benchmark", "EXAM", "--json"],
    ["report", "RUN", "--json"],
    ["export", "RUN", "OUT", "--format", "csv", "--json"],
)


@pytest.mark.parametrize(
    "words", length(OF_THE_GATE, (*OF_THE_GATE, *OF_THE_LONG_TEST)), ids=lambda words: words[0]
)
def test_json_of_a_command_is_alone_on_stdout(
    quietly: tuple[Path, Any], tmp_path: Path, installed: dict[str, str], words: list[str]
) -> None:
    """As an installed package the plugin is loaded by every command that looks a name up."""
    answers = [{"item": "q00", "candidate": "C", "text": "x"}]
    places = {
        "RUN": str(shutil.copy(quietly[0], tmp_path)),
        "EXAM": exam(tmp_path, [f"q{k:02}" for k in range(12)]),
        "OUT": str(tmp_path / "out"),
        "ANSWERS": str(write_lines(tmp_path / "answers.jsonl", answers)),
    }
    done = process([places.get(word, word) for word in words], env=installed, cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert f"viva.{words[0]}/1" == json.loads(done.stdout)["schema"]


def test_a_refusal_leaves_stdout_empty(run: Run, plugin: Path) -> None:
    done = process(["score", run.file.path, "unknown", "--plugin", plugin, "--json"])
    assert (2, "") == (done.returncode, done.stdout)
    assert "viva: no metric named 'unknown'." in done.stderr


def test_help_and_completion_hold_no_noise(installed: dict[str, str]) -> None:
    done = process(["--help"], env=installed)
    assert done.stdout.startswith("Usage: ")
    assert "greet" in done.stdout
    assert NOISE in done.stderr
    words = {"COMP_WORDS": "viva show lou", "COMP_CWORD": "2", "_TYPER_COMPLETE_ARGS": "viva show lou"}
    variables = {**installed, **words, "_VIVA_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv = ['viva']; from vivavoce.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert "loud" in done.stdout.split()
    assert NOISE not in done.stdout


def test_a_command_of_a_plugin_prints_to_stdout(installed: dict[str, str]) -> None:
    assert "hello\n" == process(["greet"], env=installed).stdout


def test_what_a_metric_prints_in_a_test_of_the_command_line_is_on_stderr(
    viva: Viva, run: Run, plugin: Path
) -> None:
    done = viva("score", run.file.path, "loud", "--plugin", plugin, "--json")
    assert 2 == len(json.loads(done.stdout)["rows"])
    assert "noise by print" in done.stderr


def test_in_python_a_plugin_prints_where_it_likes(
    run: Run, plugin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.load_plugin(plugin)
    run.score("loud")
    assert "noise by print" in capsys.readouterr().out


def test_after_a_command_stdout_is_what_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with others_to_stderr():
        with others_to_stderr():
            print("a")
        print("b")
        print("c", file=own_stdout())
    assert before is sys.stdout is own_stdout()
    assert ("c\n", "a\nb\n") == capfd.readouterr()


@pytest.mark.skipif(os.name == "nt", reason="descriptors")
@pytest.mark.parametrize("closed", length([">&-", "2>&-"], [">&-", "2>&-", ">&- 2>&-"]))
def test_a_closed_stream_closes_no_other(run: Run, plugin: Path, closed: str) -> None:
    plugin.write_text(LOUD.replace('os.name == "posix"', "False"), encoding="utf-8")
    words = [*VIVA, "score", str(run.file.path), "loud", "--plugin", str(plugin), "--json"]
    done = subprocess.run(
        ["bash", "-c", f'"$@" {closed}', "bash", *words], capture_output=True, text=True, timeout=120
    )
    assert 0 == done.returncode, done.stderr
    assert (NOISE in done.stderr) == ("2>&-" not in closed)
    if closed == "2>&-":
        assert 2 == len(json.loads(done.stdout)["rows"])
    else:
        assert "" == done.stdout


@pytest.mark.skipif(os.name == "nt", reason="descriptors")
def test_workers_start_whatever_is_closed(run: Run) -> None:
    words = [*VIVA, "score", str(run.file.path), "token_f1", "--workers", "2"]
    done = subprocess.run(
        ["bash", "-c", '"$@" <&- >&-', "bash", *words], capture_output=True, text=True, timeout=120
    )
    assert (0, "") == (done.returncode, done.stdout), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="terminals")
def test_a_table_holds_no_noise_and_fits_the_terminal_of_stdout(run: Run, plugin: Path) -> None:
    """stderr is none here, and has another width."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    words = [*VIVA, "score", str(run.file.path), "loud", "--plugin", str(plugin)]
    done = subprocess.run(
        words, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=variables, timeout=120, check=False
    )
    os.close(theirs)
    lines = os.read(ours, 100_000).decode().splitlines()
    os.close(ours)
    assert 0 == done.returncode, done.stderr
    answer, _, languages, _, title, *table = lines
    assert answer.startswith("A has the highest mean by loud: length")
    assert languages.startswith("Language of exam: ")
    assert "loud: length on exam" == title
    assert 50 < max(map(len, table)) <= 60
    assert [] == [line for line in lines if NOISE in line]


def test_columns_of_the_environment_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []
    for columns in ("100", "0", "-3", "wide", ""):
        monkeypatch.setenv("COLUMNS", columns)
        widths.append(terminal_width(77))
    assert [100, 77, 77, 77, 77] == widths
