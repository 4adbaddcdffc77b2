"""Folders that hold something else than was published: one sentence, or figures that are null."""

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.systems.conftest import TEMPORARY

from vivavoce.core.errors import InputError
from vivavoce.run.reproduce import Reproduction, reproduce

GEMINI, CLAUDE, MEDGEMMA = "Gemini 2.5 Pro", "Claude 3.5 Sonnet", "MedGemma 27B"
FILES = ("questions.jsonl", "responses.jsonl", "judge_scores.csv", "f1.csv")
Change = Callable[[list[str]], list[str]]


def write_changed(real: Path, folder: Path, **changes: Change) -> Path:
    """A folder of the real files, of which these, by the stem of their names, have changed lines."""
    for file in FILES:
        change = changes.get(file.partition(".")[0])
        if change is None:
            (folder / file).symlink_to(real / file)
            continue
        with (real / file).open(encoding="utf-8") as stream:
            (folder / file).write_text("".join(change(list(stream))), encoding="utf-8")
    return folder


@pytest.fixture
def changed(hivmedqa: Path, tmp_path: Path) -> Callable[[str, Change], Path]:
    """The folder with one file's lines changed; the others are links to the real ones."""
    return lambda name, change: write_changed(hivmedqa, tmp_path, **{name.partition(".")[0]: change})


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere is no folder: --data names the one with questions"):
        reproduce("hivmedqa", tmp_path / "nowhere")


@pytest.mark.parametrize("name", FILES)
def test_the_missing_file_is_named(hivmedqa, tmp_path, name):
    for file in set(FILES) - {name}:
        (tmp_path / file).symlink_to(hivmedqa / file)
    with pytest.raises(InputError, match=f"no {name} in .*: hivmedqa is recomputed from questions.jsonl"):
        reproduce("hivmedqa", tmp_path)


def test_an_empty_file_is_named(changed):
    with pytest.raises(InputError, match=r"f1\.csv is empty"):
        reproduce("hivmedqa", changed("f1.csv", lambda lines: lines[:1]))


def test_a_missing_column_is_named(changed):
    folder = changed("judge_scores.csv", lambda lines: [lines[0].replace("harm", "harmful"), *lines[1:]])
    with pytest.raises(InputError, match=r"judge_scores\.csv, line 2: no column 'harm'"):
        reproduce("hivmedqa", folder)


def test_questions_with_other_ids_are_refused(changed):
    folder = changed("questions.jsonl", lambda lines: [lines[0].replace('"c1q00"', '"c1q99"'), *lines[1:]])
    with pytest.raises(
        InputError, match=r"questions\.jsonl lacks the question c1q00: figures can be recomputed"
    ):
        reproduce("hivmedqa", folder)


def test_a_question_too_many_is_refused(changed):
    def more(lines: list[str]) -> list[str]:
        return [*lines, json.dumps(json.loads(lines[0]) | {"id": "c1q50"}) + "\n"]

    with pytest.raises(InputError, match="has, unlike the published one, the question c1q50"):
        reproduce("hivmedqa", changed("questions.jsonl", more))


def test_another_choice_of_questions_is_refused(changed):
    def left_out(lines: list[str]) -> list[str]:
        return [lines[0].replace('"paper_subset": true', '"paper_subset": false'), *lines[1:]]

    with pytest.raises(InputError, match="scores 62 questions as the paper's, 21 of them biased twins"):
        reproduce("hivmedqa", changed("questions.jsonl", left_out))


def test_missing_answers_are_counted(changed):
    folder = changed("responses.jsonl", lambda lines: lines[:4000])
    with pytest.raises(
        InputError, match=r"responses\.jsonl has \d+ of the 315 answers of .+ no figure given"
    ):
        reproduce("hivmedqa", folder)


def test_a_mark_that_is_no_number_is_named_with_its_line(changed):
    def worded(lines: list[str]) -> list[str]:
        return [lines[0], lines[1].replace(",3.0,", ",good,", 1), *lines[2:]]

    with pytest.raises(InputError, match=r"judge_scores\.csv, line 2"):
        reproduce("hivmedqa", changed("judge_scores.csv", worded))


