"""Reading other people's files, and the schemas of our own tables."""

import json
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vivavoce.core import tables
from vivavoce.core.errors import InputError
from vivavoce.core.records import Candidate, Item, Response, Score
from vivavoce.core.tables import (
    ITEMS,
    LISTS,
    RESPONSES,
    SCORES,
    Dialect,
    Line,
    open_table,
    read_lines,
    rename,
    schema,
)


def rows(path: Path) -> list[dict[str, Any]]:
    return [line.row for line in read_lines(path)]


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.JSONL"])
def test_lines_of_json_are_rows(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, '{"a": 1, "b": null}\n\n  \n{"a": [1, {"c": "é"}]}')
    assert [
        Line(f"{path}, line 1", {"a": 1, "b": None}),
        Line(f"{path}, line 4", {"a": [1, {"c": "é"}]}),
    ] == list(read_lines(path))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path, name: str) -> None:
    text = '{"a": "1"}\r\n{"a": "2"}\r\n' if name == "a.jsonl" else "a\r\n1\r\n2\r\n"
    assert [{"a": "1"}, {"a": "2"}] == rows(written(tmp_path, name, b"\xef\xbb\xbf" + text.encode()))


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    text = "one\u2028two\u0085three\x0bfour"
    assert [{"a": text}] == rows(
        written(tmp_path, "a.jsonl", f'{{"a": "{text}"}}'.replace("\x0b", "\\u000b"))
    )
    assert [{"a": text}] == rows(written(tmp_path, "a.csv", f'a\n"{text}"\n'))


def test_a_very_long_line_is_read(tmp_path: Path) -> None:
    assert 3_000_000 == len(rows(written(tmp_path, "a.jsonl", '{"a": "' + "x" * 3_000_000 + '"}'))[0]["a"])
    assert 3_000_000 == len(rows(written(tmp_path, "a.csv", "a\n" + "x" * 3_000_000))[0]["a"])


def test_a_whole_emoji_in_escapes_is_one_character(tmp_path: Path) -> None:
    assert [{"a": "\U0001f600"}] == rows(written(tmp_path, "a.jsonl", r'{"a": "\ud83d\ude00"}'))


def test_quoted_cells_keep_commas_quotes_and_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'id,text\n1,"a, ""b""\r\n c"\n\n2,\n3, x \n')
    assert [
        Line(f"{path}, line 3", {"id": "1", "text": 'a, "b"\r\n c'}),
        Line(f"{path}, line 5", {"id": "2", "text": ""}),
        Line(f"{path}, line 6", {"id": "3", "text": " x "}),
    ] == list(read_lines(path))


def test_a_tsv_is_divided_by_tabs(tmp_path: Path) -> None:
    assert [{"id": "1", "text": "a, b"}] == rows(written(tmp_path, "a.tsv", "id\ttext\n1\ta, b\n"))


def test_a_column_may_have_no_name(tmp_path: Path) -> None:
    assert [{"": "0", "id": "1"}] == rows(written(tmp_path, "a.csv", ",id\n0,1\n"))


