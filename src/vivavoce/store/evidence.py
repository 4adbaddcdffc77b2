"""Evidence as a table: which passage of which source bears which unit of a response, by which measure."""

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vivavoce.store.checksums import stored_sums
from vivavoce.store.damage import decoding
from vivavoce.store.hashes import changed
from vivavoce.store.passages import changed_passages, stored_passages
from vivavoce.store.query_frames import rows_frame
from vivavoce.store.retirement import counting_measures
from vivavoce.store.score_checks import differences

if TYPE_CHECKING:
    import polars as pl

_PLACE = ("benchmark", "item", "variant", "candidate", "repeat", "edit", "metric", "criterion", "rater",
          "pass_no", "unit", "ballot")  # fmt: skip
EVIDENCE = (*_PLACE, "source", "version", "file", "page", "offset", "quote", "bearing")
"""The columns of the table."""
_INTEGERS = ("repeat", "pass_no", "page", "offset")
_ROWS = """
SELECT benchmark, item, variant, candidate, repeat, iif(probe = '', edit, '') AS edit, metric, criterion,
       rater, v.pass_no, u.unit, ballot, passage_id, bearing
FROM evidence v JOIN measures USING (measure_id) JOIN responses USING (response_id)
     JOIN items i USING (item_id) JOIN benchmarks USING (benchmark_id) JOIN candidates USING (candidate_id)
     JOIN edits USING (edit_id) JOIN units u USING (unit_id) JOIN ballots USING (ballot_id) WHERE current = 1
"""
_WITHIN = "measure_id IN (SELECT value FROM json_each(?))"


def evidence_rows(db: sqlite3.Connection, measures: Sequence[int] | None = None) -> "pl.DataFrame":
    """What the scores of current items rest on, by these measures or by all that are not retired.

    There is a row per passage of a score.

    The passages of one score stand in the order in which the metric gave them; `unit` is empty where they are
    of the whole response. Equal texts stand in memory once. Raises `StoreError` where a passage does not fit
    its hash, or the scores that rest on them do not fit their checksums.
    """
    import polars as pl

    chosen = measures
    if chosen is None:
        sql = f"SELECT DISTINCT measure_id FROM evidence WHERE measure_id IN ({counting_measures(db)})"
        chosen = [key for (key,) in db.execute(sql)]
    passages = list(stored_passages(db))
    kinds = {name: pl.Int64 if name in _INTEGERS else pl.String for name in EVIDENCE}
    if not chosen or not passages:
        return pl.DataFrame(schema=kinds)
    _check(db, chosen, passages)
    with decoding("a passage of the evidence"):
        contents = pl.DataFrame(
            [(key, *content) for key, _, *content in passages],
            schema={"passage_id": pl.Int64} | {name: kinds[name] for name in EVIDENCE[len(_PLACE) : -1]},
            orient="row",
        )
    columns = {name: kinds[name] for name in _PLACE} | {"passage_id": pl.Int64, "bearing": pl.String}
    order = "benchmark, item, variant, candidate, repeat, edit, metric, criterion, rater, v.pass_no"
    rows = rows_frame(
        db,
        f"{_ROWS} AND {_WITHIN} ORDER BY {order}, v.unit_id, ballot, v.place",
        pl.Schema(columns),
        [json.dumps(list(chosen))],
    )
    return rows.join(contents, on="passage_id", validate="m:1", maintain_order="left").select(EVIDENCE)


def _check(db: sqlite3.Connection, measures: Sequence[int], passages: Sequence[tuple[object, ...]]) -> None:
    """Raise `StoreError` where passages, or the scores by these measures, are not those that were written."""
    sums = stored_sums(db, _WITHIN, [json.dumps(list(measures))])
    wrong = [difference.sentence for difference in differences(db, sums, measures=measures)]
    for sentence in (*wrong, *changed_passages(passages)):
        raise changed(db, sentence)
