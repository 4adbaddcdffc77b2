"""How many items, responses and scores a run holds, counted by SQLite: nothing is loaded or verified."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from vivavoce.core.records import Measure
from vivavoce.store.read import measures, retired_measures
from vivavoce.store.retirement import counting_measures
from vivavoce.store.schema import STATUSES

_CURRENT = "item_id IN (SELECT item_id FROM items WHERE current = 1)"


class MeasureCount(NamedTuple):
    """A measure with its scores by status."""

    measure: Measure
    by_status: Mapping[str, int]


class RunCounts(NamedTuple):
    """What a run holds, counted.

    `items` by benchmark, without those that were made in the run (`n_made`); `candidates` in the order they
    came; `responses` in words by status; `n_unscored` responses without any score; `findings` by study.
    `retired` are measures that do not count, and that nothing else here counts.
    """

    items: Mapping[str, int]
    n_made: int
    candidates: tuple[str, ...]
    responses: Mapping[str, int]
    n_unscored: int
    measures: tuple[MeasureCount, ...]
    findings: Mapping[str, int]
    retired: tuple[MeasureCount, ...] = ()


def run_counts(db: sqlite3.Connection) -> RunCounts:
    """The counts of current items, and of what belongs to them."""
    (outdated,) = db.execute("SELECT EXISTS (SELECT 1 FROM items WHERE current = 0)").fetchone()
    answers = (
        f"edit_id IN (SELECT edit_id FROM edits WHERE probe = '') AND {_CURRENT if outdated else 'true'}"
    )
    by_status = _status_counts(db, outdated)
    return RunCounts(
        items=questions_by_benchmark(db),
        n_made=_number(db, "SELECT count(*) FROM items WHERE current = 1 AND origin IS NOT NULL"),
        candidates=tuple(
            name for (name,) in db.execute("SELECT candidate FROM candidates ORDER BY candidate_id")
        ),
        responses=dict(db.execute(
            f"SELECT status, count(*) FROM responses WHERE {answers} GROUP BY status"
        )),
        n_unscored=_number(
            db,
            f"SELECT count(*) FROM responses r WHERE {answers} "
            f"AND NOT EXISTS ({_SCORES_OF.format(counting=counting_measures(db))})",
        ),
        measures=tuple(MeasureCount(m.measure, by_status.get(m.key, {})) for m in measures(db)),
        findings=dict(db.execute("SELECT study, count(*) FROM findings GROUP BY study")),
        retired=tuple(MeasureCount(m.measure, by_status.get(m.key, {})) for m in retired_measures(db)),
    )  # fmt: skip


# A cross join keeps this order of the tables: SQLite would scan all scores anew for each response.
_SCORES_OF = (
    "SELECT 1 FROM ({counting}) m CROSS JOIN scores s "
    "WHERE s.measure_id = m.measure_id AND s.response_id = r.response_id"
)


def response_count(db: sqlite3.Connection) -> int:
    """How many responses the run holds, those to earlier versions of items included."""
    return _number(db, "SELECT count(*) FROM responses")


def score_count(db: sqlite3.Connection) -> int:
    """How many scores of the run count, retired ones apart; checksums say so, and no score is read."""
    counting = counting_measures(db)
    return _number(db, f"SELECT coalesce(sum(rows), 0) FROM score_checksums WHERE measure_id IN ({counting})")


def scores_by_measure(db: sqlite3.Connection) -> dict[int, int]:
    """By measure how many scores the run holds, retired ones too; checksums say so, and no score is read."""
    return dict(db.execute("SELECT measure_id, sum(rows) FROM score_checksums GROUP BY measure_id"))


def came_and_failed(db: sqlite3.Connection) -> tuple[int, int]:
    """How many responses to current items came, and how many failed; edits of responses do not count."""
    counts: tuple[int, int] = db.execute(
        "SELECT count(*) FILTER (WHERE r.status != 'failed'), count(*) FILTER (WHERE r.status = 'failed') "
        "FROM responses r JOIN items i USING (item_id) JOIN edits e USING (edit_id) "
        "WHERE i.current = 1 AND (r.edit_id = 0 OR e.probe != '')"
    ).fetchone()
    return counts


def items_by_spec(db: sqlite3.Connection) -> dict[str, int]:
    """By the spec of a benchmark how many current items it has, those that were made in the run included."""
    return dict(
        db.execute(
            "SELECT b.spec, count(*) FROM items JOIN benchmarks b USING (benchmark_id) WHERE current = 1 "
            "GROUP BY b.spec"
        )
    )


def questions_by_benchmark(db: sqlite3.Connection) -> dict[str, int]:
    """By benchmark how many current items it has, without those that were made in the run."""
    return dict(
        db.execute(
            "SELECT benchmark, count(*) FROM items JOIN benchmarks USING (benchmark_id) "
            "WHERE current = 1 AND origin IS NULL GROUP BY benchmark_id ORDER BY benchmark_id"
        )
    )


def _number(db: sqlite3.Connection, sql: str) -> int:
    (value,) = db.execute(sql).fetchone()
    return int(value)


def _status_counts(db: sqlite3.Connection, outdated: int) -> dict[int, dict[str, int]]:
    """By measure its scores by status."""
    condition = (
        f"WHERE response_id IN (SELECT response_id FROM responses WHERE {_CURRENT})" if outdated else ""
    )
    columns = ", ".join(f"sum(status_id = {key})" for key in range(len(STATUSES)))
    rows = db.execute(f"SELECT measure_id, {columns} FROM scores {condition} GROUP BY measure_id")
    return {key: dict(zip(STATUSES, numbers, strict=True)) for key, *numbers in rows}


class FailedCount(NamedTuple):
    """How many rows belong to an item, of those that failed or of the others."""

    item: int
    failed: bool
    n: int


def score_counts(db: sqlite3.Connection, signature: str, passes: int) -> list[FailedCount]:
    """The scores by a metric of this signature in the first passes."""
    return _failed_counts(
        db.execute(
            "SELECT r.item_id, s.status_id = 3, count(*) FROM scores s JOIN measures m USING (measure_id) "
            "JOIN responses r USING (response_id) WHERE m.signature = ? AND s.pass_no <= ? GROUP BY 1, 2",
            (signature, passes),
        )
    )


def response_counts(
    db: sqlite3.Connection, candidates: Sequence[str], probes: Sequence[str], repeats: int
) -> list[FailedCount]:
    """The first repeats of what candidates answered to probes, '' for words; edits do not count."""
    # As JSON a name would end at a zero character.
    marks = ", ".join("?" * len(candidates)), ", ".join("?" * len(probes))
    return _failed_counts(
        db.execute(
            "SELECT r.item_id, r.status = 'failed', count(*) FROM responses r JOIN candidates c "
            f"USING (candidate_id) JOIN edits e USING (edit_id) WHERE c.candidate IN ({marks[0]}) "
            f"AND e.probe IN ({marks[1]}) AND r.repeat <= ? AND (e.probe != '' OR r.edit_id = 0) "
            "GROUP BY 1, 2",
            (*candidates, *probes, repeats),
        )
    )


def probe_counts(db: sqlite3.Connection, probe: str) -> dict[int, int]:
    """The responses to a probe, '' for words, by item; edits count."""
    return dict(
        db.execute(
            "SELECT item_id, count(*) FROM responses JOIN edits USING (edit_id) WHERE probe = ? GROUP BY 1",
            (probe,),
        )
    )


def unsettled_counts(db: sqlite3.Connection, probe: str, signature: str, passes: int) -> dict[int, int]:
    """By item the responses to a probe that lack a settled score by the metric in one of the first passes."""
    return dict(
        db.execute(
            "SELECT r.item_id, count(*) FROM responses r JOIN edits e USING (edit_id) WHERE e.probe = ? AND ("
            "SELECT count(DISTINCT s.pass_no) FROM scores s JOIN measures m USING (measure_id) "
            "WHERE s.response_id = r.response_id AND m.signature = ? AND s.pass_no <= ? AND s.status_id != 3"
            ") < ? GROUP BY 1",
            (probe, signature, passes, passes),
        )
    )


def _failed_counts(rows: Iterable[tuple[int, int, int]]) -> list[FailedCount]:
    return [FailedCount(item, bool(failed), n) for item, failed, n in rows]