@pytest.fixture(scope="module")
def cut_and_raised(hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """Without some of MedGemma's scores with the reference, and with a better score for each 3 of Claude."""

    def change(lines: list[str]) -> list[str]:
        present = [x for x in lines if not (x.startswith(MEDGEMMA) and "q05," in x and ",True," in x)]
        return [x.replace(",3.0,", ",4.0,") if x.startswith(CLAUDE) and ",True," in x else x for x in present]

    return reproduce("hivmedqa", write_changed(hivmedqa, tmp_path_factory.mktemp("cut"), judge_scores=change))


def test_a_truncated_file_of_marks_takes_only_its_own_figures_away(
    cut_and_raised: Reproduction, found: Reproduction
):
    """Without MedGemma's scores with the reference: its cells are null, the others as they were."""
    rows, _, notes = cut_and_raised
    (lost,) = rows["incomplete"]
    assert ("judge_scores.csv", MEDGEMMA, 315) == (lost["file"], lost["candidate"], lost["expected"])
    assert lost["present"] < 315
    assert f"has {lost['present']} of the 315 scores of {MEDGEMMA}" in notes[0]
    own = rows["table2"][MEDGEMMA]
    assert all(cell["mean"] is None and cell["sd"] is None for cell in own.values())
    assert 3.96 == own["comprehension"]["published_mean"]
    assert {None} == set(rows["paired"]["comprehension"][MEDGEMMA].values())
    assert {None} == set(rows["bias_drop"][MEDGEMMA].values())
    assert {None} == set(rows["reference_gap"][MEDGEMMA].values())
    changed = {MEDGEMMA, CLAUDE}
    assert 9 == len(rows["table2"].keys() - changed)
    assert {k: v for k, v in found.rows["table2"].items() if k not in changed} == {
        k: v for k, v in rows["table2"].items() if k not in changed
    }
    missed = [
        row for row in rows["not_reproduced"] if row["what"].startswith("Table 2") and MEDGEMMA in row["what"]
    ]
    assert 12 == len(missed)
    assert {"scores are missing from the files"} == {row["why"] for row in missed}


def test_changed_marks_are_shown_as_cells_that_do_not_come_out(cut_and_raised: Reproduction):
    rows = cut_and_raised.rows["not_reproduced"]
    reasons = {row["what"]: row["why"] for row in rows if row["what"].startswith("Table 2")}
    expected = "the files hold other scores than those it was printed from"
    assert expected == reasons[f"Table 2, comprehension of {CLAUDE}, mean"]
    assert not [what for what in reasons if GEMINI in what]


@pytest.fixture(scope="module")
def cut_and_truncated(hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """Every model has its scores with the reference but the best one, and none has one without it.

    Of the file of F1 figures one row is left.
    """

    def cut(lines: list[str]) -> list[str]:
        return [x for x in lines if f"{GEMINI},c1q00,1," not in x and ",False,ok," not in x]

    folder = tmp_path_factory.mktemp("truncated")
    return reproduce(
        "hivmedqa", write_changed(hivmedqa, folder, judge_scores=cut, f1=lambda lines: lines[:2])
    )


def of_the_judge(table: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """The cells of Table 2 that are means of scores, without the best model's."""
    return {
        model: {name: cell for name, cell in cells.items() if name != "medsynf1"}
        for model, cells in table.items()
        if model != GEMINI
    }


def test_without_the_best_models_marks_or_unsupervised_ones_nothing_is_compared_and_a_table_left(
    cut_and_truncated: Reproduction, found: Reproduction
):
    rows, tables, _ = cut_and_truncated
    assert {None} == {
        value for by in rows["paired"].values() for row in by.values() for value in row.values()
    }
    assert rows["bias_drop"][CLAUDE]["p_holm"] is not None
    assert {None} == {value for row in rows["reference_gap"].values() for value in row.values()}
    assert of_the_judge(found.rows["table2"]) == of_the_judge(rows["table2"])
    assert tables


def test_a_truncated_f1_file_leaves_the_judge_alone(cut_and_truncated: Reproduction, found: Reproduction):
    rows, _, notes = cut_and_truncated
    assert rows["table2"][CLAUDE]["medsynf1"]["mean"] is None
    assert found.rows["table2"][CLAUDE]["harm"] == rows["table2"][CLAUDE]["harm"]
    assert {None} == {row["mean"] for row in rows["f1_variants"].values()}
    assert (1, 35_420) == (rows["f1_counts"]["rows"], rows["f1_counts"]["rows_published"])
    assert "f1.csv has 1 rows where 35,420 were published." in notes


def test_neither_the_order_of_rows_nor_a_candidate_that_the_paper_has_not_changes_a_figure(
    hivmedqa: Path, tmp_path: Path, found: Reproduction
):
    def more(lines: list[str]) -> list[str]:
        return [*lines, *(x.replace(CLAUDE, "New") for x in lines if f'"{CLAUDE}"' in x)]

    def shuffled(lines: list[str]) -> list[str]:
        marks = lines[1:]
        random.Random(5).shuffle(marks)
        return [lines[0], *marks]

    folder = write_changed(hivmedqa, tmp_path, responses=more, judge_scores=shuffled)
    rows = reproduce("hivmedqa", folder).rows
    assert found.rows == rows


def test_nothing_is_left_behind(recomputed: Path):
    assert [] == list((recomputed / TEMPORARY).iterdir())
