"""Runs on network disks that are written all the same: a rollback journal, and one writer at a time."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.run.collect.conftest import endpoint, exam, fake, serving
from tests.store.test_disks import Mount, mount

import vivavoce as viva
from vivavoce.core.errors import StoreError
from vivavoce.core.processes import this_machine
from vivavoce.run.run import Run
from vivavoce.store import disks, runfile, writer_lock
from vivavoce.store.disks import ALLOWED, NETWORK_DISKS
from vivavoce.store.runfile import RunFile

__all__ = ["endpoint", "exam", "fake", "mount", "serving"]
OPENING = (
    "import os, signal, sys, pathlib; from vivavoce.store import disks, runfile\n"
    "disks.MOUNT_TABLE = pathlib.Path(sys.argv[2])\n"
    "run = runfile.RunFile(pathlib.Path(sys.argv[1]), network_disk=True)\n"
)
"""How a process of a test opens the run that its words name."""
LOCK = "exam.viva.writer"


def journal(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("PRAGMA journal_mode").fetchone()[0])


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that nobody gives up is found out in seconds."""
    monkeypatch.setattr(runfile, "WAIT_SECONDS", 3.0)
    monkeypatch.delenv(ALLOWED, raising=False)


@pytest.fixture
def allowed(mount: Mount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a network disk where runs may be written."""
    mount((tmp_path, "nfs4"))
    monkeypatch.setenv(ALLOWED, "1")
    return tmp_path


@pytest.mark.parametrize("kind", ["gpfs", "lustre", "cifs", "nfs", "fuse.rclone", "fuse.ceph", "beegfs"])
def test_the_refusal_says_how_to_write_all_the_same(tmp_path: Path, mount: Mount, kind: str) -> None:
    assert kind in NETWORK_DISKS
    mount((tmp_path, kind))
    with pytest.raises(
        StoreError, match=rf"network disk \({kind}\).* one process at a time .*--network-disk"
    ):
        RunFile(tmp_path / "exam.viva").writing().__enter__()
    assert [] == list(tmp_path.iterdir())


def test_every_verb_writes_with_a_rollback_journal(allowed: Path, exam: Any) -> None:
    run = viva.open(allowed / "exam.viva")
    spec = exam(12, change=lambda k: {"answer": f"answer {k}", "category": f"c{k % 2}"})
    run.collect(spec, models=["baseline/echo", "baseline/reference"])
    run.score("exact", "token_f1")
    run.compare("baseline/echo", "baseline/reference", metric="exact")
    run.vary("demographic(kind=sex)")
    run.collect(spec, models=["baseline/echo"])
    run.report(allowed / "exam.html")
    other = viva.open(allowed / "other.viva")
    other.merge(run.file.path)
    assert run.responses.height == other.responses.height
    assert {"delete"} == {journal(allowed / name) for name in ("exam.viva", "other.viva")}
    beside = {file.name for file in allowed.iterdir() if file.name.startswith(("exam.viva", "other.viva"))}
    assert {"exam.viva", "other.viva"} == beside
    assert [check for check in run.verify() if check.wrong] == []


def test_a_conversation_is_collected_on_a_network_disk(
    allowed: Path, exam: Any, endpoint: Callable[..., Any]
) -> None:
    """The answers to earlier turns are read while later ones are written."""
    endpoint()
    run = viva.open(allowed / "exam.viva")
    file = allowed / "chats.jsonl"
    chat = {"id": "b", "question": "My chest hurts.", "must": ["112"], "turns": ["To my arm.", "Thanks."]}
    file.write_text(json.dumps(chat) + "\n")
    spec = f"jsonl(path={file}, replies=own)"
    assert 3 == run.collect(spec, models=["vllm/m"]).rows[0]["answered"]


def test_a_run_of_a_local_disk_is_taken_over_without_shared_memory(
    make: Callable[..., Run], mount: Mount, tmp_path: Path
) -> None:
    path = make().file.path
    assert "wal" == journal(path)
    mount((tmp_path, "lustre"))
    run = viva.open(path, network_disk=True)
    assert 6 == run.responses.height
    run.score("token_f1")
    assert "delete" == journal(path)
    with pytest.raises(StoreError, match="lies on a network disk"):
        viva.open(path, network_disk=False).score("exact")
    mount()
    viva.open(path).score("exact")
    assert "wal" == journal(path)


def test_a_view_that_stays_open_does_not_stop_the_writer(allowed: Path, exam: Any) -> None:
    run = viva.open(allowed / "exam.viva")
    run.collect(exam(3), models=["baseline/echo"])
    with run.file.reading() as view:
        run.score("exact")
        assert 0 == view.execute("SELECT count(*) FROM scores").fetchone()[0]
    assert 3 == run.scores.height


def test_another_process_waits_and_is_refused(
    allowed: Path, exam: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runfile, "WAIT_SECONDS", 0.2)
    run = viva.open(allowed / "exam.viva")
    run.collect(exam(3), models=["baseline/echo"])
    lock = allowed / LOCK
    lock.write_text("node17 pid:[1], process 4711")
    with pytest.raises(StoreError) as error:
        run.score("exact")
    assert str(error.value) == (
        f"{run.file.path} is being written by node17, process 4711, and on a network disk one process "
        f"writes at a time: try again when it is done. If it is gone, remove {LOCK} there."
    )
    assert 3 == run.responses.height  # it is read all the same
    lock.write_bytes(b"\x1b[31m\xff" * 1000)
    with pytest.raises(StoreError, match="is being written by another process"):
        run.score("exact")
    lock.unlink()
    run.score("exact")


def test_the_lock_of_a_process_that_has_ended_is_taken_over(allowed: Path, exam: Any) -> None:
    run = viva.open(allowed / "exam.viva")
    run.collect(exam(3), models=["baseline/echo"])
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (allowed / LOCK).write_text(f"{this_machine()}, process {ended.pid}")
    run.score("exact")
    assert not (allowed / LOCK).exists()
    (allowed / LOCK).write_text(
        f"{socket.gethostname()}x, process {ended.pid}"
    )  # of another machine: unknown
    with (
        pytest.raises(StoreError, match="is being written by"),
        writer_lock.only_writer(run.file.path, wait_s=0.1),
    ):
        pass


def test_two_processes_write_one_after_the_other(allowed: Path, exam: Any) -> None:
    """Twenty writers of one number: none is lost, and nothing but the run is left."""
    run = viva.open(allowed / "exam.viva")
    run.collect(exam(1), models=["baseline/echo"])
    code = (
        f"{OPENING}for _ in range(5):\n"
        "    with run.writing() as db:\n"
        "        n = db.execute('SELECT count(*) FROM events').fetchone()[0]\n"
        "        db.execute('INSERT INTO events (kind, body) VALUES (?, ?)', ('n', '{\"n\": %d}' % n))\n"
    )
    command = [sys.executable, "-c", code, str(run.file.path), str(disks.MOUNT_TABLE)]
    writers = [subprocess.Popen(command, env={**os.environ}) for _ in range(4)]
    assert [0] * 4 == [writer.wait(300) for writer in writers]
    with run.file.reading() as db:
        numbers = [n for (n,) in db.execute("SELECT json_extract(body, '$.n') FROM events WHERE kind = 'n'")]
    assert list(range(20)) == sorted(numbers)
    assert not (allowed / LOCK).exists()


def test_a_writer_that_was_killed_leaves_a_run_that_goes_on(allowed: Path, exam: Any) -> None:
    run = viva.open(allowed / "exam.viva")
    run.collect(exam(3), models=["baseline/echo"])
    code = (
        f"{OPENING}with run.writing() as db:\n"
        "    db.execute('PRAGMA cache_size = 1')\n"
        "    db.execute('UPDATE responses SET text = ?', ('x' * 200_000,))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", code, str(run.file.path), str(disks.MOUNT_TABLE)]
    assert -9 == subprocess.run(command, check=False).returncode
    left = {file.name for file in allowed.iterdir()}
    assert {"exam.viva-journal", LOCK} <= left
    with pytest.raises(StoreError, match="by the -journal file beside it a writer is at work"):
        viva.open(run.file.path, network_disk=False)
    run = viva.open(run.file.path)
    run.score("exact")
    assert 100 > max(map(len, run.responses["text"]))
    assert [check for check in run.verify() if check.wrong] == []


def test_a_read_only_network_disk_is_read(
    make: Callable[..., Run], mount: Mount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make().file.path

    def refused(*_: Any) -> bool:
        raise runfile.Unwritable("cannot write beside it")

    monkeypatch.setattr(writer_lock, "_make", refused)
    mount((tmp_path, "nfs"))
    run = viva.open(path, network_disk=True)
    assert 6 == run.responses.height
    with pytest.raises(StoreError, match="cannot write beside it"):
        run.score("exact")


def test_the_option_and_the_variable_allow_it_and_nothing_else_does(
    viva: Callable[..., Any], exam: Any, tmp_path: Path, mount: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount((tmp_path, "cifs"))
    words = ("collect", tmp_path / "exam.viva", exam(2), "--model", "baseline/echo")
    with pytest.raises(StoreError, match="--network-disk"):
        viva(*words)
    viva(*words, "--network-disk")
    assert ALLOWED not in os.environ
    with pytest.raises(StoreError, match="--network-disk"):
        viva("score", tmp_path / "exam.viva")
    monkeypatch.setenv(ALLOWED, "0")
    with pytest.raises(StoreError, match="--network-disk"):
        viva("score", tmp_path / "exam.viva")
    monkeypatch.setenv(ALLOWED, "1")
    viva("score", tmp_path / "exam.viva")
    assert "--network-disk" in viva("run", "--help").stdout
    assert "--network-disk" not in viva("list", "--help").stdout
