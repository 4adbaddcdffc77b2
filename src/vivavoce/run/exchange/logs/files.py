"""What readers of logs share: the first piece of a file, by which it is recognised, and its rows."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import entries, lines, members
from vivavoce.core.tables import Line

START = 4096
"""Characters in which a file shows what it is."""


def start_of(path: Path) -> str:
    """The first characters of a file; '' where it is no text, or cannot be read."""
    with suppress(OSError, UnicodeDecodeError), path.open(encoding="utf-8-sig") as stream:
        return stream.read(START)
    return ""


def first_line(path: Path) -> Mapping[str, Any]:
    """The object in the first line of a file of JSON lines; empty where it is none."""
    with suppress(OSError, UnicodeDecodeError, ValueError, RecursionError):
        if path.suffix.lower() not in (".jsonl", ".ndjson"):
            return {}
        with path.open(encoding="utf-8-sig") as stream:
            row: Any = json.loads(stream.readline(1 << 24))
            return row if isinstance(row, dict) else {}
    return {}


def first_entry(path: Path) -> Mapping[str, Any]:
    """The first object of the list in a JSON file; empty where it holds none."""
    with suppress(InputError):
        if path.suffix.lower() == ".json" and start_of(path).lstrip().startswith("["):
            row: Any = next(iter(entries(path)), {})
            return row if isinstance(row, dict) else {}
    return {}


def json_rows(path: Path, *fields: str) -> Iterator[Line]:
    """The lines of a file of JSON lines, or the entries of the list in a JSON file, each with its place.

    Raises `InputError` for an entry that is no object, or lacks one of these fields.
    """
    is_list = path.suffix.lower() == ".json"
    for number, row in enumerate(entries(path), 1) if is_list else lines(path):
        place = f"{path}, {'entry' if is_list else 'line'} {number}"
        if not isinstance(row, dict):
            raise InputError(f"{place}: a JSON object is needed, not {type(row).__name__}.")
        if lack := next((name for name in fields if name not in row), None):
            raise InputError(f"{place}: {lack} is missing, so this is no whole log: have it written again.")
        yield Line(place, row)


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
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson") or start.strip():
        return ""
    blank = start or not path.stat().st_size
    return "empty" if blank else "no UTF-8 text, in which logs are written: save it as UTF-8"
