"""What people answer in an exam: responses that their writer may change, until somebody takes them back.

A candidate's response is kept for ever. A person corrects an answer while the exam goes on: the earlier text
stands in an event, and its scores go, as they are about another text.
"""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from vivavoce.core.records import ItemKey, Response
from vivavoce.store.by_place import responses_at
from vivavoce.store.checksums import delete_scores_of
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_candidates, put_event, put_responses

KIND = "person answer changed"
ORIGIN = "answer"
"""The origin, in its `meta`, of what a person answered."""


class PersonAnswer(NamedTuple):
    """A stored answer; `confidence` from 0 to 1, null where none was given."""

    key: int
    text: str
    confidence: float | None
    seconds: float | None


def person_answer(db: sqlite3.Connection, place: ItemKey, candidate: str, repeat: int) -> PersonAnswer | None:
    """What a person answered, null for nothing."""
    stored = responses_at(db, [place]).get((*place, candidate, repeat))
    if stored is None or stored.text is None:
        return None
    (meta,) = db.execute("SELECT meta FROM responses WHERE response_id = ?", (stored.key,)).fetchone()
    body = stored_object(meta, "the meta of a person's answer") if meta else {}
    return PersonAnswer(stored.key, stored.text, body.get("confidence"), body.get("seconds"))


def helped_answers(db: sqlite3.Connection) -> Iterator[tuple[str, str, str, str, int, str | None]]:
    """Benchmark, item, variant, person and repeat of each answer, and who helped, null for nobody."""
    rows = db.execute(
        "SELECT benchmark, item, variant, candidate, repeat, r.meta ->> '$.assist' FROM responses r "
        "JOIN items USING (item_id) JOIN benchmarks USING (benchmark_id) "
        "JOIN candidates USING (candidate_id) "
        "WHERE r.meta ->> '$.origin' = ? AND edit_id = 0",
        (ORIGIN,),
    )
    yield from rows


def put_person_answer(db: sqlite3.Connection, item: int, response: Response) -> bool:
    """Store an answer, in the place of an earlier one; whether text or confidence differ from it."""
    place = response.benchmark, response.item, response.variant
    stored = person_answer(db, place, response.candidate, response.repeat)
    if stored and (stored.text, stored.confidence) == (response.text, response.meta.get("confidence")):
        return False
    if stored:
        _remove(db, place, response.candidate, response.repeat, stored)
    people = put_candidates(db, {response.candidate: "candidate"})
    put_responses(db, [response], items={(response.item, response.variant): item}, candidates=people)
    return True


def drop_person_answer(db: sqlite3.Connection, place: ItemKey, candidate: str, repeat: int) -> bool:
    """Take an answer back; whether there was one."""
    stored = person_answer(db, place, candidate, repeat)
    if stored:
        _remove(db, place, candidate, repeat, stored)
    return stored is not None


def _remove(
    db: sqlite3.Connection, place: ItemKey, candidate: str, repeat: int, stored: PersonAnswer
) -> None:
    delete_scores_of(db, stored.key)
    db.execute("DELETE FROM responses WHERE response_id = ?", (stored.key,))
    benchmark, item, variant = place
    body = {"benchmark": benchmark, "item": item, "variant": variant, "candidate": candidate,
            "repeat": repeat, "text": stored.text, "confidence": stored.confidence,
            "seconds": stored.seconds}  # fmt: skip
    put_event(db, KIND, body)
