"""What a run was told to forget: questions and answers whose texts are gone, while their rows stay.

A row that was forgotten says so in its `meta`: whether its scores stayed, and the hash that it had, if that
was kept. Events say when, and whether the pages of the file were written anew since.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from vivavoce.core.records import ItemKey
from vivavoce.store.stored_values import stored_object

AnswerKey = tuple[str, str, str, str, int]
"""Benchmark, item, variant, candidate and repeat."""
MARK = "forgotten"
"""The field of `meta` by which a row says that its texts are gone."""
IS_FORGOTTEN = f"iif(json_valid({{0}}.meta), json_extract({{0}}.meta, '$.{MARK}') IS NOT NULL, 0)"
"""SQL for a row of items or responses whose texts are gone."""
FORGOTTEN, REWRITTEN = "forgotten", "pages rewritten"
"""Events: texts were overwritten, and no page of the file holds them any more."""
NOTE = "its text was forgotten"
"""Why such an answer has no new score, and why nothing is made of it and nobody is asked about it."""
GONE = "[redacted: forgotten]"
"""What stands in place of a note, a remark or a fact."""
NOTE_OF_TURN = "an earlier turn of its conversation was forgotten"
"""Why the answer to a later turn has no new score."""


def is_forgotten(meta: Mapping[str, Any]) -> bool:
    """Whether the texts of an item or a response with this `meta` are gone."""
    return MARK in meta


class Forgotten(NamedTuple):
    """How many current questions and answers in words have no text any more, when the last went, and whether
    pages of the file, or its `-wal` file, may still hold some (`unfinished`).
    """

    items: int
    responses: int
    last: str
    unfinished: bool

    @property
    def text(self) -> str:
        """The sentence on it; '' for a run that forgot nothing."""
        if not self.last:
            return ""
        advice = " `viva forget RUN --finish` clears the file's pages, which may still hold texts."
        named = [f"{n:,} {word}{'s' if n != 1 else ''}"
                 for n, word in ((self.items, "question"), (self.responses, "answer")) if n]  # fmt: skip
        of_what = f"the texts of {' and '.join(named)}" if named else "texts"
        return (
            f"Forgotten on request, last on {self.last[:10]}: {of_what}. They can be "
            f"neither shown nor scored again.{advice if self.unfinished else ''}"
        )


def forgotten(db: sqlite3.Connection) -> Forgotten:
    """What the run behind a connection has forgotten."""
    done = db.execute("SELECT max(made_at) FROM events WHERE kind = ?", (FORGOTTEN,)).fetchone()[0]
    if done is None:
        return Forgotten(0, 0, "", False)
    n_items, n_responses = (
        db.execute(sql).fetchone()[0]
        for sql in (
            f"SELECT count(*) FROM items WHERE current = 1 AND {IS_FORGOTTEN.format('items')}",
            "SELECT count(*) FROM responses r JOIN items i USING (item_id) "
            f"WHERE i.current = 1 AND r.logprobs IS NULL AND {IS_FORGOTTEN.format('r')}",
        )
    )
    return Forgotten(n_items, n_responses, done, bool(unfinished(db)))


class GoneKeys(NamedTuple):
    """The keys of the items and of the responses whose texts are gone."""

    items: frozenset[int]
    responses: frozenset[int]


def gone_keys(db: sqlite3.Connection) -> GoneKeys:
    """What is gone, of every version and edit."""
    if not _bodies(db, FORGOTTEN, "id"):
        return GoneKeys(frozenset(), frozenset())
    items, responses = (
        frozenset(key for (key,) in db.execute(sql))
        for sql in (
            f"SELECT item_id FROM items WHERE {IS_FORGOTTEN.format('items')}",
            f"SELECT response_id FROM responses WHERE {IS_FORGOTTEN.format('responses')}",
        )
    )
    return GoneKeys(items, responses)


def gone_ballots(db: sqlite3.Connection, measure: int, responses: Collection[int]) -> set[str]:
    """The ballots of a measure that hold a score of one of these responses, which are gone."""
    sql = (
        "SELECT ballot FROM scores JOIN ballots USING (ballot_id) WHERE ballot_id != 0 AND measure_id = ? "
        "AND response_id IN (SELECT value FROM json_each(?))"
    )
    return (
        {name for (name,) in db.execute(sql, (measure, json.dumps(sorted(responses))))}
        if responses
        else set()
    )


def without_words(note: str | None) -> str | None:
    """What stays of a note about something forgotten: that there was one, or that nothing can be scored."""
    return note and (note if note == NOTE else GONE)


def forgotten_names(db: sqlite3.Connection, benchmark: str) -> set[str]:
    """The ids of the questions of a benchmark that were forgotten, and their variants with them."""
    if not _bodies(db, FORGOTTEN, "id"):
        return set()
    rows = db.execute(
        "SELECT DISTINCT item FROM items JOIN benchmarks USING (benchmark_id) WHERE benchmark = ? "
        f"AND current = 1 AND {IS_FORGOTTEN.format('items')}",
        (benchmark,),
    )
    return {name for (name,) in rows}


def unaskable(db: sqlite3.Connection) -> set[ItemKey]:
    """The current questions that nobody can be asked any more: forgotten ones, and the turns behind them."""
    if not _bodies(db, FORGOTTEN, "id"):
        return set()
    rows = db.execute(
        "WITH RECURSIVE closed (benchmark_id, item, variant) AS ("
        f"SELECT benchmark_id, item, variant FROM items WHERE current = 1 AND {IS_FORGOTTEN.format('items')} "
        "UNION SELECT i.benchmark_id, i.item, i.variant FROM items i JOIN closed c ON "
        "(i.benchmark_id, i.follows, i.variant) = (c.benchmark_id, c.item, c.variant) WHERE i.current = 1) "
        "SELECT benchmark, item, variant FROM closed JOIN benchmarks USING (benchmark_id)"
    )
    return {tuple(row) for row in rows}


def forgotten_answers(db: sqlite3.Connection) -> set[AnswerKey]:
    """The unedited answers in words whose texts are gone."""
    if not _bodies(db, FORGOTTEN, "id"):
        return set()
    rows = db.execute(
        "SELECT benchmark, item, variant, candidate, repeat FROM responses r JOIN items i USING (item_id) "
        "JOIN benchmarks USING (benchmark_id) JOIN candidates USING (candidate_id) WHERE i.current = 1 "
        f"AND r.edit_id = 0 AND r.logprobs IS NULL AND {IS_FORGOTTEN.format('r')}"
    )
    return {tuple(row) for row in rows}


def forgotten_notes(db: sqlite3.Connection) -> list[str]:
    """The sentence on what a run has forgotten, none where it is all there."""
    return [text for text in [forgotten(db).text] if text]


def unfinished(db: sqlite3.Connection) -> list[str]:
    """The ids of what was overwritten since the pages of the file were last written anew."""
    ids = dict.fromkeys(_bodies(db, FORGOTTEN, "id"))
    for names in _bodies(db, REWRITTEN, "of"):
        for name in names:
            ids.pop(name, None)
    return list(ids)


def _bodies(db: sqlite3.Connection, kind: str, field: str) -> list[Any]:
    rows = db.execute("SELECT body FROM events WHERE kind = ? ORDER BY event_id", (kind,))
    return [stored_object(body, f"the event {kind!r}")[field] for (body,) in rows]


def forgotten_meta(digest: str | None, *, scores: bool) -> dict[str, Any]:
    """The field of `meta` of a row that is forgotten now."""
    return {MARK: {"hash": digest, "scores": scores}}


def has_scores(meta: str) -> bool:
    """Whether the scores of a forgotten row stayed, by its stored `meta`."""
    return bool(json.loads(meta)[MARK].get("scores", True))
