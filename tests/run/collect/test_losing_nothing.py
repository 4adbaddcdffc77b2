"""Kills, faults and Ctrl-C: nothing that was stored is lost, and nothing is asked twice without need."""

import asyncio
import os
import pty
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing

import pytest
from tests.lengths import length
from tests.run.collect.likely import FakeLocal

import vivavoce as viva
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.engine import scheduler
from vivavoce.models.engine.writing import MAX_UNSTORED
from vivavoce.models.requests import Reply
from vivavoce.store import read

AT_ONCE = 8
COMMAND = [sys.executable, "-m", "vivavoce", "collect"]


def committed(path):
    """The texts that are stored, by item."""
    if not path.exists():
        return {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as db:
        try:
            return dict(
                db.execute(
                    "SELECT item, text FROM responses JOIN items USING (item_id) WHERE text IS NOT NULL"
                )
            )
        except sqlite3.OperationalError:  # the tables are being made
            return {}


def until(path, more_than, process):
    """Wait for more answers than these, or for the end of the process."""
    while len(committed(path)) <= more_than and process.poll() is None:
        time.sleep(0.01)


@pytest.mark.slow
def test_killed_at_random_moments_every_stored_answer_stays_and_none_is_asked_again(
    exam, endpoint, limits, tmp_path
):
    n, times = length((200, 2), (700, 10))
    server, path = endpoint(latency=0.06), tmp_path / "run.viva"
    spec, providers = exam(n), limits(concurrency=AT_ONCE)
    words = [*COMMAND, path, spec, "--model", "vllm/m", "--providers", providers, "--quiet"]
    moments, kills, seen_then = random.Random(7), 0, {}
    for _ in range(times):
        before = committed(path)
        process = subprocess.Popen(list(map(str, words)))
        until(path, len(before), process)
        time.sleep(moments.uniform(0.0, 0.35))
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        after, seen = committed(path), server.seen
        assert before.items() <= after.items()
        for item in after.keys() - before.keys():
            seen_then[item] = seen[question(item)]
    assert times == kills
    assert 0 < len(committed(path)) < n
    viva.open(path).collect(spec, models=["vllm/m"], providers=providers)
    answers, seen = committed(path), server.seen
    assert n == len(answers) == len(seen)
    assert all(text.startswith(f"answer to {question(item)}") for item, text in answers.items())
    assert seen_then == {item: seen[question(item)] for item in seen_then}
    assert sum(seen.values()) <= n + times * (AT_ONCE + MAX_UNSTORED)
    assert max(seen.values()) > 1  # else no kill fell on a request, and nothing was shown


def question(item):
    return f"Question {item[1:]}?\n\nAnswer in a phrase or at most two sentences."


@pytest.mark.slow
def test_under_eleven_kinds_of_faults_every_question_is_answered_or_explained_once(
    exam, endpoint, limits, monkeypatch, tmp_path
):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.02)
    n, server, run = length(500, 5_000), endpoint(faults=0.05, stall=60), viva.open(tmp_path / "run.viva")
    settings = limits(concurrency=300, attempts=3, timeout=length(1, 3))
    (row,) = run.collect(exam(n), models=["vllm/m"], providers=settings).rows
    rows = run.responses.to_dicts()
    assert (n, 0) == (row["answered"] + row["failed"], row["left"])
    assert {f"q{k}": 1 for k in range(n)} == Counter(told["item"] for told in rows)
    for told in rows:
        if told["status"] == "ok":
            assert told["text"].startswith(f"answer to {question(told['item'])}")
        else:
            assert told["error"].endswith("after 3 attempts")
            assert len(told["error"]) > 25
    failed = {told["item"] for told in rows if told["status"] == "failed"}
    assert 0 < len(failed) == row["failed"] < 0.3 * n
    before = server.seen
    (again,) = run.collect(exam(n), models=["vllm/m"], providers=settings).rows
    assert len(failed) == again["answered"] + again["failed"]
    assert n == run.responses.height
    asked = server.seen
    assert {question(item) for item in failed} == {q for q in asked if asked[q] > before[q]}


