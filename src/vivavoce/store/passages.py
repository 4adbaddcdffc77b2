"""Passages that scores rest on: each is stored once, with the first score that rests on it."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from vivavoce.core.evidence import Evidence

ScoreKey = tuple[int, int, int, int, int]
"""The keys of a score's measure, response, unit and ballot, and its pass."""
KEY = ("measure_id", "response_id", "unit_id", "ballot_id", "pass_no")
_PASSAGE = ("source", "version", "file", "page", "offset", "quote")
_COLUMNS = ", ".join(f'"{name}"' for name in _PASSAGE)
_SELECT = f"SELECT passage_id, hash, {_COLUMNS} FROM passages"
_CHUNK = 1_000


def passage_hash(*content: str | int | None) -> str:
    """First 32 hex digits of SHA-256 over a passage: source, version, file, page, offset and quote."""
    # Half a surrogate pair, which no run can hold, is escaped here; bytes stand in damaged files alone.
    text = json.dumps(content, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def put_evidence(
    db: sqlite3.Connection, evidence: Mapping[ScoreKey, Sequence[Evidence]]
) -> dict[ScoreKey, str]:
    """Store what these scores rest on, in its order, in place of what they rested on; the scores are there.

    Returns by score what a checksum covers, as `evidence_column` gives it.
    """
    db.executemany(
        f"DELETE FROM evidence WHERE ({', '.join(KEY)}) = (?, ?, ?, ?, ?)", [tuple(key) for key in evidence]
    )
    hashes = {
        passage[:6]: passage_hash(*passage[:6]) for passages in evidence.values() for passage in passages
    }
    db.executemany(
        f"INSERT INTO passages (hash, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(digest, *content) for content, digest in hashes.items()],
    )
    keys = dict(
        db.execute(
            "SELECT hash, passage_id FROM passages WHERE hash IN (SELECT value FROM json_each(?))",
            (json.dumps(list(hashes.values())),),
        )
    )
    covered: dict[ScoreKey, str] = {}
    rows = []
    for key, passages in evidence.items():
        placed = [(place, hashes[passage[:6]], passage.bearing) for place, passage in enumerate(passages, 1)]
        rows += [(*key, place, keys[digest], bearing) for place, digest, bearing in placed]
        if placed:
            covered[key] = " ".join(f"{place}:{digest}:{bearing}" for place, digest, bearing in placed)
    db.executemany("INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return covered


def evidence_column(db: sqlite3.Connection) -> str:
    """SQL for what a row of `scores` rests on, as one text; null where it rests on nothing."""
    if not db.execute("SELECT EXISTS (SELECT 1 FROM evidence)").fetchone()[0]:
        return "NULL AS evidence"  # nothing is looked up for the scores of rules
    condition = " AND ".join(f"v.{name} = scores.{name}" for name in KEY)
    return (
        "iif(measure_id IN (SELECT DISTINCT measure_id FROM evidence), (SELECT group_concat(entry, ' ') FROM "
        "(SELECT v.place || ':' || p.hash || ':' || v.bearing AS entry FROM evidence v "
        f"JOIN passages p USING (passage_id) WHERE {condition} ORDER BY v.place)), NULL) "
        "AS evidence"
    )


def drop_unused_passages(db: sqlite3.Connection) -> None:
    """Delete the passages on which no score rests any more."""
    db.execute("DELETE FROM passages WHERE passage_id NOT IN (SELECT passage_id FROM evidence)")


def changed_passages(rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """A sentence for each passage that does not fit its hash; rows of key, hash and content."""
    for key, digest, *content in rows:
        try:
            fits = digest == passage_hash(*content)  # type: ignore[arg-type]
        except TypeError:  # a damaged file may hold blobs
            fits = False
        if not fits:
            yield f"the passage {key} of the evidence does not fit its hash"


def stored_passages(db: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    """Key, hash and content of every passage."""
    yield from db.execute(f"{_SELECT} ORDER BY passage_id")


def rehash_passages(db: sqlite3.Connection) -> None:
    """Give every passage the hash of what it holds now."""
    rows = stored_passages(db)
    stale = []
    while chunk := list(islice(rows, _CHUNK)):
        stale += [
            (passage_hash(*content), key)  # type: ignore[arg-type]
            for key, digest, *content in chunk
            if digest != passage_hash(*content)  # type: ignore[arg-type]
        ]
    db.executemany("UPDATE passages SET hash = ? WHERE passage_id = ?", stale)
