"""One response with its item and its scores, as a person looks at it."""

import json
import sqlite3
from dataclasses import dataclass, fields
from typing import Any

from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.records import Item, Response, Score
from vivavoce.notebook.record_views import scored_html
from vivavoce.store.candidate_names import match_candidate
from vivavoce.store.damage import decoding
from vivavoce.store.read import hashed_items

_ITEM = "current = 1 AND (item = ?1 OR alias = ?1) AND variant = ?2 AND (?3 IS NULL OR benchmark = ?3)"


@dataclass(frozen=True, slots=True)
class ScoredResponse:
    """A response, the item it answers, and what was said of it. A notebook shows all three."""

    item: Item
    response: Response
    scores: tuple[Score, ...]

    def __repr__(self) -> str:
        lines = [
            f"{s.metric}, {s.criterion}: {s.status if s.value is None else s.value}" for s in self.scores
        ]
        return "\n  ".join([repr(self.response), *lines])

    def _repr_html_(self) -> str:
        return scored_html(self.item, self.response, self.scores)


def find_item(db: sqlite3.Connection, item: str, benchmark: str | None, variant: str) -> Item:
    """The current item of this id or alias. Raises `SelectionError` where none or several have it."""
    keys = db.execute(
        f"SELECT item_id, benchmark FROM items JOIN benchmarks USING (benchmark_id) WHERE {_ITEM}",
        (item, variant, benchmark),
    ).fetchall()
    name = f"item {item!r}" + (f" [{variant}]" if variant else "")
    if not keys:
        ids = [row[0] for row in db.execute("SELECT DISTINCT item FROM items WHERE current = 1 LIMIT 2000")]
        raise SelectionError(f"no {name} in this run.{suggest(item, ids)}")
    if len(keys) > 1:
        places = ", ".join(benchmark for _, benchmark in keys)
        raise SelectionError(f"several benchmarks have an {name}: say benchmark=… ({places}).")
    (stored,) = hashed_items(db, f"item_id = {int(keys[0][0])}")
    if stored.item is None or not stored.fits:
        raise SelectionError(
            f"{stored.name} does not fit its hash: `viva status --verify` says what is wrong."
        )
    return stored.item


def find_response(
    db: sqlite3.Connection, item: str, candidate: str | None, benchmark: str | None, variant: str,
    repeat: int, edit: str,
) -> ScoredResponse:  # fmt: skip
    """The response in words to this item. Raises `SelectionError` where there is none, or several."""
    question = find_item(db, item, benchmark, variant)
    place = (question.benchmark, question.item, question.variant, repeat, edit)
    keys = dict(db.execute(
        "SELECT candidate, response_id FROM responses JOIN items USING (item_id) "
        "JOIN benchmarks USING (benchmark_id) JOIN candidates USING (candidate_id) "
        "JOIN edits USING (edit_id) WHERE current = 1 AND probe = '' AND benchmark = ? AND item = ? "
        "AND variant = ? AND repeat = ? AND edit = ? ORDER BY candidate_id",
        place,
    ).fetchall())  # fmt: skip
    again = (f", repeat {repeat}" if repeat != 1 else "") + (f", edit {edit}" if edit else "")
    if not keys:
        raise SelectionError(f"nobody answered the item {item!r}{again}.")
    if candidate is None and len(keys) > 1:
        names = suggest("", list(keys))
        raise SelectionError(f"{len(keys)} candidates answered the item {item!r}: name one.{names}")
    name = next(iter(keys)) if candidate is None else match_candidate(candidate, list(keys))
    return ScoredResponse(question, _response(db, (*place, name)), _scores(db, (*place, name), keys[name]))


_SHARED = ("benchmark", "item", "variant", "candidate", "repeat", "edit")


def _response(db: sqlite3.Connection, place: tuple[Any, ...]) -> Response:
    names = [field.name for field in fields(Response)]
    row = db.execute(
        f"SELECT {', '.join(names)} FROM response_rows WHERE benchmark = ? AND item = ? AND variant = ? "
        "AND repeat = ? AND edit = ? AND candidate = ? AND probe = ''",
        place,
    ).fetchone()
    values = dict(zip(names, row, strict=True))
    with decoding("the details of a response"):
        return Response(**values | {"meta": json.loads(values["meta"])})


def _scores(db: sqlite3.Connection, place: tuple[Any, ...], response_id: int) -> tuple[Score, ...]:
    shared_names = {*_SHARED}
    names = [field.name for field in fields(Score) if field.name not in shared_names]
    benchmark, item, variant, repeat, edit, candidate = place
    shared = dict(zip(_SHARED, (benchmark, item, variant, candidate, repeat, edit), strict=True))
    rows = db.execute(
        f"SELECT {', '.join(names)} FROM measures m JOIN scores s USING (measure_id) "
        "JOIN units USING (unit_id) JOIN ballots USING (ballot_id) JOIN statuses USING (status_id) "
        "WHERE response_id = ? ORDER BY measure_id, pass_no, unit_id, ballot_id",
        (response_id,),
    )
    scores = []
    for row in rows:
        values = dict(zip(names, row, strict=True))
        with decoding("the parts of a score"):
            parts = None if values["parts"] is None else json.loads(values["parts"])
        scores.append(Score(**shared, **values | {"parts": parts}))
    return tuple(scores)
