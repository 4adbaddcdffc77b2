"""Facts that people verified, as events of the run: the newest of a rater, an item and a pass counts."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.core.records import ItemKey
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_event

KIND = "facts verified"


def newest_facts(db: sqlite3.Connection, place: ItemKey, rater: str, pass_no: int) -> list[dict[str, str]]:
    """The facts of a rater on the answer to an item, none where they were taken back."""
    row = db.execute(
        "SELECT body FROM events WHERE kind = ? "
        "AND (body ->> '$.benchmark', body ->> '$.item', body ->> '$.variant', body ->> '$.rater', "
        "body ->> '$.pass') = (?, ?, ?, ?, ?) ORDER BY made_at DESC, event_id DESC LIMIT 1",
        (KIND, *place, rater, pass_no),
    ).fetchone()
    facts: list[dict[str, str]] = stored_object(row[0], f"the event {KIND!r}")["facts"] if row else []
    return facts


def put_facts(
    db: sqlite3.Connection, place: ItemKey, rater: str, pass_no: int, facts: Sequence[Mapping[str, Any]]
) -> bool:
    """Note the facts of a rater where they differ from before; whether they do."""
    if newest_facts(db, place, rater, pass_no) == json.loads(json.dumps(list(facts))):
        return False
    benchmark, item, variant = place
    body = {"benchmark": benchmark, "item": item, "variant": variant, "rater": rater, "pass": pass_no,
            "facts": list(facts)}  # fmt: skip
    put_event(db, KIND, body)
    return True
