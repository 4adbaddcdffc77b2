"""JSON files as people write tables in them: lines, an array, or an object that holds the rows."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.encodings import text_lines
from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json

_ROWS = frozenset((
    *("results", "data", "examples", "predictions", "outputs", "responses", "answers", "questions", "items"),
    *("records", "rows", "samples", "entries", "instances", "generations", "details", "runs"),
))  # fmt: skip
"""Names under which an object holds its rows; other lists of objects are parts of one row."""
_FIELDS = frozenset((
    *("id", "question", "prompt", "input", "query", "options", "choices", "answer", "target", "reference"),
    *("model", "response", "output", "prediction", "completion", "text", "messages", "meta", "metadata"),
))  # fmt: skip
"""Names of a row's fields: an object with one of them is a row, or a table by columns."""
_NUMBERED = re.compile(r"[^\W\d]*[-_.:/ ]?\d[\w.:/-]*")


class Rows(NamedTuple):
    """The rows of one JSON value, each with its place inside, and in a few words how they lie there."""

    rows: list[tuple[str, Any]]
    layout: str = ""


def json_rows(path: Path, codec: str) -> tuple[Callable[[], Iterator[tuple[str, Any]]], str]:
    """The rows of a file, each with its place in it, and how they lie there; '' for lines and an array.

    A file of one value is read whole; lines are read one by one, as often as asked for. NaN is null, as
    Python writes it. Raises `InputError` with the place of broken JSON.
    """
    head = list(islice(_filled(path, codec), 2))
    if not head or (len(head) > 1 and not _is_open(head[0][1])):
        return (lambda: _lines(path, codec)), ""
    if len(head) == 1:
        place, text = f"{path}, line {head[0][0]}", head[0][1]
    else:
        place, text = str(path), "".join(text for _, text in text_lines(path, codec))
    value = _value(text, place)
    try:
        rows, layout = rows_of(value)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    start = place if rows == [("", value)] else str(path)
    return (lambda: ((f"{start}{part}", row) for part, row in rows)), layout


def _filled(path: Path, codec: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    return ((number, text) for number, text in text_lines(path, codec) if text.strip())


def _lines(path: Path, codec: str) -> Iterator[tuple[str, Any]]:
    start = f"{path}, line "
    for number, text in _filled(path, codec):
        place = f"{start}{number}"
        yield place, _value(text.rstrip("\r\n"), place, by_line=True)


def _value(text: str, place: str, *, by_line: bool = False) -> Any:
    try:
        return read_json(text, nan_is_null=True)
    except json.JSONDecodeError as error:
        line = "" if by_line or error.lineno == 1 else f", line {error.lineno}"
        column = f", column {error.colno}" if by_line else ""
        raise InputError(f"{place}{line}: broken JSON ({error.msg}{column}).") from None
    except ValueError as error:
        raise InputError(f"{place}: broken JSON ({error}).") from None


def _is_open(line: str) -> bool:
    """Whether a line breaks off where JSON may go on: it is the first of a value over several lines."""
    text = line.strip()
    try:
        read_json(text, nan_is_null=True)
    except json.JSONDecodeError as error:
        return text[0] in "[{" and error.pos >= len(text)
    except ValueError:
        return False
    return False


def rows_of(value: Any) -> Rows:
    """The rows that a JSON value holds; a value that is no known layout is one row.

    Known are an array; `results`, `data` … with facts beside them, which each row gets; columns with an
    index, as pandas writes them, or with lists; `columns` and `data`; records or texts by id; tables by
    model, temperature or repeat. A key becomes `id`, `model` … where the record has no such field. Raises
    `InputError` for a row of `data` with more or fewer cells than `columns` where others fit.
    """
    if isinstance(value, list):
        return Rows([(f", entry {number}", row) for number, row in enumerate(value, 1)])
    if isinstance(value, dict) and value:
        for layout in (_split, _under_a_name, _by_columns, _by_id, _texts_by_id, _by_group):
            if (rows := layout(value)) is not None:
                return rows
    return Rows([("", value)])


def _split(value: Mapping[str, Any]) -> Rows | None:
    """`columns` and `data`, as `to_json(orient='split')` has it."""
    names, data = value.get("columns"), value.get("data")
    if not isinstance(names, list) or not isinstance(data, list):
        return None
    if not all(isinstance(row, list) for row in data) or len(names) not in set(map(len, data)):
        return None
    for number, row in enumerate(data, 1):
        if len(row) != len(names):
            raise InputError(f"row {number} of data: {len(row)} cells where there are {len(names)} columns.")
    rows = [(f", data {n}", dict(zip(map(str, names), row, strict=True))) for n, row in enumerate(data, 1)]
    return Rows(rows, "columns and data")


def _under_a_name(value: Mapping[str, Any]) -> Rows | None:
    """Rows under one name, with what is said of all of them beside it."""
    lists = [name for name, rows in value.items() if name.casefold() in _ROWS and _is_table(rows)]
    if len(lists) != 1:
        return None
    (name,) = lists
    facts = {key: fact for key, fact in value.items() if not isinstance(fact, list | dict)}
    rows = rows_of(value[name]).rows
    return Rows([(f", {name}{place}", facts | row) for place, row in rows], f"rows under {name!r}")


def _is_table(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, dict) for row in value)
    return isinstance(value, dict) and bool(value) and rows_of(value).layout != ""