def test_ctrl_c_finishes_what_is_on_the_wire_and_says_how_to_go_on(exam, endpoint, limits, tmp_path):
    server, path = endpoint(latency=0.2), tmp_path / "run.viva"
    n = 60
    spec, providers = exam(n), limits(concurrency=AT_ONCE)
    words = [*COMMAND, path, spec, "--model", "vllm/m", "--providers", providers]
    process = subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    until(path, 0, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert 130 == process.returncode
    assert f"What came is stored in {path}; rerun the command to resume." in out
    assert "Interrupted: " in out
    assert "Traceback" not in err
    stored = committed(path)
    assert 0 < len(stored) < n
    assert len(stored) == sum(server.seen.values())
    (again,) = viva.open(path).collect(spec, models=["vllm/m"], providers=providers).rows
    assert n - len(stored) == again["answered"]
    assert n == sum(server.seen.values())


def kept(path):
    with viva.open(path).file.reading() as db:
        return [p for p in read.provenance(db) if p["verb"] == "collect"], read.findings(db, "collect")


def test_ctrl_c_leaves_what_the_models_after_the_first_were_to_be_asked_too(exam, tmp_path, monkeypatch):
    class FakeInterrupted(FakeLocal):
        async def generate(self, request):
            self.asked.append(request)
            if len(self.asked) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.01)
            return Reply(text="yes", finish_reason="stop")

    monkeypatch.setattr(CandidateConfig, "connect", lambda self: FakeInterrupted(str(self.spec)))
    finding = viva.open(tmp_path / "run.viva").collect(exam(200), models=["vllm/m", "vllm/n"])
    row = finding.rows[0]
    assert row["interrupted"]
    assert 400 == row["answered"] + row["left"]
    assert f"Interrupted: {row['left']} are left." in finding.text


def test_what_a_terminal_shows_of_ctrl_c_is_not_said_again(exam, endpoint, limits, tmp_path):
    endpoint(latency=0.2)
    path = tmp_path / "run.viva"
    words = [*COMMAND, path, exam(60), "--model", "vllm/m", "--providers", limits(concurrency=AT_ONCE)]
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        list(map(str, words)), stdout=terminal, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    os.close(terminal)
    until(path, 0, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    text = os.read(screen, 100_000).decode()
    os.close(screen)
    assert (130, "") == (process.returncode, err)
    assert (1, 1) == (text.count("Interrupted: "), text.count("rerun the command to resume"))


def test_a_killed_collect_leaves_what_it_was_about_to_send_and_a_look(exam, endpoint, limits, tmp_path):
    endpoint(latency=0.2)
    path, spec = tmp_path / "run.viva", exam(150)
    run = viva.open(path)
    run.collect(spec, models=["baseline/echo", "baseline/reference"])
    run.score("exact")
    run.compare("baseline/echo", "baseline/reference", metric="exact")
    words = [*COMMAND, path, spec, "--model", "vllm/m", "--providers", limits(concurrency=4), "--allow-phi"]
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL)
    while run.responses.height == 300 and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    (_, step), (look,) = kept(path)
    assert ("begun", True, 150, ["vllm/m"]) == (
        step["state"], step["allow_phi"], step["requests"], step["candidates"],
    )  # fmt: skip
    assert "sent" not in step
    assert "begun" == look["settings"]["state"]
    assert run.report(tmp_path / "page.html")


def test_a_collect_that_breaks_leaves_what_it_sent(exam, endpoint, limits, tmp_path):
    server, run = endpoint(latency=0.03), viva.open(tmp_path / "run.viva")

    def broken(tally, total):
        raise ValueError("no such bar")

    with pytest.raises(ValueError, match="no such bar"):
        run.collect(exam(90), models=["vllm/m"], providers=limits(concurrency=1), progress=broken)
    ((step,), looks) = kept(run.file.path)
    n = run.responses.height
    assert 0 < n < 90
    assert (n, 90 - n, n, []) == (step["answered"], step["left"], step["sent"][0]["requests"], looks)
    assert n == sum(server.seen.values())
    assert "state" not in step


NOTEBOOK = """
import asyncio, sys
import vivavoce as viva

async def cell():
    return viva.open(sys.argv[1]).collect(sys.argv[2], models=["vllm/m"])

loop = asyncio.new_event_loop()
print(loop.run_until_complete(cell()))
loop.close()
"""


def test_an_interrupted_cell_of_a_notebook_keeps_what_came(exam, endpoint, tmp_path):
    """There the loop is another's, and Ctrl-C is an exception in its thread."""
    server, path = endpoint(latency=0.2), tmp_path / "run.viva"
    words = [sys.executable, "-c", NOTEBOOK, str(path), exam(900)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(path, 0, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (0, "") == (process.returncode, err)
    assert "Interrupted: " in out
    assert 0 < len(committed(path)) < 900
    assert len(committed(path)) == sum(server.seen.values())
