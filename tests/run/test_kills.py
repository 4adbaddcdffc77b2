"""`kill -9` at random points of progress: a collect, a worker, a driver, and the job of a shard.

A moment is a number of requests that the endpoint has seen, or of rows that are stored, so that a kill meets
a command at work however fast the machine is. Every test asserts that each kill met a living process, that
nothing stored is lost or doubled, and that the last rows are those of a command that nobody killed.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.lengths import length
from tests.run.collect.conftest import endpoint, exam, fake, limits, serving
from tests.run.shards.fake_slurm import FakeSlurm
from tests.run.shards.test_slurm import plan, submitted
from tests.run.workers.every_format import stored_scores
from tests.run.workers.test_score_kills import (
    N,
    _plugin,
    assert_ended,
    expected,
    n_stored,
    run_of,
    scoring,
    wait_for_workers,
    workers_of,
)
from tests.soak.kills import broken, tables

import vivavoce as viva
from vivavoce.run.plan.plan_file import examine
from vivavoce.run.plan.slurm import ShardJob, slurm_job

__all__ = ["_plugin", "endpoint", "exam", "expected", "fake", "limits", "serving"]

ROUNDS, KILLS_A_ROUND = length((1, 1), (10, 2))
KILLS = ROUNDS * KILLS_A_ROUND
AT_ONCE = 8
COMMIT = 16
"""Responses that may have arrived and wait for their commit."""
PATIENCE_S = 90
Rows = list[tuple[object, ...]]


def wait_until(condition: Callable[[], bool], process: "subprocess.Popen[Any]") -> None:
    """Wait while the process runs; an end before the condition holds, or too long a wait, fails the test."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert process.poll() is None, "the command ended before the moment of its kill"
        assert time.monotonic() < end, "the moment of the kill did not come"
        time.sleep(0.01)


def kill(process: "subprocess.Popen[Any]", *, group: bool = False) -> None:
    """End a process that lives, or all of its group, by `kill -9`."""
    assert process.poll() is None, "the command ended before it could be killed"
    if group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    assert -signal.SIGKILL == process.wait(30)


def responses(path: Path) -> dict[str, str]:
    """The stored texts by item, of which none may be there twice; empty before there are tables."""
    if not path.exists():
        return {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as db:
        try:
            rows = db.execute("SELECT item, text FROM responses JOIN items USING (item_id)").fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):  # else the tables are being made
                raise
            return {}
    assert len(rows) == len(dict(rows))
    return dict(rows)


def results(path: Path) -> dict[str, list[str]]:
    """The items, responses and scores of a run, without times and keys."""
    return {name: tables(path)[name] for name in ("item_rows", "response_rows", "score_rows")}


def n_requests(server: Any) -> int:
    return sum(server.seen.values())


def n_settled(server: Any) -> int:
    """The requests of a client that was killed, when those on the wire have been read too."""
    before, now = -1, n_requests(server)
    while before != now:
        time.sleep(0.1)
        before, now = now, n_requests(server)
    return now


