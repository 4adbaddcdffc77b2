"""A collect on several devices that is stopped or killed: what came is stored, and no process stays."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.models.local.devices.test_process import loads, wait_until_ended

FOLDER = Path(__file__).parent
N_ITEMS = 1200
"""More than wait for two devices at once, so that an interrupt leaves some."""
SLOW_S, FAST_S = 0.008, 0.002
"""Seconds that an answer takes where a signal must come before the last one, and where all are waited for."""


@pytest.fixture
def command(tmp_path):
    """By the seconds that an answer takes the words of a collect."""
    exam = tmp_path / "exam.jsonl"
    rows = [{"id": f"q{k}", "format": "short", "question": f"{k}?", "answer": "a"} for k in range(N_ITEMS)]
    exam.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "log").mkdir()
    words = [
        "collect",
        tmp_path / "r.viva",
        f"jsonl(path={exam})",
        "--model",
        "hf/a/b",
        "--gpus",
        "0,1",
        "--json",
    ]
    return lambda seconds: [sys.executable, FOLDER / "fake_collect.py", tmp_path / "log", seconds, *words]


def stored(path: Path) -> tuple[int, int]:
    """How many answers are stored, and of how many items."""
    if not path.exists():
        return 0, 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as db:
        try:
            counted: tuple[int, int] = db.execute(
                "SELECT count(*), count(DISTINCT item) FROM response_rows WHERE status = 'ok'"
            ).fetchone()
        except sqlite3.OperationalError:  # the tables are being made
            return 0, 0
        return counted


def started(command, tmp_path) -> "subprocess.Popen[str]":
    """The command, once its first answers are stored."""
    environment = os.environ | {"PYTHONPATH": f"{FOLDER}:{os.environ.get('PYTHONPATH', '')}"}
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    end = time.monotonic() + 60
    while not stored(tmp_path / "r.viva")[0] and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    return process


@pytest.mark.parametrize(("number", "times"), [(signal.SIGTERM, 3), (signal.SIGINT, 1)])
def test_a_stop_lets_what_runs_finish_and_leaves_the_rest(command, tmp_path, number, times):
    process = started(command(SLOW_S), tmp_path)
    children = loads(tmp_path / "log")
    for _ in range(times):
        for pid in (process.pid, *children):  # as a scheduler, or a terminal, sends it to all
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        time.sleep(0.05)
    out, error = process.communicate(timeout=60)
    assert 130 == process.returncode, error
    (row,) = json.loads(out)["rows"]
    assert (0, N_ITEMS) == (row["failed"], row["answered"] + row["left"])
    assert row["left"]
    assert (row["answered"], row["answered"]) == stored(tmp_path / "r.viva")
    assert len(loads(tmp_path / "log")) <= 2  # one that was not loaded yet may have come since
    for pid in loads(tmp_path / "log"):
        wait_until_ended(pid)


def test_a_second_ctrl_c_ends_all_at_once(command, tmp_path):
    process = started(command(SLOW_S), tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert 130 == process.returncode
    n_stored, n_items = stored(tmp_path / "r.viva")
    assert n_stored == n_items < N_ITEMS
    for pid in loads(tmp_path / "log"):
        wait_until_ended(pid)


def test_after_a_kill_the_same_command_asks_only_what_is_not_stored(command, tmp_path):
    process = started(command(SLOW_S), tmp_path)
    process.kill()
    process.communicate()
    for pid in loads(tmp_path / "log"):
        wait_until_ended(pid)
    before, _ = stored(tmp_path / "r.viva")
    (tmp_path / "log" / "jobs").unlink()
    process = started(command(FAST_S), tmp_path)
    out, error = process.communicate(timeout=120)
    assert 0 == process.returncode, error
    (row,) = json.loads(out)["rows"]
    assert N_ITEMS - before == row["answered"]
    assert N_ITEMS - before == len((tmp_path / "log" / "jobs").read_text().splitlines())
    assert (N_ITEMS, N_ITEMS) == stored(tmp_path / "r.viva")


def test_killed_device_processes_cost_no_answer(command, tmp_path):
    process = started(command(FAST_S), tmp_path)
    killed = loads(tmp_path / "log")
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    out, error = process.communicate(timeout=120)
    assert 0 == process.returncode, error
    (row,) = json.loads(out)["rows"]
    assert (N_ITEMS, 0, 0) == (row["answered"], row["failed"], row["left"])
    assert (N_ITEMS, N_ITEMS) == stored(tmp_path / "r.viva")
    assert len(killed) < len(loads(tmp_path / "log")) <= 2 + len(killed)
