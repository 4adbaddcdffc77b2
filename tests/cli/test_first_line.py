"""The first line is the answer; a terminal shows a plot below it, and all of it fits on one screen."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from tests.lengths import length
from tests.studies.making import marked, twins

from vivavoce.benchmarks.sample import recorded
from vivavoce.run.run import Run, open_run

Viva = Callable[..., Any]
Terminal = Callable[..., list[str]]
BASELINES = {"baseline/random": "floor", "baseline/reference": "ceiling"}


def run_of(folder: Path, n: int, *, long_names: bool, ending: str | None = None) -> Run:
    """A run of so many candidates, each a little better than the last, and a floor and a ceiling."""
    ending = ending or ("-2024-11-20(prompt=cot, temperature=0.7)" if long_names else "")
    answers = {
        f"openai/gpt-{k}{ending.format(k)}": twins(
            [round(0.04 * k + 0.01 * (7 * i * (k % 8 + 3) % 11), 2) for i in range(24)]
        )
        for k in range(n)
    }
    bounds = {name: twins([float(role == "ceiling")] * 24) for name, role in BASELINES.items()}
    return marked(folder, {**answers, **bounds}, role=BASELINES)


COMMANDS = """
import fcntl, json, os, struct, sys, termios
from vivavoce.cli import main

for line in sys.stdin:
    height, width, *sys.argv[1:] = json.loads(line)
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    try:
        main()
    except SystemExit as end:
        os.write(1, f"{end.code}{chr(30)}".encode())
