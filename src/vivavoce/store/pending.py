"""What is to be scored: the responses without a settled score, and the ballots that stand."""

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any, NamedTuple

from vivavoce.core.records import Item, ItemKey, Response
from vivavoce.store.damage import decoding
from vivavoce.store.earlier_turns import EarlierTurns
from vivavoce.store.forgotten import IS_FORGOTTEN, MARK, NOTE, NOTE_OF_TURN
from vivavoce.store.hashes import CONFIDENCE, changed, check_response, response_name, stored_confidence


class Pending(NamedTuple):
    """A response to be scored, under its key. Its item holds the conversation as its candidate had it."""

    key: int
    item: Item
    response: Response

    @property
    def place(self) -> ItemKey:
        """Which item it answers, however its candidate was asked it."""
        return self.item.benchmark, self.item.item, self.item.variant


class Demand(NamedTuple):
    """What a metric scores in one pass: the responses to these items, by these measures.

    With `repeats` every repeat of an answer that lacks a score is scored again with it.
    """

    items: Collection[int]
    measures: Sequence[int]
    pass_no: int = 1
    repeats: bool = False


class Unsettled(NamedTuple):
    """The keys of the responses to be scored, in order, and by which metrics: bit i stands for metric i.

    Both are arrays of whole numbers, 16 bytes a response: this alone grows with the run.
    """

    keys: "array[int]"
    metrics: "array[int]"

    def counts(self, n_metrics: int) -> list[int]:
        """How many responses each of so many metrics is to score."""
        by_metrics = Counter(self.metrics)
        return [sum(n for bits, n in by_metrics.items() if bits >> i & 1) for i in range(n_metrics)]

    def part(self, start: int, n: int) -> "Unsettled":
        """So many of them from this position on."""
        return Unsettled(self.keys[start : start + n], self.metrics[start : start + n])


MOST_METRICS = 62
"""How many metrics `unsettled` takes at a time: SQLite's whole numbers have so many bits to spare."""
_FETCHED = 256
_SAID = (
    *("status", "logprobs", "final", "ending", "reasoning", "finish_reason", "tokens", "seconds", "cost"),
    "error",
)
_TEXT, _WHOLE, _NUMBER = (str, NoneType), (int, NoneType), (int, float, NoneType)
_KINDS: tuple[Any, ...] = (
    str,
    int,
    str,
    str,
    _TEXT,
    str,
    _TEXT,
    _TEXT,
    _TEXT,
    _TEXT,
    _TEXT,
    _WHOLE,
    _NUMBER,
    _NUMBER,
    _TEXT,
)
"""The types of a response's values in the order in which they are read."""
_TO_ITEMS = """
    FROM responses r JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id)
    WHERE r.item_id IN (SELECT value FROM json_each(:items)) AND e.probe = :probe
"""
_ORDER = "ORDER BY r.item_id, r.candidate_id, r.repeat, r.edit_id"


def unsettled(db: sqlite3.Connection, demands: Sequence[Demand], probe: str = "") -> Unsettled:
    """The responses that lack a settled score by one of these metrics, item by item, candidate by candidate.

    They are the responses in words, or the records of a `probe`. A failed score is no settled one.
    """
    values: dict[str, Any] = {
        "probe": probe,
        "items": json.dumps(sorted({i for w in demands for i in w.items})),
    }
    bits = []
    for number, metric in enumerate(demands):
        values[f"items{number}"] = json.dumps(list(metric.items))
        bits.append(f"(({_lacks(metric, number)}) << {number})")
    responses = Unsettled(array("q"), array("q"))
    sql = f"SELECT r.response_id, {' | '.join(bits)} {_TO_ITEMS} {_ORDER}"
    for key, metrics in db.execute(sql, values):
        if metrics:
            responses.keys.append(key)
            responses.metrics.append(metrics)
    return responses


def _lacks(metric: Demand, number: int) -> str:
    """The condition that a response `r` lacks a score by the metric."""
    # A measure may give a response several rows, one for each unit; status 3 is the failed.
    condition = f"""
        r.item_id IN (SELECT value FROM json_each(:items{number})) AND (SELECT count(*) FROM (
            SELECT 1 FROM scores s WHERE s.response_id = r.response_id AND s.pass_no = {metric.pass_no}
            AND s.measure_id IN ({", ".join(map(str, metric.measures))})
            GROUP BY s.measure_id HAVING max(s.status_id = 3) = 0)) < {len(metric.measures)}
    """
    if not metric.repeats:
        return condition
    places = f"SELECT r.item_id, r.candidate_id, r.edit_id {_TO_ITEMS} AND {condition}"
    return f"(r.item_id, r.candidate_id, r.edit_id) IN ({places})"


