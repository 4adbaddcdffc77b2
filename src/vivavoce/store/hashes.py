"""The hash of a response, and the check of hashes where items and responses are read to be scored.

A hash finds damage, and changes by who did not know the rule. It is no signature: who knows it can forge it.
"""

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from vivavoce.core.records import Response
from vivavoce.store.damage import CHANGED, DamagedRun, display

CHUNK = 10_000
CONFIDENCE = (
    "iif(r.meta = '{}' OR json_valid(r.meta) AND json_extract(r.meta, '$.confidence') IS NULL, NULL, r.meta)"
)
"""SQL for the `meta` of a response that holds a confidence, as it stands: SQLite would round its numbers."""


def response_hash(item_hash: str, response: Response) -> str:
    """First 16 hex digits of SHA-256 over whose answer it is, to which item, and what was answered.

    Each field stands there with its length in characters, a null one as '-', so that no two responses give
    the same bytes. Tokens, seconds, cost, error and `meta` are left out, but for the confidence in `meta`:
    a response keeps its hash in every run that holds it. Parts stand there if it has some, so that responses
    of older versions keep theirs.
    """
    r = response
    return _digest(
        item_hash,
        *(r.benchmark, r.item, r.variant, r.candidate, str(r.repeat), r.edit, r.probe, r.status),
        *(r.text, r.reasoning, r.finish_reason, r.logprobs),
        parts=(r.final, r.ending),
        confidence=r.meta.get("confidence"),
    )


def stored_confidence(meta: str | None) -> object:
    """The confidence in a response's `meta` as it stands in the table. Raises `ValueError` for no JSON."""
    try:
        return None if meta is None else json.loads(meta)["confidence"]
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _digest(*content: str | None, parts: tuple[str | None, str | None], confidence: object) -> str:
    of_parts = () if parts == (None, None) else parts
    fields = (*content, None if confidence is None else json.dumps(confidence), *of_parts)
    text = "".join(["-" if field is None else f"{len(field)}:{field}" for field in fields])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class HashedResponse(NamedTuple):
    """A stored response: its key, its name for people, the stored hash, and the hash of its content."""

    key: int
    name: str
    stored: str | None
    hash: str


def hashed_responses(db: sqlite3.Connection, keys: Collection[int] | None = None) -> Iterator[HashedResponse]:
    """Every response of the run, those to earlier versions of items included; with `keys` these."""
    chosen = "" if keys is None else "WHERE r.response_id IN (SELECT value FROM json_each(?)) "
    rows = db.execute(
        "SELECT r.response_id, r.hash, i.hash, b.benchmark, i.item, i.variant, c.candidate, "
        "CAST(r.repeat AS TEXT), iif(e.probe = '', e.edit, ''), e.probe, r.status, "
        "iif(r.logprobs IS NULL, r.text, NULL), r.reasoning, r.finish_reason, r.logprobs, "
        f"r.final, r.ending, {CONFIDENCE} FROM responses r JOIN items i USING (item_id) "
        "JOIN benchmarks b USING (benchmark_id) JOIN candidates c USING (candidate_id) "
        f"JOIN edits e USING (edit_id) {chosen}ORDER BY r.response_id",
        () if keys is None else (json.dumps(list(keys)),),
    )
    for key, stored, *fields, final, ending, meta in rows:
        try:
            digest = _digest(*fields, parts=(final, ending), confidence=stored_confidence(meta))
        except (TypeError, ValueError):  # no such values were stored
            digest = ""
        yield HashedResponse(key, response_name(*fields[2:6]), stored, digest)


def rehash_responses(db: sqlite3.Connection, keys: Collection[int] | None = None) -> None:
    """Give every response, or these, the hash of what it holds now."""
    rows = hashed_responses(db, keys)
    stale: list[tuple[str, int]] = []
    while chunk := list(islice(rows, CHUNK)):
        stale += [(row.hash, row.key) for row in chunk if row.hash != row.stored]
    db.executemany("UPDATE responses SET hash = ? WHERE response_id = ?", stale)


def response_name(item: str, variant: str, candidate: str, repeat: int | str) -> str:
    """How a sentence names a response."""
    return f"the answer of {candidate} to {item}{f' [{variant}]' if variant else ''} (repeat {repeat})"


def check_response(db: sqlite3.Connection, item_hash: str, response: Response, stored: str | None) -> None:
    """Raise `StoreError` if a response is not what was stored under its hash."""
    try:
        fits = stored == response_hash(item_hash, response)
    except TypeError:  # a damaged file can hold anything in any column
        fits = False
    if not fits:
        name = response_name(response.item, response.variant, response.candidate, response.repeat)
        raise changed(db, f"{name} does not fit its hash")


def changed(db: sqlite3.Connection, detail: str) -> DamagedRun:
    """The error that says what of a run is not as vivavoce wrote it."""
    path = database_path(db)
    return DamagedRun(
        f"{path or 'the run'}: {display(detail, 300)}: {CHANGED} "
        f"`viva status {path or 'RUN'} --verify` lists all of it. Restore a copy, or give another path."
    )


def database_path(db: sqlite3.Connection, schema: str = "main") -> str:
    """The path of the run behind a connection; empty for a copy in memory."""
    return next(str(path) for _, name, path in db.execute("PRAGMA database_list") if name == schema)
