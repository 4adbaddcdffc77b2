"""Facts that people verified, as events of the run: the newest of a rater, an answer and a pass counts."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.records import ItemKey
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_event

KIND = "facts verified"
_NEWEST = """
SELECT body FROM events WHERE kind = ?
AND (body ->> '$.benchmark', body ->> '$.item', body ->> '$.variant', body ->> '$.candidate',
     body ->> '$.repeat', body ->> '$.rater', body ->> '$.pass') = (?, ?, ?, ?, ?, ?, ?)
ORDER BY made_at DESC, event_id DESC LIMIT 1
"""


class AnswerByRater(NamedTuple):
    """An answer, named by one of the candidates who gave it, before a rater in a pass."""

    place: ItemKey
    candidate: str
    repeat: int
    rater: str
    pass_no: int


def newest_facts(db: sqlite3.Connection, answer: AnswerByRater) -> list[dict[str, str]]:
    """The facts of a rater on an answer, none where they were taken back."""
    row = db.execute(_NEWEST, (KIND, *answer.place, *answer[1:])).fetchone()
    facts: list[dict[str, str]] = stored_object(row[0], f"the event {KIND!r}")["facts"] if row else []
    return facts


def put_facts(db: sqlite3.Connection, answer: AnswerByRater, facts: Sequence[Mapping[str, Any]]) -> bool:
    """Note the facts of a rater where they differ from before; whether they do."""
    if newest_facts(db, answer) == json.loads(json.dumps(list(facts))):
        return False
    benchmark, item, variant = answer.place
    body = {"benchmark": benchmark, "item": item, "variant": variant, "candidate": answer.candidate,
            "repeat": answer.repeat, "rater": answer.rater, "pass": answer.pass_no,
            "facts": list(facts)}  # fmt: skip
    put_event(db, KIND, body)
    return True
