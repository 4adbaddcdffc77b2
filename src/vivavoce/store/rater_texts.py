"""What people write beside their scores: comments and disputes, verified facts, and passages that give away.

Words and facts are events of the run, of which the newest counts, of words in each task and pass; one
without a text takes back what was written before. Marked passages are notes of scores.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.records import ItemKey
from vivavoce.store.forgotten import forgotten_answers
from vivavoce.store.retirement import counting_measures, retired_raters
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_event

WORD_EVENTS = {
    "comment": "review comment",
    "dispute": "review dispute",
    "proposed_edit": "review proposed edit",
    "difficulty": "review difficulty",
}
"""The kinds of events by the column in which the words are written."""


class ItemByRater(NamedTuple):
    """An item before a rater in a pass of a task; an event that names neither is of the first review."""

    place: ItemKey
    rater: str
    task: str = "review"
    pass_no: int = 1

    def event(self, text: str) -> dict[str, Any]:
        """The event by which the rater writes a text."""
        benchmark, item, variant = self.place
        body = {"benchmark": benchmark, "item": item, "variant": variant, "rater": self.rater, "text": text}
        # Runs are merged and files read again: what was written before tasks had words is the same event.
        task = {} if self.task == "review" else {"task": self.task}
        return body | task | ({} if self.pass_no == 1 else {"pass": self.pass_no})


def word_events(db: sqlite3.Connection) -> dict[tuple[ItemByRater, str], dict[str, Any]]:
    """The newest event of each kind by which raters wrote of items, of retired raters too."""
    rows = db.execute(
        "SELECT kind, body FROM events WHERE kind IN (SELECT value FROM json_each(?)) "
        "ORDER BY made_at, event_id",
        (json.dumps(list(WORD_EVENTS.values())),),
    )
    newest: dict[tuple[ItemByRater, str], dict[str, Any]] = {}
    for kind, text in rows:
        body = stored_object(text, f"the event {kind!r}")
        place = body["benchmark"], body["item"], body["variant"]
        look = ItemByRater(place, body["rater"], body.get("task", "review"), body.get("pass", 1))
        newest[look, kind] = body
    return newest


def newest_words(db: sqlite3.Connection, look: ItemByRater) -> dict[str, str]:
    """What a rater wrote of an item, by kind of event; '' where it was taken back."""
    rows = db.execute(
        "SELECT kind, body FROM events WHERE kind IN (SELECT value FROM json_each(?)) "
        "AND (body ->> '$.benchmark', body ->> '$.item', body ->> '$.variant', body ->> '$.rater', "
        "coalesce(body ->> '$.task', 'review'), coalesce(body ->> '$.pass', 1)) "
        "= (?, ?, ?, ?, ?, ?) ORDER BY made_at, event_id",
        (json.dumps(list(WORD_EVENTS.values())), *look.place, *look[1:]),
    )
    return {kind: str(stored_object(body, f"the event {kind!r}")["text"]) for kind, body in rows}


def written_words(db: sqlite3.Connection) -> dict[ItemByRater, dict[str, str]]:
    """What raters wrote of items and did not take back, by kind of event; retired raters are left out."""
    words: dict[ItemByRater, dict[str, str]] = {}
    retired = retired_raters(db)
    for (look, kind), body in word_events(db).items():
        if body["text"] and (look.task, look.rater) not in retired:
            words.setdefault(look, {})[kind] = str(body["text"])
    return words


def put_words(db: sqlite3.Connection, look: ItemByRater, words: Mapping[str, str]) -> bool:
    """Note what a rater writes of an item now, by kind of event; whether it differs from before."""
    stored = newest_words(db, look)
    changed = [kind for kind in WORD_EVENTS.values() if words.get(kind, "") != stored.get(kind, "")]
    for kind in changed:
        put_event(db, kind, look.event(words.get(kind, "")))
    return bool(changed)


FACTS_EVENT = "facts verified"
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
    row = db.execute(_NEWEST, (FACTS_EVENT, *answer.place, *answer[1:])).fetchone()
    facts: list[dict[str, str]] = stored_object(row[0], f"the event {FACTS_EVENT!r}")["facts"] if row else []
    return facts


def put_facts(db: sqlite3.Connection, answer: AnswerByRater, facts: Sequence[Mapping[str, Any]]) -> bool:
    """Note the facts of a rater where they differ; whether they do. A forgotten answer has none."""
    if (*answer.place, answer.candidate, answer.repeat) in forgotten_answers(db):
        return False
    if newest_facts(db, answer) == json.loads(json.dumps(list(facts))):
        return False
    benchmark, item, variant = answer.place
    body = {"benchmark": benchmark, "item": item, "variant": variant, "candidate": answer.candidate,
            "repeat": answer.repeat, "rater": answer.rater, "pass": answer.pass_no,
            "facts": list(facts)}  # fmt: skip
    put_event(db, FACTS_EVENT, body)
    return True


_UNITS = """
SELECT s.measure_id, u.text FROM scores s JOIN measures m USING (measure_id) JOIN units u USING (unit_id)
JOIN responses r USING (response_id) JOIN candidates c USING (candidate_id)
JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
WHERE (b.benchmark, i.item, i.variant, c.candidate, r.repeat) = (?, ?, ?, ?, ?) AND r.edit_id = 0
AND (m.metric = 'atomic_facts' OR m.metric LIKE 'atomic\\_facts(%' ESCAPE '\\')
AND u.unit != '' AND u.unit NOT GLOB '*[^0-9]*' AND s.measure_id IN ({counting})
GROUP BY s.measure_id, u.unit_id ORDER BY s.measure_id DESC, CAST(u.unit AS INTEGER)
"""


def split_facts(db: sqlite3.Connection, place: ItemKey, candidate: str, repeat: int) -> tuple[str, ...]:
    """The facts of an answer by the last of the measures that split it, in their order; empty without one."""
    sql = _UNITS.format(counting=counting_measures(db))
    rows = db.execute(sql, (*place, candidate, repeat)).fetchall()
    return tuple(text for measure, text in rows if measure == rows[0][0])


_NEUTRALISE = "neutralise"
_MARKED = """
SELECT benchmark, item, variant, candidate, repeat, edit, note FROM scores s
JOIN measures m USING (measure_id) JOIN responses r USING (response_id) JOIN items i USING (item_id)
JOIN benchmarks b USING (benchmark_id) JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id)
WHERE m.metric = ? AND s.pass_no = 1 AND s.value IS NOT NULL AND s.measure_id IN ({counting})
ORDER BY m.rater
"""


def marked_passages(db: sqlite3.Connection) -> dict[tuple[str, str, str, str, int, str], list[list[str]]]:
    """By response the passages of each rater who read it, none where it gives nothing away.

    Raters whose scores are retired are left out.
    """
    passages: dict[tuple[str, str, str, str, int, str], list[list[str]]] = {}
    for *key, note in db.execute(_MARKED.format(counting=counting_measures(db)), (_NEUTRALISE,)):
        benchmark, item, variant, candidate, repeat, edit = key
        place = benchmark, item, variant, candidate, repeat, edit
        passages.setdefault(place, []).append((note or "").splitlines())
    return passages
