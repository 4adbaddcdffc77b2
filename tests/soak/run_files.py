"""Run files of strangers: bytes that are not as written, cells and rows that somebody changed."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from tests.soak.inputs import prepared
from tests.soak.mutations import pick, worse

from vivavoce.run.run import Run, open_run

VERBS: tuple[Callable[[Run, Path], object], ...] = (
    lambda run, at: run.status(),
    lambda run, at: run.estimates(),
    lambda run, at: run.score("accuracy"),
    lambda run, at: run.compare("Able", "Poor", metric="accuracy"),
    lambda run, at: run.study(),
    lambda run, at: [run.items, run.responses, run.scores, run.measures],
    lambda run, at: run.interim(),
    lambda run, at: run.export(at / "tables", format="csv"),
    lambda run, at: run.report(at / "page.html"),
    lambda run, at: open_run(at / "merged.viva").merge(run.file.path),
)
CELLS = (
    *(None, 0, -1, 1, 2, 7, 10**9, 2**63 - 1, 0.5, -1e308, float("inf"), "", " ", "null", "[]", "{}", "[1]"),
    *('{"a": 1}', "[[[[", "NaN", '["two", null]', '{"confidence": "high"}', "=1+1", "\x00", "\u202e"),
    *("ok", "failed", "candidate", "higher", "worst", "rouge(", "x(y=z)@recorded", "2026-13-45", "1e999"),
    *(b"\xff\xfe", b"a\x00b", b"", "a" * 9000, "[" * 5000, "9" * 400),
)


def run_cases(base: Path) -> Callable[[Random], Iterator[tuple[str, Callable[[], object]]]]:
    """Cases in which a run file is worse than it was, and one of the verbs meets it."""
    raw = whole_bytes(prepared(base / "stranger"))
    columns = columns_of(raw, base)
    path = base / "strange.viva"

    def cases(rng: Random) -> Iterator[tuple[str, Callable[[], object]]]:
        for n in range(1 << 60):
            for other in (*base.glob("strange.viva*"), *base.glob("merged.viva*"), *base.glob("page.html")):
                other.unlink()
            shutil.rmtree(base / "tables", ignore_errors=True)
            path.write_bytes(raw)
            if n % 2:
                what, bad = worse(raw, ".viva", rng)
                path.write_bytes(bad)
            else:
                what = overwrite(path, columns, rng)
            verb = rng.randrange(len(VERBS))
            yield f"{what}, verb {verb}", lambda: VERBS[verb](open_run(path), base)  # noqa: B023

    return cases


def whole_bytes(run: Run) -> bytes:
    """The run in one file, without a journal beside it."""
    db = sqlite3.connect(run.file.path)
    db.execute("PRAGMA journal_mode = DELETE")
    db.close()
    return run.file.path.read_bytes()


def columns_of(raw: bytes, base: Path) -> list[tuple[str, str]]:
    """Table and column of everything in the run."""
    path = base / "columns.viva"
    path.write_bytes(raw)
    db = sqlite3.connect(path)
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    columns = [
        (table, column)
        for (table,) in tables
        for _, column, *_ in db.execute(f"PRAGMA table_info({table})")
        if db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    ]
    db.close()
    return columns


def overwrite(path: Path, columns: list[tuple[str, str]], rng: Random) -> str:
    """Change some cells, or delete rows, by the means that anybody has; says how."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    done = ""
    for _ in range(rng.choice((1, 1, 2))):
        table, column = pick(columns, rng)
        value = pick(CELLS, rng)
        statement = pick(
            (
                f'UPDATE {table} SET "{column}" = ?',
                f'UPDATE {table} SET "{column}" = ? WHERE rowid % 3 = 0',
                f'UPDATE {table} SET "{column}" = CAST(? AS BLOB)',
                f"DELETE FROM {table}",
            ),
            rng,
        )
        done += f"{statement} [{str(value)[:40]!r}]; "
        try:
            if rng.random() < 0.3:  # without STRICT a table takes any cell
                db.execute("PRAGMA writable_schema = ON")
                db.execute(
                    "UPDATE sqlite_master SET sql = replace(sql, 'STRICT', '') WHERE name = ?", (table,)
                )
                db.execute("PRAGMA writable_schema = RESET")
                done += "not STRICT; "
            db.execute(statement, (value,) if "?" in statement else ())
        except sqlite3.Error as error:
            done += f"({error}) "
    for _, sql in triggers:  # as they were: the schema shows nothing
        db.execute(sql)
    db.close()
    return done
