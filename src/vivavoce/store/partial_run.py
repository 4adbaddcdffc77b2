"""A copy of a run cut down to some of its items."""

import sqlite3
from collections.abc import Collection

from vivavoce.core.records import ItemKey
from vivavoce.store.checksums import delete_scores
from vivavoce.store.passages import drop_unused_passages
from vivavoce.store.table_hashes import renew_table_hashes

_POINTERS = (
    *(("scores", "response_id"), ("scores", "unit_id"), ("scores", "ballot_id")),
    *(("responses", "candidate_id"), ("responses", "edit_id"), ("calls", "response_id")),
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
        "DELETE FROM items WHERE item_id IN (SELECT item_id FROM temp.gone)",
        "DELETE FROM exclusions WHERE list_id IN (SELECT list_id FROM exclusion_lists "
        "WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items))",
        "DELETE FROM exclusion_lists WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items)",
        "DELETE FROM benchmarks WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items)",
        "DELETE FROM candidates WHERE candidate_id NOT IN (SELECT candidate_id FROM responses)",
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
