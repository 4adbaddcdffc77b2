"""A run file is not trusted: what a stranger put into it is refused before anything is read or written."""

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.lengths import length
from tests.store.strangers import STRANGERS, change, folder_bytes
from tests.store.test_runfile import older

import vivavoce as viva
from vivavoce.core.errors import StoreError, VivaError
from vivavoce.run.run import Run
from vivavoce.store import runfile
from vivavoce.store.declared_schema import normal
from vivavoce.store.runfile import RunFile
from vivavoce.store.schema import APPLICATION_ID, MIGRATIONS

Make = Callable[..., Run]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with scores, to be copied and changed."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "exam.jsonl").write_text(
        json.dumps({"id": "q1", "question": "Which?", "format": "short", "answer": "yes"}), encoding="utf-8"
    )
    (folder / "answers.jsonl").write_text(
        json.dumps({"item": "q1", "candidate": "A", "text": "yes"}), encoding="utf-8"
    )
    run = viva.open(folder / "exam.viva")
    run.import_answers(folder / "answers.jsonl", benchmark=f"jsonl(path={folder}/exam.jsonl)")
    run.score("token_f1")
    return run.file.path


@pytest.fixture
def stranger(stored: Path, tmp_path: Path) -> Path:
    """A copy of that run in a folder of its own."""
    folder = tmp_path / "received"
    folder.mkdir()
    path = folder / "stranger.viva"
    path.write_bytes(stored.read_bytes())
    return path


def ways_in(path: Path, own: Run, tmp_path: Path) -> list[Callable[[], object]]:
    """Everything that opens a file: reading, writing, staying connected, a copy, a merge."""

    def stay_connected() -> None:
        with RunFile(path).connected():
            pass

    def write() -> None:
        with RunFile(path).writing():
            pass

    return [
        lambda: viva.open(path),
        stay_connected,
        write,
        lambda: RunFile(path).copy(tmp_path / "copy.viva"),
        lambda: own.merge(path),
    ]


@pytest.mark.parametrize("name", STRANGERS)
def test_what_our_migrations_do_not_make_is_refused_by_name_and_nothing_is_written(
    stranger: Path, make: Make, tmp_path: Path, name: str
) -> None:
    sql, words = STRANGERS[name]
    change(stranger, sql)
    before = folder_bytes(stranger.parent)
    own = make()
    own_before = folder_bytes(tmp_path)
    for use in ways_in(stranger, own, tmp_path):
        with pytest.raises(StoreError, match=re.escape(words)) as refused:
            use()
        assert str(stranger) in str(refused.value)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 500
        assert before == folder_bytes(stranger.parent)
    assert own_before == folder_bytes(tmp_path)
    assert {"received", *own_before} == {path.name for path in tmp_path.iterdir()}


def test_status_on_a_run_with_a_trigger_is_one_sentence_and_writes_nothing(stranger: Path) -> None:
    """Through the command line, with the score of WAL in the file: SQLite would lay `-wal` beside it."""
    change(stranger, STRANGERS["trigger"][0])
    before = folder_bytes(stranger.parent)
    for words in (["status"], ["score", "token_f1"], ["export", "tables", "--format", "csv"], ["report"]):
        command = [sys.executable, "-m", "vivavoce", words[0], str(stranger), *words[1:]]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=stranger.parent)
        assert 2 == ended.returncode
        assert "" == ended.stdout
        assert [
            f"viva: {stranger} holds the trigger 'spy', which no run of this format has. Nothing was read "
            "from it and nothing was written: such a thing can run code. If you changed the file yourself, "
            "undo it with sqlite3; otherwise ask for another copy, or give another path."
        ] == ended.stderr.splitlines()
        assert before == folder_bytes(stranger.parent)


