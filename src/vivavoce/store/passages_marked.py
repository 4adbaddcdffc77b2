"""Passages that people marked in answers as giving the right option away."""

import sqlite3

METRIC = "neutralise"
_MARKED = """
SELECT benchmark, item, variant, candidate, repeat, edit, note FROM scores s
JOIN measures m USING (measure_id) JOIN responses r USING (response_id) JOIN items i USING (item_id)
JOIN benchmarks b USING (benchmark_id) JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id)
WHERE m.metric = ? AND s.pass_no = 1 AND s.value IS NOT NULL ORDER BY m.rater
"""


def marked_passages(db: sqlite3.Connection) -> dict[tuple[str, str, str, str, int, str], list[list[str]]]:
    """By response the passages of each rater who read it, none where it gives nothing away."""
    passages: dict[tuple[str, str, str, str, int, str], list[list[str]]] = {}
    for *key, note in db.execute(_MARKED, (METRIC,)):
        benchmark, item, variant, candidate, repeat, edit = key
        place = benchmark, item, variant, candidate, repeat, edit
        passages.setdefault(place, []).append((note or "").splitlines())
    return passages
