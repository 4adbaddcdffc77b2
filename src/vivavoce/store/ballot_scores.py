"""Scores by people as the run holds them: those on a ballot, and those of items."""

import json
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple, cast

from vivavoce.core.records import ItemKey, ScoreStatus
from vivavoce.store.retirement import counting_measures
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


class ItemRating(NamedTuple):
    """A rater's score of an item itself; `group` is the declared one, and a category or note may be ''."""

    place: ItemKey
    group: str
    category: str
    format: str
    criterion: str
    rater: str
    pass_no: int
    value: float
    note: str


def item_ratings(db: sqlite3.Connection, signature: str, candidate: str) -> list[ItemRating]:
    """The values by measures of this signature that a candidate, such as the reference, has on current items.

    By benchmark, item, variant, rater and pass; what has no value, or is retired, is left out.
    """
    rows = db.execute(
        f"""SELECT b.benchmark, i.item, i.variant, i."group", coalesce(i.category, ''), i.format,
        m.criterion, m.rater, s.pass_no, s.value, coalesce(s.note, '')
        FROM scores s JOIN measures m USING (measure_id) JOIN responses r USING (response_id)
        JOIN candidates c USING (candidate_id) JOIN items i USING (item_id)
        JOIN benchmarks b USING (benchmark_id)
        WHERE m.signature = ? AND c.candidate = ? AND s.status_id = 0 AND i.current = 1
        AND m.measure_id IN ({counting_measures(db)})
        ORDER BY b.benchmark, i.item, i.variant, m.rater, s.pass_no""",
        (signature, candidate),
    )
    return [ItemRating((benchmark, item, variant), *values) for benchmark, item, variant, *values in rows]
