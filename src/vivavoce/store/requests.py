"""What candidates were asked for, whether an answer came or not, beside what came."""

import sqlite3
from collections.abc import Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from vivavoce.core.records import Item
from vivavoce.store.item_rows import names_table
from vivavoce.store.query_frames import rows_frame
from vivavoce.store.table_hashes import check_table_hashes, renew_table_hashes

if TYPE_CHECKING:
    import polars as pl

_AT_ONCE = 1_000
"""Items that are looked up at once."""
_REQUEST = """
INSERT INTO requests SELECT i.item_id, c.candidate_id, ?, ? FROM names n CROSS JOIN items i
ON (i.benchmark_id, i.item, i.variant, i.current)
    = ((SELECT benchmark_id FROM benchmarks WHERE benchmark = ?), n.item, n.variant, 1)
CROSS JOIN candidates c ON c.candidate = ? WHERE true
ON CONFLICT DO UPDATE SET repeats = max(repeats, excluded.repeats)
"""


def put_requests(
    db: sqlite3.Connection,
    items: Iterable[Item],
    candidates: Collection[str],
    *,
    probe: str = "",
    repeats: int = 1,
) -> None:
    """Store that candidates are asked these items of one benchmark, in words or by a probe, so many times.

    Items and candidates must be stored. The same request again changes nothing, and of two numbers of
    repeats the larger stays. Items are read some at a time, so that none of them is held.
    """
    check_table_hashes(db, "requests")
    iterator = iter(items)
    while batch := list(islice(iterator, _AT_ONCE)):
        table, names = names_table(batch)
        for candidate in candidates:
            db.execute(table + _REQUEST, (*names, probe, repeats, batch[0].benchmark, candidate))
    renew_table_hashes(db, "requests")


# A cross join keeps this order of the tables.
_COUNTS = """
SELECT benchmark, item, variant, format, candidate, role, probe, n_requested, n_responses, n_lost FROM (
    SELECT item_id, candidate_id, probe, max(requested) AS n_requested, sum(response) AS n_responses,
           sum(lost) AS n_lost
    FROM (
        SELECT item_id, candidate_id, probe, repeats AS requested, 0 AS response, 0 AS lost
        FROM requests
        UNION ALL
        SELECT item_id, candidate_id, probe, 0, count(*), sum(status = 'failed')
        FROM responses CROSS JOIN edits USING (edit_id) WHERE edit_id = 0 OR probe != ''
        GROUP BY item_id, candidate_id, edit_id
    ) GROUP BY item_id, candidate_id, probe
) CROSS JOIN items USING (item_id) CROSS JOIN benchmarks USING (benchmark_id)
CROSS JOIN candidates USING (candidate_id) WHERE current = 1 AND origin IS NULL
"""


def request_counts(db: sqlite3.Connection) -> "pl.DataFrame":
    """What was requested of candidates and what came: a row per item, candidate and probe ('' for words).

    Columns: benchmark, item, variant, format, candidate, role, probe; `n_requested` repeats, 0 where the run
    does not know of a request (imported answers, older runs); `n_responses`, those that were lost included;
    `n_lost` responses of them that failed. Edits of responses, earlier versions of items and items that were
    made in the run are left out.
    """
    import polars as pl

    check_table_hashes(db, "requests")
    names = ("benchmark", "item", "variant", "format", "candidate", "role", "probe")
    numbers = ("n_requested", "n_responses", "n_lost")
    columns = {**dict.fromkeys(names, pl.String()), **dict.fromkeys(numbers, pl.Int64())}
    return rows_frame(db, _COUNTS, pl.Schema(columns))
