"""Items as rows of the table: those that are new, and the labels of those that are there."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from vivavoce.core.conversations import as_rows
from vivavoce.core.records import Item
from vivavoce.core.tables import LISTS

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


def _versions(db: sqlite3.Connection, benchmark: int) -> dict[ItemKey, int]:
    """The newest version of each item of a benchmark."""
    rows = db.execute(
        "SELECT item, variant, max(version) FROM items WHERE benchmark_id = ? GROUP BY item, variant",
        (benchmark,),
    )
    return {(item, variant): version for item, variant, version in rows}


def is_current(item: Item, stored: Mapping[ItemKey, tuple[int, str]]) -> bool:
    """Whether an item with this content is there."""
    present = stored.get((item.item, item.variant))
    return present is not None and present[1] == item.hash


def update_labels(db: sqlite3.Connection, items: Sequence[tuple[Item, int]]) -> None:
    """Give items, each with its key, the labels that are no content."""
    labels = ((i.alias, i.group, i.category, i.source, json_text(dict(i.meta)), key) for i, key in items)
    db.executemany(
        'UPDATE items SET (alias, "group", category, source, meta) = (?1, ?2, ?3, ?4, ?5) '
        'WHERE item_id = ?6 AND (alias, "group", category, source, meta) IS NOT (?1, ?2, ?3, ?4, ?5)',
        labels,
    )


_TEXTS = (
    *("item", "variant", "alias", "group", "category", "format", "question", "follows", "step"),
    *("false_answer", "context", "source", "origin", "weight"),
)
_ITEM = (
    *("item_id", "benchmark_id", "version", "current", "hash", *_TEXTS, *LISTS),
    *("messages", "rubric", "meta"),
)


def put_items(db: sqlite3.Connection, benchmark: int, items: Sequence[Item]) -> int:
    """Store items as the current ones and return the key of the first; the others have those that follow."""
    (last,) = db.execute("SELECT coalesce(max(item_id), 0) FROM items").fetchone()
    versions = _versions(db, benchmark) if items else {}
    rows = (
        (key, benchmark, versions.get((item.item, item.variant), 0) + 1, 1, *_item_fields(item))
        for key, item in enumerate(items, last + 1)
    )
    names = ", ".join(f'"{name}"' for name in _ITEM)
    db.executemany(f"INSERT INTO items ({names}) VALUES ({', '.join('?' * len(_ITEM))})", rows)
    return int(last) + 1


def _item_fields(item: Item) -> tuple[object, ...]:
    return (
        item.hash,
        *(getattr(item, name) for name in _TEXTS),
        *(json_text(getattr(item, name)) for name in LISTS),
        json_text(as_rows(item.messages)),
        json_text([asdict(point) for point in item.rubric]),
        json_text(dict(item.meta)),
    )
