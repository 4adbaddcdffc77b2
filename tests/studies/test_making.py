"""Runs that tests make by a short way hold what the verbs would store in them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.studies.making import SILENT, UNREADABLE, Answers, made, marked, score, twins

from vivavoce.run.run import Run

ANSWERS: Answers = {
    "A": {**twins([0.1, 0.5, "fail"]), "s": SILENT, "r": [0.2, UNREADABLE, None]},
    "B": {"s": 1},
}


def contents(run: Run) -> dict[str, list[Any]]:
    """All rows of a run, without the moments and the folder of the exam."""
    with closing(sqlite3.connect(run.file.path)) as db:
        names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        tables = {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    del tables["benchmarks"], tables["table_hashes"]
    tables["provenance"] = [row[2:] for row in tables["provenance"] if row[2] != "import"]
    return tables


def test_a_marked_run_holds_what_score_stores(tmp_path: Path) -> None:
    (tmp_path / "by verb").mkdir()
    run = made(tmp_path / "by verb", ANSWERS)
    score(run, "told(direction=lower)")
    assert contents(run) == contents(marked(tmp_path / "marked", ANSWERS, "told(direction=lower)"))
    assert 8 == run.scores.height
