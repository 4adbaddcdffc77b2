"""What a run holds: the checks of its tables, and three views that are the Polars frames."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing

import polars as pl
import pytest

from vivavoce.core.records import Criterion, Measure, Value
from vivavoce.core.tables import ITEMS, RESPONSES, SCORES, schema
from vivavoce.run.run import Run
from vivavoce.store import query_frames, read
from vivavoce.store.table_hashes import renew_table_hashes
from vivavoce.store.write import ScoreRow, put_finding, put_measures, put_scores

Make = Callable[..., Run]
COPY = (
    "INSERT INTO items SELECT item_id + 100, benchmark_id, item, variant, version + 1, {current}, hash, "
    'alias, "group", category, format, question, options, answer, "references", context, source, meta, '
    "steps, step, false_answer, weight, rubric, origin, must, nice, messages, follows, outer_groups "
    "FROM items"
)


@pytest.fixture
def run(make: Make) -> Run:
    """Three items, two candidates, scores of every status, parts and notes."""
    made = make()
    made.score("token_f1", "accuracy")
    measure = Measure(
        metric="odd", signature="odd()@1", rater="judge", criterion=Criterion(criterion="c", high=None)
    )
    with made.file.writing() as db:
        (key,) = put_measures(db, [measure])
        statuses = ("ok", "unanswered", "unreadable", "failed")
        put_scores(
            db,
            key,
            [
                ScoreRow(n, Value(float(n) if s == "ok" else None, {"tp": 1.0}, "a note", s), pass_no=2)
                for n, s in enumerate(statuses, 1)
            ],
        )
    return made


def view(run: Run, name: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """A view's columns and rows, as any SQLite client sees them."""
    with closing(sqlite3.connect(run.file.path)) as db:
        cursor = db.execute(f"SELECT * FROM {name}")
        return [column[0] for column in cursor.description], cursor.fetchall()


def test_the_view_of_items_is_the_frame(run: Run) -> None:
    names, rows = view(run, "item_rows")
    lists = [n for n, kind in schema(ITEMS).items() if isinstance(kind, pl.List)]
    read_rows = [
        tuple(json.loads(v) if n in lists else v for n, v in zip(names, row, strict=True)) for row in rows
    ]
    assert list(ITEMS) == names
    assert (names, schema(ITEMS)) == (run.items.columns, run.items.schema)
    assert sorted(read_rows, key=str) == sorted(run.items.rows(), key=str)
    assert ["yes, ü", "no"] == run.items.filter(item="q2")["options"].to_list()[0]


@pytest.mark.parametrize(
    ("name", "table", "columns"),
    [("response_rows", "responses", RESPONSES), ("score_rows", "scores", SCORES)],
)
def test_the_view_is_the_frame(run: Run, name: str, table: str, columns: tuple[str, ...]) -> None:
    names, rows = view(run, name)
    frame: pl.DataFrame = getattr(run, table)
    assert list(columns) == names
    assert (names, schema(columns)) == (frame.columns, frame.schema)
    assert rows
    assert sorted(rows, key=str) == sorted(frame.rows(), key=str)


def test_tables_without_rows_have_their_columns(make: Make) -> None:
    scores = make().scores
    assert (0, schema(SCORES)) == (len(scores), scores.schema)


def test_a_frame_of_many_chunks_is_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run.scores
    monkeypatch.setattr(query_frames, "CHUNK", 3)
    assert whole.equals(run.scores)


def test_filters_and_details_reach_the_query(run: Run) -> None:
    with run.file.reading() as db:
        keyed = read.measures(db)
        odd = next(k.key for k in keyed if k.measure.metric == "odd")
        rows = read.scores(db, measures=[odd], candidates=["A"], details=True)
        assert 0 == len(read.scores(db, measures=[]))
        assert 0 == len(read.scores(db, candidates=[]))
    assert {("odd", "A", "judge", 2)} == set(
        rows.select("metric", "candidate", "rater", "pass_no").iter_rows()
    )
    assert [*SCORES, "measure_id", "category", "format", "parts", "note"] == rows.columns
    assert {'{"tp": 1.0}'} == set(rows["parts"])


