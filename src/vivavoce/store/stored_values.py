"""Stored values are checked where they are decoded: a file of a stranger holds what no table of ours takes.

Rules of the tables (types, checks, nulls) are SQLite's to check, a table at a time; the shape of stored JSON
is ours.
"""

import json
import sqlite3
from typing import Any

from vivavoce.store.damage import DamagedValue, decoding
from vivavoce.store.schema import STATUSES

SMALL = ("benchmarks", "candidates", "edits", "measures", "statuses", "score_checksums", "exclusion_lists")
"""Tables of few rows, which every command reads: they are checked when a run is opened."""


def check_rows(db: sqlite3.Connection, *tables: str) -> None:
    """Raise `DamagedValue` if a row of these tables breaks a rule that the table declares."""
    for table in tables:
        (fault,) = db.execute(f"PRAGMA quick_check({table})").fetchone()
        if fault != "ok":
            raise DamagedValue(f"{table}: {fault}")


def check_small_tables(db: sqlite3.Connection) -> None:
    """Raise `DamagedValue` unless the small tables keep their rules and the scores' statuses are ours."""
    check_rows(db, *SMALL)
    if db.execute("SELECT status_id, status FROM statuses ORDER BY 1").fetchall() != list(
        enumerate(STATUSES)
    ):
        raise DamagedValue("statuses: they are not those of a score")
    for table in ("edit", "unit", "ballot"):  # their first row stands for none
        if db.execute(f"SELECT {table} FROM {table}s WHERE {table}_id = 0").fetchone() != ("",):
            raise DamagedValue(f"{table}s: its first row is another")


def stored_object(text: str, subject: str) -> dict[str, Any]:
    """A stored JSON object. Raises `DamagedValue`."""
    value: dict[str, Any] = _typed(text, subject, dict)
    return value


def stored_list(text: str, subject: str) -> list[Any]:
    """A stored JSON list. Raises `DamagedValue`."""
    value: list[Any] = _typed(text, subject, list)
    return value


def stored_rows(text: str, subject: str) -> list[dict[str, Any]]:
    """A stored JSON list of objects. Raises `DamagedValue`."""
    rows = stored_list(text, subject)
    with decoding(subject):
        if not all(isinstance(row, dict) for row in rows):
            raise ValueError("a row is no object")
    return rows


def _typed(text: str, subject: str, kind: type) -> Any:
    with decoding(subject):
        value = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(value, kind):
            raise ValueError(f"it is no JSON of that kind: {value!r:.40}")
    return value


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no number")
