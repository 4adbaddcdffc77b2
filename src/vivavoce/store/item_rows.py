"""Items as rows of the table: those that are new, and the labels of those that are there."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from vivavoce.core.conversations import as_rows
from vivavoce.core.records import Item
from vivavoce.core.tables import LISTS
from vivavoce.store.forgotten import IS_FORGOTTEN
from vivavoce.store.name_keys import benchmark_keys

ItemKey = tuple[str, str]
"""Base id and variant."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # one for all: a row has many such columns


def json_text(value: object) -> str:
    """The value as JSON, and as plain text where that is Unicode."""
    if not value and isinstance(value, tuple | list | dict):  # most lists, and most details of a response
        return "{}" if isinstance(value, dict) else "[]"
    text = _ENCODER.encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:  # a file's name need not be Unicode; JSON's escapes hold it all the same
        return json.dumps(value, allow_nan=False)
    return text


class _Stored(NamedTuple):
    """The current version of an item that is stored; no key where every version of it is an earlier one."""

    key: int | None
    hash: str | None
    version: int
    is_forgotten: int | None

    def is_as(self, item: Item) -> bool:
        """Whether the stored content stays: it is the item's, or was forgotten and does not come back."""
        return self.hash == item.hash or bool(self.is_forgotten)


_AT_ONCE = 1_000
"""Items that are looked up at once."""
_BY_NAME = f"""
SELECT item, variant, max(CASE WHEN current THEN item_id END), max(CASE WHEN current THEN hash END),
    max(version), max(CASE WHEN current THEN {IS_FORGOTTEN.format("items")} END)
FROM names CROSS JOIN items USING (item, variant) WHERE benchmark_id = ? GROUP BY item, variant
"""


def names_table(items: Sequence[Item]) -> tuple[str, list[str]]:
    """The names of items as an SQL table `names` of `item` and `variant`, and its parameters.

    As JSON they would end at a zero character.
    """
    marks = ", ".join(["(?, ?)"] * len(items))
    names = [name for item in items for name in (item.item, item.variant)]
    return f"WITH names (item, variant) AS (VALUES {marks})", names


def item_keys(db: sqlite3.Connection, benchmark: str) -> dict[ItemKey, int]:
    """The key of each item of a benchmark: of its current version, else of its last."""
    rows = db.execute(
        "SELECT item, variant, item_id FROM items JOIN benchmarks USING (benchmark_id) "
        "WHERE benchmark = ? ORDER BY current, version",
        (benchmark,),
    )
    return {(item, variant): key for item, variant, key in rows}


def _has_items(db: sqlite3.Connection, benchmark: int) -> bool:
    row = db.execute("SELECT 1 FROM items WHERE benchmark_id = ? LIMIT 1", (benchmark,)).fetchone()
    return row is not None


def _with_stored(
    db: sqlite3.Connection, benchmark: int, items: Iterable[Item]
) -> Iterator[list[tuple[Item, _Stored | None]]]:
    """The items, some at a time, each with what is stored of it; nothing where it is new."""
    iterator = iter(items)
    is_new = not _has_items(db, benchmark)
    while batch := list(islice(iterator, _AT_ONCE)):
        stored: dict[ItemKey, _Stored] = {}
        if not is_new:
            table, names = names_table(batch)
            rows = db.execute(table + _BY_NAME, (*names, benchmark))
            stored = {(item, variant): _Stored(*values) for item, variant, *values in rows}
        yield [(item, stored.get((item.item, item.variant))) for item in batch]


def count_stored(db: sqlite3.Connection, benchmark: str, items: Iterable[Item]) -> int:
    """How many of these items of a stored benchmark have a current version, whatever its content."""
    batches = _with_stored(db, benchmark_keys(db)[benchmark], items)
    return sum(1 for batch in batches for _, old in batch if old and old.key is not None)


def changed_items(db: sqlite3.Connection, benchmark: int, items: Iterable[Item]) -> Iterator[Item]:
    """Those of the items whose current version has another content; none of what was forgotten."""
    if not _has_items(db, benchmark):
        return
    for batch in _with_stored(db, benchmark, items):
        yield from (item for item, old in batch if old and old.key is not None and not old.is_as(item))


def _update_labels(db: sqlite3.Connection, items: Iterable[tuple[Item, int]]) -> None:
    """Give items, each with its key, the labels that are no content."""
    labels = (
        (i.alias, i.group, i.category, i.source, json_text(dict(i.meta)), json_text(i.outer_groups), key)
        for i, key in items
    )
    columns, values = 'alias, "group", category, source, meta, outer_groups', "?1, ?2, ?3, ?4, ?5, ?6"
    db.executemany(
        f"UPDATE items SET ({columns}) = ({values}) WHERE item_id = ?7 AND ({columns}) IS NOT ({values})",
        labels,
    )


_TEXTS = (
    *("item", "variant", "alias", "group", "category", "format", "question", "follows", "step"),
    *("false_answer", "context", "source", "origin", "weight"),
)
_TEXTS_OF, _LISTS_OF = attrgetter(*_TEXTS), attrgetter(*LISTS, "outer_groups")
_ITEM = (
    *("item_id", "benchmark_id", "version", "current", "hash", *_TEXTS, *LISTS),
    *("outer_groups", "messages", "rubric", "meta"),
)


def put_items(db: sqlite3.Connection, benchmark: int, items: Iterable[Item]) -> int:
    """Store items as the current ones; the highest key of those that were there before.

    One that is there with this content takes its labels alone; another version of it is current no longer.
    One that was forgotten stays as it is: its labels may be texts too.
    """
    names = ", ".join(f'"{name}"' for name in _ITEM)
    insert = f"INSERT INTO items ({names}) VALUES ({', '.join('?' * len(_ITEM))})"
    (last_key,) = db.execute("SELECT coalesce(max(item_id), 0) FROM items").fetchone()
    first = last_key + 1
    for batch in _with_stored(db, benchmark, items):
        current = [
            (item, old.key) for item, old in batch
            if old and old.key and old.hash == item.hash and not old.is_forgotten
        ]  # fmt: skip
        _update_labels(db, current)
        new = [(item, old) for item, old in batch if old is None or not old.is_as(item)]
        replaced = [(old.key,) for _, old in new if old and old.key]
        db.executemany("UPDATE items SET current = 0 WHERE item_id = ?", replaced)
        rows = (
            (key, benchmark, old.version + 1 if old else 1, 1, *_item_fields(item))
            for key, (item, old) in enumerate(new, first)
        )
        db.executemany(insert, rows)
        first += len(new)
    return int(last_key)


def _item_fields(item: Item) -> tuple[object, ...]:
    return (
        item.hash,
        *_TEXTS_OF(item),
        *map(json_text, _LISTS_OF(item)),
        json_text(as_rows(item.messages)),
        json_text([asdict(point) for point in item.rubric]),
        json_text(dict(item.meta)),
    )
