"""Steps of a build as a run stores them: settings, counts, and what became of each part that a step had."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

from vivavoce.core.records import Card
from vivavoce.store.stored_values import stored_object
from vivavoce.store.table_hashes import check_table_hashes, renew_table_hashes

Fate = Literal["kept", "dropped", "failed"]


class StoredPart(NamedTuple):
    """A part of a step: its JSON, what became of it, and why; '' where it was kept."""

    body: str
    fate: Fate
    reason: str = ""
    detail: str = ""


class StoredStep(NamedTuple):
    """A step that was run: `input` is the digest of what it had, `facts` are its counts."""

    key: int
    recipe: str
    step: str
    spec: str
    signature: str
    input: str
    facts: Mapping[str, Any]


def build_steps(db: sqlite3.Connection) -> list[StoredStep]:
    """The steps of the run in their order; none where nothing was built."""
    rows = db.execute(
        "SELECT step_id, recipe, step, spec, signature, input, facts FROM build_steps ORDER BY step_id"
    )
    return [_stored_step(*row) for row in rows]


def _stored_step(
    key: int, recipe: str, step: str, spec: str, signature: str, digest: str, facts: str
) -> StoredStep:
    body = stored_object(facts, "the facts of a build step")
    return StoredStep(key, recipe, step, spec, signature, digest, body)


def build_parts(db: sqlite3.Connection, step: int, *fates: Fate) -> list[StoredPart]:
    """The parts of a step in their order: of these fates, or all."""
    rows = db.execute(
        "SELECT body, fate, reason, detail FROM build_parts JOIN build_texts USING (text_id) "
        "WHERE step_id = ? ORDER BY place",
        (step,),
    )
    return [part for row in rows if not fates or (part := StoredPart(*row)).fate in fates]


def named_parts(db: sqlite3.Connection, names: Iterable[str]) -> list[str]:
    """The JSON of the passages and items with these ids that steps kept, each text once, newer ones last."""
    rows = db.execute(
        "SELECT body FROM build_texts JOIN build_parts USING (text_id) WHERE fate = 'kept' AND "
        "coalesce(body ->> '$.passage', body ->> '$.item') IN (SELECT value FROM json_each(?)) "
        "GROUP BY text_id ORDER BY max(step_id), text_id",
        (json.dumps(list(names)),),
    )
    return [body for (body,) in rows]


def put_step(
    db: sqlite3.Connection,
    recipe: str,
    step: str,
    spec: str,
    signature: str,
    digest: str,
    facts: Mapping[str, Any],
    parts: Iterable[tuple[str, StoredPart]],
) -> int:
    """Store a step, after all others; `parts` come with the hash of their JSON. Returns its key."""
    cursor = db.execute(
        "INSERT INTO build_steps (recipe, step, spec, signature, input, facts) VALUES (?, ?, ?, ?, ?, ?)",
        (recipe, step, spec, signature, digest, json.dumps(dict(facts), ensure_ascii=False)),
    )
    key = int(cursor.lastrowid or 0)
    rows = list(parts)
    db.executemany(
        "INSERT INTO build_texts (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
        [(name, part.body) for name, part in rows],
    )
    db.executemany(
        "INSERT INTO build_parts (step_id, place, text_id, fate, reason, detail) "
        "SELECT ?, ?, text_id, ?, ?, ? FROM build_texts WHERE hash = ?",
        [
            (key, place, part.fate, part.reason, part.detail, name)
            for place, (name, part) in enumerate(rows, 1)
        ],
    )
    return key


def remove_steps(db: sqlite3.Connection, steps: Sequence[int]) -> None:
    """Take back these steps; texts that no step has any more go with them."""
    db.executemany("DELETE FROM build_steps WHERE step_id = ?", [(step,) for step in steps])
    if steps:
        db.execute("DELETE FROM build_texts WHERE text_id NOT IN (SELECT text_id FROM build_parts)")


def forget_build(db: sqlite3.Connection) -> None:
    """Remove what the run knows of its build: its texts do not leave with a redacted run."""
    remove_steps(db, [step.key for step in build_steps(db)])


def renew_benchmark(
    db: sqlite3.Connection, card: Card, *, signature: str, withdrawn: Sequence[tuple[str, str]]
) -> None:
    """Give a benchmark of the run this card; items that the exam has no longer leave every table."""
    check_table_hashes(db, "benchmarks", "items")
    db.execute(
        "UPDATE benchmarks SET (card, signature) = (?, ?) WHERE benchmark = ?",
        (json.dumps(asdict(card), ensure_ascii=False), signature, card.name),
    )
    db.executemany(
        "UPDATE items SET current = 0 WHERE item = ? AND (variant = ? OR origin IS NOT NULL) "
        "AND benchmark_id = (SELECT benchmark_id FROM benchmarks WHERE benchmark = ?)",
        [(*item, card.name) for item in withdrawn],
    )
    renew_table_hashes(db, "benchmarks", "items")