def test_parquet_columns_come_as_python_values(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"id": [1, 2], "options": [["a", "b"], []], "text": ["é", None]}).write_parquet(path)
    assert [
        Line(f"{path}, row 1", {"id": 1, "options": ["a", "b"], "text": "é"}),
        Line(f"{path}, row 2", {"id": 2, "options": [], "text": None}),
    ] == list(read_lines(path))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xml", b"[]", "cannot tell what {} holds: name it .jsonl, .json, .csv, .tsv, .xlsx or .parquet."),
        (
            "a.xls",
            b"",
            "cannot tell what {} holds: name it .jsonl, .json, .csv, .tsv, .xlsx or .parquet; save",
        ),
        ("a", b"", "cannot tell what {} holds"),
        ("a.json", b"[]", "{} is empty: it holds no rows."),
        ("a.json", b"[1]", "{}, entry 1: a JSON object is needed, not int."),
        ("a.json", b'[{"a": 1},\n{"a": 2]', "{}, line 2: broken JSON (Expecting ',' delimiter)."),
        ("a.json", b'{"a": 1}\n[]', "{}, line 2: a JSON object is needed, not list."),
        ("a.jsonl", b"", "{} is empty: it holds no rows."),
        ("a.jsonl", b"\n \n", "{} is empty: it holds no rows."),
        ("a.csv", b"", "{} is empty: it holds no rows."),
        ("a.csv", b"id,text\n", "{} is empty: it holds no rows."),
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "{}, line 2: broken JSON (Expecting value"),
        ("a.jsonl", b'{"a": 1} {"a": 2}\n', "{}, line 1: broken JSON (Extra data"),
        ("a.jsonl", b"[1]\n", "{}, entry 1: a JSON object is needed, not int."),
        ("a.jsonl", b'\n"a"\n', "{}, line 2: a JSON object is needed, not str."),
        ("a.jsonl", b'{"a": -Infinity}', "{}, line 1: broken JSON (-Infinity is no JSON number"),
        (
            "a.jsonl",
            rb'{"a": ["\ud83d"]}',
            "{}, line 1: broken JSON (a \\u escape gives half of a character)",
        ),
        (
            "a.jsonl",
            b'{"a": ' + b"[" * 5000,
            "{}, line 1: broken JSON (more than 100 levels of lists and objects",
        ),
        (
            "a.jsonl",
            b'{"a": ' + b"9" * 5000 + b"}",
            "{}, line 1: broken JSON (a number has thousands of digits).",
        ),
        (
            "a.jsonl",
            b'{"a": ' + b"[" * 101 + b"]" * 101 + b"}",
            "{}, line 1: broken JSON (more than 100 levels",
        ),
        ("a.jsonl", b'{"a": 1e999}', "{}, line 1: broken JSON (1e999 is larger than any number can be)."),
        ("a.jsonl", b'{"a": "\n"}', "{}, line 1: broken JSON (Unterminated string"),
        ("a.jsonl", b'{"a": "caf\xe9"}', "{}, line 1: byte 11 (0xe9) is not UTF-8; save the file as UTF-8"),
        ("a.csv", "id,text\n".encode("utf-16-be"), "{}"),
        ("a.csv", b"id,text,id\n1,a,2\n", "{}: the column 'id' stands there twice."),
        ("a.csv", b"id,,\n1,a,2\n", "{}: the column '' stands there twice."),
        ("a.csv", b"id,text\n1\n", "{}, line 2: 1 fields where the header has 2."),
        ("a.csv", b"id,text\n1,a,b\n", "{}, line 2: 3 fields where the header has 2."),
        ("a.csv", b"\nid,text\n1,a\n", "{}, line 2: 2 fields where the header has 0."),
        ("a.csv", b'id,text\n1,"a\n', "{}, line 2: broken CSV (unexpected end of data)."),
        ("a.csv", b'id,text\n1,"a"b\n', "{}, line 2: broken CSV"),
        ("a.csv", b"id,text\r1,a\r", "{}, line 1: broken CSV (a line end of old Macs"),
        ("a.parquet", b"", "{} cannot be read as Parquet"),
        ("a.parquet", b"PAR1" + b"x" * 100 + b"PAR1", "{} cannot be read as Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(InputError) as error:
        rows(path)
    assert str(error.value).startswith(words.format(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(f"no file at {tmp_path / 'none.jsonl'}.")):
        rows(tmp_path / "none.jsonl")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv is a folder, not a file\."):
        rows(tmp_path / "folder.csv")
    with pytest.raises(InputError, match=r"cannot read a+\.jsonl: File name too long\."):
        rows(Path("a" * 5000 + ".jsonl"))


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, "a.jsonl", "{}")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=rf"cannot read {re.escape(str(path))}: Permission denied\."):
        rows(path)


def test_parquet_rows_are_read_in_parts_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_PARQUET_ROWS", 7)
    path = tmp_path / "a[1]*.parquet"  # no pattern
    pl.DataFrame({"id": range(20)}).write_parquet(path, row_group_size=5)
    table = open_table(path)
    for _ in range(2):
        lines = list(table.lines)
        assert [{"id": k} for k in range(20)] == [line.row for line in lines]
        assert [f"{path}, row {k}" for k in range(1, 21)] == [line.where for line in lines]