def _by_columns(value: Mapping[str, Any]) -> Rows | None:
    """A column under each name: lists of one length, or values by one index."""
    columns = list(map(_column, value.values())) if _is_row(value) else []
    if not columns or None in columns or len({len(column or ()) for column in columns}) > 1:
        return None
    rows = [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
    return Rows([(f", row {number}", row) for number, row in enumerate(rows, 1)], "columns")


def _column(value: Any) -> list[Any] | None:
    """The cells of a column: a list, or values by an index of numbers, as pandas writes them."""
    if isinstance(value, dict) and value and all(map(str.isdecimal, value)):
        return list(value.values())
    return value if isinstance(value, list) else None


def _counts(keys: Mapping[str, Any]) -> bool:
    """Whether the keys of an object are 0, 1, 2 …: the index that pandas gives."""
    return list(keys) == [str(number) for number in range(len(keys))]


def _by_id(value: Mapping[str, Any]) -> Rows | None:
    """Records by id, which have a field in common; one row for each. Keys that only count are no ids."""
    records = list(value.values())
    if not all(isinstance(record, dict) for record in records) or _is_row(value):
        return None
    shared = set(records[0]).intersection(*records)
    if all(map(_is_numbered, shared)):
        return None
    counted = _counts(value)
    rows = [(f", {key!r}", record if counted else {"id": key, **record}) for key, record in value.items()]
    return Rows(rows, "records by number" if counted else "records by id")


def _texts_by_id(value: Mapping[str, Any]) -> Rows | None:
    """A text or a number by id: `answer` of each."""
    plain = all(entry is None or isinstance(entry, str | int | float) for entry in value.values())
    if not plain or len(value) < 2 or not all(map(_is_numbered, value)):
        return None
    return Rows([(f", {key!r}", {"id": key, "answer": text}) for key, text in value.items()], "texts by id")


def _by_group(value: Mapping[str, Any]) -> Rows | None:
    """A table under each model, temperature or number of a repeat."""
    if not all(map(_is_table, value.values())) or _is_row(value):
        return None
    field = "model"
    if all(re.fullmatch(r"\d+(\.\d+)?", key) for key in value):
        field = "temperature" if any("." in key for key in value) else "repeat"
    tables = ((key, rows_of(table).rows) for key, table in value.items())
    rows = chain.from_iterable(
        ((f", {key!r}{place}", {field: key} | row) for place, row in inner) for key, inner in tables
    )
    return Rows(list(rows), f"tables by {field}")


def _is_row(value: Mapping[str, Any]) -> bool:
    return bool(_FIELDS & {name.casefold() for name in value})


def _is_numbered(name: str) -> bool:
    """Whether a name is an id that counts: 101, q1, med_qa-7."""
    return bool(_NUMBERED.fullmatch(name))
