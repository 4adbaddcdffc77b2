"""The scores on a rater's ballot, as the run holds them."""

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple, cast

from vivavoce.core.records import ScoreStatus
from vivavoce.store.schema import STATUSES


class BallotScore(NamedTuple):
    """A score of a response by a measure, both by their keys."""

    measure: int
    response: int
    value: float | None
    status: ScoreStatus
    note: str | None


def rater_measures(db: sqlite3.Connection, signature: str, rater: str) -> dict[str, int]:
    """The keys of a rater's measures of this signature, by criterion; empty where nothing was stored."""
    rows = db.execute(
        "SELECT criterion, measure_id FROM measures WHERE (signature, rater) = (?, ?) ORDER BY measure_id",
        (signature, rater),
    )
    return dict(rows)


def ballot_scores(
    db: sqlite3.Connection,
    measures: Sequence[int],
    responses: Sequence[int],
    *,
    ballot: str = "",
    pass_no: int = 1,
) -> list[BallotScore]:
    """The scores of these responses by these measures on a ballot, '' for none, in a pass; failed too."""
    rows = db.execute(
        "SELECT measure_id, response_id, value, status_id, note FROM scores JOIN ballots USING (ballot_id) "
        "WHERE measure_id IN (SELECT value FROM json_each(?)) "
        "AND response_id IN (SELECT value FROM json_each(?)) AND ballot = ? AND pass_no = ?",
        (json.dumps(list(measures)), json.dumps(list(responses)), ballot, pass_no),
    )
    return [
        BallotScore(measure, response, value, cast("ScoreStatus", STATUSES[status]), note)
        for measure, response, value, status, note in rows
    ]