@pytest.mark.filterwarnings("ignore")
def test_a_damaged_parquet_file_is_refused_or_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Polars panics on some damaged files; a panic is no Exception."""
    path = tmp_path / "a.parquet"
    pl.DataFrame({"id": ["q1"], "text": ["x"]}).write_parquet(path)
    whole = path.read_bytes()
    for at in range(4, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            rows(path)
        except InputError as error:
            told = str(error)
            assert told.startswith(f"{path} ")
    capfd.readouterr()


def test_columns_are_renamed_to_ours() -> None:
    line = Line("a.csv, line 2", {"qid": "1", "answer": "x", "item": "old", "more": 2})
    assert {"item": "1", "text": "x", "more": 2} == rename(line, {"item": "qid", "text": "answer"})
    assert {"item": "1", "alias": "1", "answer": "x", "more": 2} == rename(
        line, {"item": "qid", "alias": "qid"}
    )
    assert line.row == rename(line, {})


def test_a_column_that_is_not_there_is_named_with_the_nearest() -> None:
    line = Line("a.csv, line 2", {"question_id": "1", "answer": "x"})
    with pytest.raises(InputError) as error:
        rename(line, {"item": "questionid"})
    assert ("a.csv, line 2: no column 'questionid' to take item from. Did you mean 'question_id'?") == str(
        error.value
    )


NESTED = {
    "id": "1",
    "output": {"text": "Naloxone", "by.model": {"name": "A"}},
    "choices": [{"message": {"content": "yes"}}, {"message": {"content": "no"}}],
    "failed": None,
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("output.text", "Naloxone"),
        ("choices.0.message.content", "yes"),
        ("choices.1.message.content", "no"),
        ("output.by.model.name", "A"),
        ("failed.text", None),
        ("id", "1"),
    ],
)
def test_a_dotted_name_leads_into_a_column(name: str, value: str | None) -> None:
    assert NESTED | {"text": value} == {"id": "1", **rename(Line("a", NESTED), {"text": name})}


def test_a_column_whose_own_name_has_the_dot_wins() -> None:
    row = {"output.text": "flat", "output": {"text": "nested"}}
    assert {"text": "flat", "output": {"text": "nested"}} == rename(Line("a", row), {"text": "output.text"})


@pytest.mark.parametrize(
    "name", ["choices.2.message", "choices.x", "choices.-1", "choices.²", "id.x", "output."]
)
def test_a_dotted_name_that_leads_nowhere_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"a, line 1: no column {name!r} to take text from.")):
        rename(Line("a, line 1", NESTED), {"text": name})


def test_a_wrong_field_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"Did you mean 'output\.text'"):
        rename(Line("a, line 1", NESTED), {"text": "output.txt"})
    with pytest.raises(InputError, match=r"Did you mean 'choices\.0\.message\.content'"):
        rename(Line("a, line 1", NESTED), {"text": "choices.0.mesage.content"})


def test_dotted_names_read_json_and_structs_of_parquet_alike(tmp_path: Path) -> None:
    as_parquet = tmp_path / "a.parquet"
    pl.DataFrame([NESTED]).write_parquet(as_parquet)
    as_json = written(tmp_path, "a.json", json.dumps([NESTED]))
    as_lines = written(tmp_path, "a.jsonl", json.dumps(NESTED))
    for path in (as_parquet, as_json, as_lines):
        (line,) = read_lines(path)
        assert "no" == rename(line, {"text": "choices.1.message.content"})["text"]


def test_one_array_of_json_is_the_same_table_as_its_lines(tmp_path: Path) -> None:
    rows_of_two = [{"a": 1}, {"a": {"b": "é"}}]
    array = written(tmp_path, "a.json", "\n " + json.dumps(rows_of_two, indent=1))
    lines = written(tmp_path, "b.json", "\n".join(json.dumps(row) for row in rows_of_two))
    assert rows_of_two == rows(array) == rows(lines)
    assert [f"{array}, entry 1", f"{array}, entry 2"] == [line.where for line in read_lines(array)]


def test_json_with_a_mark_of_utf_16_is_read(tmp_path: Path) -> None:
    """PowerShell writes it."""
    path = written(tmp_path, "a.jsonl", '{"a": "é"}\r\n{"a": "2"}'.encode("utf-16"))
    assert [{"a": "é"}, {"a": "2"}] == rows(path)
    assert Dialect(encoding="utf-16") == open_table(path).dialect


def test_a_choice_that_the_kind_of_file_does_not_have_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", "{}")
    with pytest.raises(InputError, match=r"a\.jsonl: a \.jsonl file has no delimiter to be chosen\."):
        open_table(path, Dialect(delimiter=";"))
    with pytest.raises(InputError, match="has no sheet to be chosen"):
        open_table(written(tmp_path, "a.csv", "a\n1\n"), Dialect(sheet="one"))


def test_the_columns_of_the_tables_are_these() -> None:
    assert (
        "benchmark item variant alias group candidate role repeat edit metric criterion rater pass_no unit "
        "ballot position value status"
    ) == " ".join(SCORES)
    assert (
        "benchmark item variant alias group outer_groups category format question messages follows options "
        "answer references must nice steps step false_answer rubric context source origin weight meta"
    ) == " ".join(ITEMS)
    assert (
        "benchmark item variant alias group category format candidate role repeat edit probe status text "
        "final ending reasoning finish_reason tokens seconds cost error meta logprobs"
    ) == " ".join(RESPONSES)


@pytest.mark.parametrize(("columns", "record"), [(ITEMS, Item), (RESPONSES, Response), (SCORES, Score)])
def test_every_column_is_a_field_of_a_record(columns: Sequence[str], record: type) -> None:
    known = {f.name for r in (record, Item, Candidate) for f in fields(r)}
    assert set() == set(columns) - known
    beside = {"parts", "note"} if record is Score else set()  # read only on request
    assert beside == {f.name for f in fields(record)} - set(columns)


def test_the_schemas_have_the_types_of_the_records() -> None:
    assert {pl.List(pl.String)} == {schema(ITEMS)[name] for name in LISTS}
    assert {
        "meta": pl.String, "alias": pl.String, "question": pl.String, "step": pl.Int64,
        "false_answer": pl.String,
    }.items() <= schema(ITEMS).items()  # fmt: skip
    assert {
        "repeat": pl.Int64, "tokens": pl.Int64, "seconds": pl.Float64, "text": pl.String, "status": pl.String,
    }.items() <= schema(RESPONSES).items()  # fmt: skip
    assert {
        "value": pl.Float64, "pass_no": pl.Int64, "position": pl.Int64, "unit": pl.String, "role": pl.String,
    }.items() <= schema(SCORES).items()  # fmt: skip
