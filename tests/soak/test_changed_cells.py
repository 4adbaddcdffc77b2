"""Cells that somebody changed: `viva status --verify` finds each in items, answers, scores and measures."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

from tests.lengths import length
from tests.soak.inputs import prepared
from tests.soak.mutations import pick
from tests.soak.run_files import CELLS, whole_bytes
from tests.soak.tally import Tally

from vivavoce.core.errors import VivaError
from vivavoce.run.run import open_run

FOUND = "A changed cell of an item, answer, score or measure is found by `viva status --verify`"
COLUMNS = {
    "items": ("item", "question", "options", "answer", "references", "format", "steps", "context"),
    "responses": ("item_id", "candidate_id", "repeat", "text", "reasoning", "finish_reason", "hash"),
    "scores": ("value", "status_id", "pass_no", "response_id", "unit_id"),
    "measures": ("metric", "criterion", "low", "high", "direction", "if_unanswered"),
    "candidates": ("candidate",),
}
NOTHING = {(None,), ("",), ("[]",), ("{}",)}
"""Cells of an item that say the same: there is none."""
KEYS = {"scores": "response_id"} | {name: f"{name[:-1]}_id" for name in COLUMNS if name != "scores"}


def change(path: Path, rng: Random) -> str | None:
    """Change one cell to another's value, or to a strange one; says how, null where SQLite would not."""
    table = pick(list(COLUMNS), rng)
    column = pick(COLUMNS[table], rng)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        look = f'SELECT "{column}" FROM {table} ORDER BY {KEYS[table]}'
        before = db.execute(look).fetchall()
        value = pick([cell for (cell,) in before], rng) if rng.random() < 0.5 else pick(CELLS, rng)
        (key,) = pick(db.execute(f"SELECT {KEYS[table]} FROM {table}").fetchall(), rng)
        try:
            db.execute(f'UPDATE {table} SET "{column}" = ? WHERE {KEYS[table]} = ?', (value, key))
        except (sqlite3.Error, OverflowError):
            return None
        after = db.execute(look).fetchall()
    changed = [{old, new} for old, new in zip(before, after, strict=True) if old != new]
    same = table == "items" and all(pair <= NOTHING for pair in changed)
    return None if not changed or same else f"{table}.{column} of {key} is {str(value)[:60]!r}"


def test_a_changed_cell_is_found(tmp_path: Path, tally: Tally) -> None:
    raw = whole_bytes(prepared(tmp_path / "run"))
    path, rng, left = tmp_path / "changed.viva", Random(5), length(25, 1_000)
    while left:
        for old in tmp_path.glob("changed.viva*"):
            old.unlink()
        path.write_bytes(raw)
        if (done := change(path, rng)) is None:
            continue
        left -= 1
        try:
            found = any(check.wrong for check in open_run(path).verify())
        except VivaError:
            found = True
        tally.count(FOUND, None if found else done)
    tally.check()


def test_a_run_that_nobody_changed_is_as_it_was_written(tmp_path: Path) -> None:
    assert not [check for check in prepared(tmp_path / "run").verify() if check.wrong]
