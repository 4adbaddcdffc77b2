"""One response with its item and its scores, as a person looks at it."""

import sqlite3
from dataclasses import dataclass

from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.records import Item, Response, Score
from vivavoce.notebook.record_views import scored_html
from vivavoce.store.answer_records import (
    item_ids,
    named_items,
    response_keys,
    response_record,
    scores_of_response,
)
from vivavoce.store.candidate_names import match_candidate
from vivavoce.store.read import hashed_item


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
    keys = named_items(db, item, benchmark, variant)
    name = f"item {item!r}" + (f" [{variant}]" if variant else "")
    if not keys:
        raise SelectionError(f"no {name} in this run.{suggest(item, item_ids(db))}")
    if len(keys) > 1:
        places = ", ".join(benchmark for _, benchmark in keys)
        raise SelectionError(f"several benchmarks have an {name}: say benchmark=… ({places}).")
    stored = hashed_item(db, keys[0][0])
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
    keys = response_keys(db, question, repeat, edit)
    again = (f", repeat {repeat}" if repeat != 1 else "") + (f", edit {edit}" if edit else "")
    if not keys:
        raise SelectionError(f"nobody answered the item {item!r}{again}.")
    if candidate is None and len(keys) > 1:
        names = suggest("", list(keys))
        raise SelectionError(f"{len(keys)} candidates answered the item {item!r}: name one.{names}")
    name = next(iter(keys)) if candidate is None else match_candidate(candidate, list(keys))
    response = response_record(db, keys[name])
    return ScoredResponse(question, response, scores_of_response(db, keys[name], response))
