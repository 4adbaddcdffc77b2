"""The run file: nothing committed is lost, and what cannot be used is said in one sentence."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.lengths import length
from tests.store.readonly import frozen

import vivavoce as viva
from vivavoce.core.errors import InputError, RunNotFound, StoreError
from vivavoce.core.private_files import create_private
from vivavoce.core.records import Response
from vivavoce.run.run import Run
from vivavoce.store import declared_schema, read, runfile
from vivavoce.store.hashes import response_hash
from vivavoce.store.runfile import RunFile
from vivavoce.store.schema import APPLICATION_ID, HASHES, MIGRATIONS
from vivavoce.store.table_hashes import renew_table_hashes
from vivavoce.store.write import put_candidates, put_event

Make = Callable[..., Run]


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, sorted."""
    with closing(sqlite3.connect(path)) as db:
        tables = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        return {table: sorted(db.execute(f"SELECT * FROM {table}"), key=str) for table in tables}


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(f"PRAGMA {name}").fetchone()[0]


# Opening


def test_naming_a_path_creates_nothing(tmp_path: Path) -> None:
    run = viva.open(tmp_path / "new.viva")
    for table in ("items", "responses", "scores", "measures"):
        with pytest.raises(
            RunNotFound, match=r"no run at .*new\.viva: `viva import .*new\.viva …` makes one\."
        ):
            getattr(run, table)
    with pytest.raises(RunNotFound, match=r"no run at .*new\.viva"):
        run.score("token_f1")
    with pytest.raises(RunNotFound, match=r"no run at .*new\.viva: "):
        run.copy(tmp_path / "copy.viva")
    with pytest.raises(InputError):
        run.import_answers(tmp_path / "none.jsonl", benchmark=f"jsonl(path={tmp_path}/none.jsonl)")
    assert [] == list(tmp_path.iterdir())


def test_a_stored_run_is_one_file(make: Make, tmp_path: Path) -> None:
    run = make()
    run.score("token_f1")
    assert ["exam.viva"] == sorted(p.name for p in tmp_path.glob("exam.viva*") if "answers" not in p.name)
    assert (APPLICATION_ID, len(MIGRATIONS), "wal") == tuple(
        pragma(run.file.path, name) for name in ("application_id", "user_version", "journal_mode")
    )


@pytest.mark.parametrize("name", ["a b.viva", "a?b#c%41.viva", "ü.viva", "'.viva", "file:x.viva", "-.viva"])
def test_a_run_may_have_any_name(make: Make, tmp_path: Path, name: str) -> None:
    run = make(name)
    assert (tmp_path / name).is_file()
    assert 6 == len(viva.open(tmp_path / name).responses)
    assert 6 == len(viva.open(f"/{tmp_path / name}").responses)  # two slashes are no host
    assert repr(run).splitlines()[0] == f"Run({str(tmp_path / name)!r})"


def test_a_run_whose_name_is_no_unicode_can_be_used(make: Make, tmp_path: Path) -> None:
    odd = make().file.path.rename(tmp_path / "\udcff.viva")
    run = viva.open(odd)
    assert 6 == len(run.responses)
    run.score("token_f1")
    assert 4 == len(run.scores)


