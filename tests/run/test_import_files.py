"""Answers and scores come in from files as people have them, and the import says how it read them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.lazy import lazy_module

import vivavoce as viva
from vivavoce.core.errors import InputError
from vivavoce.run.run import Run

openpyxl = lazy_module("openpyxl")

LONG = (
    "id;question;answer;model;response\n1;Which, then?;a;A;a, b\n1;Which, then?;a;B;\n"
    "2;Wärme in °C?;37,5;A;37,5 °C\n"
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return viva.open(tmp_path / "exam.viva")


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts(run: Run) -> list[tuple[Any, ...]]:
    return run.responses.select("item", "candidate", "text", "status").sort("item", "candidate").rows()


def provenance(run: Run) -> dict[str, Any]:
    with run.file.reading() as db:
        (body,) = db.execute("SELECT body FROM provenance ORDER BY provenance_id DESC LIMIT 1").fetchone()
    return json.loads(body)


def test_a_semicolon_table_in_windows_letters_brings_questions_and_answers(run: Run, tmp_path: Path) -> None:
    done = run.import_answers(written(tmp_path, "exam.csv", LONG.encode("cp1252")))
    assert (3, 2, 2, 1) == (done.responses, done.candidates, done.questions, done.blank)
    assert ("semicolon", "cp1252") == (done.delimiter, done.encoding)
    assert "line 4 is not UTF-8; as cp1252 it reads 'Wärme'" in done.guess
    assert [("1", "A", "a, b", "ok"), ("1", "B", "", "ok"), ("2", "A", "37,5 °C", "ok")] == texts(run)
    noted = provenance(run)
    assert ("semicolon", "cp1252", done.guess) == (noted["delimiter"], noted["encoding"], noted["guess"])


def test_what_is_stated_is_no_guess(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "exam.csv", LONG.encode("cp1252"))
    done = run.import_answers(path, delimiter=";", encoding="latin-1")
    assert ("semicolon", "iso8859-1", "") == (done.delimiter, done.encoding, done.guess)


def test_a_workbook_gives_the_same_as_its_csv(run: Run, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "notes"
    sheet = book.create_sheet("exam")
    for line in LONG.splitlines():
        sheet.append([int(cell) if cell.isdigit() else cell or None for cell in line.split(";")])
    book.save(tmp_path / "exam.xlsx")
    done = run.import_answers(tmp_path / "exam.xlsx", sheet="exam")
    assert ("exam", None, None) == (done.sheet, done.delimiter, done.encoding)
    other = viva.open(tmp_path / "other.viva")
    other.import_answers(written(tmp_path, "exam.csv", LONG))
    assert texts(other) == texts(run)
    assert other.items.equals(run.items)


NESTED = [
    {
        "id": "1",
        "input": {"question": "Which?"},
        "key": "a",
        "model": "A",
        "choices": [{"message": {"content": "a"}}],
    },
    {"id": "1", "input": {"question": "Which?"}, "key": "a", "model": "B", "choices": None},
]


@pytest.mark.parametrize("name", ["exam.jsonl", "exam.json"])
def test_nested_answers_are_mapped_by_dotted_names(run: Run, tmp_path: Path, name: str) -> None:
    content = json.dumps(NESTED) if name == "exam.json" else "\n".join(map(json.dumps, NESTED))
    done = run.import_answers(
        written(tmp_path, name, content),
        map={"question": "input.question", "text": "choices.0.message.content"},
    )
    assert [("1", "A", "a", "ok"), ("1", "B", None, "failed")] == texts(run)
    assert () == done.left_out, "a column that a name leads into was used"
    assert "choices.0.message.content" == done.matched["text"]


def test_a_mapped_column_of_fields_is_refused_with_the_way_in(run: Run, tmp_path: Path) -> None:
    row = {
        "item": "1",
        "question": "Which?",
        "answer": "a",
        "model": "A",
        "output": {"generated": "a", "n": 3},
    }
    path = written(tmp_path, "exam.jsonl", json.dumps(row))
    with pytest.raises(InputError, match=r"the answer is dict, .*as in --map text=COLUMN\.generated\."):
        run.import_answers(path, map={"text": "output"})


def test_a_constant_with_a_dot_is_a_text(run: Run, tmp_path: Path) -> None:
    row = {"item": "1", "question": "Which?", "answer": "a", "response": "a", "gpt-4": {"1": "x"}}
    run.import_answers(written(tmp_path, "exam.jsonl", json.dumps(row)), set={"candidate": "gpt-4.1"})
    assert [("1", "gpt-4.1", "a", "ok")] == texts(run)


WIDE = "id;question;answer;A;model b\n1;Which?;a;a;b\n2;What?;c;;c\n"


def test_a_column_per_model_is_an_answer_of_each(run: Run, tmp_path: Path) -> None:
    done = run.import_answers(
        written(tmp_path, "wide.csv", WIDE), models_in_columns={"A": "A", "Model B": "model b"}
    )
    assert (4, 2, 2, 1, 0) == (done.responses, done.candidates, done.items, done.blank, done.failed)
    assert [("1", "A", "a"), ("1", "Model B", "b"), ("2", "A", ""), ("2", "Model B", "c")] == [
        answer[:3] for answer in texts(run)
    ]
    assert ("a",) == tuple(run.items["references"][0])
    assert {"A": "A", "Model B": "model b"} == provenance(run)["models_in_columns"]


def test_a_null_cell_of_a_model_is_a_failed_response_and_counted(run: Run, tmp_path: Path) -> None:
    rows = [{"id": "1", "question": "Which?", "answer": "a", "A": None, "B": "a"}]
    done = run.import_answers(rows, models_in_columns=["A", "B"])
    assert (2, 0, 1) == (done.responses, done.blank, done.failed)
    assert [("1", "A", None, "failed"), ("1", "B", "a", "ok")] == texts(run)


def test_a_long_and_a_wide_table_give_the_same_run(run: Run, tmp_path: Path) -> None:
    run.import_answers(written(tmp_path, "exam.csv", WIDE), models_in_columns=["A", "model b"])
    rows = ["1,Which?,a,A,a", "1,Which?,a,model b,b", "2,What?,c,A,", "2,What?,c,model b,c"]
    long = "\n".join(["id,question,answer,model,response", *rows])
    other = viva.open(tmp_path / "other.viva")
    (tmp_path / "long").mkdir()
    other.import_answers(written(tmp_path / "long", "exam.csv", long))
    assert texts(other) == texts(run)
    assert other.items.equals(run.items)


def test_columns_of_models_that_are_not_there_are_refused_by_name(run: Run, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"wide\.csv, line 2: no column 'model B' .* Did you mean 'model b'\?"
    ):
        run.import_answers(written(tmp_path, "wide.csv", WIDE), models_in_columns=["A", "model B"])
    assert not run.file.exists


def test_choices_of_files_do_not_go_with_frames(run: Run) -> None:
    with pytest.raises(InputError, match="the data: delimiter, encoding and sheet are for tables in files"):
        run.import_answers([{"id": "1"}], delimiter=";")


@pytest.mark.parametrize("models", [(), ("a", "b")])
def test_a_row_that_cannot_be_read_names_its_file_once(
    run: Run, tmp_path: Path, models: tuple[str, ...]
) -> None:
    file = tmp_path / "ragged.csv"
    file.write_text("id,question,reference,a,b\nq1,Why?,So.,Yes.,No.\nq2,When?\n")
    with pytest.raises(InputError) as error:
        run.import_answers(file, models_in_columns=models)
    assert f"{file}, line 3: 2 fields where the header has 5." in str(error.value)
    assert 1 == str(error.value).count("ragged.csv")


def test_a_ragged_table_leaves_no_run(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "exam.csv", LONG + "3;Which, now?;a;A\n")
    with pytest.raises(InputError, match=re.escape(f"{path}, line 5: 4 fields where the header has 5.")):
        run.import_answers(path)
    assert not run.file.exists


SCORES = "id;model;judge.status;scores.harm;note\n1;A;ok;0,5;x\n1;B;late;?;y\n2;A;ok;1,25;z\n"


def test_scores_come_from_semicolons_with_decimal_commas(run: Run, tmp_path: Path) -> None:
    run.import_answers(written(tmp_path, "exam.csv", LONG))
    done = run.import_scores(
        written(tmp_path, "scores.csv", SCORES),
        measure="judge(model=m)", criteria=["scores.harm"], status="judge.status", range={"*": (0, 5)},
    )  # fmt: skip
    assert ("semicolon", "utf-8") == (done.delimiter, done.encoding)
    assert [0.5, None, 1.25] == run.scores.sort("item", "candidate")["value"].to_list()
    assert "semicolon" == provenance(run)["delimiter"]


def test_nested_scores_are_named_by_dotted_names(run: Run, tmp_path: Path) -> None:
    run.import_answers(written(tmp_path, "exam.csv", LONG))
    rows = [
        {"id": "1", "model": "A", "judge": {"status": "ok", "scores": {"harm": 2}}, "by": {"rater": "m1"}},
        {"id": "1", "model": "A", "judge": {"status": "ok", "scores": {"harm": 5}}, "by": {"rater": "m2"}},
    ]
    done = run.import_scores(
        written(tmp_path, "scores.json", json.dumps(rows)),
        measure="judge(model=m)", map={"harm": "judge.scores.harm"}, criteria=["harm"],
        status="judge.status", where={"by.rater": "m1"}, range={"*": (0, 5)},
    )  # fmt: skip
    assert (("harm",), [2.0]) == (done.criteria, run.scores["value"].to_list())


@pytest.mark.parametrize("cell", ["1,234", "1.234,5", "1,2,3", "0,5,"])
def test_a_number_that_can_be_read_in_two_ways_is_refused(run: Run, tmp_path: Path, cell: str) -> None:
    run.import_answers(written(tmp_path, "exam.csv", LONG))
    path = written(tmp_path, "scores.csv", f"id;model;value\n1;A;{cell}\n")
    with pytest.raises(
        InputError, match=r"value must be a number, not .*; its comma may divide thousands or"
    ):
        run.import_scores(path, measure="judge(model=m)")


def test_fields_of_columns_are_found_by_their_dotted_names(run: Run, tmp_path: Path) -> None:
    row = {
        "question": {"id": 7, "text": "Which?", "options": ["a", "b"], "key": "a"},
        "model": {"name": "A"},
        "output": {"text": "a", "tokens": {"in": 3}},
    }
    done = run.import_answers(written(tmp_path, "exam.jsonl", json.dumps(row)))
    assert [("7", "A", "a", "ok")] == texts(run)
    assert (("a", "b"), ("a",)) == tuple(map(tuple, run.items.select("options", "answer").row(0)))
    assert ("output.tokens.in",) == done.left_out


def test_options_under_letters_are_no_columns(run: Run, tmp_path: Path) -> None:
    row = {
        "id": 7,
        "question": "Which?",
        "options": {"A": "a", "B": "b"},
        "key": "B",
        "model": "M",
        "output": "A",
    }
    run.import_answers(written(tmp_path, "exam.jsonl", json.dumps(row)))
    assert (("a", "b"), ("b",)) == tuple(map(tuple, run.items.select("options", "answer").row(0)))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty: it holds no rows."),
        ("id;question;answer;model;response\n", "is empty: it holds no rows."),
        ("id;question;answer;model;response", "is empty: it holds no rows."),
        ("1;Which?;a;A;a\n", "is empty: it holds no rows."),
        ("id;question;answer;model;response;response\n1;Which?;a;A;a;b\n", "'response' stands there twice."),
        ("id;question;answer;model;response\n1;Which?;a;A\n", "line 2: 4 fields where the header has 5."),
        (
            'id;question;answer;model;response\n1;"Which?;a;A;a\n',
            "line 2: broken CSV (unexpected end of data).",
        ),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_and_leaves_no_run(
    run: Run, tmp_path: Path, content: str, sentence: str
) -> None:
    with pytest.raises(InputError) as error:
        run.import_answers(written(tmp_path, "exam.csv", content))
    assert sentence in str(error.value)
    assert not run.file.exists


def test_answers_that_look_like_formulas_stay_as_they_are(run: Run, tmp_path: Path) -> None:
    hostile = '=HYPERLINK("http://x","a")'
    path = written(
        tmp_path, "exam.csv", "id\tquestion\tanswer\tmodel\tresponse\n1\tWhich?\ta\t@A\t" + hostile + "\n"
    )
    assert "tab" == run.import_answers(path).delimiter
    assert [("1", "@A", hostile, "ok")] == texts(run)