def test_a_schema_of_very_many_entries_is_refused_at_its_first_strange_one(stranger: Path) -> None:
    with closing(sqlite3.connect(stranger)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.executemany(
            "INSERT INTO sqlite_master VALUES ('view', ?, ?, 0, ?)",
            ((f"v{k}", f"v{k}", f"CREATE VIEW v{k} AS SELECT 1") for k in range(length(10_000, 100_000))),
        )
        db.commit()
    with pytest.raises(StoreError, match="holds the view 'v0', which no run of this format has"):
        viva.open(stranger)


def test_a_forged_mark_of_ours_on_another_program_s_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "photos.viva"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"CREATE TABLE photos (a); PRAGMA application_id = {APPLICATION_ID};")
    for version in (0, 1, len(MIGRATIONS)):
        change(path, f"PRAGMA user_version = {version}")
        before = folder_bytes(tmp_path)
        with pytest.raises(StoreError, match="holds the table 'photos'"):
            viva.open(path)
        assert before == folder_bytes(tmp_path)


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_an_older_run_is_checked_against_its_own_format_before_it_is_brought_up_to_date(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "old.viva"
    older(path, version)
    whole = path.read_bytes()
    change(path, "CREATE TRIGGER spy AFTER UPDATE ON responses BEGIN SELECT 1; END", journal="delete")
    before = folder_bytes(tmp_path)
    with pytest.raises(StoreError, match="holds the trigger 'spy'"):
        viva.open(path)
    assert before == folder_bytes(tmp_path)
    path.write_bytes(whole)
    assert 1 == len(viva.open(path).responses)


def test_a_run_that_was_analysed_or_vacuumed_stays_a_run(stranger: Path) -> None:
    change(stranger, "ANALYZE; VACUUM; PRAGMA optimize; REINDEX;")
    run = viva.open(stranger)
    assert 1 == len(run.scores)
    run.score("token_f1(tokens=squad)")
    assert 2 == len(viva.open(stranger).scores)


def test_another_sqlite_may_space_and_capitalise_a_table_otherwise(stranger: Path) -> None:
    """What `ALTER TABLE … ADD COLUMN` leaves between the words is not the same in every version."""
    change(
        stranger,
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(replace(replace(sql, "
        "', steps', char(10) || '  ,steps'), 'CREATE TABLE', 'create   table'), ' STRICT', 'STRICT') "
        "WHERE name = 'items'",
    )
    assert 1 == len(viva.open(stranger).items)


@pytest.mark.parametrize(
    "other",
    ["CHECK (a IN ('x  y', 'z'))", "CHECK (a IN ('X y', 'z'))", "CHECK (a IN ('x y' , 'z')) -- ",
     "CHECK (a IN ('x y', 'z' /**/))", "CHECK (a IN ('x y''', 'z'))", "CHECK (a IN (\"x y\", 'z'))"],
)  # fmt: skip
def test_what_stands_in_quotes_is_compared_letter_by_letter(other: str) -> None:
    assert normal("CHECK (a IN ('x y', 'z'))") != normal(other)
    assert normal("CHECK (a IN ('x y', 'z'))") == normal("check(a in('x y','z') )")


def test_nothing_of_a_file_s_schema_is_trusted_and_cells_are_checked(stranger: Path) -> None:
    with RunFile(stranger).reading() as db:
        assert [(0,), (1,)] == [
            db.execute(f"PRAGMA {name}").fetchone() for name in ("trusted_schema", "cell_size_check")
        ]


def test_what_is_deleted_can_be_overwritten(make: Make) -> None:
    run = make(text="a secret that is to go")
    with run.file.writing() as db:
        runfile.overwrite_deleted(db)
        db.execute("DELETE FROM responses")
    assert b"a secret that is to go" not in run.file.path.read_bytes()


# What lies beside a run


def killed(path: Path, sql: str, journal: str) -> None:
    """SQL whose process ends before SQLite tidies up: what it wrote stays beside the file."""
    code = (
        "import os, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute(f'PRAGMA journal_mode = {sys.argv[3]}')\n"
        "if sys.argv[3] != 'wal':\n"
        "    db.execute('PRAGMA cache_size = 1'); db.execute('PRAGMA cache_spill = 1'); db.execute('BEGIN')\n"
        "db.executescript(sys.argv[2])\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path), sql, journal], check=True)


@pytest.mark.parametrize("with_index", [True, False], ids=["with -shm", "without -shm"])
def test_a_trigger_that_stands_in_the_wal_alone_is_refused_and_is_not_brought_into_the_file(
    stranger: Path, with_index: bool
) -> None:
    killed(stranger, STRANGERS["trigger"][0], "wal")
    index = stranger.with_name("stranger.viva-shm")
    if not with_index:
        index.unlink()
    before = folder_bytes(stranger.parent)
    assert before["stranger.viva-wal"]
    with pytest.raises(StoreError, match="holds the trigger 'spy'"):
        viva.open(stranger)
    after = folder_bytes(stranger.parent)
    assert before.keys() == after.keys()
    assert all(before[name] == after[name] for name in before if not name.endswith("-shm"))


def test_a_journal_that_would_bring_a_trigger_back_is_refused_before_it_is_rolled_back(
    stranger: Path,
) -> None:
    change(stranger, STRANGERS["trigger"][0], journal="delete")
    fill = "INSERT INTO provenance (verb, body) VALUES ('x', hex(zeroblob(100000)));" * 20
    killed(stranger, f"BEGIN; DROP TRIGGER spy; {fill} DELETE FROM scores;", "delete")
    before = folder_bytes(stranger.parent)
    assert {"stranger.viva", "stranger.viva-journal"} == before.keys()
    with pytest.raises(StoreError, match="holds the trigger 'spy'"):
        viva.open(stranger)
    assert before == folder_bytes(stranger.parent)


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_run_whose_writer_was_killed_is_mended_when_it_is_opened(stranger: Path, journal: str) -> None:
    change(stranger, "PRAGMA user_version", journal="delete")
    fill = "INSERT INTO provenance (verb, body) VALUES ('x', hex(zeroblob(100000)));" * 20
    killed(stranger, f"BEGIN; {fill} DELETE FROM scores;", journal)
    assert len(folder_bytes(stranger.parent)) > 1
    assert 1 == len(viva.open(stranger).scores)


def test_a_journal_that_names_another_file_is_refused_and_that_file_stays(
    stranger: Path, tmp_path: Path
) -> None:
    """SQLite deletes the file that a journal names as the one of several databases."""
    change(stranger, "PRAGMA user_version", journal="delete")
    fill = "INSERT INTO provenance (verb, body) VALUES ('x', hex(zeroblob(100000)));" * 20
    killed(stranger, f"BEGIN; {fill} DELETE FROM scores;", "delete")
    journal, victim = stranger.with_name("stranger.viva-journal"), tmp_path / "precious"
    victim.write_text("precious", encoding="utf-8")
    name = str(victim).encode()
    size = 1 << 30  # the page of the lock, which ends the pages of a journal
    page = int.from_bytes(stranger.read_bytes()[16:18], "big")
    with journal.open("ab") as file:
        file.write((size // page + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big"))
        file.write(sum(name).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7"))
    before = folder_bytes(stranger.parent)
    with pytest.raises(
        StoreError, match=r"would make SQLite delete another file, and no journal of a run does"
    ):
        viva.open(stranger)
    assert "precious" == victim.read_text(encoding="utf-8")
    assert before == folder_bytes(stranger.parent)


def test_the_wal_of_another_file_does_not_pass(stranger: Path, tmp_path: Path) -> None:
    other = tmp_path / "photos.db"
    killed(other, "CREATE TABLE photos (a); INSERT INTO photos VALUES (1);", "wal")
    (stranger.parent / "stranger.viva-wal").write_bytes((tmp_path / "photos.db-wal").read_bytes())
    before = folder_bytes(stranger.parent)
    with pytest.raises(StoreError, match=r"is an SQLite file of another program|is no readable run file"):
        viva.open(stranger)
    assert before == folder_bytes(stranger.parent)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["a named pipe", "a socket", "a link", "a folder", "a device"])
def test_pipes_sockets_devices_links_and_folders_are_refused_before_they_are_opened(
    stranger: Path, tmp_path: Path, suffix: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, precious = stranger.with_name(f"stranger.viva{suffix}"), tmp_path / "precious"
    precious.write_text("precious", encoding="utf-8")
    if not suffix:
        path.unlink()
    monkeypatch.chdir(stranger.parent)  # the name of a socket may not be long
    if kind == "a named pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        with closing(socket.socket(socket.AF_UNIX)) as server:
            server.bind(path.name)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a link":
        path.symlink_to(precious)
    elif suffix:
        path.symlink_to("/dev/null")
        kind = "a link"
    else:
        stranger = Path("/dev/null")
    if kind == "a link" and not suffix:
        kind = "another kind of file"  # a run may stand behind a link; this is none
    start = time.monotonic()
    for use in (lambda: viva.open(stranger), RunFile(stranger).writing().__enter__):
        with pytest.raises(VivaError, match=f"is {kind}|is no readable run file .*{kind}"):
            use()
    assert time.monotonic() - start < 20
    assert "precious" == precious.read_text(encoding="utf-8")


def test_a_run_behind_a_link_is_used_where_it_lies(stranger: Path, tmp_path: Path) -> None:
    link = tmp_path / "here.viva"
    link.symlink_to(stranger)
    assert 1 == len(viva.open(link).scores)
    killed(stranger, STRANGERS["trigger"][0], "wal")
    before = stranger.read_bytes()
    with pytest.raises(StoreError, match="holds the trigger 'spy'"):
        viva.open(link)
    assert before == stranger.read_bytes()
    assert not list(tmp_path.glob("here.viva-*"))
