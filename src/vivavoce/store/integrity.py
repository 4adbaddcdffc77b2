"""Whether a run is as vivavoce wrote it: hashes and checksums worked out anew, and what differs."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from vivavoce.core.errors import StoreError
from vivavoce.store.checksums import renew_checksums, stored_sums
from vivavoce.store.damage import CHANGED, DamagedValue, display
from vivavoce.store.hashes import changed, database_path, hashed_responses, rehash_responses
from vivavoce.store.passages import changed_passages, rehash_passages, stored_passages
from vivavoce.store.read import hashed_items, items_by_id
from vivavoce.store.score_checks import differences, measure_name
from vivavoce.store.table_hashes import changed_tables, renew_table_hashes

FIRST = 5
"""How many of the things that are wrong a check names."""


class Check(NamedTuple):
    """What a check of a run came to: how many rows it looked at (null if it does not count them), what is
    wrong, and the names of the first of these.

    `checked` counts items, responses or score rows; `wrong` counts what is wrong, of scores the candidates.
    """

    check: str
    of: str
    checked: int | None
    wrong: int
    first: tuple[str, ...]


def rehash(db: sqlite3.Connection) -> None:
    """Give responses, passages and tables their hashes, and scores their checksums, from what is there."""
    renew_table_hashes(db)
    rehash_responses(db)
    rehash_passages(db)
    renew_checksums(db)


def verify(db: sqlite3.Connection) -> list[Check]:
    """Check the file itself, its keys, and the hashes of all items, responses and scores."""
    checks: list[Check] = []
    for name, check in _CHECKS.items():
        try:
            checks += check(db)
        except sqlite3.DatabaseError as error:  # the file is damaged where this check reads
            checks.append(_check(name, None, [f"SQLite says: {error}"]))
        except DamagedValue as error:
            checks.append(_check(name, None, [error.subject]))
    return checks


def check_texts(db: sqlite3.Connection) -> None:
    """Raise `StoreError` for the first current item, or the first response, that does not fit its hash."""
    items_by_id(db)
    for row in hashed_responses(db):
        if row.hash != row.stored:
            raise changed(db, f"{row.name} does not fit its hash")


def refuse_damaged(db: sqlite3.Connection, consequence: str) -> None:
    """Raise `StoreError`, which ends with the `consequence`, unless the run is as it was written."""
    wrong = [check for check in verify(db) if check.wrong]
    if wrong:
        path = database_path(db)
        hint = f" `viva status {path} --verify` lists what is wrong." if path else ""
        raise StoreError(f"{damage(path, wrong)}{hint} {consequence}")


def damage(path: str, wrong: Iterable[Check]) -> str:
    """The sentences on checks that found something: what is wrong first, how much, and what to do."""
    first, *further = wrong
    n = first.wrong - 1 + sum(check.wrong for check in further)
    detail = f"{first.first[0]}{f', and {n} more' if n else ''}"
    return f"{path or 'the run'} is not as vivavoce wrote it: {detail}: {CHANGED} Restore a copy."


def _check(name: str, checked: int | None, wrong: Iterable[str], measure: str = "") -> Check:
    sentences = [display(sentence, 200) for sentence in wrong]
    return Check(name, measure, checked, len(sentences), tuple(islice(sentences, FIRST)))


def _integrity(db: sqlite3.Connection) -> list[Check]:
    rows = [str(message) for (message,) in db.execute("PRAGMA main.integrity_check")]
    return [_check("integrity", None, [f"SQLite says: {message}" for message in rows if message != "ok"])]


def _foreign_keys(db: sqlite3.Connection) -> list[Check]:
    sentences = [
        f"{f'row {row} of {table}' if row is not None else f'a row of {table}'} belongs to a row of {parent} "
        "that is not there"
        for table, row, parent, _ in db.execute("PRAGMA main.foreign_key_check")
    ]
    return [_check("foreign keys", None, sentences)]


def _items(db: sqlite3.Connection) -> list[Check]:
    rows = list(hashed_items(db))
    return [_check("items", len(rows), [f"{row.name} does not fit its hash" for row in rows if not row.fits])]


def _tables(db: sqlite3.Connection) -> list[Check]:
    return [_check("tables", None, changed_tables(db))]


def _journal(db: sqlite3.Connection) -> list[Check]:
    """What was done to the run stands in JSON."""
    n, wrong = 0, []
    for table, key, columns in _JOURNAL:
        valid = " AND ".join(f"json_valid({column})" for column in columns)
        for row, fits in db.execute(f"SELECT {key}, {valid} FROM {table}"):
            n += 1
            wrong += [] if fits else [f"row {row} of {table} is no JSON"]
    return [_check("journal", n, wrong)]


_JOURNAL = (
    ("provenance", "provenance_id", ("body",)),
    ("events", "event_id", ("body",)),
    ("findings", "finding_id", ("settings", "rows")),
)
"""By table its key and the columns that hold JSON."""


def _responses(db: sqlite3.Connection) -> list[Check]:
    checked, wrong = 0, []
    for row in hashed_responses(db):
        checked += 1
        if row.hash != row.stored:
            wrong.append(f"{row.name} does not fit its hash")
    return [_check("responses", checked, wrong)]


def _passages(db: sqlite3.Connection) -> list[Check]:
    """No check where no score rests on a passage."""
    (n,) = db.execute("SELECT count(*) FROM passages").fetchone()
    return [_check("evidence", n, changed_passages(stored_passages(db)))] if n else []


def _scores(db: sqlite3.Connection) -> list[Check]:
    """A check for each measure."""
    sums = stored_sums(db)
    wrong = defaultdict(list)
    for difference in differences(db, sums):
        wrong[difference.measure_id].append(difference)
    rows: dict[int, int] = dict.fromkeys(wrong, 0)
    for (measure, _), checksum in sums.items():
        rows[measure] = rows.get(measure, 0) + checksum.rows
    return [
        _check("scores", rows[key], [d.sentence for d in wrong[key]], measure_name(db, key))
        for key in sorted(rows)
    ] or [_check("scores", 0, [])]


_CHECKS: dict[str, Callable[[sqlite3.Connection], list[Check]]] = {
    "integrity": _integrity,
    "foreign keys": _foreign_keys,
    "tables": _tables,
    "journal": _journal,
    "items": _items,
    "responses": _responses,
    "evidence": _passages,
    "scores": _scores,
}
