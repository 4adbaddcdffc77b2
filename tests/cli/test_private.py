"""What commands write is for its owner's eyes: files 0600 and folders 0700, whatever the umask."""

import inspect
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.studies.making import write_lines
from tests.systems.cliniqlink.conftest import exam
from tests.systems.ranking import argument_files

from vivavoce.benchmarks import load
from vivavoce.benchmarks.sample import CANDIDATES, recorded
from vivavoce.cli.commands import NAMES, function_of, member_names
from vivavoce.cli.options import output_path
from vivavoce.core import registry
from vivavoce.run.run import open_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")

Viva = Callable[..., Any]
COMMANDS: dict[tuple[str, str], tuple[object, ...]] = {
    ("merge", "RUN"): ("merge", "out.viva", "exam.viva"),
    ("collect", "RUN"): ("collect", "out.viva", "sample", "--model", "baseline/random"),
    ("export", "redacted run"): ("export", "exam.viva", "out.viva", "--format", "run", "--redact"),
    ("copy", "TO"): ("copy", "exam.viva", "out.viva"),
    ("report", "--to"): ("report", "exam.viva", "--to", "out.html"),
    ("report", "--plots"): ("report", "exam.viva", "--to", "out.html", "--plots", "out/plots"),
    ("report", "--checklist"): ("report", "exam.viva", "--to", "out.html", "--checklist", "out.md"),
    ("table", "--to"): ("table", "exam.viva", "estimates", "--to", "out.tex"),
    ("train", "--to"): (
        *("train", "casimedicos(data=arguments)", "--arguments", "mixture", "--encoder", "lexical"),
        *("--to", "out/evaluators"),
    ),
    ("panel", "--to"): ("panel", "exam.viva", "make", "--raters", "ann", "--to", "out/packets", "--n", 5),
    ("challenge", "--to"): ("challenge", "questions", "cliniqlink(data=questions)", "--to", "out/questions"),
    ("compare", "--summary"): (
        *("compare", "exam.viva", "--against", CANDIDATES[0], "--metric", "accuracy", "--fail-if", "worse"),
        *("--summary", "out.md", "--junit", "out.xml"),
    ),
    ("export", "parquet"): ("export", "exam.viva", "out", "--format", "parquet"),
    ("export", "csv"): ("export", "exam.viva", "out", "--format", "csv"),
    ("export", "run"): ("export", "exam.viva", "out.viva", "--format", "run"),
    ("export", "preferences"): (
        *("export", "exam.viva", "out", "--format", "preferences"),
        *("--metric", "accuracy", "--margin", "0.5"),
    ),
    ("export", "sft"): ("export", "exam.viva", "out", "--format", "sft"),
    ("export", "label_studio"): (
        *("export", "exam.viva", "out", "--format", "label-studio", "--task", "rank", "--n", 3),
    ),
    ("export", "argilla"): ("export", "exam.viva", "out", "--format", "argilla", "--task", "review"),
    ("export", "inspect"): ("export", "exam.viva", "out", "--format", "inspect"),
    ("export", "every_eval_ever"): ("export", "exam.viva", "out", "--format", "every-eval-ever"),
    ("export", "lm_eval"): ("export", "exam.viva", "out", "--format", "lm-eval"),
    ("export", "batch"): (
        *("export", "exam.viva", "out", "--format", "batch"),
        *("--set", "candidate=openai/gpt-4o", "--set", "repeats=9"),
    ),
    ("export", "healthbench"): ("export", "rubric.viva", "out", "--format", "healthbench"),
    ("export", "cliniqlink_exam"): (*("export", "challenge.viva", "out", "--format", "cliniqlink_exam"),),
    ("export", "cliniqlink"): ("challenge", "results", "challenge.viva", "--to", "out/results"),
}
"""By command and option, or by export format: the words that make it write, all of it to paths with `out`."""
ALSO = {("compare", "--junit"): "--summary", ("export", "TO"): "parquet"}
"""Options that another case of the command covers."""
PUBLISHED = {("fetch", "--to")}
"""What these write was published by others: the files are as the user's umask says."""
OF_THE_DEMO = {("demo", "--to"), ("prompts", "--to")}
"""Held to it in their own tests: on the folder that those of the demo share, and with the papers."""
ELSEWHERE = {("shards", "--parts")}
"""A path that stands in what is printed; others write there."""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def readable(folder: Path, before: set[Path]) -> dict[str, str]:
    """Everything new in the folder that others than its owner can look at, with its mode."""
    new = sorted(set(folder.rglob("*")) - before)
    assert new
    private = {path: 0o700 if path.is_dir() else 0o600 for path in new}
    return {str(path): oct(mode(path)) for path, wanted in private.items() if mode(path) != wanted}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of the sample, a challenge and a rubric, and arguments to train on."""
    folder = tmp_path_factory.mktemp("runs")
    with recorded() as answers:
        sample = open_run(folder / "exam.viva")
        sample.import_answers(answers, benchmark="sample")
    sample.score("accuracy")
    spec = exam(folder / "questions")
    rows = [{"candidate": "A", "item": item.item, "text": "said"} for item in load(spec).items]
    items = [argument_files.rows(task, "It is plain to see.") for task in argument_files.TASKS]
    for split in ("train", "dev"):
        argument_files.training(argument_files.written(folder / "arguments"), *items, split=split)
    open_run(folder / "challenge.viva").import_answers(write_lines(folder / "a.jsonl", rows), benchmark=spec)
    point = {"unit": "rest", "text": "Says to rest.", "weight": 1}
    asked = {"id": "q", "format": "conversation", "question": "My back hurts.", "rubric": [point]}
    questions = write_lines(folder / "rubric.jsonl", [asked])
    answer = [{"candidate": "A", "item": "q", "text": "Rest."}]
    open_run(folder / "rubric.viva").import_answers(
        write_lines(folder / "b.jsonl", answer), benchmark=f"jsonl(path={questions})"
    )
    return folder


@pytest.fixture
def place(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of that folder, under a umask that hides nothing."""
    place = shutil.copytree(runs, tmp_path / "place")
    monkeypatch.chdir(place)
    earlier = os.umask(0)
    yield place
    os.umask(earlier)


def test_no_command_that_writes_to_a_path_is_missing_here() -> None:
    commands = {name: function_of(name) for name in NAMES}
    commands |= {entry.name: entry.cls for entry in registry.entries("command")}
    writers = {("export", name) for name in member_names("exporters")}
    for name, function in commands.items():
        for parameter in inspect.signature(function).parameters.values():
            option = next(iter(getattr(parameter.annotation, "__metadata__", ())), None)
            if getattr(option, "parser", None) is output_path:
                is_option = isinstance(option, typer.models.OptionInfo)
                default = str(
                    option.default
                )  # where typer keeps the option of an Annotated, until it is read
                word = default if default.startswith("--") else f"--{parameter.name}"
                writers.add((name, word if is_option else parameter.name.upper()))
    assert {("report", "--to"), ("copy", "TO"), ("export", "csv")} < writers
    assert set() == writers - COMMANDS.keys() - ALSO.keys() - PUBLISHED - OF_THE_DEMO - ELSEWHERE


@pytest.mark.parametrize("words", COMMANDS.values(), ids=map(" ".join, COMMANDS))
def test_what_a_command_writes_is_its_owners_alone(
    viva: Viva, place: Path, words: tuple[object, ...]
) -> None:
    before = set(place.rglob("*"))
    closed = 3 if words[0] == "compare" else 0
    viva(*words, code=closed)
    assert {} == readable(place, before)
