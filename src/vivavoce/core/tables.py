"""Tables in and out: the schemas of ours, and reading of other people's files, sheets included."""

import functools
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.records import Candidate, Item, Response, Score

if TYPE_CHECKING:
    import polars as pl


ITEMS = tuple(f.name for f in fields(Item))
LISTS = ("options", "answer", "references", "must", "nice", "steps")
"""The item fields that hold several texts."""
RESPONSES = (
    *("benchmark", "item", "variant", "alias", "group", "category", "format", "candidate", "role", "repeat"),
    *("edit", "probe", "status", "text", "final", "ending", "reasoning", "finish_reason", "tokens"),
    *("seconds", "cost", "error", "meta", "logprobs"),
)
SCORES = (
    *("benchmark", "item", "variant", "alias", "group", "candidate", "role", "repeat", "edit", "metric"),
    *("criterion", "rater", "pass_no", "unit", "ballot", "position", "value", "status"),
)


@functools.cache
def schema(columns: tuple[str, ...]) -> "pl.Schema":
    """The Polars schema of a table: each column's type is that of the record field of its name."""
    import polars as pl

    hints: dict[str, Any] = {}
    for record in (Score, Response, Candidate, Item):
        hints |= get_type_hints(record)

    def column(hint: Any) -> Any:
        if get_origin(hint) in (Union, types.UnionType):
            return column(next(a for a in get_args(hint) if a is not types.NoneType))
        if get_origin(hint) is tuple and get_args(hint)[0] is str:
            return pl.List(pl.String)
        if get_origin(hint) is Literal or hint is str:
            return pl.String
        return {int: pl.Int64, float: pl.Float64}.get(hint, pl.String)  # what has fields travels as JSON text

    return pl.Schema({name: column(hints[name]) for name in columns})


def restrict_to_items(
    rows: "pl.DataFrame", chosen: "Collection[tuple[str, str, str]] | None"
) -> "pl.DataFrame":
    """The rows about chosen items (benchmark, base id, variant); all where none are chosen."""
    import polars as pl

    if chosen is None:
        return rows
    schema = dict.fromkeys(["benchmark", "item", "variant"], pl.String)
    keys = pl.DataFrame(sorted(chosen), schema=schema, orient="row")
    return rows.join(keys, on=["benchmark", "item", "variant"], how="semi", maintain_order="left")


_Row = TypeVar("_Row")
FEW_BYTES = 8 * 2**20
"""The size of a file up to which its rows may stay in memory."""


class Line(NamedTuple):
    """A row of a file, and where it stands there: 'answers.jsonl, line 3'."""

    where: str
    row: dict[str, Any]


class Kept(Iterable[_Row]):
    """What a reading gives: the first that comes to the end is kept, and others give the same again."""

    def __init__(self, begin: Callable[[], Iterator[_Row]]) -> None:
        self._begin = begin
        self._rows: list[_Row] | None = None

    def __iter__(self) -> Iterator[_Row]:
        return self._reading() if self._rows is None else iter(self._rows)

    def _reading(self) -> Iterator[_Row]:
        rows = []
        for row in self._begin():
            rows.append(row)
            yield row
        self._rows = rows


class Lines(Iterable[Line]):
    """Rows that are read anew as often as they are asked for, so that none stays in memory.

    `begin` starts at the first row, and raises what it raises where it comes to it. Those of a `small` file
    are kept. `columns` are theirs once they have been looked for: they are asked for again and again.
    """

    def __init__(self, begin: Callable[[], Iterator[Line]], *, small: bool = False) -> None:
        self._begin = Kept(begin).__iter__ if small else begin
        self.columns: tuple[str, ...] | None = None

    def __iter__(self) -> Iterator[Line]:
        return self._begin()


def is_file(path: Path) -> bool:
    """True if a file lies at the path. Raises `InputError` where the system does not let us look."""
    try:
        return path.is_file()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def is_table_file(path: Path) -> bool:
    """True for a file that `open_table` may read, by its name; hidden files are none."""
    return path.suffix.lower() in _READERS and not path.name.startswith(".") and path.is_file()


class Dialect(NamedTuple):
    """How a file is written: the character between columns, the encoding, the sheet; null: not stated.

    `delimiter` and `encoding` as people state them: a word such as semicolon or one character, a codec of
    Python. Of a file that was read they are what it was read with, and null where the format has no such
    choice.
    """

    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    @property
    def in_words(self) -> str:
        """'delimiter semicolon, encoding utf-8', or ''."""
        return ", ".join(f"{name} {value}" for name, value in self._asdict().items() if value is not None)


AS_FOUND = Dialect()


