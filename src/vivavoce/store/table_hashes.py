"""The hashes of the tables that say what was scored: items with labels, rows left out, candidates.

Groups decide every interval and roles who is compared, and neither is content that an item's own hash covers.
Each of these tables has one hash over its rows, so that a row that was changed, added or taken away is found.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator

from vivavoce.store.hashes import changed

_COLUMNS = {
    "items": 'item_id, benchmark_id, item, variant, version, current, hash, alias, "group", category, '
    "format, source, origin, weight, meta, outer_groups",
    "candidates": "candidate_id, candidate, role",
    "benchmarks": "benchmark_id, benchmark, spec, signature, card",
    "exclusion_lists": "list_id, benchmark_id, spec, signature, items",
    "exclusions": 'exclusion_id, list_id, file, "row", reason',
    "requests": "item_id, candidate_id, probe, repeats",
}
_CHUNK = 1_000
"""Rows that are written as one JSON text; another number would be another hash."""


def renew_table_hashes(db: sqlite3.Connection, *tables: str) -> None:
    """Store the hashes of these tables, or of all, as they are now."""
    db.executemany(
        "INSERT INTO table_hashes VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = excluded.hash",
        [(table, _hash(db, table)) for table in tables or _COLUMNS],
    )


def check_table_hashes(db: sqlite3.Connection, *tables: str) -> None:
    """Raise `StoreError` for the first of these tables, or of all, that does not fit its hash."""
    for sentence in changed_tables(db, *tables):
        raise changed(db, sentence)


def changed_tables(db: sqlite3.Connection, *tables: str) -> Iterator[str]:
    """A sentence for each of these tables, or of all, that does not fit its hash."""
    stored = dict(db.execute("SELECT name, hash FROM table_hashes"))
    empty = hashlib.sha256().hexdigest()[:16]
    for table in tables or _COLUMNS:
        if stored.get(table, empty) != _hash(db, table):
            labels = " (groups, categories, weights and other labels)" if table == "items" else ""
            yield f"the table of {table.replace('_', ' ')} does not fit its hash{labels}"


def _hash(db: sqlite3.Connection, table: str) -> str:
    digest = hashlib.sha256()
    rows = db.execute(f"SELECT {_COLUMNS[table]} FROM {table} ORDER BY 1, 2")
    while chunk := rows.fetchmany(_CHUNK):
        if table == "items":  # one level of groups has the hash that it had when there was no other
            chunk = [row[:-1] if row[-1] == "[]" else row for row in chunk]
        digest.update(json.dumps(chunk, default=repr).encode())  # a damaged file may hold blobs
    return digest.hexdigest()[:16]
