"""Delimited text as people have it: what divides its columns, and its encoding, found or refused."""

import re
import tracemalloc
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.lengths import length

from vivavoce.core.delimited import DELIMITERS, delimiter_char
from vivavoce.core.encodings import codec_of
from vivavoce.core.errors import InputError
from vivavoce.core.tables import AS_FOUND, Dialect, Table, open_table

ROW = {"id": "1", "text": 'a, b; c | d "e"\nf'}


def table(folder: Path, content: bytes | str, name: str = "a.csv", dialect: Dialect = AS_FOUND) -> Table:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_table(path, dialect)


def read(folder: Path, content: bytes | str, *args: object) -> tuple[list[dict[str, str]], Dialect]:
    found = table(folder, content, *args)
    return [line.row for line in found.lines], found.dialect


@pytest.mark.parametrize(("word", "char"), DELIMITERS.items())
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiter_and_encoding_are_found_and_named(
    tmp_path: Path, word: str, char: str, encoding: str, end: str
) -> None:
    text = f'id{char}text{end}1{char}"a, b; c | d ""e""\nf"{end}'
    assert ([ROW], Dialect(word, encoding)) == read(tmp_path, text.encode(encoding))
    assert f"delimiter {word}, encoding {encoding}" == table(tmp_path, text.encode(encoding)).dialect.in_words


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_the_header_decides_not_the_end_of_the_name(tmp_path: Path, name: str) -> None:
    rows, dialect = read(tmp_path, "id\ttext\n1\ta,b\n", name)
    assert ([{"id": "1", "text": "a,b"}], "tab") == (rows, dialect.delimiter)
    rows, dialect = read(tmp_path, "id,text\n1,a\tb\n", name)
    assert ([{"id": "1", "text": "a\tb"}], "comma") == (rows, dialect.delimiter)


def test_questions_with_commas_do_not_make_a_semicolon_file_one_of_commas(tmp_path: Path) -> None:
    text = "id;question;value\n" + "".join(f"{n};What, then?;0,{n}\n" for n in range(30))
    rows, dialect = read(tmp_path, text)
    assert ("semicolon", 30, "0,7") == (dialect.delimiter, len(rows), rows[7]["value"])


def test_a_header_with_two_candidates_is_settled_by_the_rows(tmp_path: Path) -> None:
    rows, dialect = read(tmp_path, "id,question (long; short)\n1,a\n2,b; c\n")
    assert ("comma", "b; c") == (dialect.delimiter, rows[1]["question (long; short)"])


def test_what_rows_do_not_settle_is_refused_and_a_word_settles_it(tmp_path: Path) -> None:
    text = "id;question, long\n1;What, then?\n2;Why, now?\n"
    with pytest.raises(InputError, match="cannot tell whether comma or semicolon divides its columns: state"):
        table(tmp_path, text)
    rows, dialect = read(tmp_path, text, "a.csv", Dialect(delimiter="semicolon"))
    assert ("semicolon", "What, then?") == (dialect.delimiter, rows[0]["question, long"])


def test_no_candidate_that_fits_all_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot tell whether comma or semicolon"):
        table(tmp_path, "id;a, b\n1;2;3\n1,2,3\n")


def test_one_column_needs_no_delimiter(tmp_path: Path) -> None:
    assert ([{"id": "1"}, {"id": "2"}], "comma") == (
        (found := read(tmp_path, "id\n1\n2\n"))[0],
        found[1].delimiter,
    )
    assert "tab" == read(tmp_path, "id\n1\n", "a.tsv")[1].delimiter


def test_the_line_of_excel_that_states_the_delimiter_is_no_row(tmp_path: Path) -> None:
    found = table(tmp_path, b"\xef\xbb\xbfsep=;\r\nid;a, b\r\n1;2, 3\r\n")
    (line,) = found.lines
    assert ({"id": "1", "a, b": "2, 3"}, "semicolon") == (line.row, found.dialect.delimiter)
    assert line.where.endswith("a.csv, line 3")
    assert "pipe" == read(tmp_path, "sep=;\nid|a\n1|2\n", "a.csv", Dialect(delimiter="|"))[1].delimiter


@pytest.mark.parametrize("text", ["", "sep=;\n", "\n\n", "sep=;\nid;text\n", "id;text", "id;text\n;\n"])
def test_a_file_without_rows_is_empty(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="is empty: it holds no rows"):
        read(tmp_path, text)


def test_rows_and_columns_that_a_spreadsheet_left_around_the_table_are_left_out(tmp_path: Path) -> None:
    rows, _ = read(tmp_path, "id;text;;\n1;a;;\n;;;\n2;;;\n;;;\n")
    assert [{"id": "1", "text": "a"}, {"id": "2", "text": ""}] == rows


def test_a_ragged_row_is_refused_with_its_line_and_the_delimiter(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, 'id;text\n1;"a\nb"\n2;c;d\n')
    assert (
        f"{tmp_path / 'a.csv'}, line 4: 3 fields where the header has 2. The delimiter is semicolon: a "
        "field that holds one needs quotes."
    ) == str(error.value)


