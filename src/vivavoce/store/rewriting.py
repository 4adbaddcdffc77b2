"""Stored texts rewritten in place, in a copy of a run that is to say less.

Hashes and checksums do not follow: `integrity.rehash` makes them anew at the end.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from vivavoce.core.records import Item
from vivavoce.store.build_steps import forget_build
from vivavoce.store.read import hashed_items

Table = Literal["responses", "units", "passages", "exclusions", "calls", "provenance", "findings"]
_ROWS: Mapping[Table, tuple[str, str]] = {
    "responses": ("response_id", "responses"),
    "units": ("unit_id", "units"),
    "passages": ("passage_id", "passages"),
    "exclusions": ("exclusion_id", "exclusions JOIN exclusion_lists USING (list_id)"),
    "calls": ("call_id", "calls"),
    "provenance": ("provenance_id", "provenance"),
    "findings": ("finding_id", "findings"),
}
"""By table its key, and where its rows are read with what belongs to them."""


def rewrite_rows(
    db: sqlite3.Connection,
    table: Table,
    columns: Sequence[str],
    new: Callable[..., Sequence[object]],
    *context: str,
) -> None:
    """Give each row of a table new values in these columns.

    `new` takes the row's key, its values in the columns and in those of the `context`, and gives the new
    ones. The row of the key 0, which stands for none, stays.
    """
    key, rows_of = _ROWS[table]
    rows = db.execute(
        f"SELECT {', '.join((key, *columns, *context))} FROM {rows_of} WHERE {key} != 0"
    ).fetchall()
    marks = ", ".join("?" * len(columns))
    db.executemany(
        f"UPDATE {table} SET ({', '.join(columns)}) = ({marks}) WHERE {key} = ?",
        ((*new(*row), row[0]) for row in rows),
    )


def rewrite_score_texts(
    db: sqlite3.Connection, note: Callable[[str], str], parts: Callable[[str], str]
) -> None:
    """Give each score the note and the parts (JSON) that these functions make of its own; null stays."""
    db.create_function("new_note", 1, note)
    db.create_function("new_parts", 1, parts)
    db.execute("UPDATE scores SET note = new_note(note) WHERE note IS NOT NULL")
    db.execute("UPDATE scores SET parts = new_parts(parts) WHERE parts IS NOT NULL")


def rewrite_items(db: sqlite3.Connection, fields: Callable[[Item, int], Mapping[str, object]]) -> None:
    """Give each item, by its record and key, new values in some columns, and the hash of what it says now.

    An item whose row cannot be read stays.
    """
    for stored in list(hashed_items(db)):
        if stored.item is not None:
            values = fields(stored.item, stored.key)
            names = ", ".join(f'"{name}"' for name in values)
            db.execute(
                f"UPDATE items SET ({names}) = ({', '.join('?' * len(values))}) WHERE item_id = ?",
                (*values.values(), stored.key),
            )
    for stored in list(hashed_items(db)):
        if stored.item is not None:
            db.execute("UPDATE items SET hash = ? WHERE item_id = ?", (stored.item.hash, stored.key))


def shorten_journals(db: sqlite3.Connection, events: Sequence[str], study: str) -> None:
    """Remove the events but those of these kinds, the findings but those of a study, leases and the build."""
    triggers = db.execute(  # by which events are append-only
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'"
    ).fetchall()
    for name, _ in triggers:
        db.execute(f'DROP TRIGGER "{name}"')
    db.execute(f"DELETE FROM events WHERE kind NOT IN ({', '.join('?' * len(events))})", events)
    for _, sql in triggers:
        db.execute(sql)
    db.execute("DELETE FROM findings WHERE study != ?", (study,))
    db.execute("DELETE FROM leases")
    forget_build(db)
