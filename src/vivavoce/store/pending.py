"""What is to be marked: the responses without a settled mark, and the ballots that stand."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.records import Item, Response


class Pending(NamedTuple):
    """A response to be marked, under its key."""

    key: int
    item: Item
    response: Response


_SAID = ("status", "logprobs", "reasoning", "finish_reason", "tokens", "seconds", "cost", "error")
_CONFIDENCE = "json_quote(json_extract(r.meta, '$.confidence'))"
"""What `meta` holds of a confidence, as JSON; the rest of it is for no metric, and may be long."""
_TO_ITEMS = """
    FROM responses r JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id)
    WHERE r.item_id IN (SELECT value FROM json_each(:items)) AND e.probe = :probe
"""
# A measure may give a response several rows, one for each unit; status 3 is the failed.
_UNSETTLED = f"""
    {_TO_ITEMS}
      AND (SELECT count(*) FROM (
           SELECT 1 FROM scores s WHERE s.response_id = r.response_id AND s.pass_no = :pass_no
           AND s.measure_id IN (SELECT value FROM json_each(:measures))
           GROUP BY s.measure_id HAVING max(s.status_id = 3) = 0)) < :n
"""
_WITH_REPEATS = f"""
    {_TO_ITEMS} AND (r.item_id, r.candidate_id, r.edit_id) IN
      (SELECT r.item_id, r.candidate_id, r.edit_id {_UNSETTLED})
"""


def count_pending(
    db: sqlite3.Connection,
    items: Mapping[int, Item],
    measures: Sequence[int],
    pass_no: int = 1,
    probe: str = "",
    *,
    repeats: bool = False,
) -> int:
    """How many responses to these items lack a settled score by one of the measures in that pass.

    They are the answers in words, or what a `probe` told. With `repeats` every repeat of an answer that lacks
    one is counted with it.
    """
    values = _unsettled(items, measures, pass_no, probe)
    where = _WITH_REPEATS if repeats else _UNSETTLED
    (n,) = db.execute(f"SELECT count(*) {where}", values).fetchone()
    return int(n)


def pending(
    db: sqlite3.Connection,
    items: Mapping[int, Item],
    measures: Sequence[int],
    pass_no: int = 1,
    probe: str = "",
    *,
    repeats: bool = False,
) -> Iterator[Pending]:
    """Those responses, item by item and candidate by candidate; a failed score is no settled one."""
    where = _WITH_REPEATS if repeats else _UNSETTLED
    return _responses_to(db, items, where, _unsettled(items, measures, pass_no, probe))


def contestants(db: sqlite3.Connection, items: Mapping[int, Item]) -> Iterator[Pending]:
    """What candidates, no floor or ceiling, answered to these items, unedited, item by item."""
    return _responses_to(
        *(db, items, f"{_TO_ITEMS} AND c.role = 'candidate' AND r.edit_id = 0"),
        {"items": json.dumps(list(items)), "probe": ""},
    )


class Ballot(NamedTuple):
    """A ballot of a pass: its item and repeat, how many marks it bears, and whether none of them failed."""

    ballot: str
    item: int
    repeat: int
    marks: int
    complete: bool


def ballots(db: sqlite3.Connection, measures: Sequence[int], pass_no: int) -> list[Ballot]:
    """The ballots of these measures in a pass."""
    sql = (
        "SELECT ballot, min(item_id), min(repeat), count(*), max(status_id = 3) = 0 FROM scores "
        "JOIN ballots USING (ballot_id) JOIN responses USING (response_id) WHERE pass_no = ? "
        "AND ballot_id != 0 AND measure_id IN (SELECT value FROM json_each(?)) GROUP BY ballot"
    )
    rows = db.execute(sql, (pass_no, json.dumps(list(measures))))
    return [
        Ballot(name, item, repeat, scores, bool(complete)) for name, item, repeat, scores, complete in rows
    ]


def _responses_to(
    db: sqlite3.Connection, items: Mapping[int, Item], where: str, values: Mapping[str, Any]
) -> Iterator[Pending]:
    sql = (
        "SELECT r.response_id, r.item_id, c.candidate, r.repeat, iif(e.probe = '', e.edit, ''), e.probe, "
        "iif(r.logprobs IS NULL, r.text, NULL), "
        f"{', '.join(f'r.{name}' for name in _SAID)}, {_CONFIDENCE} {where} "
        "ORDER BY r.item_id, r.candidate_id, r.repeat, r.edit_id"
    )
    names = ("candidate", "repeat", "edit", "probe", "text", *_SAID)
    for key, item_id, *row, confidence in db.execute(sql, values):
        item = items[item_id]
        fields = dict(zip(names, row, strict=True))
        if confidence != "null":
            fields["meta"] = {"confidence": json.loads(confidence)}
        response = Response(benchmark=item.benchmark, item=item.item, variant=item.variant, **fields)
        yield Pending(key, item, response)


def _unsettled(
    items: Mapping[int, Item], measures: Sequence[int], pass_no: int, probe: str
) -> dict[str, Any]:
    keys = {"items": json.dumps(list(items)), "measures": json.dumps(list(measures))}
    return keys | {"n": len(measures), "pass_no": pass_no, "probe": probe}
