"""An exam of one's own, in a jsonl, csv or parquet file."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.lazy import lazy_module

from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Item

openpyxl = lazy_module("openpyxl")

ITEM = {"id": "q1", "question": "What is HIV?", "format": "short", "answer": "A virus"}


def exam(folder: Path, *rows: dict[str, Any], name: str = "exam.jsonl") -> str:
    """The spec of a file with these rows, made in a folder whose path needs quotes."""
    folder = folder / "my exams"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"jsonl(path='{folder / name}'"


def items(folder: Path, *rows: dict[str, Any], settings: str = "") -> tuple[Item, ...]:
    return load(exam(folder, *rows) + settings + ")").items


def test_columns_named_like_fields_become_the_item(tmp_path: Path) -> None:
    (item,) = items(
        tmp_path,
        {
            "id": "q1", "variant": "neutral", "alias": "n1", "group": "g", "category": "c",
            "format": "mcq", "question": "Which?", "options": ["a", "b"], "answer": "b", "references": ["r"],
            "context": "note",
            "source": "s", "level": 3, "tags": ["x", None], "steps": ["One.", "Two."], "step": 2,
            "false_answer": "So.",
        },
    )  # fmt: skip
    assert (
        Item(
            benchmark="exam", item="q1", variant="neutral", alias="n1", group="g", category="c", format="mcq",
            question="Which?", options=("a", "b"), answer=("b",), references=("r",), context="note",
            source="s", meta={"level": 3, "tags": ["x", None]}, steps=("One.", "Two."), step=2,
            false_answer="So.",
        )
    ) == item  # fmt: skip


def test_what_is_absent_null_or_empty_is_left_out(tmp_path: Path) -> None:
    empty = {"variant": "", "alias": None, "group": "", "category": None, "options": [], "context": ""}
    (item,) = items(tmp_path, ITEM | empty)
    assert ("", None, "q1", None, (), None) == (
        item.variant, item.alias, item.group, item.category, item.options, item.context,
    )  # fmt: skip


def test_columns_and_one_format_for_all_can_be_given(tmp_path: Path) -> None:
    row = {"qid": 7, "prompt": "What is HIV?", "gold": "A virus"}
    settings = ", columns=[id:qid, question:prompt, references:gold], format=longform, name=hiv"
    (item,) = items(tmp_path, row, settings=settings)
    assert ("hiv", "7", "longform", ("A virus",)) == (item.benchmark, item.item, item.format, item.references)


def test_the_file_names_the_benchmark_unless_a_name_is_given(tmp_path: Path) -> None:
    loaded = load(exam(tmp_path, ITEM) + ")")
    assert ("exam", "exam", "own") == (loaded.items[0].benchmark, loaded.card.name, loaded.card.access)
    assert "mine" == load(exam(tmp_path, ITEM) + ", name=mine)").card.name


def test_the_signature_changes_with_the_file(tmp_path: Path) -> None:
    first = load(exam(tmp_path, ITEM) + ")")
    second = load(exam(tmp_path, ITEM | {"category": "c"}) + ")")
    assert first.spec == second.spec
    assert first.signature != second.signature
    assert first.items[0].hash == second.items[0].hash


@pytest.mark.parametrize(
    ("answer", "references"),
    [
        ("A virus", ("A virus",)),
        (["A virus", "A retrovirus"], ("A virus", "A retrovirus")),
        (50, ("50",)),
        ([2.5, True], ("2.5", "True")),
        ("[18F]FDG", ("[18F]FDG",)),
        ('["a", "b"]', ('["a", "b"]',)),
        ("[2]", ("[2]",)),
        ("[" * 5000, ("[" * 5000,)),
        (None, ()),
        ("", ()),
        ([], ()),
    ],
)
def test_an_answer_is_a_text_or_a_list_of_texts(
    tmp_path: Path, answer: object, references: tuple[str, ...]
) -> None:
    (item,) = items(tmp_path, ITEM | {"answer": answer})
    assert references == item.references


def test_a_csv_holds_lists_as_json_arrays(tmp_path: Path) -> None:
    path = tmp_path / "exam.csv"
    path.write_text(
        "id,question,format,options,answer\n"
        '1,"Which, if any?\n(one)",mcq,"[""a"", ""b, c""]","b, c"\n'
        '2,Which?,list,"[""a"", ""b"", ""c""]","[""a"", ""b""]"\n'
        "3,Which tracer?,short,,[18F]FDG\n"
        f"4,Which?,short,,{'[' * 5000}\n",
        encoding="utf-8-sig",
    )
    one, two, three, four = load(f"csv(path={path})").items
    assert (("a", "b, c"), ("b, c",), "Which, if any?\n(one)") == (one.options, one.answer, one.question)
    assert ("a", "b") == two.answer
    assert ("[18F]FDG",) == three.references
    assert 5000 == len(four.references[0])


def test_a_csv_holds_steps_and_the_number_of_one(tmp_path: Path) -> None:
    path = tmp_path / "exam.csv"
    path.write_text(
        "id,format,question,steps,step,false_answer,references\n"
        'q1,multi_hop_inverse,Why?,"[""One."", ""Two.""]",2,So.,No.\n',
        encoding="utf-8",
    )
    (item,) = load(f"csv(path='{path}')").items
    assert (("One.", "Two."), 2, "So.") == (item.steps, item.step, item.false_answer)


def test_a_parquet_exam_holds_lists_and_any_further_columns(tmp_path: Path) -> None:
    import datetime

    path = tmp_path / "exam.parquet"
    pl.DataFrame(
        {
            "id": [1], "question": ["Which?"], "format": ["mcq"], "options": [["a", "b"]], "answer": ["a"],
            "made": [datetime.date(2025, 1, 2)], "share": [float("nan")], "raw": [b"x"],
        }
    ).write_parquet(path)  # fmt: skip
    (item,) = load(f"jsonl(path={path})").items
    assert ("1", ("a", "b"), ("a",)) == (item.item, item.options, item.answer)
    assert {"made": "2025-01-02", "share": None, "raw": "b'x'"} == item.meta


def test_odd_further_columns_reach_the_run_as_json(tmp_path: Path) -> None:
    import vivavoce as viva

    file = exam(tmp_path, ITEM | {"huge": 10**30, "deep": [[{"a": [None]}]]})
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"item": "q1", "candidate": "A", "text": "x"}', encoding="utf-8")
    run = viva.open(tmp_path / "x.viva")
    run.import_answers(answers, benchmark=file + ")")
    meta = {"huge": 10**30, "deep": [[{"a": [None]}]]}
    assert meta == json.loads(run.items["meta"][0])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([ITEM, ITEM | {"id": ""}], "line 2: no id."),
        ([ITEM | {"question": None}], "line 1: no question."),
        (
            [ITEM | {"format": ""}],
            "line 1: no format. Every item needs a column 'format' (or format=… in the spec",
        ),
        ([ITEM | {"id": ["q1"]}], "line 1, item: a text is needed, not list: ['q1']."),
        ([ITEM | {"answer": {"a": 1}}], "line 1, answer: a text is needed, not dict: {'a': 1}."),
        ([ITEM | {"references": ["a", None]}], "line 1, references: a text is needed, not NoneType: None."),
        ([ITEM | {"steps": [["a"]]}], "line 1, steps: a text is needed, not list: ['a']."),
        ([ITEM | {"step": 2.5}], "line 1, step: a whole number is needed, not '2.5'."),
        ([ITEM | {"step": "two"}], "line 1, step: a whole number is needed, not 'two'."),
        ([ITEM | {"step": True}], "line 1, step: a whole number is needed, not 'True'."),
        ([ITEM | {"step": 2**63}], "line 1, step: a whole number is needed, not '9223372036854775808'."),
        ([ITEM | {"options": [["a"]]}], "line 1, options: a text is needed, not list: ['a']."),
    ],
)
def test_an_item_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, rows: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(InputError) as error:
        items(tmp_path, *rows)
    assert f"exam.jsonl, {words}" in str(error.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([ITEM, ITEM], "the id 'q1' stands there twice; every item needs an id of its own."),
        ([ITEM | {"id": 1}, ITEM | {"id": "1"}], "the id '1' stands there twice"),
        ([ITEM | {"variant": "v"}] * 2, "the id 'q1 [v]' stands there twice"),
        ([ITEM | {"alias": "a"}, ITEM | {"id": "q2", "alias": "a"}], "the id 'a' stands there twice"),
        ([ITEM, ITEM | {"id": "q2", "alias": "q1"}], "the alias 'q1' of 'q2' is the id of another item."),
        ([ITEM | {"format": "shrot"}], "exam, item 'q1': no format named 'shrot'. Did you mean 'short'?"),
        ([ITEM | {"question": " "}], "exam, item 'q1': "),
        ([ITEM | {"format": "mcq", "options": ["a", "b"], "answer": "c"}], "exam, item 'q1': "),
    ],
)
def test_an_item_that_cannot_be_used_is_named(tmp_path: Path, rows: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(InputError) as error:
        items(tmp_path, *rows)
    assert words in str(error.value)


def test_an_item_may_be_its_own_alias(tmp_path: Path) -> None:
    assert "q1" == items(tmp_path, ITEM | {"alias": "q1"})[0].alias


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("[qid]", "columns=[qid]: write ours:theirs, with one of item, id, variant, alias, group, "),
        ("['id:']", "columns=[id:]: write ours:theirs"),
        ("[text:answer]", "columns=[text:answer]: write ours:theirs"),
        ("[id:qid]", "line 1: no column 'qid' to take item from. Did you mean 'id'?"),
    ],
)
def test_columns_that_fit_nothing_are_named(tmp_path: Path, columns: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        items(tmp_path, ITEM, settings=f", columns={columns}")
    assert words in str(error.value)


def test_a_file_that_is_empty_or_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"exam\.jsonl is empty: it holds no rows\."):
        items(tmp_path)
    with pytest.raises(InputError, match=r"no file at .*none\.csv\."):
        load(f"csv(path={tmp_path}/none.csv)")
    with pytest.raises(SpecError, match="columns takes"):
        load(f"csv(path={tmp_path}/none.csv, columns=id)")


def test_a_semicolon_exam_in_windows_letters_is_read_and_its_card_says_that_its_encoding_is_a_guess(
    tmp_path: Path,
) -> None:
    path = tmp_path / "exam.csv"
    path.write_bytes("id;question;format;answer\r\nq1;Fever, in °C?;short;38,5 °C\r\n".encode("cp1252"))
    loaded = load(f"csv(path='{path}')")
    assert ("Fever, in °C?", ("38,5 °C",)) == (loaded.items[0].question, loaded.items[0].references)
    assert "Its encoding is a guess: line 2 is not UTF-8; as cp1252 it reads '°C?'" in loaded.card.faults[0]
    assert () == load(f"csv(path='{path}', encoding=latin-1)").card.faults


def test_an_exam_states_what_its_file_does_not(tmp_path: Path) -> None:
    path = tmp_path / "exam.csv"
    path.write_text("id;question, long;format;answer\nq1;What, then?;short;a\n", encoding="utf-16")
    mapped = "columns=['question:question, long']"
    (item,) = load(f"csv(path='{path}', delimiter=semicolon, encoding=utf-16, {mapped})").items
    assert "What, then?" == item.question


def test_an_exam_in_a_sheet_is_the_exam_in_its_csv(tmp_path: Path) -> None:
    rows = [["id", "question", "format", "options", "answer"], [7, "Is it?", "mcq", '["yes", "no"]', "no"]]
    book = openpyxl.Workbook()
    book.active.append(["notes"])
    sheet = book.create_sheet("exam")
    for row in rows:
        sheet.append(row)
    book.save(tmp_path / "exam.xlsx")
    (item,) = load(f"csv(path='{tmp_path / 'exam.xlsx'}', sheet=exam)").items
    assert ("7", ("yes", "no"), ("no",)) == (item.item, item.options, item.answer)


def test_nested_questions_are_mapped_by_dotted_names(tmp_path: Path) -> None:
    row = {"id": "q1", "format": "short", "input": {"question": "What?"}, "ideal": [{"text": "A virus"}]}
    (item,) = items(tmp_path, row, settings=", columns=[question:input.question, answer:ideal.0.text]")
    assert ("What?", ("A virus",)) == (item.question, item.references)
