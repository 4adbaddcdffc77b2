"""A small run with rows in every table, and ways to damage it that its schema does not show."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from tests.store.told import tell

from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Criterion, Measure, Unit, Value
from vivavoce.run.run import Run, open_run
from vivavoce.store import read
from vivavoce.store.calls import lease
from vivavoce.store.label_draws import LabelDraw, put_label_draw
from vivavoce.store.write import ScoreRow, put_event, put_measures, put_scores

__all__ = ["CELLS", "READS", "clear", "columns", "flip_bytes", "full_run", "overwrite_cells", "set_cells"]

CELLS: tuple[Any, ...] = (
    *(None, 0, -1, 1, 2, 9, 10**9, 2**63 - 1, -(2**63), 0.5, -1e308, 1e308, float("inf"), float("-inf")),
    *(
        "",
        " ",
        "null",
        "[]",
        "{}",
        "[1]",
        "0",
        "1",
        '"x"',
        "true",
        '{"a": 1}',
        '{"a": ',
        "[[[[",
        "NaN",
        "-Infinity",
    ),
    *(
        '["two", null]',
        '{"confidence": "high"}',
        '{"confidence": [1]}',
        "=1+1",
        "\x00",
        "\u202e",
        "\x1b[2J\n",
    ),
    *(
        "ok",
        "failed",
        "floor",
        "candidate",
        "higher",
        "worst",
        "rouge(",
        "x(y=z)@recorded",
        "2026-13-45",
        "1e999",
    ),
    *(
        b"\xff\xfe",
        b"a\x00b",
        b"",
        b"{}",
        "a" * 9000,
        "[" * 50_000,
        "9" * 5000,
        '{"plan": {}}',
        '[{"unit": 1}]',
    ),
)
"""What may stand in a cell of a file that a stranger wrote."""


def full_run(folder: Path) -> Run:
    """A run with items, answers, probes, scores of rules, a judge and people, findings and events."""
    items = [
        {"id": "q1", "question": "What lowers a fever?", "format": "short", "answer": "Paracetamol",
         "category": "drugs", "meta": {"year": 2020}},
        {"id": "q1", "variant": "neutral", "alias": "n1", "question": "And?", "format": "short",
         "answer": ["a", "b"]},
        {"id": "q2", "question": "Which?", "format": "mcq", "options": ["yes, ü", "no"], "answer": "no"},
        {"id": "q3", "question": "Why?", "format": "multi_hop_inverse", "false_answer": "It stops.",
         "steps": ["It is hot.", "So it stops."], "step": 2, "references": ["Heat does not stop it."]},
        *({"id": f"q{k}", "question": f"{k}?", "format": "short", "answer": str(k), "context": "So."}
          for k in range(4, 12)),
    ]  # fmt: skip
    answers = [
        {"item": i.get("alias", i["id"]), "candidate": c, "text": "Step 2: no." if i["id"] == "q3" else text,
         "repeat": repeat, "seconds": 1.5, "tokens": 7, "reasoning": "Well.", "meta": {"note": "x"}}
        for i in items for c, text in (("Able", i.get("answer", "no")), ("Poor", "4")) for repeat in (1, 2)
        for text in ([text] if isinstance(text, str) else text[:1])
    ]  # fmt: skip
    for name, rows in (("exam", items), ("answers", answers)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    run = open_run(folder / "full.viva")
    run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path={folder}/exam.jsonl)")
    run.score("token_f1", "accuracy", "exact")
    tell(run, "Able", {"q1": -0.5, "q2": None, "q4": -1.5})
    _score_by_judge_and_people(run)
    run.compare("Able", "Poor", metric="token_f1", sequential=True, analyses=3)
    run.compare("Able", "Poor", metric="exact")
    lease(run.file, ["collect"], "far-away pid:[7], process 41, 1", 60)
    return run


def _score_by_judge_and_people(run: Run) -> None:
    scale = Criterion(criterion="harm", low=1, high=5, direction="lower")
    measures = [
        Measure(metric="judge", signature="judge()@1", criterion=scale, rater="gpt"),
        Measure(metric="people", signature="people()@1", criterion=scale, rater="p1"),
    ]
    with run.file.writing() as db:
        keys = put_measures(db, measures)
        responses = [row.key for row in read.stored_responses(db).values()]
        unit = Unit(unit="harm", text="Any harm", weight=2.0)
        passage = Evidence("leaflets", "9f", "a.pdf", 2, 17, "Paracetamol lowers a fever.", "supports")
        values = [
            Value(value=1 + k % 5, parts={"raw": k}, note="a note", evidence=(passage,) * (k % 3))
            for k in range(len(responses))
        ]
        scores = list(enumerate(zip(responses, values, strict=True)))
        put_scores(db, keys[0], [ScoreRow(r, v, unit=unit if k % 2 else None) for k, (r, v) in scores])
        put_scores(db, keys[1], [ScoreRow(r, v, ballot=f"b{k // 2}", position=k % 2) for k, (r, v) in scores])
        names = [(b, i, v) for b, i, v in db.execute("SELECT benchmark, item, variant FROM item_rows")]
        put_label_draw(db, LabelDraw("people()", dict.fromkeys(names, 0.5), frozenset(names[:3]), "panel"))
        put_event(db, "dispute", {"item": "q1"})


READS: Mapping[str, Callable[[Run, Path], object]] = {
    "status": lambda run, at: run.status(),
    "estimates": lambda run, at: run.estimates(),
    "tables": lambda run, at: [
        run.items,
        run.responses,
        run.scores,
        run.evidence,
        run.measures,
        run.interim(),
    ],
    "export": lambda run, at: run.export(at / "tables", format="csv"),
    "report": lambda run, at: run.report_rows(at / "page.html"),
    "compare": lambda run, at: run.compare("Able", "Poor", metric="token_f1", sequential=True, analyses=3),
    "score": lambda run, at: run.score("token_f1", "accuracy", "rouge(n=1)"),
    "merge": lambda run, at: open_run(at / "merged.viva").merge(run.file.path),
    "study": lambda run, at: run.study("ranking"),
    "export run": lambda run, at: run.export(at / "small.viva", format="run"),
}
"""What a user does with a run that somebody sent."""


def clear(folder: Path) -> None:
    """Take away what the reads leave."""
    shutil.rmtree(folder / "tables", ignore_errors=True)
    for path in (*folder.glob("*.viva*"), *folder.glob("*.html")):
        path.unlink()


def columns(path: Path) -> list[tuple[str, str]]:
    """Table and column of everything that has rows."""
    with closing(sqlite3.connect(path)) as db:
        names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        return [
            (table, column)
            for table in names
            if db.execute(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0]
            for _, column, *_ in db.execute(f"PRAGMA table_info({table})").fetchall()
        ]


def overwrite_cells(path: Path, places: list[tuple[str, str]], rng: Random) -> str:
    """Put strange values into a column; returns what was done."""
    table, column = rng.choice(places)
    value, where = rng.choice(CELLS), rng.choice(("", "WHERE random() % 3 = 0", "LIMIT 1"))
    if rng.random() < 0.05:
        statement, values = f"DELETE FROM {table}", ()
    elif where == "LIMIT 1":
        key = "response_id" if table in ("scores", "evidence") else "rowid"
        statement = f'UPDATE {table} SET "{column}" = ? WHERE {key} = (SELECT min({key}) FROM {table})'
        values = (value,)
    else:
        statement, values = f'UPDATE {table} SET "{column}" = ? {where}', (value,)
    done = set_cells(path, statement, values)
    return f"{statement} [{str(value)[:40]!r}]{done}"


def set_cells(path: Path, statement: str, values: tuple[Any, ...] = ()) -> str:
    """Run a statement against all rules of the tables, and leave the schema as it was."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        before = db.execute("SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_master").fetchall()
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DELETE FROM sqlite_master WHERE type = 'trigger'")
        for rowid, *_, sql in before:  # without its rules a table takes any cell
            if sql:
                loose = re.sub(r"(?<!IS) NOT NULL| STRICT,?", "", sql)
                db.execute("UPDATE sqlite_master SET sql = ? WHERE rowid = ?", (loose, rowid))
        _bump(db)
    done = ""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA ignore_check_constraints = ON")
        try:
            db.execute(statement, values)
        except sqlite3.Error as error:
            done = f" ({error})"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DELETE FROM sqlite_master")
        db.executemany(
            "INSERT INTO sqlite_master (rowid, type, name, tbl_name, rootpage, sql) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            before,
        )
        _bump(db)
        db.execute("PRAGMA journal_mode = DELETE")
    return done


def _bump(db: sqlite3.Connection) -> None:
    (number,) = db.execute("PRAGMA schema_version").fetchone()
    db.execute(f"PRAGMA schema_version = {number + 1}")


def flip_bytes(path: Path, rng: Random) -> str:
    """Overwrite some bytes, cut the file or double a part of it; returns what was done."""
    raw = bytearray(path.read_bytes())
    way = rng.choice(("flip", "flip", "flip", "block", "cut", "swap"))
    at = rng.randrange(len(raw))
    if way == "flip":
        for _ in range(rng.choice((1, 1, 3, 20))):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    elif way == "block":
        raw[at : at + rng.choice((8, 100, 4096))] = rng.choice((b"\x00", b"\xff", b"a")) * rng.choice(
            (8, 100, 4096)
        )
        raw = raw[: path.stat().st_size]
    elif way == "cut":
        raw = raw[:at]
    else:
        size = 4096
        one, other = rng.randrange(len(raw) // size) * size, rng.randrange(len(raw) // size) * size
        raw[one : one + size], raw[other : other + size] = raw[other : other + size], raw[one : one + size]
    path.write_bytes(bytes(raw))
    return f"{way} at {at}"