def test_a_measure_comes_back_as_it_was(run: Run) -> None:
    odd = next(m for m in run.measures if m.metric == "odd")
    assert Measure(
        metric="odd", signature="odd()@1", rater="judge", criterion=Criterion(criterion="c", high=None)
    ) == odd  # fmt: skip
    assert isinstance(odd.criterion.low, float)


def test_only_a_failed_mark_is_replaced(run: Run) -> None:
    with run.file.writing() as db:
        odd = next(k.key for k in read.measures(db) if k.measure.metric == "odd")
        put_scores(db, odd, [ScoreRow(n, Value(9.0), pass_no=2) for n in (1, 2, 3, 4)])
    values = run.scores.filter(metric="odd").select("status", "value").rows()
    assert {("ok", 1.0), ("unanswered", None), ("unreadable", None), ("ok", 9.0)} == set(values)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE scores SET value = NULL WHERE status_id = 0", "CHECK"),
        ("UPDATE scores SET value = 0 WHERE status_id != 0", "CHECK"),
        ("UPDATE scores SET status_id = 9", "FOREIGN KEY|CHECK"),
        ("UPDATE scores SET value = 'high' WHERE status_id = 0", "cannot store TEXT value in REAL column"),
        ("INSERT INTO scores SELECT * FROM scores", "UNIQUE"),
        ("DELETE FROM measures", "FOREIGN KEY"),
        ("UPDATE responses SET text = NULL WHERE status = 'ok'", "CHECK"),
        ("UPDATE responses SET status = 'failed'", "CHECK"),
        ("UPDATE responses SET status = 'lost', text = NULL", "CHECK"),
        ("UPDATE responses SET repeat = 'one'", "cannot store TEXT value in INTEGER column"),
        ("UPDATE responses SET candidate_id = 1", "UNIQUE"),
        ("DELETE FROM responses", "FOREIGN KEY"),
        ("DELETE FROM items", "FOREIGN KEY"),
        ("UPDATE candidates SET role = 'boss'", "CHECK"),
        ("UPDATE candidates SET candidate = 'A'", "UNIQUE"),
        ("UPDATE items SET current = 2", "CHECK"),
        ("UPDATE measures SET direction = 'up'", "CHECK"),
        ("UPDATE measures SET if_unanswered = 'zero'", "CHECK"),
        (COPY.format(current=1), "UNIQUE"),
    ],
)
def test_the_tables_refuse_what_cannot_be(run: Run, statement: str, words: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=words), run.file.writing() as db:
        db.execute(statement)


def test_an_older_version_of_an_item_may_stay(run: Run) -> None:
    with run.file.writing() as db:
        db.execute(COPY.format(current=0))
        renew_table_hashes(db)
    assert 3 == len(run.items)


def test_no_number_that_is_none_reaches_a_finding(run: Run) -> None:
    with pytest.raises(ValueError, match="Out of range float values"), run.file.writing() as db:
        put_finding(db, "compare", {}, [{"p": float("nan")}])
    with run.file.writing() as db:
        put_finding(db, "compare", {"margin": None}, [{"p": None}])
    with run.file.reading() as db:
        (found,) = read.findings(db, "compare")
        assert [] == read.findings(db, "agreement")
    assert ({"margin": None}, [{"p": None}]) == (found["settings"], found["rows"])


def test_text_that_is_no_unicode_is_kept_in_json(run: Run) -> None:
    with run.file.writing() as db:
        put_finding(db, "own", {"file": "\udcff"}, [])
    with run.file.reading() as db:
        assert "\udcff" == read.findings(db, "own")[0]["settings"]["file"]