def test_a_relative_path_is_one_from_here(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    monkeypatch.chdir(tmp_path)
    assert 6 == len(viva.open("exam.viva").responses)


def test_an_empty_file_becomes_a_run(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "exam.viva"
    path.touch()
    with viva.open(path).file.writing():
        pass
    assert 0 == len(viva.open(path).responses)
    assert 0 == len(viva.open(path).scores)
    assert (APPLICATION_ID, len(MIGRATIONS)) == (pragma(path, "application_id"), pragma(path, "user_version"))
    make("exam.viva")
    assert 6 == len(viva.open(path).responses)


def test_what_is_read_cannot_be_written_through(make: Make) -> None:
    with pytest.raises(StoreError), make().file.reading() as db:
        db.execute("DELETE FROM responses")


def test_a_reader_keeps_its_view_while_another_writes(make: Make) -> None:
    run = make()
    with run.file.reading() as db:
        assert 6 == len(read.responses(db))
        make("exam.viva", "C")
        assert 6 == len(read.responses(db))
    assert 9 == len(run.responses)


def test_an_error_in_a_block_takes_all_of_it_back(make: Make) -> None:
    def broken(file: RunFile) -> None:
        with file.writing() as db:
            put_candidates(db, {"Z": "candidate"})
            raise ZeroDivisionError

    run = make()
    before = contents(run.file.path)
    with pytest.raises(ZeroDivisionError):
        broken(run.file)
    assert before == contents(run.file.path)


# Migrations


def test_an_older_file_is_brought_up_to_date_when_it_is_read(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make()
    added = (*MIGRATIONS, "CREATE TABLE extra (a TEXT) STRICT;\nINSERT INTO extra VALUES ('a; b');\n")
    monkeypatch.setattr(declared_schema, "MIGRATIONS", added)
    assert 6 == len(run.responses)
    assert [("a; b",)] == contents(run.file.path)["extra"]
    assert len(added) == pragma(run.file.path, "user_version")
    assert 6 == len(run.responses)


def declared(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    """What a file declares, in the order in which it was made, and the rows that are there from the start."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").fetchall()
    tables = [name for kind, name, *_ in rows if kind == "table" and name != "table_hashes"]
    return rows + [(name, *row) for name in tables for row in db.execute(f"SELECT * FROM {name}")]


def test_a_new_file_is_made_at_once_as_all_migrations_make_it(tmp_path: Path) -> None:
    with RunFile(tmp_path / "new.viva").writing() as new, closing(sqlite3.connect(":memory:")) as migrated:
        for script in MIGRATIONS:
            migrated.executescript(script)
        assert declared(migrated) == declared(new)


def older(path: Path, version: int) -> None:
    """A run of that format as it was written then: one item, with its hash, and one answer to it."""
    with closing(sqlite3.connect(path)) as db:
        for script in MIGRATIONS[:version]:
            db.executescript(script)
        db.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};")
        db.execute("INSERT INTO benchmarks (benchmark_id, benchmark, spec, signature, card) "
                   "VALUES (1, 'exam', 'old', 'old', '{}')")  # fmt: skip
        db.execute(
            'INSERT INTO items (item_id, benchmark_id, item, variant, version, current, hash, "group", '
            "format, question, options, answer, \"references\", meta) VALUES (1, 1, 'q1', '', 1, 1, "
            "'57d1375c67d754d4', 'q1', 'mcq', 'Which?', '[\"a\", \"b\"]', '[\"a\"]', '[]', '{}')"
        )
        db.execute("INSERT INTO candidates VALUES (1, 'A', 'candidate')")
        db.execute("INSERT INTO responses (item_id, candidate_id, repeat, edit_id, status, text) "
                   "SELECT 1, 1, 1, edit_id, 'ok', 'a' FROM edits")  # fmt: skip
        if version >= HASHES:
            answer = Response(benchmark="exam", item="q1", candidate="A", text="a")
            db.execute("UPDATE responses SET hash = ?", (response_hash("57d1375c67d754d4", answer),))
            # A format without levels of groups has the hashes of items without any.
            has_levels = db.execute("SELECT 1 FROM pragma_table_info('items') WHERE name = 'outer_groups'")
            if has_no_levels := has_levels.fetchone() is None:
                db.execute("ALTER TABLE items ADD COLUMN outer_groups TEXT NOT NULL DEFAULT '[]'")
            renew_table_hashes(db, "benchmarks", "items", "candidates")
            if has_no_levels:
                db.execute("ALTER TABLE items DROP COLUMN outer_groups")
        db.commit()


OLD = {"id": "q1", "format": "mcq", "question": "Which?", "options": ["a", "b"], "answer": "a"}
NEW = {
    "id": "q2", "format": "multi_hop_inverse", "question": "Why?", "false_answer": "It stops.",
    "steps": ["It is hot.", "So it stops."], "step": 2, "references": ["Heat does not stop it."],
}  # fmt: skip


def exam(folder: Path, *rows: object) -> tuple[Path, str]:
    """An answer of B to the last of these items, and the spec of the exam."""
    file, answers = folder / "exam.jsonl", folder / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    last = rows[-1]["id"]  # type: ignore[index]
    answers.write_text(json.dumps({"item": last, "candidate": "B", "text": "Step 2: no."}), encoding="utf-8")
    return answers, f"jsonl(path='{file}')"


def test_a_run_of_the_first_format_keeps_its_items_and_takes_new_ones(tmp_path: Path) -> None:
    path = tmp_path / "old.viva"
    older(path, 1)
    run = viva.open(path)
    assert [("q1", [], None, None)] == run.items.select("item", "steps", "step", "false_answer").rows()
    assert len(MIGRATIONS) == pragma(path, "user_version")
    answers, spec = exam(tmp_path, OLD, NEW)
    run.import_answers(answers, benchmark=spec)  # the same content has the same hash: nothing has changed
    with run.file.reading() as db:
        stock = {item.item: item for item in read.items_by_id(db).values()}
        kept = db.execute("SELECT item, version, hash FROM items ORDER BY item_id LIMIT 1").fetchone()
    assert ("q1", 1, "57d1375c67d754d4") == kept
    assert "57d1375c67d754d4" == stock["q1"].hash
    assert (2, ("It is hot.", "So it stops."), "It stops.") == (
        stock["q2"].step, stock["q2"].steps, stock["q2"].false_answer,
    )  # fmt: skip
    assert {("q1", "A"), ("q2", "B")} == set(run.responses.select("item", "candidate").rows())


@pytest.mark.parametrize(
    "change", [{"step": 1}, {"steps": ["It is hot.", "So it goes."]}, {"false_answer": "It goes."}]
)
def test_other_steps_make_another_item(tmp_path: Path, change: dict[str, object]) -> None:
    run = viva.open(tmp_path / "exam.viva")
    for rows in ([NEW], [NEW]):
        answers, spec = exam(tmp_path, *rows)
        run.import_answers(answers, benchmark=spec)
    answers, spec = exam(tmp_path, NEW | change)
    with pytest.raises(InputError, match=r"1 of the exam items have changed"):
        run.import_answers(answers, benchmark=spec)


RECORD = '{"references": [], "tokeniser": "of old", "truncated": 3}'


def test_a_record_of_log_likelihoods_leaves_the_text_of_an_older_run(tmp_path: Path) -> None:
    """Byte by byte; words stay, also where they look like a record, and so does the cause of a failure."""
    path = tmp_path / "old.viva"
    older(path, 5)
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "INSERT INTO edits VALUES (7, 'likelihood given(after=question)', 'given(after=question)')"
        )
        db.executemany(
            "INSERT INTO responses (item_id, candidate_id, repeat, edit_id, status, text, error) "
            "VALUES (1, 1, ?, ?, ?, ?, ?)",
            [(1, 7, "ok", RECORD, None), (2, 7, "failed", None, "timeout"), (2, 0, "ok", RECORD, None),
             (3, 0, "ok", "", None)],
        )  # fmt: skip
        db.commit()
    run = viva.open(path)
    probe = "given(after=question)"
    assert {
        ("", 1, "a", None, None), ("", 2, RECORD, None, None), ("", 3, "", None, None),
        (probe, 1, None, RECORD, None), (probe, 2, None, None, "timeout"),
    } == set(run.responses.select("probe", "repeat", "text", "logprobs", "error").rows())  # fmt: skip
    with run.file.reading() as db:
        assert ({"A": 1}, {"A": "of old"}) == (read.truncated(db, probe), read.tokenisers(db, probe))
        assert [("ok",)] == db.execute("PRAGMA integrity_check").fetchall()


@pytest.mark.parametrize("change", ["text = 'words'", "text = NULL", "text = NULL, status = 'failed'"])
def test_a_record_stands_beside_no_text_and_no_failure(make: Make, change: str) -> None:
    run = make()
    with run.file.writing() as db:
        db.execute("UPDATE responses SET text = '', logprobs = '{}'")
    with pytest.raises(sqlite3.IntegrityError, match="CHECK constraint failed"), run.file.writing() as db:
        db.execute(f"UPDATE responses SET {change}")


def test_a_migration_that_breaks_leaves_the_file_as_it_was(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make()
    before = contents(run.file.path)
    monkeypatch.setattr(
        declared_schema, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE extra (a TEXT) STRICT;\nOOPS;\n")
    )
    with pytest.raises(StoreError, match=r"SQLite cannot use .*syntax error"):
        run.responses  # noqa: B018
    assert before == contents(run.file.path)
    assert len(MIGRATIONS) == pragma(run.file.path, "user_version")


# Files that are no runs of ours


def test_a_newer_file_asks_for_an_upgrade(make: Make) -> None:
    run = make()
    with closing(sqlite3.connect(run.file.path)) as db:
        db.execute("PRAGMA user_version = 99")
    known = len(MIGRATIONS)
    words = (
        f"{run.file.path} was written by a newer vivavoce (format 99; this one knows {known}): upgrade with "
        "`pip install -U vivavoce`."
    )
    for use in (lambda: run.items, lambda: viva.open(run.file.path), lambda: make("exam.viva", "C")):
        with pytest.raises(StoreError, match=re.escape(words)):
            use()
    assert 99 == pragma(run.file.path, "user_version")


def test_a_file_of_another_program_is_left_alone(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE photos (name TEXT)")
    before = path.read_bytes()
    for use in (
        lambda: viva.open(path),
        lambda: make("photos.db"),
        lambda: RunFile(path).copy(tmp_path / "c"),
    ):
        with pytest.raises(StoreError, match=r"photos\.db is an SQLite file of another program, not a run"):
            use()
    assert before == path.read_bytes()
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "content", [b"not a database at all " * 100, b"{}", b"\0" * 5000, b"SQLite format 3\0" * 300]
)
def test_what_is_no_database_is_named(make: Make, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.viva"
    path.write_bytes(content)
    for use in (lambda: viva.open(path), lambda: make("notes.viva")):
        with pytest.raises(
            StoreError, match=r"notes\.viva is no readable run file \(file is not a database\)"
        ):
            use()
    assert content == path.read_bytes()


def test_a_damaged_run_is_named_with_the_remedy(make: Make) -> None:
    run = make()
    whole = run.file.path.read_bytes()
    run.file.path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreError, match=r"malformed.*damaged\. Restore a copy, or give another path\."):
        run.responses  # noqa: B018
    run.file.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match="is no readable run file"):
        run.responses  # noqa: B018


def test_a_folder_is_no_run(make: Make, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for use in (lambda: viva.open(tmp_path / "folder"), lambda: make("folder")):
        with pytest.raises(
            StoreError, match=r"folder is a folder; a run is a file, such as .*folder/exam\.viva"
        ):
            use()


def test_a_folder_that_is_not_there_is_not_made(make: Make, tmp_path: Path) -> None:
    run = make()
    with (
        pytest.raises(StoreError, match=r"no folder .*none to put the run in"),
        RunFile(tmp_path / "none/x.viva").writing(),
    ):
        pass
    with pytest.raises(StoreError, match=r"no folder .*none to put the copy in"):
        run.copy(tmp_path / "none" / "x.viva")
    assert not (tmp_path / "none").exists()


def test_a_path_we_may_not_look_at_is_named() -> None:
    with pytest.raises(StoreError, match=r"cannot look for a run at a+: File name too long\."):
        viva.open("a" * 5000)


# Copies


def test_a_copy_equals_its_original_and_can_be_gone_on_with(make: Make, tmp_path: Path) -> None:
    run = make()
    run.score("token_f1")
    path = run.copy(tmp_path / "copy.viva")
    assert contents(run.file.path) == contents(path)
    copy = viva.open(path)
    assert run.scores.equals(copy.scores)
    copy.score("token_f1(tokens=squad)")
    assert 8 == len(copy.scores)
    assert 4 == len(run.scores)


def test_a_copy_is_read_while_it_is_written_to(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VACUUM INTO leaves the journal a plain one, under which a reader and a writer would wait for ever."""
    monkeypatch.setattr(runfile, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr("vivavoce.run.score.BATCH", 1)
    copy = viva.open(make().copy(tmp_path / "copy.viva"))
    copy.score("token_f1")
    assert 4 == len(copy.scores)


def test_a_copy_never_overwrites(make: Make, tmp_path: Path) -> None:
    run = make()
    path = tmp_path / "copy.viva"
    path.write_text("mine", encoding="utf-8")
    for target in (path, run.file.path, tmp_path):
        with pytest.raises(StoreError, match="is there already: a copy never overwrites"):
            run.copy(target)
    assert "mine" == path.read_text(encoding="utf-8")
    assert 6 == len(run.responses)


@pytest.mark.parametrize("done", [False, True])
def test_of_two_copies_to_one_path_at_once_the_later_leaves_that_of_the_other(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    run, path = make(), tmp_path / "copy.viva"

    def late(to: Path) -> bool:
        """Another process made its copy since we looked, or is about to."""
        if to.suffix == ".part":
            path.write_bytes(b"another's" * done)
        return create_private(to)

    monkeypatch.setattr(runfile, "create_private", late)
    with pytest.raises(StoreError, match="is there already: a copy never overwrites"):
        run.copy(path)
    assert b"another's" * done == path.read_bytes()


def test_a_copy_is_made_while_another_writes(make: Make, tmp_path: Path) -> None:
    run = make()
    with run.file.writing() as db:
        put_candidates(db, {"Z": "candidate"})
        path = run.copy(tmp_path / "copy.viva")
    assert [("A",), ("B",)] == [row[1:2] for row in contents(path)["candidates"]]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say which process has ended")
@pytest.mark.parametrize("step", ["create_private", "_forget_links"])
def test_a_copy_that_was_killed_leaves_nothing_under_its_name(make: Make, tmp_path: Path, step: str) -> None:
    run, path = make("exam.viva"), tmp_path / "copy.viva"
    code = f"""
    import os, signal, sys
    import vivavoce as viva
    from vivavoce.store import runfile
    runfile.{step} = lambda path: os.kill(os.getpid(), signal.SIGKILL)
    viva.open(sys.argv[1] + "/exam.viva").copy(sys.argv[1] + "/copy.viva")
    """
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=False)
    assert -signal.SIGKILL == process.returncode
    assert not path.exists()
    run.copy(path)
    assert contents(path) == contents(tmp_path / "exam.viva")
    assert [] == list(tmp_path.glob(".*.part"))


def test_a_copy_that_fails_leaves_no_half(make: Make, tmp_path: Path) -> None:
    run = make("exam.viva", text="x" * 20_000)
    code = """
    import resource, sys
    import vivavoce as viva
    run = viva.open(f"{sys.argv[1]}/exam.viva")
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
    try:
        run.copy(f"{sys.argv[1]}/copy.viva")
    except viva.VivaError as error:
        print(error)
    """
    python = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    told = subprocess.run(python, capture_output=True, text=True, check=True).stdout
    assert re.match(FULL, told), told
    assert not (tmp_path / "copy.viva").exists()
    run.copy(tmp_path / "copy.viva")


def test_a_copy_to_where_none_can_be_is_refused(make: Make) -> None:
    with pytest.raises(
        StoreError, match=r"cannot write /proc/copy\.viva: the file or its folder is read-only"
    ):
        make().copy("/proc/copy.viva")


# A disk that is full, or read-only, or a file that is locked


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """`full_disk(pages)`: from now on no database file may grow beyond this."""
    opened = runfile._open

    def limit(pages: int) -> None:
        def limited(address: str) -> sqlite3.Connection:
            db = opened(address)
            if not address:  # what has no name is kept in memory
                return db
            db.execute(f"PRAGMA max_page_count = {pages}")
            return db

        monkeypatch.setattr(runfile, "_open", limited)

    return limit


FULL = (
    r"the disk is full: nothing of this step was written to .*, and what was there before is safe\. Make "
    r"room and run the same command again\."
)


def test_on_a_full_disk_nothing_is_stored_and_the_same_command_works_later(
    make: Make, full_disk: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make()
    before = contents(run.file.path)
    full_disk(int(str(pragma(run.file.path, "page_count"))) + 2)
    with pytest.raises(StoreError, match=FULL):
        make("exam.viva", "C", text="x" * 50_000)
    assert 6 == len(run.responses)
    assert before == contents(run.file.path)
    monkeypatch.undo()
    make("exam.viva", "C", text="x" * 50_000)
    assert 9 == len(run.responses)


def test_a_run_that_did_not_fit_can_be_made_later(
    make: Make, tmp_path: Path, full_disk: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk(3)
    with pytest.raises(StoreError, match=FULL):
        make()
    monkeypatch.undo()
    assert 6 == len(make().responses)


def test_marks_stored_before_the_disk_was_full_stay(
    make: Make, full_disk: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make("exam.viva", *(f"candidate {k}" for k in range(120)))
    monkeypatch.setattr("vivavoce.run.score.BATCH", 20)
    full_disk(int(str(pragma(run.file.path, "page_count"))) + 2)
    with pytest.raises(StoreError, match=FULL):
        run.score("token_f1")
    monkeypatch.undo()
    stored = len(run.scores)
    assert 0 < stored < 240
    assert 0 == stored % 20
    run.score("token_f1")
    assert 240 == len(run.scores)


def test_proc_is_no_place_for_a_run(make: Make, tmp_path: Path) -> None:
    make()
    with (
        pytest.raises(
            StoreError,
            match=r"cannot write /proc/x\.viva: the file or its folder is read-only\. Copy the run to",
        ),
        RunFile(Path("/proc/x.viva")).writing(),
    ):
        pass


def test_a_run_in_a_read_only_folder_is_read_and_not_written(make: Make, tmp_path: Path) -> None:
    run = make()
    run.score("token_f1")
    told = frozen(
        tmp_path,
        """
        import sys
        import vivavoce as viva
        folder = sys.argv[1]
        run = viva.open(f"{folder}/exam.viva")
        print(len(run.items), len(run.responses), len(run.scores), len(run.status().rows) > 0)
        answers, exam = f"{folder}/exam.viva.answers.jsonl", f"jsonl(path={folder}/exam.jsonl)"
        for step in (
            lambda: run.import_answers(answers, benchmark=exam),
            lambda: run.score("token_f1"),
            lambda: viva.open(f"{folder}/new.viva").import_answers(answers, benchmark=exam),
            lambda: run.copy(f"{folder}/copy.viva"),
        ):
            try:
                print("done", step())
            except viva.VivaError as error:
                print(error)
        """,
    ).splitlines()
    assert "3 6 4 True" == told[0]
    ends = (
        "the file or its folder is read-only. Copy the run to a folder that can be written and use it there."
    )
    names = ("exam", "exam", "new", "copy")
    assert [f"cannot write {tmp_path / name}.viva: {ends}" for name in names] == told[1:]


def test_an_older_run_in_a_read_only_folder_is_read_and_stays_as_it_is(tmp_path: Path) -> None:
    """Of every older format with a plain journal; with a WAL the first, the last, and that before hashes."""
    with_wal = length((1, HASHES - 1, len(MIGRATIONS) - 1), range(len(MIGRATIONS)))
    paths = []
    for version in range(1, len(MIGRATIONS)):
        for journal in ("delete", "wal")[: 2 if version in with_wal else 1]:
            path = tmp_path / f"{version}-{journal}.viva"
            older(path, version)
            with closing(sqlite3.connect(path)) as db:
                db.execute(f"PRAGMA journal_mode = {journal}")
            paths.append(path)
    answers, spec = exam(tmp_path, OLD, NEW)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    printed = frozen(
        tmp_path,
        """
        import sys
        import vivavoce as viva
        folder, answers, spec, *paths = sys.argv[1:]
        for path in paths:
            run = viva.open(path)
            print(run.items["steps"].to_list(), run.responses.select("text", "probe").rows())
            try:
                run.import_answers(answers, benchmark=spec)
            except viva.VivaError as error:
                print(error)
        """,
        *(answers, Path(spec), *paths),
    ).splitlines()
    refusals = [f"cannot write {path}: the file or its folder is read-only." for path in paths]
    assert ["[[]] [('a', '')]"] * len(paths) == printed[::2]
    assert refusals == [line.split(" Copy")[0] for line in printed[1::2]]
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_an_older_run_is_read_on_a_full_disk_and_is_brought_up_to_date_later(
    tmp_path: Path, full_disk: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.viva"
    older(path, 1)
    before = contents(path)
    full_disk(int(str(pragma(path, "page_count"))))
    assert ["a"] == viva.open(path).responses["text"].to_list()
    assert before == contents(path)
    monkeypatch.undo()
    assert ["a"] == viva.open(path).responses["text"].to_list()
    assert len(MIGRATIONS) == pragma(path, "user_version")


def test_a_copy_of_an_older_run_that_is_read_cannot_be_written_through(
    tmp_path: Path, full_disk: Callable[[int], None]
) -> None:
    path = tmp_path / "old.viva"
    older(path, 1)
    full_disk(int(str(pragma(path, "page_count"))))
    with pytest.raises(StoreError), RunFile(path).reading() as db:
        db.execute("DELETE FROM responses")


def test_a_run_that_stays_locked_says_so(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make()
    monkeypatch.setattr(runfile, "WAIT_SECONDS", 0.1)
    with closing(sqlite3.connect(run.file.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            StoreError, match=r"exam\.viva was kept locked by another process for 0 s; try again"
        ):
            run.score("token_f1")
        assert 6 == len(run.responses)


def test_a_locked_copy_is_not_read_past_its_lock(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make().copy(tmp_path / "copy.viva")
    monkeypatch.setattr(runfile, "WAIT_SECONDS", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="was kept locked by another process"):
            viva.open(path)


# Several processes


WRITER = """
import sys, time
from pathlib import Path
import vivavoce as viva
folder, name = Path(sys.argv[1]), sys.argv[2]
Path(folder / f"{name}.ready").touch()
while not (folder / "go").exists():
    time.sleep(0.005)
run = viva.open(folder / "shared.viva")
run.import_answers(folder / f"{name}.jsonl", benchmark=f"jsonl(path={folder}/exam.jsonl)")
run.score("token_f1", "token_f1(tokens=squad)")
"""


def test_three_processes_that_write_at_once_lose_nothing(make: Make, tmp_path: Path) -> None:
    repeats = length(20, 200)
    make("other.viva")  # for the exam
    writers = []
    for name in ("A", "B", "C"):
        rows = [
            {"item": item, "candidate": name, "repeat": k, "text": f"{name} {k}"}
            for item in ("q1", "n1", "q2")
            for k in range(1, repeats + 1)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
        writers.append(
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path), name], stderr=subprocess.PIPE, text=True
            )
        )
    while not all((tmp_path / f"{name}.ready").exists() for name in "ABC"):
        assert all(w.poll() is None for w in writers)
        time.sleep(0.01)
    (tmp_path / "go").touch()
    for writer in writers:
        _, told = writer.communicate(timeout=300)
        assert (0, "") == (writer.returncode, told)
    run = viva.open(tmp_path / "shared.viva")
    assert dict.fromkeys("ABC", 3 * repeats) == dict(run.responses.group_by("candidate").len().iter_rows())
    answered = run.responses.select("candidate", "repeat", "text").iter_rows()
    assert all(text == f"{candidate} {repeat}" for candidate, repeat, text in answered)
    run.score("token_f1", "token_f1(tokens=squad)")
    assert 2 * 3 * 2 * repeats == len(run.scores)
    assert 2 == len(run.measures)
    assert "ok" == pragma(run.file.path, "integrity_check")


KILLED = """
import sys, time
from pathlib import Path
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_candidates, put_event
run = RunFile(Path(sys.argv[1]))
with run.writing() as db:
    put_event(db, "kept", {"n": 1})
with run.writing() as db:
    db.execute("PRAGMA cache_size = 5")  # so that much of it is on disk already
    put_candidates(db, {f"lost {k}": "candidate" for k in range(5000)})
    print("in the middle", flush=True)
    time.sleep(60)
"""


def test_a_killed_writer_loses_only_what_was_not_committed(make: Make) -> None:
    run = make()
    before = contents(run.file.path)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(run.file.path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout
        assert "in the middle\n" == writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    after = contents(run.file.path)
    assert ["kept"] == [row[2] for row in after.pop("events")]
    before.pop("events")
    assert before == after
    make("exam.viva", "C")
    assert 9 == len(run.responses)


def test_an_interrupted_score_goes_on_where_it_stopped(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make()
    monkeypatch.setattr("vivavoce.run.score.BATCH", 1)

    def stop(what: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.score("token_f1", progress=stop)
    assert 3 == len(run.scores)
    heard: list[tuple[int, int]] = []
    run.score("token_f1", progress=lambda what, done, total: heard.append((done, total)))
    assert [(1, 1)] == heard
    assert 4 == len(run.scores)


def test_events_are_only_ever_added(make: Make) -> None:
    run = make()
    with run.file.writing() as db:
        put_event(db, "dispute", {"item": "q1"})
    for change in ("UPDATE events SET kind = 'x'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="events are append-only"), run.file.writing() as db:
            db.execute(change)
    assert [("dispute", '{"item": "q1"}')] == [row[2:] for row in contents(run.file.path)["events"]]
