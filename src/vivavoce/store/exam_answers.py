"""A candidate's answers to one benchmark with their scores, one at a time, as exporters read them."""

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from vivavoce.core.records import ResponseStatus, Role, ScoreStatus, Unit
from vivavoce.store.retirement import counting_measures
from vivavoce.store.schema import STATUSES


class ExamAnswer(NamedTuple):
    """A response to a current item, under its key and those of its item and edit; `meta` is JSON.

    `input_tokens` is the largest count of the calls that brought it, null where nobody counted.
    """

    key: int
    item: int
    edit: int
    repeat: int
    status: ResponseStatus
    text: str | None
    reasoning: str | None
    finish_reason: str | None
    tokens: int | None
    seconds: float | None
    cost: float | None
    error: str | None
    meta: str
    input_tokens: int | None


class AnswerScore(NamedTuple):
    """A score of an answer by the measure of that key, in one pass. It may be of a unit, or on a ballot."""

    measure: int
    pass_no: int
    unit: Unit | None
    on_ballot: bool
    value: float | None
    status: ScoreStatus
    note: str | None


def exam_candidates(db: sqlite3.Connection, benchmark: int) -> dict[str, tuple[int, Role]]:
    """The candidates that answered a current item of a benchmark, in the order they came: key and role."""
    rows = db.execute(
        "SELECT DISTINCT candidate, candidate_id, role FROM responses "
        "JOIN candidates USING (candidate_id) JOIN items USING (item_id) "
        "WHERE benchmark_id = ? AND current = 1 ORDER BY candidate_id",
        (benchmark,),
    )
    return {candidate: (key, role) for candidate, key, role in rows}


def exam_answers(db: sqlite3.Connection, benchmark: int, candidate: int) -> Iterator[ExamAnswer]:
    """What a candidate answered to the current items of a benchmark, by item, variant, repeat and edit."""
    columns = ", ".join(f"r.{name}" for name in ExamAnswer._fields[3:-1])
    rows = db.execute(
        f"SELECT response_id, item_id, edit_id, {columns}, "
        "sent.tokens_in FROM responses r JOIN items i USING (item_id) "
        "LEFT JOIN (SELECT response_id, max(input_tokens) AS tokens_in FROM calls "
        "WHERE response_id IS NOT NULL GROUP BY response_id) sent USING (response_id) "
        "WHERE benchmark_id = ? AND current = 1 AND candidate_id = ? "
        "ORDER BY item, variant, repeat, edit_id",
        (benchmark, candidate),
    )
    yield from map(ExamAnswer._make, rows)


def answer_scores(db: sqlite3.Connection, response: int) -> list[AnswerScore]:
    """The scores of a response by measure, pass and unit."""
    rows = db.execute(
        "SELECT measure_id, pass_no, unit_id, unit, text, weight, ballot_id, value, status_id, note "
        "FROM scores JOIN units USING (unit_id) "
        "WHERE measure_id IN (SELECT measure_id FROM measures) AND response_id = ? "
        "ORDER BY measure_id, pass_no, length(unit), unit, text",
        (response,),
    )
    scores = []
    for measure, pass_no, unit_id, name, text, weight, ballot, value, status, note in rows:
        unit = Unit(unit=name, text=text, weight=weight) if unit_id else None
        word: Any = STATUSES[status]
        scores.append(AnswerScore(measure, pass_no, unit, bool(ballot), value, word, note))
    return scores


def answer_times(db: sqlite3.Connection, benchmark: int, candidate: int) -> tuple[str | None, str | None]:
    """When the first and the last call for a candidate's answers was made (UTC); null where none was."""
    first, last = db.execute(
        "SELECT min(made_at), max(made_at) FROM calls JOIN responses USING (response_id) "
        "JOIN items USING (item_id) WHERE benchmark_id = ? AND candidate_id = ?",
        (benchmark, candidate),
    ).fetchone()
    return first, last


def answer_hashes(db: sqlite3.Connection, benchmark: int, candidate: int) -> list[str | None]:
    """The hashes of a candidate's answers to current items, by item, variant, repeat and edit."""
    rows = db.execute(
        "SELECT r.hash FROM responses r JOIN items i USING (item_id) WHERE benchmark_id = ? "
        "AND current = 1 AND candidate_id = ? ORDER BY item, variant, repeat, edit_id",
        (benchmark, candidate),
    )
    return [digest for (digest,) in rows]


def candidate_checksums(db: sqlite3.Connection, candidate: int) -> list[tuple[Any, ...]]:
    """The checksums of a candidate's scores: signature, criterion, rater, and the three numbers of each.

    Those of retired measures are left out.
    """
    return db.execute(
        "SELECT signature, criterion, rater, c.rows, scores, details FROM score_checksums c "
        "JOIN measures USING (measure_id) WHERE candidate_id = ? "
        f"AND measure_id IN ({counting_measures(db)}) ORDER BY 1, 2, 3",
        (candidate,),
    ).fetchall()
