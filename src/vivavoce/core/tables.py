"""Tables in and out: the schemas of ours, and reading of other people's jsonl, csv and parquet files."""

import csv
import functools
import json
import types
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.json_text import read_json
from vivavoce.core.records import Candidate, Item, Response, Score

if TYPE_CHECKING:
    import polars as pl


ITEMS = tuple(f.name for f in fields(Item))
LISTS = ("options", "answer", "references", "must", "nice", "steps")
"""The item fields that hold several texts."""
RESPONSES = (
    *("benchmark", "item", "variant", "alias", "group", "category", "format", "candidate", "role", "repeat"),
    *("edit", "probe", "status", "text", "reasoning", "finish_reason", "tokens", "seconds", "cost", "error"),
    *("meta", "logprobs"),
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


class Line(NamedTuple):
    """A row of a file, and where it stands there: 'answers.jsonl, line 3'."""

    where: str
    row: dict[str, Any]


def is_file(path: Path) -> bool:
    """True if a file lies at the path. Raises `InputError` where the system does not let us look."""
    try:
        return path.is_file()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def read_lines(path: Path) -> Iterator[Line]:
    """The rows of a .jsonl (or .ndjson), .csv (or .tsv) or .parquet file, one at a time.

    Raises `InputError` naming file and line: no such file, another kind of file, an empty one, not UTF-8,
    broken JSON (NaN and halves of surrogate pairs included), a CSV row of another length than its header.
    """
    readers = {
        ".jsonl": _jsonl,
        ".ndjson": _jsonl,
        ".csv": _csv,
        ".tsv": _csv,
        ".parquet": _parquet,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"cannot tell what {path} holds: name it .jsonl, .csv, .tsv or .parquet.")
    if not is_file(path):
        raise InputError(f"no file at {path}." if not path.is_dir() else f"{path} is a folder, not a file.")
    empty = True
    for line in reader(path):
        empty = False
        yield line
    if empty:
        raise InputError(f"{path} is empty: it holds no rows.")


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a UTF-8 file, line ends kept, a byte order mark skipped."""
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, 1):
                if number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    raise InputError(f"{path} is UTF-16, not UTF-8: save it as UTF-8 and try again.")
                try:
                    yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(
                        f"{path}, line {number}: byte {error.start + 1} ({raw[error.start]:#04x}) is not "
                        "UTF-8; save the file as UTF-8 and try again."
                    ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def _jsonl(path: Path) -> Iterator[Line]:
    for number, text in _text_lines(path):
        if not text.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = read_json(text.rstrip("\r\n"))
        except json.JSONDecodeError as error:
            raise InputError(f"{where}: broken JSON ({error.msg}, column {error.colno}).") from None
        except ValueError as error:
            raise InputError(f"{where}: broken JSON ({error}).") from None
        if not isinstance(row, dict):
            raise InputError(f"{where}: a JSON object is needed, not {type(row).__name__}.")
        yield Line(where, row)


def _csv(path: Path) -> Iterator[Line]:
    texts = (text for _, text in _text_lines(path))
    rows = csv.reader(texts, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
    csv.field_size_limit(1 << 30)  # the default refuses an answer of more than 131,072 characters
    try:
        header = next(rows, [])
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise InputError(f"{path}: the column {twice[0]!r} stands there twice.")
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            if not row:
                continue
            if len(row) != len(header):
                raise InputError(f"{where}: {len(row)} fields where the header has {len(header)}.")
            yield Line(where, dict(zip(header, row, strict=True)))
    except csv.Error as error:
        raise InputError(f"{path}, line {rows.line_num}: broken CSV ({error}).") from None


def _parquet(path: Path) -> Iterator[Line]:
    import polars as pl

    try:
        frame = pl.read_parquet(path.read_bytes())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet ({error}).") from None
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        yield Line(f"{path}, row {number}", row)


def rename(line: Line, columns: Mapping[str, str]) -> dict[str, Any]:
    """The row with the file's columns named as ours: `columns` gives for each of our names the file's.

    Raises `InputError` with a suggestion when a column named there is absent.
    """
    for ours, theirs in columns.items():
        if theirs not in line.row:
            raise InputError(
                f"{line.where}: no column {theirs!r} to take {ours} from.{suggest(theirs, list(line.row))}"
            )
    taken = set(columns.values())
    row = {name: value for name, value in line.row.items() if name not in taken}
    return row | {ours: line.row[theirs] for ours, theirs in columns.items()}
