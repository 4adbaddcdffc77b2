"""Two commands that ask a judge for the same at once: the second stops, and each call is paid once."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import made

from vivavoce.core.errors import StoreError
from vivavoce.run.run import Run
from vivavoce.store.calls import lease

JUDGE = "judge(rubric=correctness, model=fake/j)"
N = 8


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path, {"A": {f"q{k}": f"worth 1 of {k}" for k in range(N)}})


def scoring(run: Run, providers: Path) -> "subprocess.Popen[str]":
    """`viva score` in a process of its own."""
    words = ["score", str(run.file.path), JUDGE, "--providers", str(providers), "--quiet"]
    return subprocess.Popen(
        [sys.executable, "-m", "vivavoce", *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_a_second_score_with_the_same_judge_stops_and_each_call_is_paid_once(
    run: Run, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    judge.manners = {"worth": ["held"]}
    providers = providers_file(concurrency=2)
    first = scoring(run, providers)
    wait_until(lambda: judge.sent)
    with pytest.raises(
        StoreError,
        match=r"another command \(.*\) is asking fake/j for the same answers \(judge\) into .*wait",
    ):
        run.score(JUDGE, providers=providers)
    judge.released = True
    assert 0 == first.wait(60)
    first.communicate()
    assert N == len(judge.sent)
    assert [1] * N == [1 for row in run.scores.to_dicts() if row["status"] == "ok"]
    run.score(JUDGE, providers=providers)
    assert N == len(judge.sent)


def test_what_a_killed_score_was_asking_is_taken_over_at_once(
    run: Run, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    judge.manners = {"worth": ["slow"]}
    providers = providers_file(concurrency=1)
    first = scoring(run, providers)
    wait_until(lambda: len(judge.sent) > 2)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    judge.manners = {}
    run.score(JUDGE, providers=providers)
    assert [1] * N == [1 for row in run.scores.to_dicts() if row["status"] == "ok"]
    assert N <= len(judge.sent) <= N + 2  # what was on the wire, and what came in the last 50 ms


def test_a_judge_that_another_machine_asks_is_waited_for_and_another_pass_is_not(
    run: Run, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    assert lease(run.file, ["ask judge fake/j 2"], "elsewhere, process 7, 1", 60.0) is None
    assert N == run.score(JUDGE, providers=providers_file()).rows[0]["n_items"]
    with pytest.raises(StoreError, match=r"another command \(elsewhere, process 7\) is asking fake/j"):
        run.score(JUDGE, providers=providers_file(), passes=2)
    assert N == len(judge.sent)


def test_a_judge_whose_lease_went_to_another_stops_asking(
    run: Run, judge: FakeJudge, providers_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a machine slept: here the lease is one of no time, and another takes it."""
    monkeypatch.setattr("vivavoce.models.engine.leases.LEASE_S", 0.6)
    judge.manners = {"worth": ["slow"]}

    def steal(what: str, done: int, total: int) -> None:
        with run.file.writing() as db:
            until = time.time() + 0.9  # above two lease times from now none counts
            db.execute("UPDATE leases SET holder = 'elsewhere, process 7, 1', until = ?", (until,))

    with pytest.raises(StoreError, match=r"another command \(elsewhere, process 7\) has taken over"):
        run.score(JUDGE, providers=providers_file(concurrency=1), progress=steal)
    assert len(judge.sent) < N
    with run.file.reading() as db:  # each that was paid is stored
        assert (
            len(judge.sent) == db.execute("SELECT count(*) FROM calls WHERE purpose = 'judge'").fetchone()[0]
        )


def test_with_workers_rules_are_scored_there_and_the_judge_is_asked_here(
    run: Run, judge: FakeJudge, providers_file: Callable[..., Path]
) -> None:
    finding = run.score("exact", JUDGE, "token_f1", workers=2, providers=providers_file())
    assert N == len(judge.sent)
    assert {"ok"} == set(run.scores["status"])
    assert 3 * N == run.scores.height
    order = [row["metric"].partition("(")[0] for row in finding.rows if row["view"] == "mean"]
    assert {"exact", "judge", "token_f1"} == set(order)
