"""Layouts in which people write their results come in at the first command, or at the one proposed."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.run.own_layouts import LAYOUTS, write

import vivavoce
from vivavoce.core.errors import InputError

Viva = Callable[..., Any]


TWO = (
    *(
        "records by id, of one model",
        "a file for each model and temperature",
    ),
    *("an exam, and answers in its order", "repeats as rows that no column numbers"),
)
"""The layouts that leave something open."""


def proposed(viva: Viva, *words: object) -> list[str]:
    """The words of the command that a refusal says; none where there is nothing to refuse."""
    try:
        viva(*words)
    except InputError as error:
        return shlex.split(str(error).rpartition("\n  viva ")[2])
    return []


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_comes_in_at_once_or_by_the_command_that_is_proposed(
    viva: Viva, tmp_path: Path, name: str
) -> None:
    layout, path = LAYOUTS[name], tmp_path / "r.viva"
    second = proposed(viva, "import", path, *write(layout, tmp_path))
    assert (name in TWO) == bool(second)
    if second:
        viva(*second)
    run = vivavoce.open(path)
    answers = run.responses
    assert (layout.answers, layout.candidates, layout.questions) == (
        answers.height,
        answers["candidate"].n_unique(),
        run.items.height,
    )
    (first,) = run.items.filter(run.items["question"].str.starts_with("Which drug reverses opi")).to_dicts()
    assert layout.first in answers.filter(answers["item"] == first["item"])["text"].to_list()
    assert ["Naloxone"] == (first["answer"] or first["references"]), "its key came too"


def test_most_of_25_layouts_leave_nothing_open() -> None:
    assert (25, 4) == (len(LAYOUTS), len(TWO))


def test_yes_takes_what_is_proposed(viva: Viva, tmp_path: Path) -> None:
    paths = write(LAYOUTS["an exam, and answers in its order"], tmp_path)
    printed = viva("import", tmp_path / "r.viva", *paths, "--yes").output
    assert "8 answers of 2 candidates to 4 items" in printed
    assert "The question was told of 8 rows by its place in the exam." in printed


def test_all_that_is_open_is_asked_at_once(viva: Viva, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(
        "id,question,key,raw,output,prediction\n1,Which?,a,x,I would say a.,a\n1,Which?,a,x,It is b.,b\n"
    )
    with pytest.raises(InputError) as error:
        viva("import", tmp_path / "r.viva", tmp_path / "mine.csv")
    sentence = str(error.value)
    assert "What the model answered: 'output' (I would say a.) or 'prediction' (a)." in sentence
    assert "Which model: no column says it. Proposed, of the file's name: 'mine'." in sentence
    assert "Repeats: " in sentence
    assert "--map text=output --set candidate=mine --set repeat=counted" in sentence
    assert not (tmp_path / "r.viva").exists()


def test_a_pattern_says_where_the_model_stands(viva: Viva, tmp_path: Path) -> None:
    write(LAYOUTS["a file for each model and temperature"], tmp_path)
    words = ("import", tmp_path / "r.viva", tmp_path / "out", "--set", "repeat=counted")
    viva(*words, "--candidate-from", "out/{candidate}_temp*.json")
    assert {("gpt-4o", 2), ("llama-3", 2)} == {
        *vivavoce.open(tmp_path / "r.viva").responses.group_by("candidate").agg(pl.max("repeat")).rows()
    }
    with pytest.raises(InputError, match=r"'x/\{candidate\}\.csv' does not fit"):
        viva(*words, "--candidate-from", "x/{candidate}.csv")
    with pytest.raises(InputError, match=r"write \{candidate\} where the model's name stands"):
        viva(*words, "--candidate-from", "x/*.csv")


EXAM = "id,question,options,answer\n" + "\n".join(
    f'q{k},Question {k}?,"[""yes"", ""no""]",A' for k in range(3)
)


def joined(folder: Path, rows: str, **options: Any) -> Any:
    (folder / "exam.csv").write_text(EXAM)
    (folder / "answers.csv").write_text(rows)
    run = vivavoce.open(folder / "r.viva")
    return run.import_answers([folder / "exam.csv", folder / "answers.csv"], **options)


def test_rows_find_their_question_by_id_else_by_its_words(tmp_path: Path) -> None:
    rows = "id,question,model,response\nq0,,m,yes\nx,question  1?,m,no\nx,Another?,m,no\n"
    done = joined(tmp_path, rows)
    assert {"id": 1, "words": 1} == done.joined
    assert (2, 1, ("x",)) == (done.responses, done.skipped, done.skipped_items)


def test_an_id_and_words_of_two_questions_are_refused(tmp_path: Path) -> None:
    rows = "id,question,model,response\nq0,Question 1?,m,yes\n"
    with pytest.raises(InputError, match=r"its id is that of 'q0' and its words are those of 'q1'"):
        joined(tmp_path, rows)
    assert {"words": 1} == joined(tmp_path, rows, by="words").joined


def test_rows_answer_by_their_place_only_where_there_is_one_for_each(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="m has 2 rows and the exam 3 questions"):
        joined(tmp_path, "model,response\nm,yes\nm,no\n", by="row")
    assert {"row": 3} == joined(tmp_path, "model,response\nm,yes\nm,no\nm,yes\n", by="row").joined