def test_a_collect_killed_after_any_request_asks_nothing_again_but_what_was_on_the_wire(
    exam: Any, endpoint: Any, limits: Any, tmp_path: Path
) -> None:
    n = 60 + 40 * KILLS
    rng, spec, settings = Random(1), exam(n), limits(concurrency=AT_ONCE)
    server, path = endpoint(latency=0.1), tmp_path / "run.viva"
    whole = viva.open(tmp_path / "whole.viva")
    whole.collect(spec, models=["vllm/m"], providers=str(settings))
    words = ["collect", path, spec, "--model", "vllm/m", "--providers", settings, "--quiet"]
    command = [sys.executable, "-m", "vivavoce", *map(str, words)]
    first = asked = n_requests(server)
    stored: dict[str, str] = {}
    for _ in range(KILLS):
        moment = asked + rng.randint(1, 40)
        process = subprocess.Popen(command)
        wait_until(lambda moment=moment: n_requests(server) >= moment, process)
        kill(process)
        before, stored = stored, responses(path)
        earlier, asked = asked, n_settled(server)
        assert before.items() <= stored.items()
        assert asked - earlier <= len(stored) - len(before) + AT_ONCE + COMMIT
        assert broken(path) is None
    assert len(stored) < n
    viva.open(path).collect(spec, models=["vllm/m"], providers=str(settings))
    assert n - len(stored) == n_requests(server) - asked
    assert n_requests(server) - first <= n + KILLS * (AT_ONCE + COMMIT)
    assert n == len(responses(path))
    assert results(whole.file.path) == results(path)
    assert broken(path) is None


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_drivers_and_workers_killed_after_any_row_lose_no_row_and_leave_no_process(
    round_: int, tmp_path: Path, expected: Rows
) -> None:
    rng, run, stored = Random(round_), run_of(tmp_path / "run"), Rows()
    for _ in range(KILLS_A_ROUND):
        process = scoring(run)
        workers = wait_for_workers(process)
        moment = len(stored) + rng.randint(0, N // 5)
        wait_until(lambda moment=moment: n_stored(run) >= moment, process)
        kill(process)
        process.communicate()
        assert_ended(workers)
        assert broken(run.file.path) is None
        rows = [row[1:] for row in stored_scores(run)]
        assert len(rows) == len(set(rows))
        assert set(stored) <= set(rows) <= set(expected)
        stored = rows
    process = scoring(run)
    assert 2 == len(wait_for_workers(process))
    for _ in range(KILLS_A_ROUND):  # fewer than the three of one shard, which would be given up
        moment = n_stored(run) + rng.randint(0, N // 10)
        wait_until(lambda moment=moment: n_stored(run) >= moment, process)
        workers = workers_of(process)
        assert workers, "no worker lived to be killed"
        os.kill(rng.choice(workers), signal.SIGKILL)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (0, "") == (process.returncode, errors)
    assert expected == [row[1:] for row in stored_scores(run)]
    assert broken(run.file.path) is None


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_the_job_of_a_shard_killed_with_its_node_is_requeued_and_merged_into_the_same_rows(
    round_: int, exam: Any, serving: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rng, server, home = Random(round_), serving(latency=0.05), tmp_path / "home"
    monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
    spec = exam(60)
    home.mkdir()
    monkeypatch.chdir(home)
    (home / "p.yaml").write_text("vllm: {concurrency: 4}\n")
    providers = str(home / "p.yaml")
    file = plan(home, spec, models=["vllm/m"], providers=providers, metrics=["token_f1"])
    slurm = FakeSlurm(home / "slurm")
    array, _ = submitted(slurm, home, slurm_job(file, ShardJob(2)))
    part, other = (home / "exam-parts" / f"part-{number}.viva" for number in (1, 2))
    examine(file, to="whole.viva")
    examine(file, shard="2/2", to=str(other))
    n_left = 60 - len(responses(other))
    for restarts in range(KILLS_A_ROUND):
        stored = responses(part)
        moment = n_settled(server) + rng.randint(1, (n_left - len(stored)) * 2 // 3)
        task = start(slurm, array, home, restarts)
        wait_until(lambda moment=moment: n_requests(server) >= moment, task)
        kill(task, group=True)
        assert stored.items() <= responses(part).items()
        assert broken(part) is None
    left, asked = n_left - len(responses(part)), n_settled(server)
    assert left > 0
    assert 0 == slurm.task_in_process(array, 1, cwd=home, restarts=KILLS_A_ROUND)
    assert left == n_requests(server) - asked
    merged = viva.open("exam.viva")
    merged.merge(part, other)
    assert {"complete"} == {row.state for row in merged.shards()}
    assert results(home / "whole.viva") == results(home / "exam.viva")
    assert broken(home / "exam.viva") is None


def start(slurm: FakeSlurm, job: dict[str, Any], home: Path, restarts: int) -> "subprocess.Popen[Any]":
    """The task of the first shard on a node of its own, which copies home every second."""
    scratch = home / f"node{restarts}"
    scratch.mkdir()
    variables = {"SLURM_TMPDIR": str(scratch), "VIVA_COPY_EVERY": "1"}
    return slurm.task(job, 1, cwd=home, restarts=restarts, **variables)