class Table(NamedTuple):
    """The rows of a file, how it was read, and why that was guessed ('' where it was not).

    `layout` says in a few words how an object of JSON holds them, '' for lines and arrays.
    """

    lines: Lines
    dialect: Dialect = AS_FOUND
    guess: str = ""
    layout: str = ""


def open_table(path: Path, dialect: Dialect = AS_FOUND) -> Table:
    """The table in a .jsonl, .ndjson, .json, .csv, .tsv, .parquet, .xlsx or .xlsm file.

    Delimiter and encoding of delimited text are found where `dialect` does not state them (see `encoding_of`
    and `delimiter_of`); JSON is UTF-8 or has a byte order mark. A sheet is read as the CSV that would be
    saved of it, by default the first. Raises `InputError` naming file and line: no such file, another kind of
    file, an empty one, an encoding that does not fit or is not told, broken JSON (halves of surrogate
    pairs included), a row of another length than its header; or a choice that the kind of file does not have.
    """
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        also = "; save the workbook as .xlsx" if suffix in (".xls", ".xlsb", ".ods", ".numbers") else ""
        if suffix in (".gz", ".zip", ".bz2", ".xz", ".zst"):
            raise InputError(f"{path} is packed: unpack it first.")
        raise InputError(
            f"cannot tell what {path} holds: name it .jsonl, .json, .csv, .tsv, .xlsx or .parquet{also}."
        )
    if not is_file(path):
        raise InputError(f"no file at {path}." if not path.is_dir() else f"{path} is a folder, not a file.")
    reader, choices = _READERS[suffix]
    if misplaced := [name for name, value in dialect._asdict().items() if value and name not in choices]:
        raise InputError(f"{path}: a {suffix} file has no {misplaced[0]} to be chosen.")
    table = reader(path, dialect)
    small = path.stat().st_size <= FEW_BYTES
    return table._replace(lines=Lines(functools.partial(_not_empty, path, table.lines), small=small))


def read_lines(path: Path) -> Iterator[Line]:
    """The rows of a file as `open_table` finds them. Raises `InputError` as it does."""
    yield from open_table(path).lines


def _not_empty(path: Path, lines: Iterable[Line]) -> Iterator[Line]:
    empty = True
    for line in lines:
        empty = False
        yield line
    if empty:
        raise InputError(f"{path} is empty: it holds no rows.")


def _json_table(path: Path, dialect: Dialect) -> Table:
    """JSON lines, one array of objects, or an object that holds the rows; see `core.json_layouts`."""
    from vivavoce.core.encodings import codec_of, marked_encoding
    from vivavoce.core.json_layouts import json_rows

    codec = codec_of(dialect.encoding) if dialect.encoding else marked_encoding(path) or "utf-8"
    rows, layout = json_rows(path, codec)
    lines = Lines(lambda: (Line(place, _object(row, place)) for place, row in rows()))
    return Table(lines, Dialect(encoding=codec), layout=layout)


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{place}: a JSON object is needed, not {type(value).__name__}.")
    return value


def _delimited_table(path: Path, dialect: Dialect) -> Table:
    from vivavoce.core.delimited import delimited_rows, delimiter_of, with_delimiter
    from vivavoce.core.encodings import Encoding, codec_of, encoding_of

    encoding = Encoding(codec_of(dialect.encoding)) if dialect.encoding else encoding_of(path)
    if dialect.delimiter:
        delimiter = with_delimiter(path, encoding.codec, dialect.delimiter)
    else:
        delimiter = delimiter_of(path, encoding.codec)
    advice = f" The delimiter is {delimiter.word}: a field that holds one needs quotes."

    def lines() -> Iterator[Line]:
        rows = delimited_rows(path, encoding.codec, delimiter)
        return _under_header(path, ((f"{path}, line {number}", row) for number, row in rows), advice)

    return Table(Lines(lines), Dialect(delimiter.word, encoding.codec), encoding.why)


def _under_header(path: Path, rows: Iterator[tuple[str, list[str]]], advice: str = "") -> Iterator[Line]:
    """The rows by the names in the first one.

    Rows of blank cells are left out, and several columns at the end without a name or a cell: spreadsheets
    write both around their table.
    """
    header = next(rows, ("", []))[1]
    names = _column_names(header)
    twice = next((name for name in sorted(names) if names.count(name) > 1), None)
    for place, row in rows:
        if not row or (len(row) > 1 and not any(row)):
            continue
        if len(row) != len(header):
            raise InputError(f"{place}: {len(row)} fields where the header has {len(header)}.{advice}")
        if any(row[len(names) :]):
            twice = ""
        if twice is not None:
            raise InputError(f"{path}: the column {twice!r} stands there twice.")
        yield Line(place, dict(zip(names, row, strict=False)))


