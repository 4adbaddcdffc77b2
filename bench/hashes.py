"""What hashes and checksums cost: reading, scoring and writing with and without them, in CPU time.

20 candidates answer rows / 100 questions five times each, and two measures score every answer: one gives bare
values, one parts and notes. Usage: python bench/hashes.py [rows]
"""

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import vivavoce as viva
from vivavoce.core.records import Criterion, Measure, Value
from vivavoce.run.run import Run
from vivavoce.store import pending, read, write
from vivavoce.store.checksums import COLUMNS
from vivavoce.store.integrity import rehash
from vivavoce.store.write import ScoreRow, put_measures, put_scores

CANDIDATES, REPEATS, ROUNDS = 20, 5, 5
TEXT = "It helps to rest, to drink, and to see a doctor if the fever stays for more than three days. " * 10
MEASURES = [
    Measure(metric=name, signature=f"{name}()@1", criterion=Criterion(criterion="c"))
    for name in ("bare", "noted")
]


def scored(folder: Path, rows: int) -> Run:
    """A run whose answers all have scores by both measures."""
    items = [f"q{n:06}" for n in range(rows // (CANDIDATES * REPEATS))]
    with (folder / "exam.jsonl").open("w") as file:
        for item in items:
            row = {"id": item, "format": "short", "question": f"{item}?", "references": [f"rest for {item}"]}
            file.write(json.dumps(row) + "\n")
    with (folder / "answers.jsonl").open("w") as file:
        for item, candidate, repeat in product(items, range(CANDIDATES), range(1, REPEATS + 1)):
            row = {"item": item, "candidate": f"m{candidate:02}", "repeat": repeat, "text": TEXT + item}
            file.write(json.dumps(row) + "\n")
    run = viva.open(folder / "run.viva")
    run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path='{folder / 'exam.jsonl'}')")
    with run.file.writing() as db:
        keys = put_measures(db, MEASURES)
        put_scores(db, keys[0], bare(db, 1))
        put_scores(
            db,
            keys[1],
            [
                row._replace(value=Value(row.value.value, {"hits": 3.0}, "3 of 4 words"))
                for row in bare(db, 1)
            ],
        )
    return run


def bare(db: sqlite3.Connection, pass_no: int) -> list[ScoreRow]:
    keys = [key for (key,) in db.execute("SELECT response_id FROM responses")]
    return [ScoreRow(key, Value(key % 97 / 97), pass_no) for key in keys]


def plain_insert(db: sqlite3.Connection, measure: int, rows: list[tuple[Any, ...]]) -> None:
    db.executemany(f"INSERT INTO scores VALUES ({', '.join('?' * len(COLUMNS))})", rows)


@contextmanager
def unchecked() -> Iterator[None]:
    """Nothing is verified, and no checksum is kept."""

    def nothing(*arguments: object, **options: object) -> None:  # a Mock would keep what it is called with
        pass

    with (
        mock.patch.object(read, "verify_scores", nothing),
        mock.patch.object(pending, "check_response", nothing),
        mock.patch.object(write, "insert_scores", plain_insert),
    ):
        yield


def compared(name: str, work: Callable[[], object]) -> None:
    """Print the CPU seconds of the work with checks, and as a ratio to the work without them."""
    ratios, seconds = [], []
    work()  # what is loaded at first use counts for neither
    for _ in range(ROUNDS):
        checked = cpu(work)
        with unchecked():
            ratios.append(checked / cpu(work))
        seconds.append(checked)
    spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    print(f"{name:44} {statistics.median(seconds):7.2f} s  x {spread}", flush=True)


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main(rows: int = 100_000) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        run = scored(Path(temporary), rows)
        print(f"{rows:,} answers, {2 * rows:,} scores: CPU with checks, and as a ratio to none\n")

        def frame(**options: Any) -> None:
            with run.file.reading() as db:
                read.scores(db, **options)

        def responses() -> None:
            with run.file.reading() as db:
                keys = [key for (key,) in db.execute("SELECT response_id FROM responses")]
                for _ in pending.pending(db, read.items_by_id(db), keys):
                    pass

        def put() -> None:
            with closing(sqlite3.connect(run.file.path, isolation_level=None)) as db:
                db.execute("BEGIN")  # and it is never committed
                put_scores(db, 1, bare(db, 2))

        compared("read the scores of both measures", frame)
        compared("read them with parts and notes", lambda: frame(details=True))
        compared("read the scores of two candidates", lambda: frame(candidates=["m00", "m19"]))
        compared("compare two candidates", lambda: run.compare("m00", "m19", metric="bare"))
        compared("read the answers to be scored", responses)
        compared("write the scores of one measure", put)
        print(f"\nverify the whole run: {cpu(run.verify):.2f} s")
        with closing(sqlite3.connect(run.file.path, isolation_level=None)) as db:
            db.execute("BEGIN")
            db.execute("UPDATE responses SET hash = NULL")
            db.execute("DELETE FROM score_checksums")
            print(f"hashes and checksums for an older file: {cpu(lambda: rehash(db)):.2f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
