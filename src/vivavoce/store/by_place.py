"""Items and answers by where they stand: what one judgement needs, read without the rest of the run."""

import json
import sqlite3
from collections.abc import Iterable

from vivavoce.core.records import Item, ItemKey
from vivavoce.store.hashes import changed
from vivavoce.store.read import StoredResponse, hashed_items
from vivavoce.store.stored_values import check_rows

_ITEM_IDS = """
SELECT i.item_id FROM json_each(?) p JOIN benchmarks b ON b.benchmark = p.value ->> 0
JOIN items i ON (i.benchmark_id, i.item, i.variant) = (b.benchmark_id, p.value ->> 1, p.value ->> 2)
WHERE i.current = 1
"""


def items_at(db: sqlite3.Connection, places: Iterable[ItemKey]) -> dict[ItemKey, tuple[int, Item]]:
    """The current items at these places with their keys; one that the run lacks is absent.

    Raises `StoreError` where one does not fit its hash.
    """
    check_rows(db, "items")
    ids = ", ".join(str(key) for key in _item_ids(db, places))
    items: dict[ItemKey, tuple[int, Item]] = {}
    for key, name, item, fits in hashed_items(db, f"item_id IN ({ids})"):
        if item is None or not fits:
            raise changed(db, f"{name} does not fit its hash")
        items[item.benchmark, item.item, item.variant] = (key, item)
    return items


def responses_at(
    db: sqlite3.Connection, places: Iterable[ItemKey]
) -> dict[tuple[str, str, str, str, int], StoredResponse]:
    """The unedited answers in words at these places, by benchmark, item, variant, candidate and repeat."""
    rows = db.execute(
        "SELECT benchmark, item, variant, candidate, repeat, response_id, text, status, final, ending "
        "FROM responses "
        "JOIN items USING (item_id) JOIN benchmarks USING (benchmark_id) "
        "JOIN candidates USING (candidate_id) "
        "WHERE item_id IN (SELECT value FROM json_each(?)) AND edit_id = 0",
        (json.dumps(_item_ids(db, places)),),
    )
    return {tuple(row[:5]): StoredResponse(*row[5:]) for row in rows}


def response_at(
    db: sqlite3.Connection, item: int, candidate: int, repeat: int, edit: int = 0
) -> StoredResponse | None:
    """The response under the keys of its item, candidate and edit; null where there is none."""
    row = db.execute(
        "SELECT response_id, text, status, final, ending FROM responses "
        "WHERE (item_id, candidate_id, repeat, edit_id) = (?, ?, ?, ?)",
        (item, candidate, repeat, edit),
    ).fetchone()
    return row and StoredResponse(*row)


def _item_ids(db: sqlite3.Connection, places: Iterable[ItemKey]) -> list[int]:
    return [key for (key,) in db.execute(_ITEM_IDS, (json.dumps(list(places)),))]
