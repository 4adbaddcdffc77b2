"""What readers of logs share: the first piece of a file, by which it is recognised, and its rows."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import entries, lines, members
from vivavoce.core.json_text import read_json
from vivavoce.core.tables import Line, read_lines

START = 4096
"""Characters in which a file shows what it is."""
_JSON_LINES, _DELIMITED = (".jsonl", ".ndjson"), (".csv", ".tsv")
_JSON = (".json", *_JSON_LINES)


def start_of(path: Path) -> str:
    """The first characters of a file; '' where it is no text, or cannot be read."""
    return _glance(path).start


def first_row(path: Path) -> Mapping[str, Any]:
    """The first object of JSON lines or of a JSON list, or the columns of a table; empty where it is none."""
    return _glance(path).row


class _Glance(NamedTuple):
    """What a file shows of itself: its first characters, and its first row."""

    start: str
    row: Mapping[str, Any]


def _glance(path: Path) -> _Glance:
    try:
        state = path.stat()
    except OSError:
        return _Glance("", {})
    return _glance_of(path, state.st_mtime_ns, state.st_size, state.st_ino)


# Every reader asks a file what it is; each file is opened once for all of them.
@lru_cache(maxsize=8)
def _glance_of(path: Path, *state: int) -> _Glance:
    start, row = "", None
    with suppress(OSError, UnicodeDecodeError), path.open(encoding="utf-8-sig") as stream:
        start = stream.read(START)
    with suppress(OSError, UnicodeDecodeError, ValueError, RecursionError, InputError):
        row = _first_row(path, start)
    return _Glance(start, row if isinstance(row, dict) else {})


def _first_row(path: Path, start: str) -> Any:
    """The first value of rows as JSON, or the columns of a table; raises where it cannot be read."""
    kind = path.suffix.lower()
    if kind in _JSON and start.lstrip().startswith("["):
        return next(iter(entries(path)), None)
    if kind in _JSON_LINES:
        with path.open(encoding="utf-8-sig") as stream:
            return read_json(stream.readline(1 << 24), nan=True)
    if kind in _DELIMITED:
        header = start.partition("\n")[0].strip("\r")
        return max((dict.fromkeys(next(csv.reader([header], delimiter=d), [])) for d in ",;\t"), key=len)
    if kind == ".parquet":
        return _parquet_columns(path)
    return None


def _parquet_columns(path: Path) -> Mapping[str, Any]:
    import polars as pl

    try:
        return dict.fromkeys(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return {}


def json_rows(path: Path, *fields: str) -> Iterator[Line]:
    """The rows of a file of JSON lines, or the entries of the list that it holds, each with its place.

    Raises `InputError` for an entry that is no object, or lacks one of these fields.
    """
    is_list = start_of(path).lstrip().startswith("[") or path.suffix.lower() == ".json"
    for number, row in enumerate(entries(path), 1) if is_list else lines(path):
        place = f"{path}, {'entry' if is_list else 'line'} {number}"
        if not isinstance(row, dict):
            raise InputError(f"{place}: a JSON object is needed, not {type(row).__name__}.")
        if lack := next((name for name in fields if name not in row), None):
            raise InputError(f"{place}: {lack} is missing, so this is no whole log: have it written again.")
        yield Line(place, row)


def rows_of(path: Path, name: str = "", kind: str = "row") -> Iterator[Line]:
    """The rows of a log: JSON lines, a JSON list, the list under a dotted name in an object, or a table.

    `kind` is what such a list is of, in a place. An object of `columns` and `data`, as tools write a table in
    JSON, is a table too. Raises `InputError` for what is none of these.
    """
    if path.suffix.lower() not in _JSON:
        yield from read_lines(path)
    elif name and path.suffix.lower() == ".json" and start_of(path).lstrip().startswith("{"):
        yield from _member_rows(path, name, kind)
    else:
        yield from json_rows(path)


def _member_rows(path: Path, streamed: str, kind: str) -> Iterator[Line]:
    """The entries of a list in an object; those that are lists themselves by the names in `columns`."""
    columns: Any = None
    number = 0
    for name, row in members(path, streamed):
        if name == "columns":
            columns = row
        if name == streamed:
            number += 1
            place = f"{path}, {kind} {number}"
            yield Line(
                place, _named_cells(columns, row, place) if isinstance(row, list) else _row(row, place)
            )


def _row(row: Any, place: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputError(f"{place}: a JSON object is needed, not {type(row).__name__}.")
    return row


def _named_cells(columns: Any, cells: Sequence[Any], place: str) -> dict[str, Any]:
    """The cells of a row by the names of their columns."""
    names = columns if isinstance(columns, list) else []
    if len(names) != len(cells):
        raise InputError(
            f"{place}: {len(cells)} cells for {len(names)} columns: have the table written again."
        )
    return {str(name): value for name, value in zip(names, cells, strict=True)}


def members_before(path: Path, *streamed: str) -> dict[str, Any]:
    """The members of a file's object that stand before the first entry of a list named in `streamed`."""
    head: dict[str, Any] = {}
    for name, value in members(path, *streamed):
        if name in streamed:
            break
        head[name] = value
    return head


def no_text(path: Path) -> str:
    """What a file of JSON is that cannot be read as text: empty, or of another encoding; '' for any other."""
    start = start_of(path)
    if path.suffix.lower() not in _JSON or start.strip():
        return ""
    blank = start or not path.stat().st_size
    return "empty" if blank else "no UTF-8 text, in which logs are written: save it as UTF-8"
