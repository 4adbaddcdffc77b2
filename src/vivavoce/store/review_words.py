"""What reviewers write beside their scores: comments, disputes and proposed edits, as events of the run.

The newest event of a rater on an item counts; one without a text takes back what was written before.
"""

import json
import sqlite3
from collections.abc import Mapping

from vivavoce.core.records import ItemKey
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_event

KINDS = {
    "comment": "review comment",
    "dispute": "review dispute",
    "proposed_edit": "review proposed edit",
}
"""The kinds of events by the column in which they are written."""


def newest_words(db: sqlite3.Connection, place: ItemKey, rater: str) -> dict[str, str]:
    """What a rater wrote of an item, by kind of event; '' where it was taken back."""
    rows = db.execute(
        "SELECT kind, body FROM events WHERE kind IN (SELECT value FROM json_each(?)) "
        "AND (body ->> '$.benchmark', body ->> '$.item', body ->> '$.variant', body ->> '$.rater') "
        "= (?, ?, ?, ?) ORDER BY made_at, event_id",
        (json.dumps(list(KINDS.values())), *place, rater),
    )
    return {kind: str(stored_object(body, f"the event {kind!r}")["text"]) for kind, body in rows}


def put_words(db: sqlite3.Connection, place: ItemKey, rater: str, words: Mapping[str, str]) -> bool:
    """Note what a rater writes of an item now, by kind of event; whether it differs from before."""
    stored = newest_words(db, place, rater)
    changed = [kind for kind in KINDS.values() if words.get(kind, "") != stored.get(kind, "")]
    for kind in changed:
        benchmark, item, variant = place
        body = {"benchmark": benchmark, "item": item, "variant": variant, "rater": rater,
                "text": words.get(kind, "")}  # fmt: skip
        put_event(db, kind, body)
    return bool(changed)
