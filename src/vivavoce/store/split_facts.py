"""The facts into which a metric split an answer, as the units of its scores hold them."""

import sqlite3

from vivavoce.core.records import ItemKey

_UNITS = """
SELECT s.measure_id, u.text FROM scores s JOIN measures m USING (measure_id) JOIN units u USING (unit_id)
JOIN responses r USING (response_id) JOIN candidates c USING (candidate_id)
JOIN items i USING (item_id) JOIN benchmarks b USING (benchmark_id)
WHERE (b.benchmark, i.item, i.variant, c.candidate, r.repeat) = (?, ?, ?, ?, ?) AND r.edit_id = 0
AND (m.metric = 'atomic_facts' OR m.metric LIKE 'atomic\\_facts(%' ESCAPE '\\')
AND u.unit != '' AND u.unit NOT GLOB '*[^0-9]*'
GROUP BY s.measure_id, u.unit_id ORDER BY s.measure_id DESC, CAST(u.unit AS INTEGER)
"""


def split_facts(db: sqlite3.Connection, place: ItemKey, candidate: str, repeat: int) -> tuple[str, ...]:
    """The facts of an answer by the last of the measures that split it, in their order; empty without one."""
    rows = db.execute(_UNITS, (*place, candidate, repeat)).fetchall()
    return tuple(text for measure, text in rows if measure == rows[0][0])
