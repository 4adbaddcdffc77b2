"""The rows that benchmarks of a run leave out: a list for each spec that a benchmark was read by.

A benchmark may be read by several specs, one for each part of it. What a list holds is true of its own spec
alone, so that lists are never added up.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.core.exclusions import ExclusionCounts, reasons
from vivavoce.core.records import Exclusion
from vivavoce.store.damage import decoding
from vivavoce.store.stored_values import check_rows
from vivavoce.store.table_hashes import check_table_hashes, renew_table_hashes

if TYPE_CHECKING:
    import polars as pl

TABLES = ("exclusion_lists", "exclusions")


class ExclusionList(NamedTuple):
    """The rows that were left out when a benchmark was read by a spec, beside so many that are items."""

    benchmark: str
    spec: str
    signature: str
    items: int
    exclusions: tuple[Exclusion, ...]

    @property
    def counts(self) -> ExclusionCounts:
        """The rows by reason."""
        return ExclusionCounts(self.benchmark, self.spec, self.items, reasons(self.exclusions))


def put_exclusions(
    db: sqlite3.Connection,
    benchmark: str,
    exclusions: Sequence[Exclusion],
    *,
    spec: str,
    signature: str,
    items: int,
) -> bool:
    """Store what a benchmark of the run leaves out under a spec; whether it was another list before.

    `items` is how many rows of its files are items. The benchmark must be stored.
    """
    check_table_hashes(db, *TABLES)
    (key,) = db.execute("SELECT benchmark_id FROM benchmarks WHERE benchmark = ?", (benchmark,)).fetchone()
    stored = db.execute(
        "SELECT list_id, signature, items FROM exclusion_lists WHERE (benchmark_id, spec) = (?, ?)",
        (key, spec),
    ).fetchone()
    if (stored and stored[1:]) == ((signature, items) if exclusions else None):
        return False
    if stored:
        db.execute("DELETE FROM exclusions WHERE list_id = ?", stored[:1])
        db.execute("DELETE FROM exclusion_lists WHERE list_id = ?", stored[:1])
    if exclusions:
        cursor = db.execute(
            "INSERT INTO exclusion_lists (benchmark_id, spec, signature, items) VALUES (?, ?, ?, ?)",
            (key, spec, signature, items),
        )
        db.executemany(
            'INSERT INTO exclusions (list_id, file, "row", reason) VALUES (?, ?, ?, ?)',
            ((cursor.lastrowid, *exclusion) for exclusion in exclusions),
        )
    renew_table_hashes(db, *TABLES)
    return stored is not None


def exclusion_lists(db: sqlite3.Connection) -> list[ExclusionList]:
    """The lists of the run by benchmark, in the order that they came; of equal ones the first.

    Lists are equal where a part of a benchmark and the whole, or two copies of its files, were read.
    """
    check_rows(db, *TABLES)
    check_table_hashes(db, *TABLES)
    lists: dict[tuple[str, int, tuple[Exclusion, ...]], ExclusionList] = {}
    for entry in _lists(db):
        lists.setdefault((entry.benchmark, entry.items, entry.exclusions), entry)
    return list(lists.values())


def exclusion_list(db: sqlite3.Connection, benchmark: str, spec: str) -> ExclusionList | None:
    """What a benchmark of the run left out when this spec read it last; null where nothing was."""
    return next((entry for entry in _lists(db) if (entry.benchmark, entry.spec) == (benchmark, spec)), None)


def _lists(db: sqlite3.Connection) -> Iterator[ExclusionList]:
    sql = (
        "SELECT list_id, benchmark, l.spec, l.signature, items FROM exclusion_lists l "
        "JOIN benchmarks USING (benchmark_id) ORDER BY benchmark, list_id"
    )
    with decoding("a row that was left out"):
        for key, benchmark, spec, signature, items in db.execute(sql).fetchall():
            rows = db.execute(
                'SELECT file, "row", reason FROM exclusions WHERE list_id = ? ORDER BY exclusion_id', (key,)
            )
            yield ExclusionList(
                str(benchmark), str(spec), str(signature), int(items), tuple(map(Exclusion._make, rows))
            )


def exclusion_rows(db: sqlite3.Connection) -> "pl.DataFrame":
    """The rows left out: benchmark, spec, file, row (its number or its id, as text) and reason."""
    import polars as pl

    rows = [
        (entry.benchmark, entry.spec, exclusion.file, str(exclusion.row), exclusion.reason)
        for entry in exclusion_lists(db)
        for exclusion in entry.exclusions
    ]
    columns = ("benchmark", "spec", "file", "row", "reason")
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