def pending(db: sqlite3.Connection, items: Mapping[int, Item], keys: Sequence[int]) -> Iterator[Pending]:
    """The responses of these keys, in their order."""
    source = (
        "FROM json_each(:keys) k JOIN responses r ON r.response_id = k.value "
        "JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id)"
    )
    for start in range(0, len(keys), _FETCHED):
        chunk = json.dumps(list(keys[start : start + _FETCHED]))
        yield from _responses_to(db, items, source, {"keys": chunk})


class ResponsePlace(NamedTuple):
    """Which response a key stands for."""

    key: int
    benchmark: str
    item: str
    variant: str
    candidate: str
    repeat: int
    edit: str


def response_places(db: sqlite3.Connection, keys: Sequence[int]) -> list[ResponsePlace]:
    """What these keys stand for, by key."""
    sql = (
        "SELECT response_id, benchmark, item, variant, candidate, repeat, edit FROM json_each(?) k "
        "JOIN responses ON response_id = k.value JOIN items USING (item_id) JOIN benchmarks "
        "USING (benchmark_id) JOIN candidates USING (candidate_id) JOIN edits USING (edit_id) ORDER BY 1"
    )
    return [ResponsePlace(*row) for row in db.execute(sql, (json.dumps(list(keys)),))]


def contestants(db: sqlite3.Connection, items: Mapping[int, Item]) -> Iterator[Pending]:
    """What candidates, no floor or ceiling, answered to these items, unedited, item by item."""
    return _responses_to(
        *(db, items, f"{_TO_ITEMS} AND c.role = 'candidate' AND r.edit_id = 0"),
        {"items": json.dumps(list(items)), "probe": ""},
    )


class Ballot(NamedTuple):
    """A ballot of a pass: its item and repeat, how many scores it bears, and whether none of them failed."""

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
    db: sqlite3.Connection, items: Mapping[int, Item], source: str, values: Mapping[str, Any]
) -> Iterator[Pending]:
    sql = (
        "SELECT r.response_id, r.item_id, c.candidate, r.repeat, iif(e.probe = '', e.edit, ''), e.probe, "
        "iif(r.logprobs IS NULL, r.text, NULL), "
        f"{', '.join(f'r.{name}' for name in _SAID)}, {CONFIDENCE}, {IS_FORGOTTEN.format('r')}, r.hash, "
        f"(SELECT i.hash FROM items i WHERE i.item_id = r.item_id) {source} "
        f"{_ORDER}"
    )
    names = ("candidate", "repeat", "edit", "probe", "text", *_SAID)
    turns = EarlierTurns(db)
    for key, item_id, *row, meta, gone, stored, item_hash in db.execute(sql, values):
        fields = dict(zip(names, row, strict=True))
        with decoding("an answer"):
            item = items[item_id]
            if not all(isinstance(value, kind) for value, kind in zip(row, _KINDS, strict=True)):
                raise TypeError("a value has another type")
        try:
            confidence = stored_confidence(meta)
        except ValueError:
            name = response_name(item.item, item.variant, fields["candidate"], fields["repeat"])
            raise changed(db, f"{name} has a confidence that is no JSON") from None
        if gone or confidence is not None:
            fields["meta"] = {"confidence": confidence} | ({MARK: NOTE} if gone else {})
        response = Response(benchmark=item.benchmark, item=item.item, variant=item.variant, **fields)
        check_response(db, item_hash, response, stored)
        yield _behind_turns(turns, Pending(key, item, response))


def _behind_turns(turns: EarlierTurns, pending: Pending) -> Pending:
    """The response with its item as it was asked; marked where what was said before is forgotten."""
    item, response = pending.item, pending.response
    if item.follows is None:
        return pending
    if response.status == "ok" and turns.is_broken(item, response.candidate, response.repeat):
        meta = {MARK: NOTE_OF_TURN, **response.meta}
        return pending._replace(response=replace(response, meta=meta))
    return pending._replace(item=turns.as_asked(item, response.candidate, response.repeat) or item)
