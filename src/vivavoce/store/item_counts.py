"""How many responses and scores belong to each item, by the item's key: nothing is loaded or verified."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple


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
