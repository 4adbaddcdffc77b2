"""The command line takes a panel out to an annotation tool, and brings back what people said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.people.annotators import exported_tasks, label_studio_export, write_rows
from tests.people.raters import examined
from tests.people.test_annotation_tools import chosen
from tests.people.test_judgements import score_rows

from vivavoce.core.errors import InputError, StoreError
from vivavoce.run.run import Run

Viva = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, viva: Viva) -> Run:
    run = examined(tmp_path, 3)
    viva("export", run.file.path, tmp_path / "out", "--format", "label-studio", "--task", "pairwise")
    return run


@pytest.fixture
def export(run: Run, tmp_path: Path) -> Path:
    return label_studio_export(
        exported_tasks(tmp_path / "out"), {1: chosen, 2: chosen}, tmp_path / "export.json"
    )


@pytest.mark.parametrize(
    "words", [(), ("--ballots",), ("--from", "label-studio"), ("--from", "label_studio", "--ballots")]
)
def test_annotations_are_told_by_their_ids_however_they_are_named(
    run: Run, export: Path, viva: Viva, words: tuple[str, ...]
) -> None:
    done = viva("import", run.file.path, export, *words, "--rater", "1=anna")
    assert "3 new ballots of anna" in done.stdout
    assert "3 new ballots of user 2" in done.stdout
    before = score_rows(run)
    assert "3 unchanged" in viva("import", run.file.path, export, *words, "--rater", "1=anna").stdout
    assert before == score_rows(run)


def test_cancelled_annotations_are_named(run: Run, export: Path, viva: Viva) -> None:
    rows = json.loads(export.read_text(encoding="utf-8"))
    rows[1]["annotations"][0]["was_cancelled"] = True
    write_rows(export, rows)
    done = viva("import", run.file.path, export, "--json")
    body = json.loads(done.stdout)
    assert {"cancelled": [f"{export}, task 2 by 1"]} == body["left_out"]
    assert [("user 1", 2), ("user 2", 3)] == [(row["rater"], row["new"]) for row in body["rows"]]
    assert f"1 annotation left out, cancelled: {export}, task 2 by 1." in " ".join(
        viva("import", run.file.path, export).stdout.split()
    )


def test_options_go_with_the_files_that_they_speak_of(
    run: Run, export: Path, viva: Viva, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="--set says something of answers or scores"):
        viva("import", run.file.path, export, "--set", "candidate=A")
    table = tmp_path / "answers-exam.jsonl"
    with pytest.raises(InputError, match="--rater goes with annotations of tasks that `viva export` wrote"):
        viva("import", run.file.path, table, "--rater", "1=anna")


def test_the_help_of_export_says_how(viva: Viva) -> None:
    words = " ".join(viva("export", "--help").stdout.split())
    assert "viva export exam.viva tasks --format label-studio --task rank --n 30" in words


@pytest.mark.parametrize("format", ["label-studio", "label_studio"])
def test_the_files_are_named_with_what_is_not_asked(
    run: Run, viva: Viva, tmp_path: Path, format: str
) -> None:
    done = viva("export", run.file.path, tmp_path / "two", "--format", format, "--task", "rank", "--n", 2,
                "--raters", "anna,ben")  # fmt: skip
    assert "tasks-anna.json" in done.stdout
    assert "questions: not drawn" in done.stdout
    names = {"README.txt", "config.xml", "tasks-anna.json", "tasks-ben.json"}
    assert names == {path.name for path in (tmp_path / "two").iterdir()}


def test_an_export_into_a_folder_of_others_makes_no_panel(run: Run, viva: Viva, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("mine")
    before = run.file.path.read_bytes()
    with pytest.raises(StoreError, match="is there already and is no export"):
        viva("export", run.file.path, tmp_path / "taken", "--format", "argilla", "--task", "rank")
    assert before == run.file.path.read_bytes()