"""
"""Runs each command that comes in a terminal of its size, and says how it ended."""


@pytest.fixture(scope="module")
def in_terminal() -> Iterator[Terminal]:
    """The lines that a command prints in a terminal of this size; a long one goes on at the next.

    The commands share a process: most of the time of each would be the start of Python.
    """
    terminal, process_end = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-c", COMMANDS], stdin=subprocess.PIPE, stdout=process_end,
        stderr=subprocess.DEVNULL, env=variables, text=True,
    )  # fmt: skip
    os.close(process_end)
    assert process.stdin

    def printed(*words: object, width: int, height: int) -> list[str]:
        print(json.dumps([height, width, *map(str, words)]), file=process.stdin, flush=True)
        text = b""
        while not text.endswith(b"\x1e"):
            text += os.read(terminal, 65_536)
        *lines, code = text.decode().removesuffix("\x1e").splitlines()
        assert "0" == code
        return lines

    yield printed
    process.stdin.close()
    process.wait(timeout=60)
    os.close(terminal)


def screen_lines(lines: list[str], width: int) -> int:
    return sum(1 + max(cell_len(line) - 1, 0) // width for line in lines)


SCREENS = ((2, 24), (3, 24), (5, 40), (20, 50))
"""Candidates, and the height of a screen that holds their comparison."""
WIDTHS = (80, 140)
IN_TURN = [(n, height, WIDTHS[k % 2]) for k, (n, height) in enumerate(SCREENS)]


@pytest.mark.parametrize(
    ("n", "height", "width"), length(IN_TURN, [(*screen, width) for screen in SCREENS for width in WIDTHS])
)
def test_a_comparison_answers_within_one_screen(
    in_terminal: Terminal, tmp_path: Path, n: int, height: int, width: int
) -> None:
    run = run_of(tmp_path, n, long_names=False)
    lines = in_terminal("compare", run.file.path, width=width, height=height)
    assert lines[0].startswith(f"openai/gpt-{n - 1} is better than ")
    assert 200 >= len(lines[0])
    assert ";" not in lines[0]
    assert height > screen_lines(lines, width), "the prompt takes a line"
    pairs = n - 1 if n > 5 else n * (n - 1) // 2
    assert min(pairs, 3) <= sum(line.count("●") for line in lines) <= pairs
    assert pairs == sum(line.rstrip().endswith((" better", " worse")) for line in lines)
    table = lines[next(k for k, line in enumerate(lines) if line.startswith("──")) - 1 :]
    assert width >= max(map(cell_len, table[: 2 + pairs]))
    assert not any("baseline" in line for line in lines[:-2])


@pytest.mark.parametrize("width", [80, 140])
def test_long_names_are_cut_and_whole_in_the_key(in_terminal: Terminal, tmp_path: Path, width: int) -> None:
    run = run_of(tmp_path, 3, long_names=True)
    lines = in_terminal("compare", run.file.path, width=width, height=40)
    table = lines[next(k for k, line in enumerate(lines) if line.startswith("──")) + 1 :]
    rows, key = table[:3], table[4 : table.index("", 4)]
    names = [f"openai/gpt-{k}-2024-11-20(prompt=cot, temperature=0.7)" for k in range(3)]
    assert {1} == {"\n".join(key).count(name) for name in names}
    assert all("…" in row for row in rows)
    assert width >= max(map(cell_len, [*rows, *key]))


def test_twenty_long_names_and_their_key_fit_on_one_screen(in_terminal: Terminal, tmp_path: Path) -> None:
    run = run_of(tmp_path, 20, long_names=True)
    lines = in_terminal("compare", run.file.path, width=80, height=50)
    assert 50 > screen_lines(lines, 80)
    table = lines[next(k for k, line in enumerate(lines) if line.startswith("──")) + 1 :]
    key = table[20 : table.index("", 20)]
    different = ", ".join(map(str, range(19, -1, -1)))
    assert f"openai/gpt-{{{different}}}-2024-11-20(prompt=cot, temperature=0.7)" == " ".join(key)
    assert 19 == sum(line.rstrip().endswith(" better") for line in table)


def test_a_key_that_fits_on_no_screen_is_left_to_full_and_no_note_repeats_a_whole_name(
    in_terminal: Terminal, tmp_path: Path, viva: Viva
) -> None:
    """Names that differ in two parts are no list in braces, and each takes two lines."""
    ending = "-2024-11-20-medical-finetune(prompt=cot, temperature=0.7, top_p=0.95, max_tokens=51{0})"
    run = run_of(tmp_path, 20, long_names=True, ending=ending)
    name = f"openai/gpt-12{ending.format(12)}"
    lines = in_terminal("compare", run.file.path, width=80, height=50)
    assert 50 > screen_lines(lines, 80)
    assert "Names are cut: --full writes them out." in lines
    assert name not in "".join(lines)
    assert 19 == sum(line.rstrip().endswith((" better", " worse", " tell")) for line in lines)
    assert name in "".join(in_terminal("compare", run.file.path, "--full", width=80, height=50))
    assert name in viva("compare", run.file.path).stdout, "a pipe has no height"
    few = run_of(tmp_path / "few", 3, long_names=True, ending=ending)
    assert 24 > screen_lines(in_terminal("compare", few.file.path, width=80, height=24), 80)
    lines = in_terminal("compare", few.file.path, width=80, height=30)
    assert {1} == {"".join(lines).count(f"openai/gpt-{k}{ending.format(k)}") for k in range(3)}


def test_a_pipe_has_no_plot_and_full_adds_the_tests(tmp_path: Path, viva: Viva) -> None:
    run = run_of(tmp_path, 3, long_names=False)
    text = viva("compare", run.file.path).stdout
    assert "●" not in text
    heads = ("(Holm,", "(Benjamini-", "detectable", "cases ")
    for head in heads[:3]:
        assert head not in text
    full = viva("compare", run.file.path, "--full").stdout
    assert text.splitlines()[0] == full.splitlines()[0]
    for head in heads:
        assert head in full
    answer = json.loads(viva("compare", run.file.path, "--json").stdout)
    assert text.splitlines()[0] == answer["headline"]
    assert all(row["q"] is not None for row in answer["rows"])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = open_run(tmp_path_factory.mktemp("first") / "demo.viva")
    with recorded() as answers:
        run.import_answers(answers, benchmark="sample")
    run.score("accuracy", "token_f1")
    return run


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["compare", "RUN"], "Model A (made up) is better than Model B (made up) by 16.7 percentage points"),
        (["score", "RUN", "accuracy"], "Model A (made up) has the highest mean by accuracy, 92.9 %"),
        (["status", "RUN"], "Missing: 8 scores unanswered"),
        (
            ["study", "RUN", "ranking"],
            "Model A (made up) is alone in first place of 3 candidates by accuracy.",
        ),
        (["study", "RUN"], "ranking has a result. Too little data: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_first_line_is_the_answer(viva: Viva, demo: Run, words: list[str], begins: str) -> None:
    filled = [demo.file.path if word == "RUN" else word for word in words]
    code = int(words[0] == "status")  # some scores failed
    text = viva(*filled, code=code).stdout
    first = text.splitlines()[0]
    assert first.startswith(begins)
    assert 200 >= len(first)
    assert ";" not in first
    assert first == json.loads(viva(*filled, "--json", code=code).stdout)["headline"]


@pytest.mark.parametrize("width", [45, 80])
def test_a_terminal_shows_estimates_as_a_plot_unless_it_is_narrow(
    in_terminal: Terminal, demo: Run, width: int
) -> None:
    lines = in_terminal("score", demo.file.path, "accuracy", width=width, height=40)
    assert (3 if width > 50 else 0) == sum(line.count("●") for line in lines)


def test_an_empty_run_says_what_is_missing_first(viva: Viva, tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 6)})
    assert "Missing: nothing." == viva("status", run.file.path).stdout.splitlines()[0]
