"""Scores that come to what is forgotten: they are stored without the words about it."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from vivavoce.core.records import Value
from vivavoce.store.forgotten import GONE, NOTE, gone_keys

if TYPE_CHECKING:
    from vivavoce.store.write import ScoreRow


def without_words(db: sqlite3.Connection, measure: int, scores: Iterable["ScoreRow"]) -> list["ScoreRow"]:
    """The scores; those of forgotten answers without words about these, which somebody may have kept.

    The others of their ballots are without the note: it is of the ballot, and so of these too.
    """
    scores, gone = list(scores), gone_keys(db).responses
    if not gone:
        return scores
    on_ballots = (
        "SELECT ballot FROM scores JOIN ballots USING (ballot_id) WHERE ballot_id != 0 AND measure_id = ? "
        "AND response_id IN (SELECT value FROM json_each(?))"
    )
    ballots = {name for (name,) in db.execute(on_ballots, (measure, json.dumps(sorted(gone))))}
    ballots |= {score.ballot for score in scores if score.ballot and score.response in gone}
    return [
        _without_words_of_it(db, score)
        if score.response in gone
        else score._replace(value=_without_note(score.value))
        if score.ballot in ballots
        else score
        for score in scores
    ]


def _without_note(value: Value) -> Value:
    return value._replace(note=value.note and (NOTE if value.note == NOTE else GONE))


def _without_words_of_it(db: sqlite3.Connection, score: "ScoreRow") -> "ScoreRow":
    """The score without words about its answer.

    The text of a unit stays where other scores have it: it is a point of a rubric.
    """
    unit, value = score.unit, _without_note(score.value)._replace(evidence=())
    shared = "SELECT 1 FROM units WHERE (unit, text) = (?, ?)"
    if unit is not None and not db.execute(shared, (unit.unit, unit.text)).fetchone():
        unit = replace(unit, text=GONE)
    return score._replace(value=value, unit=unit)
