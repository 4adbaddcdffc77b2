"""Published files: found by name, read by column, and each row that is no item says why."""

import json
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cases import each_case

from vivavoce.benchmarks.health.source_files import (
    SourceLine,
    content_id,
    find_file,
    items_of,
    read_source,
    refuse_other_base,
)
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.records import Exclusion, Item


def line(**row: Any) -> SourceLine:
    return SourceLine("file.csv", 3, row)


def reason(call: Any, *args: Any) -> str:
    with pytest.raises(RowError) as error:
        call(*args)
    return error.value.reason


def test_the_first_accepted_layout_that_lies_there_is_taken(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test-00000-of-00001.parquet").touch()
    (tmp_path / "test.json").touch()
    assert tmp_path / "test.json" == find_file("exam", tmp_path, "test.json", "data/test-*.parquet")
    (tmp_path / "test.json").unlink()
    assert (
        "test-00000-of-00001.parquet" == find_file("exam", tmp_path, "test.json", "data/test-*.parquet").name
    )


def test_a_missing_file_is_named_with_every_layout_that_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"exam: no a\.csv or data/b-\*\.parquet in .*: data= names the folder"
    ):
        find_file("exam", tmp_path, "a.csv", "data/b-*.parquet")
    with pytest.raises(InputError, match=r"exam: no a\.csv to read: there is no folder at .*nowhere: data="):
        find_file("exam", tmp_path / "nowhere", "a.csv")


def test_parts_of_a_split_are_not_lost_silently(tmp_path: Path) -> None:
    for part in (0, 1):
        (tmp_path / f"test-0000{part}-of-00002.parquet").touch()
    with pytest.raises(InputError, match=r"2 files in .* are named test-\*\.parquet: keep one\."):
        find_file("exam", tmp_path, "test-*.parquet")


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet"])
def test_every_kind_of_file_gives_the_same_rows(tmp_path: Path, suffix: str) -> None:
    rows = [{"q": 'Fever, "high"?', "n": "1"}, {"q": "Größe\r\nin zwei Zeilen", "n": "2"}]
    path = tmp_path / f"test.{suffix}"
    if suffix == "csv":
        path.write_bytes('\ufeffq,n\r\n"Fever, ""high""?",1\r\n"Größe\r\nin zwei Zeilen",2\r\n'.encode())
    elif suffix == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        path.write_text(json.dumps(rows) if suffix == "json" else "\n".join(map(json.dumps, rows)))
    lines = list(read_source(path, "q", "n"))
    assert rows == [dict(line.row) for line in lines]
    assert {f"test.{suffix}"} == {line.file for line in lines}
    assert sorted({line.number for line in lines}) == [line.number for line in lines]


def test_a_missing_column_refuses_the_file(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("question,answr\na,b\n")
    with pytest.raises(InputError, match=r"test\.csv: no column 'answer'\. Did you mean 'answr'\?"):
        list(read_source(tmp_path / "test.csv", "question", "answer"))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "question is null"),
        (float("nan"), "question is null"),
        ("", "question is empty"),
        (" \t", "question is empty"),
        ("\u200b", "question is empty"),
        (3, "question is no text"),
        (["a"], "question is no text"),
    ],
)
def test_a_text_that_is_none_says_why(value: Any, why: str) -> None:
    assert why == reason(line(question=value).text, "question")


def test_a_text_stays_as_it_stands() -> None:
    assert ("+", "-/-") == (line(o="+").text("o"), line(o="-/-").text("o"))
    assert " Größe\r\n" == line(question=" Größe\r\n").text("question")
    assert "question is null" == reason(line().text, "question")


@pytest.mark.parametrize("value", [2024, 2024.0, "2024", "2024.0", " 2024 "])
def test_a_whole_number_may_be_written_in_several_ways(value: Any) -> None:
    assert 2024 == line(year=value).integer("year", 1900, 2100)
    assert "2024" == line(year=value).optional("year").removesuffix(".0")


@each_case(
    ("value", "why"),
    [
        (None, "cop is null"),
        ("", "cop is null"),
        (float("nan"), "cop is null"),
        (float("inf"), "cop is no whole number"),
        ("A", "cop is no whole number"),
        (True, "cop is no whole number"),
        (1.5, "cop is no whole number"),
        ([1], "cop is no whole number"),
        (0, "cop is not from 1 to 4"),
        (-1, "cop is not from 1 to 4"),
        ("5", "cop is not from 1 to 4"),
        ("9" * 400, "cop is no whole number"),
    ],
)
def test_a_number_that_is_none_says_why(value: Any, why: str) -> None:
    assert why == reason(line(cop=value).integer, "cop", 1, 4)


