"""Run files that a stranger changed: each change as SQL, with the words that refuse it."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

__all__ = ["STRANGERS", "change", "folder_bytes"]

STRANGERS: Mapping[str, tuple[str, str]] = {
    "trigger": (
        "CREATE TRIGGER spy AFTER INSERT ON provenance BEGIN DELETE FROM scores; END",
        "holds the trigger 'spy', which no run of this format has",
    ),
    "trigger on a view": (
        "CREATE TRIGGER spy INSTEAD OF INSERT ON score_rows BEGIN SELECT 1; END",
        "holds the trigger 'spy'",
    ),
    "replaced view": (
        "DROP VIEW score_rows; CREATE VIEW score_rows AS SELECT 1 AS benchmark, 1.0 AS value",
        "declares the view 'score_rows' otherwise than a run of this format does",
    ),
    "table in place of a view": (
        "DROP VIEW item_rows; CREATE TABLE item_rows (item TEXT)",
        "holds the table 'item_rows'",
    ),
    "index with an expression": (
        "CREATE INDEX quick ON scores (abs(value))",
        "holds the index 'quick'",
    ),
    "index": ("CREATE INDEX quick ON scores (value)", "holds the index 'quick'"),
    "other index": (
        "DROP INDEX asked_before; CREATE INDEX asked_before ON calls (lower(key))",
        "declares the index 'asked_before' otherwise",
    ),
    "table": ("CREATE TABLE notes (a TEXT)", "holds the table 'notes'"),
    "counter": (
        "CREATE TABLE n (a INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE n",
        "holds the table 'sqlite_sequence'",
    ),
    "virtual table": (
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES "
        "('table', 'words', 'words', 0, 'CREATE VIRTUAL TABLE words USING fts5(a)')",
        "holds the virtual table 'words'",
    ),
    "generated column": (
        "ALTER TABLE scores ADD COLUMN twice REAL AS (abs(value) * 2)",
        "declares the table 'scores' otherwise",
    ),
    "further column": (
        "ALTER TABLE items ADD COLUMN spy TEXT DEFAULT 'x'",
        "declares the table 'items' otherwise",
    ),
    "changed check": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '''floor'', ''ceiling''', "
        "'''floor'', ''judge''') WHERE name = 'candidates'",
        "declares the table 'candidates' otherwise",
    ),
    "comment": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'metric ', '/**/metric ') "
        "WHERE name = 'measures'",
        "declares the table 'measures' otherwise",
    ),
    "shared pages": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM "
        "sqlite_master WHERE name = 'edits') WHERE name = 'units'",
        "shares its pages with another object",
    ),
    "missing view": ("DROP VIEW response_rows", "the view 'response_rows' is missing"),
    "missing index": ("DROP INDEX one_current_version", "the index 'one_current_version' is missing"),
    "missing trigger": ("DROP TRIGGER events_stay", "the trigger 'events_stay' is missing"),
    "format of an older one": ("PRAGMA user_version = 3", "otherwise than a run of this format does"),
    "format before the first": ("PRAGMA user_version = 0", "which no run of this format has"),
    "format below nothing": ("PRAGMA user_version = -5", "its format is numbered -5"),
    "name that drives a terminal": (
        'CREATE TABLE "\x1b[2J\x07\nviva: all is well\u202e" (a TEXT)',
        "holds the table '\ufffd[2J\ufffd viva: all is well\ufffd'",
    ),
    "long name": (f"CREATE TABLE {'x' * 3000} (a TEXT)", f"holds the table '{'x' * 59}…'"),
}


def change(path: Path, sql: str, journal: str = "wal") -> None:
    """Run SQL on the file as a stranger would, with no guard on."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(sql)
        db.commit()
        db.execute("PRAGMA writable_schema = OFF")
        db.execute(f"PRAGMA journal_mode = {journal}")


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