def _column_names(header: list[str]) -> list[str]:
    """The names without several empty ones at the end; one column may have no name."""
    last = next((k for k in range(len(header), 0, -1) if header[k - 1]), 0)
    return header[:last] if len(header) - last > 1 else header


def _parquet_table(path: Path, dialect: Dialect) -> Table:
    return Table(Lines(functools.partial(_parquet, path)))


def _workbook_table(path: Path, dialect: Dialect) -> Table:
    from vivavoce.core.workbooks import read_sheet

    sheet = read_sheet(path, dialect.sheet)
    rows = [(f"{path}, row {number}", cells) for number, cells in sheet.rows]
    return Table(Lines(lambda: _under_header(path, iter(rows))), Dialect(sheet=sheet.name))


def _parquet(path: Path) -> Iterator[Line]:
    import polars as pl

    from vivavoce.core.parquet_sizes import refuse_bomb

    refuse_bomb(path)
    try:
        frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        for start in range(0, frame.select(pl.len()).collect().item(), _PARQUET_ROWS):
            part = frame.slice(start, _PARQUET_ROWS).collect()
            for number, row in enumerate(part.iter_rows(named=True), start + 1):
                yield Line(f"{path}, row {number}", row)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet ({error}).") from None


_PARQUET_ROWS = 100_000
"""Rows of a Parquet file that are in memory; a group of the file, often as large, is decoded whole."""
_READERS: dict[str, tuple[Callable[[Path, Dialect], Table], tuple[str, ...]]] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), (_json_table, ("encoding",))),
    **dict.fromkeys((".csv", ".tsv"), (_delimited_table, ("delimiter", "encoding"))),
    **dict.fromkeys((".xlsx", ".xlsm"), (_workbook_table, ("sheet",))),
    ".parquet": (_parquet_table, ()),
}
"""By the end of a file's name, with the choices of a dialect that it has."""


def cell(row: Mapping[str, Any], name: str) -> Any:
    """What stands in the column `name` of a row, or in its fields, as `output.text` or `choices.0.text`.

    A column that bears the whole name wins, so does a field whose own name holds a dot. A null on the way is
    the null of all its fields: an answer that never arrived has no text. Raises `KeyError` where there is no
    such column or field.
    """
    return _field(row, name)


def _field(value: Any, path: str) -> Any:
    if isinstance(value, Mapping):
        return value[path] if path in value else _inner_field(value, path)
    if isinstance(value, list):
        head, _, remainder = path.partition(".")
        if head.isdecimal() and len(head) < 10 and int(head) < len(value):
            return _field(value[int(head)], remainder) if remainder else value[int(head)]
    elif value is None:
        return None
    raise KeyError(path)


def _inner_field(value: Mapping[str, Any], path: str) -> Any:
    """The field behind the longest name that begins the path and leads there."""
    for dot in (k for k in range(len(path) - 1, 0, -1) if path[k] == "."):
        if path[:dot] in value:
            with suppress(KeyError):
                return _field(value[path[:dot]], path[dot + 1 :])
    raise KeyError(path)


def cell_names(row: Mapping[str, Any], most: int = 100) -> list[str]:
    """The columns of a row, and the fields within them under their dotted names."""
    names = list(row)
    level = list(row.items())
    while level and len(names) < most:
        level = [(f"{name}.{key}", entry) for name, value in level for key, entry in _fields_of(value)]
        names += [name for name, _ in level]
    return names[: max(most, len(row))]


def _fields_of(value: Any) -> list[tuple[Any, Any]]:
    """The fields of an object, and the first objects of a list."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return list(enumerate(value[:3]))
    return []


def cell_for(line: Line, field: str, column: str) -> Any:
    """The cell of a field of ours. Raises `InputError` with a suggestion where there is no such column."""
    try:
        return cell(line.row, column)
    except KeyError:
        raise InputError(
            f"{line.where}: no column {column!r} to take {field} from.{suggest(column, cell_names(line.row))}"
        ) from None


def in_levels(line: Line, columns: Sequence[str]) -> Line:
    """The row with one more column, which holds the groups in these columns, outermost first.

    It is called by their names between commas. Without columns the row is as it was.
    """
    if not columns:
        return line
    groups = [cell_for(line, "group", column) for column in columns]
    return Line(line.where, {**line.row, ",".join(columns): groups})


def rename(line: Line, columns: Mapping[str, str]) -> dict[str, Any]:
    """The row with the file's columns named as ours: `columns` gives for each of our names the file's.

    A name may lead into a column, as `output.text` (see `cell`); such a column stays too. Raises `InputError`
    with a suggestion when a column named there is absent.
    """
    values = {ours: cell_for(line, ours, theirs) for ours, theirs in columns.items()}
    taken = set(columns.values())
    row = {name: value for name, value in line.row.items() if name not in taken}
    return row | values
