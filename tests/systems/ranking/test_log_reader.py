"""The published argument files as candidates: each item once, controls as floors, gold as ceiling."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.systems.ranking import argument_files as files

import vivavoce
from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError
from vivavoce.evaluators.proxy_task import NO_ARGUMENT
from vivavoce.formats import read_response
from vivavoce.run.run import Run

ROLES = {
    "gold": "ceiling", "gpt4o": "candidate", "openbiollm": "candidate", "llama3": "candidate",
    "no_argument": "floor", "noise": "floor", "label_only": "floor", "ir_passages": "floor",
}  # fmt: skip


@pytest.fixture(scope="module")
def published(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Any]:
    """A run of the eight published files, and what their import says."""
    data = shared / "data" / "casimedicos"
    run = vivavoce.open(tmp_path_factory.mktemp("published") / "ranking.viva")
    return run, run.import_answers(data / "tests", benchmark=f"casimedicos(data={data})")


def texts(run: Run, candidate: str) -> list[str]:
    return run.responses.filter(pl.col("candidate") == candidate)["text"].to_list()


def test_eight_files_are_eight_candidates_that_answer_each_item_once(published: tuple[Run, Any]) -> None:
    run, imported = published
    assert (952, 8, 119, 1) == (imported.responses, imported.candidates, imported.items, imported.blank)
    assert ROLES == dict(run.responses.select("candidate", "role").unique().iter_rows())
    assert {1} == set(run.responses["repeat"])


def test_an_argument_is_what_stands_behind_the_question(published: tuple[Run, Any]) -> None:
    run, _ = published
    assert {NO_ARGUMENT} == set(texts(run, "no_argument"))
    assert 76 == len(set(texts(run, "noise")))
    assert 119 == len(set(texts(run, "gold"))) == len(set(texts(run, "llama3")))
    assert not any(text != text.strip() for text in run.responses["text"])


def test_the_one_empty_argument_stays_empty_and_is_named(published: tuple[Run, Any]) -> None:
    run, imported = published
    assert 1 == texts(run, "openbiollm").count("")
    assert "openbiollm has an empty argument for 1 item (g 35): it stays unanswered." in imported.notes


def test_a_label_names_the_place_of_the_right_option_in_the_item(
    published: tuple[Run, Any], shared: Path
) -> None:
    run, _ = published
    items = {item.item: item for item in load(f"casimedicos(data={shared / 'data' / 'casimedicos'})").items}
    for row in run.responses.filter(pl.col("candidate") == "label_only").iter_rows(named=True):
        item = items[row["item"]]
        assert row["text"].endswith(f"The correct answer is {item.options.index(item.answer[0]) + 1}.")


def test_labels_that_leak_an_explanation_are_named(published: tuple[Run, Any]) -> None:
    _, imported = published
    (note,) = (note for note in imported.notes if note.startswith("label_only"))
    assert "says more than a label for 16 items (g 27, g 28, g 39, g 51, g 54 …): it leaks" in note


def test_the_sentence_of_no_argument_is_an_answer(tmp_path: Path) -> None:
    item = load(f"casimedicos(data={files.written(tmp_path)})").items[0]
    assert "ok" == read_response(item, NO_ARGUMENT).status


def test_a_second_import_changes_nothing_and_a_users_role_stays(
    tmp_path: Path, viva: Callable[..., Any]
) -> None:
    data, run = files.written(tmp_path, Noise=("Ice is cold.", "Ice is cold.")), tmp_path / "r.viva"
    words = ("import", run, data / "tests", "--benchmark", f"casimedicos(data={data})")
    viva(*words, "--role", "noise=candidate")
    assert "6 unchanged" in viva(*words).output
    roles = dict(vivavoce.open(run).responses.select("candidate", "role").unique().iter_rows())
    assert {"gold": "ceiling", "no_argument": "floor", "noise": "candidate"} == roles


def test_one_file_is_imported_alone_and_another_source_bears_its_files_name(
    tmp_path: Path, viva: Callable[..., Any]
) -> None:
    data = files.written(tmp_path, My_Model=("Uric acid.", ""))
    path = data / "tests" / "en.test_casimedicos_My_Model.jsonl"
    output = viva("import", tmp_path / "r.viva", path, "--benchmark", f"casimedicos(data={data})").output
    assert "2 answers of 1 candidate to 2 items" in output
    assert "my_model has an empty argument for 1 item (g 1)" in output
    rows = vivavoce.open(tmp_path / "r.viva").responses
    assert [("my_model", "candidate", "Uric acid."), ("my_model", "candidate", "")] == [
        (row["candidate"], row["role"], row["text"]) for row in rows.iter_rows(named=True)
    ]


def test_leaked_items_that_are_left_out_are_skipped_and_counted(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "casimedicos"
    run = vivavoce.open(tmp_path / "r.viva")
    imported = run.import_answers(data / "tests", benchmark=f"casimedicos(data={data}, leaked=drop)")
    assert (880, 72) == (imported.responses, imported.skipped)


def imports(tmp_path: Path, source: str, *tasks: Any) -> Any:
    files.written(tmp_path)
    path = files.write(tmp_path / "tests" / f"en.test_casimedicos_{source}.jsonl", *tasks)
    run = vivavoce.open(tmp_path / "r.viva")
    return run.import_answers(path, benchmark=f"casimedicos(data={tmp_path})")


def test_rotations_with_different_arguments_are_refused(tmp_path: Path) -> None:
    rows = files.rows(files.TASKS[0], "Uric acid.")
    rows[3] = files.rows(files.TASKS[0], "Wine.")[3]
    with pytest.raises(InputError, match="five rows of the item of line 1 hold different arguments"):
        imports(tmp_path, "GPT4", rows)


def test_a_file_that_lacks_a_rotation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="item of line 1 lacks the row with its right option at place 2"):
        imports(
            tmp_path, "GPT4", [row for row in files.rows(files.TASKS[0], "x y") if row["correct_option"] != 2]
        )


def test_options_that_differ_between_the_files_of_an_item_are_refused(tmp_path: Path) -> None:
    question, right, others = files.TASKS[0]
    with pytest.raises(InputError, match="line 1: options or right answer are not those that item"):
        imports(tmp_path, "GPT4", files.rows((question, right, ("Frostbite", *others[1:])), "Uric acid."))


def test_a_question_of_another_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: casimedicos has no item that asks this"):
        imports(tmp_path, "GPT4", files.rows(("Why?", *files.TASKS[0][1:]), "Uric acid."))


def test_an_item_that_a_file_lacks_is_named(tmp_path: Path) -> None:
    imported = imports(tmp_path, "GPT4", files.rows(files.TASKS[0], "Uric acid."))
    assert ("gpt4o has no argument for 1 item (g 1).",) == imported.notes


def test_a_plain_label_does_not_leak_and_one_with_reasons_does(tmp_path: Path) -> None:
    third = ("What breaks first in a hard fall on the hand?", "The wrist", ("Hip", "Toe", "Nose", "Rib"))
    folder = files.written(tmp_path)
    tasks = [*files.TASKS, third]
    for name in ("No_Argument", "Expert"):
        files.write(folder / "tests" / f"en.test_casimedicos_{name}.jsonl", *map(files.rows, tasks))
    label = [files.rows(task, "The answer is #.") for task in tasks]
    path = folder / "tests" / "en.test_casimedicos_Label_Only.jsonl"
    run = vivavoce.open(tmp_path / "r.viva")
    spec = f"casimedicos(data={folder})"
    assert () == run.import_answers(files.write(path, *label), benchmark=spec).notes
    label[1] = files.rows(tasks[1], "The larynx is swollen. The answer is #.")
    (note,) = (
        vivavoce.open(tmp_path / "s.viva").import_answers(files.write(path, *label), benchmark=spec).notes
    )
    assert note.startswith("label_only says more than a label for 1 item (g 1): it leaks an explanation")


def test_a_folder_without_such_files_says_what_they_are_called(tmp_path: Path) -> None:
    data = files.written(tmp_path / "data")
    (tmp_path / "empty").mkdir()
    run = vivavoce.open(tmp_path / "r.viva")
    with pytest.raises(InputError, match=r"no en\.test_casimedicos_SOURCE\.jsonl in it, such as"):
        run.import_answers(tmp_path / "empty", benchmark=f"casimedicos(data={data})")
