"""Sheets of workbooks: the texts that a CSV of them would hold, and workbooks that mean harm."""

import datetime
import io
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.lazy import lazy_module
from tests.lengths import length
from tests.soak.mutations import BYTES

from vivavoce.core import workbooks
from vivavoce.core.errors import ExtraError, InputError
from vivavoce.core.tables import Dialect, open_table, read_lines

openpyxl = lazy_module("openpyxl")

SHEET = "xl/worksheets/sheet1.xml"


def workbook(path: Path, rows: Sequence[Sequence[Any]], **more: Sequence[Sequence[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "answers"
    for row in rows:
        book.active.append(row)
    for name, other in more.items():
        sheet = book.create_sheet(name)
        for row in other:
            sheet.append(row)
    book.save(path)
    return path


def rows(path: Path, sheet: str | None = None) -> list[dict[str, Any]]:
    return [line.row for line in open_table(path, Dialect(sheet=sheet)).lines]


def changed(path: Path, change: Callable[[str], str], part: str = SHEET) -> Path:
    """The workbook with one of its parts rewritten."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            raw = old.read(name)
            new.writestr(name, change(raw.decode()) if name == part else raw)
    path.write_bytes(out.getvalue())
    return path


def shared(path: Path, *strings: str) -> Path:
    """The workbook with its first cells taken from a table of shared strings, as Excel writes them."""
    table = '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    office = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    for number in range(len(strings)):
        cell = f' t="s"><v>{number}</v></c>'
        changed(path, lambda xml, cell=cell: re.sub(r' t="inlineStr">.*?</c>', cell, xml, count=1))
    name = '"/xl/sharedStrings.xml"'
    end = f'<Override ContentType="{office}.sharedStrings+xml" PartName={name}/></Types>'
    changed(path, lambda xml: xml.replace("</Types>", end), "[Content_Types].xml")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", f"{table}{''.join(strings)}</sst>")
    return path


def test_shared_strings_are_read_with_their_parts_and_escapes(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "text"], ["q1", "x"], ["q2", "y"]])
    rich = "<si><r><t>one</t></r><r><rPr><b/></rPr><t xml:space='preserve'> two</t></r></si>"
    path = shared(path, "<si><t>id</t></si>", "<si><t>text</t></si>", "<si><t>a_x000D_\nb</t></si>", rich)
    assert [{"id": "a\r\nb", "text": "one two"}, {"id": "q2", "text": "y"}] == rows(path)


@pytest.mark.parametrize("name", ["a.xlsx", "a.xlsm"])
def test_cells_are_the_texts_that_a_csv_would_hold(tmp_path: Path, name: str) -> None:
    values = [
        *("text; with, marks", 17, 17.0, 0.1 + 0.2, -2.5, True, None, "=no", 1e300),
        *(datetime.date(2026, 11, 23), datetime.datetime(2026, 11, 23, 12, 30), datetime.time(8, 5)),
    ]
    path = workbook(tmp_path / name, [["n", "value"], *enumerate(values)])
    path = changed(path, lambda xml: re.sub(r"<f>no</f><v ?/?>(</v>)?", "<f>no</f><v>3</v>", xml))
    assert [
        *("text; with, marks", "17", "17", "0.3", "-2.5", "TRUE", "", "3", "1e+300"),
        *("2026-11-23", "2026-11-23 12:30:00", "08:05:00"),
    ] == [row["value"] for row in rows(path)]


def test_the_first_sheet_is_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["a"], ["1"]], notes=[["b"], ["2"]])
    assert [{"a": "1"}] == rows(path)
    assert [{"b": "2"}] == rows(path, "notes")
    assert "sheet answers" == open_table(path).dialect.in_words
    with pytest.raises(InputError, match=r"a\.xlsx has no sheet 'note'\. Did you mean 'notes'\?"):
        rows(path, "note")


def test_empty_rows_and_columns_around_a_table_are_left_out(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [[], ["id", "text"], [], [1, "a"], [2], [None, None], [3, "c"]])
    lines = list(read_lines(path))
    assert [{"id": "1", "text": "a"}, {"id": "2", "text": ""}, {"id": "3", "text": "c"}] == [
        line.row for line in lines
    ]
    assert [f"{path}, row 4", f"{path}, row 5", f"{path}, row 7"] == [line.where for line in lines]


def test_a_merged_range_has_its_value_in_every_cell(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx", [["item", "model", "text"], ["q1", "A", "x"], [None, "B", "y"], ["q2"]]
    )
    book = openpyxl.load_workbook(path)
    book.active.merge_cells("A2:A3")
    book.active.merge_cells("B4:C5")
    book.active["B4"] = "both"
    book.save(path)
    assert [("q1", "A", "x"), ("q1", "B", "y"), ("q2", "both", "both"), ("", "both", "both")] == [
        tuple(row.values()) for row in rows(path)
    ]


def test_a_table_that_does_not_begin_in_the_first_cell_is_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A3"], book.active["B3"], book.active["A4"], book.active["B4"] = "id", "text", "q", "x"
    book.save(tmp_path / "a.xlsx")
    assert [{"id": "q", "text": "x"}] == rows(tmp_path / "a.xlsx")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the column 'text' stands there twice"):
        rows(workbook(tmp_path / "a.xlsx", [["id", "text", "text"], [1, "a", "b"]]))


@pytest.mark.parametrize("content", [[], [["id", "text"]], [[None, None]]])
def test_a_sheet_without_rows_is_empty(tmp_path: Path, content: list[list[str]]) -> None:
    with pytest.raises(InputError, match="is empty: it holds no rows"):
        rows(workbook(tmp_path / "a.xlsx", content))


def test_a_formula_that_was_never_computed_is_refused_with_its_cell(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "text"], ["q1", "=A2"]])
    with pytest.raises(InputError, match=r"sheet 'answers', cell B2: a formula without a stored value: open"):
        rows(path)


def test_a_cell_that_shows_an_error_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "text"], ["q1", "#N/A"]])
    with pytest.raises(InputError, match=r"row 2: a cell shows the error #N/A: correct or empty it\."):
        rows(path)


def test_without_openpyxl_a_sentence_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "a.xlsx", [["a"], ["1"]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ExtraError, match=r'an Excel file needs openpyxl: pip install "vivavoce\[excel\]"\.'):
        rows(path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "a.xlsx", [["a"], ["1"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros", b"\0" * 2_000_000)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(workbooks, "MOST_UNPACKED", 1_000_000)
    with pytest.raises(InputError, match=r"unpacks to 2,\d+,\d+ bytes, and at most 1,000,000 are read: save"):
        rows(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('r="2"', 'r="99999999999999"'),
        ('r="A2"', 'r="ZZZZZ2"'),
        ("<sheetData>", '<sheetData><row r="1"><c r="A1"><v>1e999</v></c></row>'),
        ("</sheetData>", '</sheetData><mergeCells><mergeCell ref="A1:?"/></mergeCells>'),
        ("</sheetData>", '<row r="9"><c r="A9" t="s"><v>99999</v></c></row></sheetData>'),
        ("</worksheet>", ""),
    ],
)
def test_a_damaged_sheet_is_read_or_refused_with_a_sentence(tmp_path: Path, old: str, new: str) -> None:
    path = changed(workbook(tmp_path / "a.xlsx", [["a"], ["1"]]), lambda xml: xml.replace(old, new))
    fault = ""
    try:
        assert rows(path)
    except InputError as error:
        fault = str(error)
    assert not fault or fault.startswith(str(path))


def test_merged_ranges_over_the_whole_sheet_cost_no_memory(tmp_path: Path) -> None:
    ranges = '<mergeCells><mergeCell ref="A2:XFD1048576"/></mergeCells>'
    path = workbook(tmp_path / "a.xlsx", [["a", "b"], ["1"], *[["", "2"]] * 1000])
    path = changed(path, lambda xml: xml.replace("</sheetData>", f"</sheetData>{ranges}"))
    assert [{"a": "1", "b": "1"}] * 1001 == rows(path)


def test_cells_far_to_the_right_are_refused_before_they_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 10_000_000 == workbooks._MOST_CELLS
    most = length(1_000_000, 10_000_000)
    monkeypatch.setattr(workbooks, "_MOST_CELLS", most)
    row = '<row r="{0}"><c r="A{0}"><v>1</v></c><c r="XFD{0}"/></row>'
    many = "".join(row.format(n) for n in range(3, most // 15_000))
    path = workbook(tmp_path / "a.xlsx", [["a"], ["1"]])
    path = changed(path, lambda xml: xml.replace("</sheetData>", f"{many}</sheetData>"))
    with pytest.raises(InputError, match=f"more than {most:,} cells: save the sheet as CSV"):
        rows(path)


@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml", "xl/sharedStrings.xml"])
def test_entities_that_multiply_are_refused(tmp_path: Path, part: str) -> None:
    entities = '<!ENTITY a "' + "x" * 1000 + '">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 100}">' for a, b in zip("abcd", "bcde", strict=True)
    )  # fmt: skip
    start = f"<?xml version='1.0'?><!DOCTYPE x [{entities}]>"

    def change(xml: str) -> str:
        xml = re.sub(r"^<\?xml[^>]*\?>", "", xml)
        return start + re.sub(r"(<t>|<v>|<sheets>)", r"\1&e;", xml)

    path = shared(workbook(tmp_path / "a.xlsx", [["a"], ["1"]]), "<si><t>a</t></si>", "<si><t>1</t></si>")
    path = changed(path, change, part)
    with pytest.raises(InputError, match=re.escape(str(path))):
        rows(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0" * 100, b"id,text\n1,a\n"])
def test_what_is_no_workbook_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.xlsx cannot be read as a workbook \("):
        rows(tmp_path / "a.xlsx")


def test_a_flipped_byte_is_read_or_refused_with_a_sentence(tmp_path: Path) -> None:
    whole = workbook(tmp_path / "a.xlsx", [["id", "text"], ["q1", "x"], ["q2", 3]]).read_bytes()
    rng = Random(1)
    refused = 0
    for _ in range(150):
        raw = bytearray(whole)
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        (tmp_path / "a.xlsx").write_bytes(raw)
        try:
            rows(tmp_path / "a.xlsx")
        except InputError as error:
            refused += str(error).startswith(str(tmp_path))
    assert refused > 50


def test_a_workbook_that_is_refused_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "text"], ["q1", "x"]])
    streams: list[Any] = []

    def damaged(stream: Any, **options: Any) -> None:
        streams.append(stream)
        raise ValueError("damaged")

    monkeypatch.setattr("openpyxl.load_workbook", damaged)
    with pytest.raises(InputError, match="cannot be read as a workbook"):
        rows(path)
    assert [True] == [stream.closed for stream in streams]


def test_a_workbook_with_a_mutated_part_is_read_or_refused_with_a_sentence(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "text"], ["q1", "x"], ["q2", 3]], other=[["b"]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    rng = Random(5)
    counts = Counter[bool]()
    for number in range(length(200, 5_000)):
        name = SHEET if number % 2 else rng.choice(list(parts))
        mutated = rng.choice(BYTES)(parts[name], rng)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for other, raw in parts.items():
                archive.writestr(other, mutated if other == name else raw)
        fault = ""
        try:
            rows(path)
        except InputError as error:
            fault = str(error)
        assert not fault or fault.startswith(str(path)), fault
        counts[bool(fault)] += 1
    assert all(counts[refused] > 20 for refused in (True, False))
