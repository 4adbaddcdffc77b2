"""Layouts in which people write their results come in at the first command, or at the one proposed."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.run.own_layouts import LAYOUTS, write

import vivavoce
from vivavoce.benchmarks import load
from vivavoce.benchmarks.files import CSV
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


OF_OPTIONS = (
    "Nr;Frage;Antwort A;Antwort B;Antwort C;Lösung\n1;Was senkt LDL?;Statin;Insulin;Eisen;A\n",
    "id,question,answer_a,answer_b,answer\n1,What lowers LDL?,Statin,Insulin,A\n",
    "id,question,A,B,C,D,answer\n1,What lowers LDL?,Statin,Insulin,Iron,Zinc,A\n",
    "id,question,Option A,Option B,answer\n1,What lowers LDL?,Statin,Insulin,A\n",
    "id,question,opa,opb,cop\n1,What lowers LDL?,Statin,Insulin,0\n",
    "id,question,choice1,choice2,answer_idx\n1,What lowers LDL?,Statin,Insulin,1\n",
    "Frage;A;B;richtig\nWas senkt LDL?;Statin;Insulin;A\n",
)
"""Exams without answers, whose options stand in a column each."""


@pytest.mark.parametrize("text", OF_OPTIONS)
def test_options_of_an_exam_are_no_models_and_mcq_by_the_other_door(
    viva: Viva, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "exam.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="this is an exam without answers: viva collect"):
        viva("import", tmp_path / "r.viva", path, "--yes")
    (item,) = load(f"csv:path={path}").items
    assert ("mcq", ("Statin",)) == (item.format, item.answer)


def test_a_question_and_a_key_alone_are_an_exam_without_answers(viva: Viva, tmp_path: Path) -> None:
    path = tmp_path / "exam.csv"
    path.write_text("question,answer\nWhat lowers LDL?,Statins\n")
    with pytest.raises(InputError) as error:
        viva("import", tmp_path / "r.viva", path)
    assert f"--benchmark csv:path={path}. If 'answer' is what a model answered: --map text=answer." in str(
        error.value
    )


def test_answers_of_models_a_and_b_are_no_options(viva: Viva, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,question,answer_a,answer_b,key\n1,Which?,Iron,Zinc,Iron\n2,Why?,It falls,Zinc,Gold\n")
    assert "4 answers of 2 candidates" in viva("import", tmp_path / "r.viva", path).output


def test_a_reference_that_names_an_option_is_the_key(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("question,model,response,A,B,reference\nWhich?,m1,Iron,Iron,B12,A\n")
    run = vivavoce.open(tmp_path / "r.viva")
    run.import_answers(tmp_path / "r.csv")
    (item,) = run.items.to_dicts()
    assert ("mcq", ["Iron"], ["Iron", "B12"]) == (item["format"], item["answer"], item["options"])


def test_a_blank_at_the_end_makes_no_other_question(tmp_path: Path) -> None:
    text = "id,question,model,response,key\n1,Which?,m1,x,a\n1,Which? ,m2,y,a\n"
    (tmp_path / "r.csv").write_text(text)
    assert 1 == vivavoce.open(tmp_path / "r.viva").import_answers(tmp_path / "r.csv").items


def test_a_row_of_a_json_table_with_too_few_cells_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(
        '{"_type": "table", "columns": ["question", "model", "text"], "data": [["Q?", "m", "x"], ["Q?"]]}'
    )
    with pytest.raises(InputError, match=r"table\.json: row 2 of data: 1 cells where there are 3 columns"):
        vivavoce.open(tmp_path / "r.viva").import_answers(path)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("exam.csv.gz", "x", "exam.csv.gz is packed: unpack it first"),
        ("exam.csv", "question,answer\rWhich?,Iron\r", "CR alone: save it with LF or CRLF"),
        ("exam.csv", "question,A,B,answer\nWhich?,x,y,A\nWhy?,x,y,E\n", "'E' is no option. Known: A, B"),
    ],
)
def test_what_no_exam_can_be_read_of_is_said(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    with pytest.raises(InputError, match=sentence):
        load(f"csv:path={tmp_path / name}")


def test_what_is_not_used_is_named_shortly_and_numbers_are_keys_from_their_first(tmp_path: Path) -> None:
    more = [f"x{k}" for k in range(300)]
    header = ",".join(["question", "choice1", "choice2", "answer", *more])
    (tmp_path / "exam.csv").write_text(f"{header}\nWhich?,Iron,Zinc,1{',z' * 300}\n")
    facts = CSV(path=tmp_path / "exam.csv").inferred
    assert "numbers of options, from 1" == facts["keys"]
    assert facts["columns not used"].endswith("x8, x9 and 290 more")