def test_a_list_of_texts_holds_nothing_else() -> None:
    assert ("a", "") == line(c=["a", ""]).texts("c")
    assert () == line(c=[]).texts("c")
    assert "c is null" == reason(line(c=None).texts, "c")
    assert "c is no list of texts" == reason(line(c="a").texts, "c")
    assert "c is no list of texts" == reason(line(c=["a", None]).texts, "c")


def test_optional_text_is_null_where_nothing_stands() -> None:
    assert [None] * 4 == [line(e=value).optional("e") for value in (None, "", "  ", float("nan"))]
    assert None is line().optional("e")
    assert "007" == line(e=" 007").optional("e")
    assert "e is no text" == reason(line(e=["b"]).optional, "e")
    assert ("b", "4") == (line(e=" b ").optional("e"), line(e=4.0).optional("e"))


def test_rows_that_cannot_be_items_are_left_out_with_their_reason() -> None:
    def make_item(row: SourceLine) -> Item:
        options = row.texts("options")
        return Item(
            benchmark="exam",
            item=str(row.number),
            format="mcq",
            question=row.text("question"),
            options=options,
            answer=options[:1],
        )

    rows = [
        SourceLine("a.csv", 1, {"question": "Which?", "options": ["x", "y"]}),
        SourceLine("a.csv", 2, {"question": None, "options": ["x", "y"]}),
        SourceLine("a.csv", 3, {"question": "Which?", "options": ["x", "x"]}),
    ]
    first, second, third = items_of(rows, make_item)
    assert isinstance(first, Item)
    assert Exclusion("a.csv", 2, "question is null") == second
    assert isinstance(third, Exclusion)
    assert ("a.csv", 3) == third[:2]
    assert "x" not in third.reason.split()


def test_a_content_id_is_of_the_text_as_it_is() -> None:
    assert "ba7816bf8f01" == content_id("abc")  # SHA-256 of "abc", FIPS 180-2 appendix B.1
    assert content_id("abc") != content_id("abc ")
    assert 12 == len(content_id("halb \ud800"))


def closed(row: SourceLine) -> Item:
    options = row.options(row.texts("options"))
    return Item(
        benchmark="exam",
        item=row.text("id"),
        format="mcq",
        question=row.text("question"),
        options=options,
        answer=(options[row.integer("key", 0, 1)],),
    )


def outcomes(*rows: dict[str, Any]) -> list[str]:
    """For each row its id, or why it was left out."""
    base = {"id": "a", "question": "Which?", "options": ["x", "y"], "key": 0}
    lines = [SourceLine("a.csv", number, base | row) for number, row in enumerate(rows, 1)]
    return [item.item if isinstance(item, Item) else item.reason for item in items_of(lines, closed)]


def test_a_row_that_stands_there_twice_is_one_item() -> None:
    assert ["a", "it repeats an earlier row", "b"] == outcomes({}, {}, {"id": "b"})
    assert ["a", "an earlier row bears the same id"] == outcomes({}, {"question": "Another?"})


def test_of_contradictory_keys_none_is_believed() -> None:
    disputed = "rows with one question have different keys"
    assert [disputed, "b", disputed] == outcomes({}, {"id": "b"}, {"key": 1})
    assert [disputed] * 3 == outcomes({}, {"key": 1}, {})


def test_thousands_of_rows_with_one_id_take_no_time() -> None:
    start = time.process_time()
    assert 5000 == outcomes(*({"question": f"Which ({k})?"} for k in range(5001))).count(
        "an earlier row bears the same id"
    )
    assert time.process_time() - start < 4, "seconds of processor; it took 16 when every pair was compared"


def test_options_that_differ_in_white_space_alone_are_equal() -> None:
    assert ["two options are equal"] == outcomes({"options": ["Iron  deficiency", "Iron deficiency "]})
    assert ["a"] == outcomes({"options": ["CO", "Co"]})


@pytest.mark.parametrize(("base", "keys", "wrong"), [(0, (1, 2, 3, 4), 4), (1, (0, 1, 2), 0), (1, (0.0,), 0)])
def test_a_file_that_counts_from_another_base_is_refused(
    base: Any, keys: tuple[Any, ...], wrong: int
) -> None:
    lines = [line(cop=key) for key in keys]
    with pytest.raises(InputError, match=rf"x\.csv: cop holds {wrong}, and .* count options from {base}"):
        refuse_other_base(Path("x.csv"), lines, "cop", base)
    refuse_other_base(Path("x.csv"), [line(cop=key) for key in (1, 2, 3, None, "x", 9)], "cop", base)
