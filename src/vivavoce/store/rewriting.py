"""A copy of a run that is to say less: items deleted with all that belongs to them, or texts rewritten.

The hashes and checksums of rewritten texts do not follow: `integrity.rehash` makes them anew at the end.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from vivavoce.core.records import Item, ItemKey
from vivavoce.store.build_steps import forget_build
from vivavoce.store.checksums import delete_scores
from vivavoce.store.passages import drop_unused_passages
from vivavoce.store.read import hashed_items
from vivavoce.store.table_hashes import renew_table_hashes

_POINTERS = (
    *(("scores", "response_id"), ("scores", "unit_id"), ("scores", "ballot_id")),
    *(("responses", "candidate_id"), ("responses", "edit_id"), ("calls", "response_id")),
    ("requests", "candidate_id"),
)
"""Columns by which large tables point to what goes with them, and that no index of a run begins with."""


def delete_other_items(db: sqlite3.Connection, chosen: Collection[ItemKey]) -> dict[str, int]:
    """Delete all other items, what belongs to them, and the words that nothing uses any more.

    Calls that are kept under no item go as well; how many of each purpose comes back.
    """
    uncounted = (
        "SELECT purpose, count(*) FROM calls WHERE response_id IS NULL GROUP BY purpose ORDER BY purpose"
    )
    calls_by_purpose: dict[str, int] = dict(db.execute(uncounted))
    db.execute(
        "CREATE TEMP TABLE kept (benchmark TEXT, item TEXT, variant TEXT, "
        "PRIMARY KEY (benchmark, item, variant)) WITHOUT ROWID"
    )
    db.executemany("INSERT INTO kept VALUES (?, ?, ?)", sorted(chosen))
    db.execute(  # a NOT IN over several columns would read the whole list for each item that goes
        "CREATE TEMP TABLE gone AS SELECT item_id FROM items i JOIN benchmarks b USING (benchmark_id) "
        "WHERE current = 0 OR NOT EXISTS (SELECT 1 FROM temp.kept k "
        "WHERE (k.benchmark, k.item, k.variant) = (b.benchmark, i.item, i.variant))"
    )
    in_responses = (
        "response_id IN (SELECT response_id FROM responses WHERE item_id IN (SELECT item_id FROM temp.gone))"
    )
    delete_scores(db, in_responses)
    # Without these each deletion reads the table, to see that none points to what goes.
    for table, name in _POINTERS:
        db.execute(f"CREATE INDEX export_{table}_{name} ON {table} ({name})")
    for statement in (
        # The bill goes with the answers; of other calls nobody knows which items their replies speak of.
        f"DELETE FROM calls WHERE response_id IS NULL OR {in_responses}",
        "DELETE FROM leases",
        "DELETE FROM responses WHERE item_id IN (SELECT item_id FROM temp.gone)",
        "DELETE FROM requests WHERE item_id IN (SELECT item_id FROM temp.gone)",
        "DELETE FROM items WHERE item_id IN (SELECT item_id FROM temp.gone)",
        "DELETE FROM exclusions WHERE list_id IN (SELECT list_id FROM exclusion_lists "
        "WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items))",
        "DELETE FROM exclusion_lists WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items)",
        "DELETE FROM benchmarks WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items)",
        "DELETE FROM candidates WHERE candidate_id NOT IN (SELECT candidate_id FROM responses) "
        "AND candidate_id NOT IN (SELECT candidate_id FROM requests)",
        "DELETE FROM measures WHERE measure_id NOT IN (SELECT measure_id FROM scores)",
        "DELETE FROM edits WHERE edit_id != 0 AND edit_id NOT IN (SELECT edit_id FROM responses)",
        "DELETE FROM units WHERE unit_id != 0 AND unit_id NOT IN (SELECT unit_id FROM scores)",
        "DELETE FROM ballots WHERE ballot_id != 0 AND ballot_id NOT IN (SELECT ballot_id FROM scores)",
    ):
        db.execute(statement)
    for table, name in _POINTERS:
        db.execute(f"DROP INDEX export_{table}_{name}")
    drop_unused_passages(db)
    renew_table_hashes(db)
    return calls_by_purpose


Table = Literal[
    "responses",
    "units",
    "passages",
    "exclusions",
    "calls",
    "provenance",
    "findings",
    "events",
    "benchmarks",
    "build_texts",
    "build_steps",
]
_ROWS: Mapping[Table, tuple[str, str]] = {
    "responses": ("response_id", "responses"),
    "units": ("unit_id", "units"),
    "passages": ("passage_id", "passages"),
    "exclusions": ("exclusion_id", "exclusions JOIN exclusion_lists USING (list_id)"),
    "calls": ("call_id", "calls"),
    "provenance": ("provenance_id", "provenance"),
    "findings": ("finding_id", "findings"),
    "events": ("event_id", "events"),
    "benchmarks": ("benchmark_id", "benchmarks"),
    "build_texts": ("text_id", "build_texts"),
    "build_steps": ("step_id", "build_steps"),
}
"""By table its key, and where its rows are read with what belongs to them."""


def rewrite_rows(
    db: sqlite3.Connection,
    table: Table,
    columns: Sequence[str],
    new: Callable[..., Sequence[object]],
    *context: str,
    condition: str = "true",
) -> None:
    """Give each row of a table, or those of an SQL condition, new values in these columns.

    `new` takes the row's key, its values in the columns and in those of the `context`, and gives the new
    ones. The row of the key 0, which stands for none, stays.
    """
    key, rows_of = _ROWS[table]
    rows = db.execute(
        f"SELECT {', '.join((key, *columns, *context))} FROM {rows_of} WHERE {key} != 0 AND {condition}"
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


def rewrite_items(
    db: sqlite3.Connection, fields: Callable[[Item, int], Mapping[str, object]], condition: str = "true"
) -> None:
    """Give each item, or those of an SQL condition, new values in some columns, and the hash of what it says.

    `fields` takes record and key of an item. One whose row cannot be read stays.
    """
    for stored in list(hashed_items(db, condition)):
        if stored.item is not None:
            values = fields(stored.item, stored.key)
            names = ", ".join(f'"{name}"' for name in values)
            db.execute(
                f"UPDATE items SET ({names}) = ({', '.join('?' * len(values))}) WHERE item_id = ?",
                (*values.values(), stored.key),
            )
    for stored in list(hashed_items(db, condition)):
        if stored.item is not None:
            db.execute("UPDATE items SET hash = ? WHERE item_id = ?", (stored.item.hash, stored.key))


@contextmanager
def changing_events(db: sqlite3.Connection) -> Iterator[None]:
    """Events can be changed within the block: the triggers by which they cannot return at its end."""
    triggers = db.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'"
    ).fetchall()
    for name, _ in triggers:
        db.execute(f'DROP TRIGGER "{name}"')
    yield
    for _, sql in triggers:
        db.execute(sql)


def shorten_journals(db: sqlite3.Connection, events: Sequence[str], study: str) -> None:
    """Remove the events but those of these kinds, the findings but those of a study, leases and the build."""
    with changing_events(db):
        db.execute(f"DELETE FROM events WHERE kind NOT IN ({', '.join('?' * len(events))})", events)
    db.execute("DELETE FROM findings WHERE study != ?", (study,))
    db.execute("DELETE FROM leases")
    forget_build(db)