def test_a_sample_that_ends_within_quotes_settles_nothing_wrong(tmp_path: Path) -> None:
    long = "a, b\n" * 1200
    rows, dialect = read(tmp_path, f'id;"x, y"\n1;"{long}"\n2;c\n')
    assert ("semicolon", 2, long) == (dialect.delimiter, len(rows), rows[0]["x, y"])


def test_formulas_are_text(tmp_path: Path) -> None:
    cells = ["=1+1", "@cmd", "+1", "-2", "'=x", "=HYPERLINK(...)"]
    rows, _ = read(tmp_path, "id;text\n" + "".join(f"1;{cell}\n" for cell in cells))
    assert cells == [row["text"] for row in rows]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_western_text_that_is_no_utf8_is_read_as_cp1252_with_a_word_to_check(
    tmp_path: Path, encoding: str
) -> None:
    found = table(tmp_path, "id;text\n1;plain\n2;37,5 °C, 5 µg: très élevée\n".encode(encoding))
    assert "37,5 °C, 5 µg: très élevée" == [line.row["text"] for line in found.lines][1]
    assert Dialect("semicolon", "cp1252") == found.dialect
    assert "line 3 is not UTF-8; as cp1252 it reads '°C', and --encoding states another one" == found.guess


def test_a_file_that_states_its_encoding_is_no_guess(tmp_path: Path) -> None:
    assert "" == table(tmp_path, "id;text\n1;é\n").guess
    assert "" == table(tmp_path, "id;text\n1;é\n".encode("cp1252"), "a.csv", Dialect(encoding="cp1252")).guess


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "1;é\n".encode() + b"2;caf\xe9\n",
            "line 3: byte 6 (0xe9) is not UTF-8, and other characters of the",
        ),
        (b"1;\x8e\xe9\n1;\x81\n", "line 2: byte 3 (0x8e) is not UTF-8, and cp1252 does not fit either"),
        ("1;Привет\n".encode("cp1251"), "line 2: byte 3 (0xcf) is not UTF-8, and cp1252 does not fit either"),
        ("1;体温計体温\n".encode("gbk"), "line 2: byte 3 (0xcc) is not UTF-8, and"),
        (b"1;a\0b\n", "line 2: a NUL byte, which no text holds"),
        ("1;a\n".encode("utf-16-le"), "line 2: a NUL byte, which no text holds: the file is damaged"),
    ],
)
def test_an_encoding_that_cannot_be_known_is_refused_with_the_line(
    tmp_path: Path, content: bytes, words: str
) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path, b"id;text\n" + content)


@pytest.mark.parametrize(
    ("encoding", "codec"), [("cp1251", "cp1251"), ("gb18030", "gb18030"), ("utf-16-le", "utf-16-le")]
)
def test_another_encoding_is_read_where_it_is_stated(tmp_path: Path, encoding: str, codec: str) -> None:
    text = "id;text\n1;Привет\n"
    rows, dialect = read(tmp_path, text.encode(encoding), "a.csv", Dialect(encoding=encoding))
    assert ([{"id": "1", "text": "Привет"}], Dialect("semicolon", codec)) == (rows, dialect)


def test_a_stated_encoding_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: byte 3 \(0xe9\) is not UTF-8"):
        read(tmp_path, b"id;text\n1;\xe9\n", "a.csv", Dialect(encoding="utf-8"))
    with pytest.raises(InputError, match=r"a\.csv, after line \d: not shift_jis"):
        read(tmp_path, b"id;text\n1;\xff\xff\n", "a.csv", Dialect(encoding="shift_jis"))
    with pytest.raises(InputError, match="a NUL, which no text holds; it is not iso8859-1"):
        read(tmp_path, "id;text\n".encode("utf-16-le"), "a.csv", Dialect(encoding="latin-1"))


@each_case("name", ["utf8000", "idna", "rot13", "zip", "unicode_escape", "\0", "", "undefined"])
def test_an_encoding_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no encoding is named"):
        codec_of(name)


@pytest.mark.parametrize("name", ["", "a", "ab", '"', "\n", "commas", "7"])
def test_what_cannot_divide_columns_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot divide columns: write comma, semicolon, tab, pipe or one"):
        delimiter_char(name)


def test_a_delimiter_may_be_a_word_or_itself() -> None:
    assert list(",;\t|^\t") == [delimiter_char(w) for w in ("comma", "Semicolon", "tab", "|", "^", "\\t")]


@pytest.mark.slow
def test_a_large_file_is_read_in_a_few_megabytes_of_memory(tmp_path: Path) -> None:
    path, rows = tmp_path / "large.csv", length(10_000, 100_000)
    with path.open("w", encoding="cp1252") as stream:
        stream.write("id;text\n")
        for n in range(rows):
            stream.write(f"{n};" + "é 37,5 °C; µg "[:5] * 200 + "\n")
    assert path.stat().st_size > 1_000 * rows
    tracemalloc.start()
    assert rows == sum(1 for _ in open_table(path).lines)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
