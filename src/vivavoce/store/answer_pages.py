"""Pages of the list of answers, however many the run holds.

Pages are cut by the key of the last answer, so the hundredth costs what the first does. A search that finds
little stops after `MOST_READ` answers and says so; the next page goes on from there.
"""

import sqlite3
from typing import Any, NamedTuple

from vivavoce.core.errors import SelectionError
from vivavoce.store.retirement import counting_measures, retired_keys
from vivavoce.store.run_counts import response_count, score_count

PAGE_ROWS = 50
MOST_READ = 20_000
"""Answers that one page reads at most, found or not."""
MOST_NUMBER = 2**63 - 1
"""The largest key of a row."""


class Filters(NamedTuple):
    """What is looked for; ids are the run's own, and null or empty lets all through."""

    benchmark: int | None = None
    candidate: int | None = None
    measure: int | None = None
    status: str = ""
    score_status: str = ""
    text: str = ""
    newest: str = ""
    after: int | None = None

    def query(self, **changes: Any) -> dict[str, Any]:
        """The filters by name with these changes, without those that let all through."""
        return {name: value for name, value in self._replace(**changes)._asdict().items() if value}


class AnswerRow(NamedTuple):
    """An answer as the list shows it; `value` is that of its one score by the measure that is looked at."""

    response_id: int
    item_id: int
    item: str
    alias: str | None
    variant: str
    candidate: str
    repeat: int
    edit: str
    status: str
    beginning: str | None
    error: str | None
    n_scores: int
    value: float | None
    score_status: str | None


class AnswerPage(NamedTuple):
    """A page of answers; `after` begins the next one, and `n_read` counts those that were looked through."""

    rows: list[AnswerRow]
    after: int | None
    n_read: int


def answer_page(db: sqlite3.Connection, filters: Filters) -> AnswerPage:
    """The next answers to current items that pass the filters, in the order they came or newest first.

    Raises `SelectionError` for scores by a retired measure.
    """
    if filters.measure in retired_keys(db):
        raise SelectionError("this measure is retired in this run: choose another one on the first page.")
    sign, end_sign, order, first = (
        ("<", ">=", "DESC", MOST_NUMBER) if filters.newest else (">", "<=", "ASC", -MOST_NUMBER)
    )
    start = first if filters.after is None else filters.after
    window = db.execute(
        f"SELECT count(*), {'min' if filters.newest else 'max'}(response_id) FROM (SELECT response_id FROM "
        f"responses WHERE response_id {sign} ? ORDER BY response_id {order} LIMIT ?)",
        (start, MOST_READ),
    )
    n_read, last = window.fetchone()
    if not n_read:
        return AnswerPage([], None, 0)
    conditions, values = _conditions(filters, counting_measures(db))
    cursor = db.execute(
        f"""SELECT r.response_id, r.item_id, i.item, i.alias, i.variant, c.candidate, r.repeat,
            iif(e.probe = '', e.edit, e.probe), r.status,
            iif(r.logprobs IS NULL, substr(coalesce(r.final, r.text), 1, 300), NULL), substr(r.error, 1, 300),
            (SELECT count(*) FROM scores s WHERE s.measure_id IS :measure AND s.response_id = r.response_id),
            (SELECT iif(count(*) = 1, max(value), NULL) FROM scores s
             WHERE s.measure_id IS :measure AND s.response_id = r.response_id),
            (SELECT status FROM scores s JOIN statuses t USING (status_id)
             WHERE s.measure_id IS :measure AND s.response_id = r.response_id
             ORDER BY s.status_id DESC LIMIT 1)
        FROM responses r CROSS JOIN items i USING (item_id) CROSS JOIN candidates c USING (candidate_id)
             CROSS JOIN edits e USING (edit_id)
        WHERE r.response_id {sign} :start AND r.response_id {end_sign} :last AND i.current = 1
              {"".join(f" AND {condition}" for condition in conditions)}
        ORDER BY r.response_id {order} LIMIT :rows""",
        {**values, "start": start, "last": last, "rows": PAGE_ROWS, "measure": filters.measure},
    )
    rows = [AnswerRow(*row) for row in cursor]
    if len(rows) == PAGE_ROWS:
        return AnswerPage(rows, rows[-1].response_id, n_read)
    return AnswerPage(rows, last if n_read == MOST_READ else None, n_read)


def _conditions(filters: Filters, counting: str) -> tuple[list[str], dict[str, Any]]:
    """The filters in SQL, and their values; `counting` is a query for the measures that count."""
    conditions, values = [], {}
    columns = {"benchmark": "i.benchmark_id", "candidate": "r.candidate_id", "status": "r.status"}
    for name, column in columns.items():
        if value := getattr(filters, name):
            conditions.append(f"{column} = :{name}")
            values[name] = value
    if filters.measure or filters.score_status:
        measures = ":measure" if filters.measure else counting
        status = "AND t.status = :score_status" if filters.score_status else ""
        conditions.append(
            f"EXISTS (SELECT 1 FROM scores s JOIN statuses t USING (status_id) WHERE s.measure_id IN "
            f"({measures}) AND s.response_id = r.response_id {status})"
        )
        values["score_status"] = filters.score_status
    if filters.text:
        conditions.append(
            "(r.text LIKE :text ESCAPE '\\' OR i.question LIKE :text ESCAPE '\\' OR i.item LIKE :text "
            "ESCAPE '\\' OR i.alias LIKE :text ESCAPE '\\')"
        )
        literal = filters.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values["text"] = f"%{literal}%"
    return conditions, values


class Choices(NamedTuple):
    """What the filters offer, by id: benchmarks, candidates with their roles, and measures."""

    benchmarks: list[tuple[int, str]]
    candidates: list[tuple[int, str, str]]
    measures: list[tuple[int, str, str, str]]


def filter_choices(db: sqlite3.Connection) -> Choices:
    """The benchmarks, candidates and measures of the run, as the filters offer them; no retired ones."""
    return Choices(
        db.execute("SELECT benchmark_id, benchmark FROM benchmarks ORDER BY benchmark").fetchall(),
        db.execute("SELECT candidate_id, candidate, role FROM candidates ORDER BY candidate").fetchall(),
        db.execute(
            "SELECT measure_id, metric, criterion, rater FROM measures "
            f"WHERE measure_id IN ({counting_measures(db)}) ORDER BY metric, criterion, rater"
        ).fetchall(),
    )


class Size(NamedTuple):
    """How many answers the run holds, and how many scores that count."""

    answers: int
    scores: int


def run_size(db: sqlite3.Connection) -> Size:
    """The size of the run now: a page that is open compares it with what it shows."""
    return Size(response_count(db), score_count(db))
