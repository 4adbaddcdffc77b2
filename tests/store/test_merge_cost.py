"""What a merge costs: no large table is read once for each row of another, and twice the rows take twice."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.full_runs import full_run, item_names, shared_exam
from tests.store.statements import Record, recorded

from vivavoce.run.exchange.exports import export_run

ITEMS, FACTOR = 24, 4
SCHEMA = """
    PRAGMA foreign_keys = ON;
    CREATE TABLE items (item_id INTEGER PRIMARY KEY, item TEXT);
    CREATE TABLE scores (measure_id INT, response_id INT, value REAL, PRIMARY KEY (measure_id, response_id))
    WITHOUT ROWID;
    CREATE TABLE responses (response_id INTEGER PRIMARY KEY, item_id REFERENCES items);
    CREATE TEMP TABLE response_map (theirs INT, ours INT);
    ATTACH ':memory:' AS theirs;
    CREATE TABLE theirs.scores (measure_id INT, response_id INT, PRIMARY KEY (measure_id, response_id))
    WITHOUT ROWID;
"""


def merged(folder: Path, n: int) -> Record:
    """A merge of two runs of so many items together, of which they share a third, and other failures."""
    folder.mkdir()
    spec, items = shared_exam(folder, n), item_names(n)
    target = full_run(folder / "here.viva", spec, items[: 2 * n // 3], failures="here")
    source = full_run(folder / "there.viva", spec, items[n // 3 :], failures="there")
    with recorded() as record:
        (counts,) = target.merge(source.file.path)
    assert min(counts[2:7]) > 0, "a merge that brings nothing shows nothing"
    return record


def exported(folder: Path, n: int) -> Record:
    """An export of half the items of a run."""
    folder.mkdir()
    items = item_names(n)
    run = full_run(folder / "run.viva", shared_exam(folder, n), items)
    with recorded() as record:
        export_run(
            run.file, folder / "half.viva", chosen={("exam", item, "") for item in items[::2]}, items=None
        )
    return record


WORKS = {"merge": merged, "export": exported}


@pytest.fixture(scope="module", params=WORKS)
def records(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """The statements of a merge, or of an export, at one size and at several times the rows."""
    work, folder = WORKS[request.param], tmp_path_factory.mktemp("cost")
    return [work(folder / str(n), n) for n in (ITEMS, FACTOR * ITEMS)]


def test_no_statement_reads_a_large_table_again_and_again(records: list[Record]) -> None:
    assert {} == records[0].faults()
    assert any("temp." in statement.sql for statement in records[0].statements)


def test_the_steps_of_each_statement_grow_as_the_rows(records: list[Record]) -> None:
    """Plans do not show all: a NOT IN over several columns reads its whole list for each row."""
    small, large = (record.steps for record in records)
    slack = 1_000  # what statements of a few rows vary by
    assert {} == {
        sql: (small[sql], steps) for sql, steps in large.items() if steps > 1.1 * FACTOR * small[sql] + slack
    }


@pytest.mark.parametrize("records", ["merge"], indirect=True)
def test_what_was_looked_at_joins_all_large_tables_of_both_files(records: list[Record]) -> None:
    statements = " ".join(statement.sql for statement in records[0].statements)
    tables = ("items", "responses", "scores", "evidence", "passages", "calls", "findings", "events", "units")
    assert [] == [
        name for name in tables for file in ("main", "theirs") if f"{file}.{name} " not in statements
    ]


# What the plans of these tests would show


def faults(sql: str) -> list[str]:
    with recorded() as record, closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        db.execute(sql)
    return [line for lines in record.faults().values() for line in lines]


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("SELECT 1 FROM items i CROSS JOIN responses r", "SCAN r"),
        ("SELECT 1 FROM items i WHERE EXISTS (SELECT 1 FROM responses r WHERE r.item_id = i.item_id)", "r"),
        ("SELECT 1 FROM scores s CROSS JOIN temp.response_map m ON m.ours = s.response_id", "AUTOMATIC"),
        (
            "SELECT 1 FROM main.scores s CROSS JOIN theirs.scores t ON t.measure_id = s.measure_id",
            "SEARCH t USING PRIMARY KEY (measure_id=?)",
        ),
        ("DELETE FROM items WHERE item_id = 1", "SCAN responses"),
    ],
    ids=["a scan in a join", "a correlated scan", "an index for once", "all of a measure", "a foreign key"],
)
def test_a_plan_that_reads_again_and_again_is_a_fault(sql: str, line: str) -> None:
    (fault,) = faults(sql)
    assert line in fault


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM responses r CROSS JOIN items i USING (item_id)",
        "SELECT 1 FROM responses WHERE item_id IN (SELECT item_id FROM items)",
        "SELECT 1 FROM main.scores s CROSS JOIN theirs.scores t USING (measure_id, response_id)",
        "SELECT 1 FROM (SELECT item FROM items GROUP BY item) a "
        "JOIN (SELECT item FROM items GROUP BY item) b ON a.item = b.item",
    ],
    ids=["by key", "a list", "by the whole key", "groups"],
)
def test_a_plan_that_reads_each_table_once_is_none(sql: str) -> None:
    assert [] == faults(sql)
