"""Whether a run is as it was written: each kind of damage has its row, and is not passed on."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.studies.making import empty_run

from vivavoce import open as open_run
from vivavoce.core.errors import StoreError
from vivavoce.core.records import Response
from vivavoce.run.run import Run
from vivavoce.store.calls import ledger
from vivavoce.store.integrity import rehash
from vivavoce.store.read import items_by_id
from vivavoce.store.schema import APPLICATION_ID, HASHES, MIGRATIONS
from vivavoce.store.write import put_candidates, put_responses

Make = Callable[..., Run]


@pytest.fixture
def run(make: Make) -> Run:
    made = make()
    made.score("token_f1", "accuracy")
    return made


def tamper(run: Run, *statements: str) -> None:
    """Change the file as any SQLite client can, which checks no foreign keys."""
    with closing(sqlite3.connect(run.file.path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def wrong(run: Run) -> dict[str, tuple[str, ...]]:
    return {check.check: check.first for check in run.verify() if check.wrong}


def test_a_run_as_it_was_written_is_whole(run: Run) -> None:
    rows = [(check.check, check.of, check.checked, check.wrong) for check in run.verify()]
    assert [("integrity", "", None, 0), ("foreign keys", "", None, 0), ("tables", "", None, 0),
            ("journal", "", 3, 0), ("items", "", 3, 0),
            ("responses", "", 6, 0), ("scores", "token_f1, criterion f1", 4, 0),
            ("scores", "accuracy, criterion accuracy", 2, 0)] == rows  # fmt: skip


def test_the_measures_of_two_raters_are_told_apart(run: Run) -> None:
    tamper(run, "UPDATE measures SET rater = 'anna' WHERE metric = 'accuracy'")
    (damaged,) = [check for check in run.verify() if check.wrong]
    assert damaged.of == "accuracy, criterion accuracy, rater anna"


def test_a_run_without_a_row_is_whole(tmp_path: Path) -> None:
    assert {0} == {check.wrong for check in empty_run(tmp_path).verify()}


@pytest.mark.parametrize(
    ("statement", "check", "words"),
    [
        ("UPDATE items SET question = 'What raises it?' WHERE item_id = 1", "items",
         "the item q1 of exam does not fit its hash"),
        ("UPDATE items SET options = '[broken' WHERE item_id = 3", "items", "the item q2 of exam does not"),
        ("UPDATE items SET answer = '[\"yes, ü\"]' WHERE item = 'q2'", "items", "the item q2 of exam"),
        ("UPDATE responses SET text = 'Ibuprofen' WHERE response_id = 1", "responses",
         "the answer of A to q1 (repeat 1) does not fit its hash"),
        ("UPDATE scores SET value = 1 - value WHERE response_id = 1", "scores", "the scores of A: values"),
        ("DELETE FROM responses WHERE response_id = 6", "foreign keys",
         "a row of scores belongs to a row of responses that is not there"),
        ("DELETE FROM responses WHERE response_id = 6", "scores", "of no candidate: 1 rows have no"),
        ("DELETE FROM candidates WHERE candidate_id = 2", "foreign keys", "belongs to a row of candidates"),
    ],
)  # fmt: skip
def test_each_kind_of_damage_has_its_row(run: Run, statement: str, check: str, words: str) -> None:
    tamper(run, statement)
    assert any(words in sentence for sentence in wrong(run)[check])


def test_damage_of_the_file_itself_is_told_in_a_sentence(run: Run) -> None:
    with closing(sqlite3.connect(run.file.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_units_1'"
        (page,) = db.execute(sql).fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    content = bytearray(run.file.path.read_bytes())
    content[(page - 1) * size : page * size] = bytes(size)
    run.file.path.write_bytes(bytes(content))
    assert "SQLite says: " in wrong(run)["integrity"][0]


def test_earlier_versions_of_items_and_their_answers_are_checked(make: Make, tmp_path: Path) -> None:
    run = make()
    exam = tmp_path / "exam.jsonl"
    exam.write_text(exam.read_text(encoding="utf-8").replace("lowers a fever", "raises it"), encoding="utf-8")
    answers = tmp_path / "exam.viva.answers.jsonl"
    run.import_answers(answers, benchmark=f"jsonl(path={exam})", new_version=True)
    earlier = "item_id IN (SELECT item_id FROM items WHERE current = 0)"
    tamper(run, f"UPDATE items SET question = 'x' WHERE {earlier}",
           f"UPDATE responses SET text = 'x' WHERE {earlier}")  # fmt: skip
    found = wrong(run)
    assert ("the item q1 of exam does not fit its hash",) == found["items"]
    assert 2 == len(found["responses"])


def status(run: Run, *options: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "vivavoce", "status", str(run.file.path), "--verify", *options)
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_damage_is_listed_and_the_command_ends_with_2(run: Run) -> None:
    tamper(run, "UPDATE responses SET text = 'Ibuprofen'")
    done = status(run, "--json")
    (row,) = (row for row in json.loads(done.stdout)["rows"] if row["check"] == "responses")
    assert (2, 6, 6, 5) == (done.returncode, row["checked"], row["wrong"], len(row["first"]))
    assert "exam.viva is not as vivavoce wrote it: the answer of A to q1 (repeat 1) does not" in done.stderr
    assert "and 5 more" in done.stderr


def test_a_whole_run_ends_with_0(run: Run) -> None:
    done = status(run)
    assert (0, "") == (done.returncode, done.stderr)
    assert "foreign keys" in done.stdout


DAMAGE = "UPDATE responses SET text = 'Ibuprofen' WHERE response_id = 1"


@pytest.mark.parametrize("damaged", ["one.viva", "two.viva"])
def test_a_damaged_run_is_not_merged(make: Make, damaged: str) -> None:
    one, two = make("one.viva"), make("two.viva", "C")
    tamper(one if damaged == "one.viva" else two, DAMAGE)
    before = one.file.path.read_bytes()
    with pytest.raises(StoreError, match=rf"{damaged} is not as vivavoce wrote it.* Nothing was merged\."):
        one.merge(two.file.path)
    assert before == one.file.path.read_bytes()


def test_a_damaged_run_is_merged_into_no_new_one(make: Make, tmp_path: Path) -> None:
    one = make("one.viva")
    tamper(one, DAMAGE)
    with pytest.raises(StoreError, match="Nothing was merged"):
        open_run(tmp_path / "all.viva").merge(one.file.path)
    assert not (tmp_path / "all.viva").exists()


def last_item(folder: Path) -> str:
    """The spec of the last item of the exam."""
    (folder / "part").mkdir()
    line = (folder / "exam.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    (folder / "part" / "exam.jsonl").write_text(line, encoding="utf-8")
    return f"jsonl(path={folder / 'part' / 'exam.jsonl'})"


@pytest.mark.parametrize("part", [False, True])
def test_a_damaged_run_is_not_exported_as_a_run(run: Run, tmp_path: Path, part: bool) -> None:
    tamper(run, DAMAGE)
    items = last_item(tmp_path) if part else None
    with pytest.raises(StoreError, match="Nothing was exported"):
        run.export(tmp_path / "part.viva", format="run", items=items)
    assert not (tmp_path / "part.viva").exists()


def test_what_is_merged_and_exported_fits_its_hashes(run: Run, make: Make, tmp_path: Path) -> None:
    other = make("other.viva", "B", "C")
    other.score("token_f1")
    run.merge(other.file.path)
    assert {} == wrong(run)
    run.export(tmp_path / "part.viva", format="run", items=last_item(tmp_path))
    part = open_run(tmp_path / "part.viva")
    assert ({}, {"q2"}) == (wrong(part), set(part.scores["item"]))


def test_a_failure_that_another_run_mended_fits_its_hashes(make: Make, tmp_path: Path) -> None:
    one, two = make("one.viva", "A"), make("two.viva", "A")
    with one.file.writing() as db:
        db.execute("UPDATE responses SET status = 'failed', text = NULL")
        rehash(db)
    one.score("token_f1")
    two.score("token_f1")
    assert 3 == one.merge(two.file.path)[0].replaced
    assert {} == wrong(one)
    assert one.scores.drop("value").height == two.scores.height


TEXTS = {
    "UPDATE items SET question = 'x' WHERE item_id = 1": "the item q1 of exam does not fit its hash",
    "UPDATE responses SET text = 'x' WHERE response_id = 2": r"answer of A to q1 \[neutral\] \(repeat 1\)",
}


@pytest.mark.parametrize("statement", TEXTS)
def test_no_report_and_no_table_shows_a_text_that_was_changed(
    run: Run, tmp_path: Path, statement: str
) -> None:
    tamper(run, statement)
    for show in (run.report, lambda: run.export(tmp_path / "tables", format="csv")):
        with pytest.raises(StoreError, match=f"{TEXTS[statement]}.*changed outside vivavoce"):
            show()
    assert ["exam.viva"] == [path.name for path in tmp_path.glob("exam.*[!l]") if path.suffix == ".viva"]
    assert [] == [*tmp_path.glob("*.html"), *tmp_path.glob("tables*")]
    run.export(tmp_path / "tables", format="csv", table=["scores"])


@pytest.mark.parametrize(
    "statement",
    ["UPDATE scores SET value = 1 - value WHERE response_id = 1",
     "UPDATE candidates SET candidate = 'Z' WHERE candidate = 'A'"],
)  # fmt: skip
def test_every_reader_of_scores_refuses_them(run: Run, tmp_path: Path, statement: str) -> None:
    tamper(run, statement)
    readers = (
        lambda: run.scores, run.status, run.study, run.estimates, run.report,
        lambda: run.compare("A" if "Z" not in statement else "Z", "B", metric="token_f1"),
        lambda: run.export(tmp_path / "tables", format="parquet", table=["scores"]),
    )  # fmt: skip
    for reader in readers:
        with pytest.raises(StoreError, match=r"the scores of .: .* w(as|ere) changed"):
            reader()


def test_an_answer_that_came_after_a_failure_fits_its_hash(run: Run) -> None:
    """Its scores go, and the checksums with them: by an import, and one by one as they are collected."""
    answers = (
        Response(benchmark="exam", item="q1", candidate="A", text="x"),
        Response(benchmark="exam", item="q2", candidate="B", text="no", finish_reason="stop", reasoning="so"),
    )
    with run.file.writing() as db:
        db.execute("UPDATE responses SET status = 'failed', text = NULL WHERE response_id IN (1, 6)")
        rehash(db)
        items = {("q1", ""): 1}
        assert 1 == put_responses(db, answers[:1], items=items, candidates={"A": 1}).replaced
    with ledger(run.file) as calls:
        item = next(item for item in items_by_id(calls.db).values() if item.item == "q2")
        calls.put(item, answers[1], None)
    assert ({}, 4) == (wrong(run), run.scores.height)
    run.score("token_f1", "accuracy")
    assert ({}, 6) == (wrong(run), run.scores.height)


def test_a_run_that_an_older_vivavoce_scored_is_whole_and_can_be_gone_on_with(
    run: Run, tmp_path: Path
) -> None:
    older = tmp_path / "older.viva"
    tables = ("benchmarks", "items", "candidates", "responses", "measures", "scores", "provenance")
    with closing(sqlite3.connect(older)) as db:
        for script in MIGRATIONS[: HASHES - 1]:
            db.executescript(script)
        db.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {HASHES - 1};")
        db.execute("ATTACH ? AS new", (str(run.file.path),))
        for table in tables:
            names = ", ".join(f'"{row[1]}"' for row in db.execute(f"PRAGMA main.table_info({table})"))
            db.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM new.{table}")
        db.commit()
    brought = open_run(older)
    assert (run.verify(), {}) == (brought.verify(), wrong(brought))
    assert run.scores.equals(brought.scores)
    brought.score("exact")
    assert {} == wrong(brought)
    with brought.file.reading() as db, closing(sqlite3.connect(run.file.path)) as new:
        sums = "SELECT * FROM score_checksums WHERE measure_id < 3 ORDER BY 1, 2"
        assert new.execute(sums).fetchall() == db.execute(sums).fetchall()


def test_two_writers_at_once_leave_the_checksums_right(make: Make) -> None:
    run = make("one.viva", *"ABCDEFGH")
    code = "import sys, vivavoce; vivavoce.open(sys.argv[1]).score(sys.argv[2])"
    metrics = ("token_f1", "accuracy")
    writers = [subprocess.Popen([sys.executable, "-c", code, run.file.path, name]) for name in metrics]
    assert [0, 0] == [writer.wait() for writer in writers]
    assert ({}, 2) == (wrong(run), len({measure.metric for measure in run.measures}))


def test_a_value_of_another_kind_is_damage_and_no_fault_of_ours(run: Run) -> None:
    """As a flipped bit can make it: the kind of a value stands beside it in the file."""
    declare = "UPDATE sqlite_master SET sql = ? WHERE name = ?"
    for table, column in (("scores", "position"), ("responses", "meta"), ("responses", "repeat"),
                          ("items", "options")):  # fmt: skip
        with closing(sqlite3.connect(run.file.path)) as db:
            db.execute("PRAGMA writable_schema = ON")
            (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
            lax = sql.replace(") STRICT, WITHOUT", ") WITHOUT").replace(") STRICT", ")")
            db.execute(declare, (lax, table))
            db.commit()
        with closing(sqlite3.connect(run.file.path)) as db:
            db.execute(f"UPDATE {table} SET {column} = x'ff'")
            db.execute("PRAGMA writable_schema = ON")
            db.execute(declare, (sql, table))
            db.commit()
    assert {"integrity", "items", "responses", "scores"} == wrong(run).keys()
    with pytest.raises(StoreError, match="damaged"):
        run.score("accuracy")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE items SET \"group\" = 'one'",
        "UPDATE items SET category = 'x' WHERE item = 'q1'",
        "UPDATE items SET current = 0 WHERE item = 'q1'",
        "UPDATE items SET weight = 2 WHERE item = 'q1'",
        "UPDATE candidates SET role = 'ceiling' WHERE candidate = 'A'",
        "UPDATE benchmarks SET signature = 'zz'",
    ],
)
def test_labels_that_decide_an_interval_are_found_by_every_reader(run: Run, statement: str) -> None:
    """One group for all would make one case of them, and a role takes a candidate out of a ranking."""
    tamper(run, statement)
    assert ["tables"] == list(wrong(run))
    for reader in (
        lambda: run.scores,
        lambda: run.compare("A", "B", metric="token_f1"),
        lambda: run.report(),
    ):
        # a signature that is none is refused before the tables are compared with their hashes
        damage = r"the table of \w+ does not fit its hash|the signature of a benchmark cannot be read"
        with pytest.raises(StoreError, match=damage):
            reader()


def test_a_changed_table_is_not_written_over(run: Run, tmp_path: Path) -> None:
    tamper(run, "UPDATE candidates SET role = 'ceiling' WHERE candidate = 'A'")
    with (
        run.file.writing() as db,
        pytest.raises(StoreError, match="the table of candidates does not fit"),
    ):
        put_candidates(db, {"Z": "candidate"})


@pytest.mark.parametrize("table", ["provenance", "findings"])
def test_a_journal_that_is_no_json_is_found(run: Run, table: str) -> None:
    run.compare("A", "B", metric="token_f1")
    column = {"provenance": "body", "findings": "rows"}[table]
    tamper(run, f"UPDATE {table} SET {column} = '{{'")
    assert {"journal": (f"row 1 of {table} is no JSON",)} == {k: v[:1] for k, v in wrong(run).items()}
