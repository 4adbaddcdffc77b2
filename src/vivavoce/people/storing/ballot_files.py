"""Files that raters send back: the ballot of a page, or a filled sheet, as rows of texts and entries."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json
from vivavoce.core.tables import is_file
from vivavoce.core.text import one_line
from vivavoce.people.tasks import TASKS, Row

SHEET = ("panel", "rater", "item", "seal", "question", "label", "answer")
"""The columns of a sheet whatever the task."""


class FilledFile(NamedTuple):
    """The rows of a file: a ballot bears the `schema` of its task, a sheet has `columns`; else null."""

    rows: tuple[Row, ...]
    schema: str | None = None
    columns: tuple[str, ...] | None = None


def read_file(file: Path) -> FilledFile:
    """The rows of a .json ballot or a .csv sheet. Raises `InputError` for any other, or a broken one."""
    if not is_file(file):
        raise InputError(f"no file at {file}." if not file.is_dir() else f"{file} is a folder, not a file.")
    kind = file.suffix.lower()
    if kind in (".html", ".htm"):
        raise InputError(
            f"{file} is the packet and not the ballot: what was filled in is in the .json file that its "
            "button 'Download the ballot' saves."
        )
    if kind not in (".json", ".csv"):
        raise InputError(
            f"{file} is no ballot: a ballot is the .json that a packet's page saves, or the packet's .csv."
        )
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}: byte {error.start + 1} is not UTF-8; save it again as CSV UTF-8, and its letters will "
            "come through."
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}.") from error
    return _json(file, text) if kind == ".json" else _csv(file, text)


def _json(file: Path, text: str) -> FilledFile:
    try:
        body = read_json(text)
    except ValueError as error:
        raise InputError(f"{file}: broken JSON ({error}): download the ballot again.") from None
    schemas = [task.schema for task in TASKS.values()]
    if not isinstance(body, dict) or body.get("schema") not in schemas:
        lines = " or ".join(f'"schema": "{schema}"' for schema in schemas)
        raise InputError(f"{file} is no ballot: it lacks the line {lines}.")
    try:
        return FilledFile(tuple(_ballot_rows(file, body)), schema=body["schema"])
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file} is a ballot that was changed by hand or cut short ({type(error).__name__}: {error}): "
            "download it again."
        ) from None


def _ballot_rows(file: Path, body: Mapping[str, Any]) -> Iterator[Row]:
    common = {name: _text(body[name]) for name in ("panel", "rater")}
    for item in body["items"]:
        texts = {name: _text(item[name]) for name in ("item", "seal", "question")}
        if "reference" in item:
            texts["reference"] = _text(item["reference"])
        for answer in item["answers"]:
            remark = _text(answer.get("remark") or item.get("remark") or "")
            yield Row(
                f"{file}, {texts['item']}",
                {**common, **texts, **{name: _text(answer[name]) for name in ("label", "answer")}},
                {**answer, "remark": remark},
            )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{one_line(repr(value), 40)} is no text")
    return value


def _csv(file: Path, text: str) -> FilledFile:
    # In countries that write 0,5 spreadsheets save semicolons.
    first = next((line for line in text.splitlines() if line.lstrip('"').startswith("panel")), "")
    counts = {sign: first.count(sign) for sign in ",;\t"}
    csv.field_size_limit(1 << 30)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(counts, key=lambda sign: counts[sign]))
    header: list[str] | None = None
    answers = []
    try:
        for row in rows:
            if header is None:
                header = _header(file, row)
            elif any(cell.strip() for cell in row):
                place = f"{file}, line {rows.line_num}"
                if len(row) < len(header):
                    raise InputError(f"{place}: {len(row)} fields where the header has {len(header)}.")
                cells = dict(zip(header, row, strict=False))
                answers.append(Row(place, cells, cells))
    except csv.Error as error:
        raise InputError(f"{file}, line {rows.line_num}: broken CSV ({error}).") from None
    if header is None:
        raise InputError(f"{file} is no packet's sheet: no line begins with panel, rater, item.")
    return FilledFile(tuple(answers), columns=tuple(header))


def _header(file: Path, row: Sequence[str]) -> list[str] | None:
    """The names of the columns, or none where a line above the header stands."""
    cells = [cell.strip().casefold() for cell in row]
    if not cells or cells[0] != "panel":
        return None
    check_columns(file, cells, SHEET)
    return cells


def check_columns(file: Path, columns: Sequence[str], expected: Sequence[str]) -> None:
    """Raise `InputError` where a column that was sent is gone."""
    if absent := [name for name in expected if name not in columns]:
        raise InputError(f"{file}: the column {absent[0]!r} is gone; it was sent with one.")
