"""Passes, and what is not asked twice: equal answers, what an earlier call heard, what another had paid."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import made, row, twins

from vivavoce.core.errors import InputError, SpecError
from vivavoce.judging.loading import load
from vivavoce.run.run import Run

CORRECTNESS = "judge(rubric=correctness, model=fake/j1)"
ProvidersFile = Callable[..., Path]


def test_each_pass_is_a_call_and_a_row_of_its_own(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, viva: Callable[..., Any]
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    marks = iter([1, 1, 1, 0.5, 0, 0.5])
    judge.worth = lambda sent: [next(marks)]
    viva(
        "score",
        run.file.path,
        CORRECTNESS,
        "exact",
        "--passes",
        3,
        "--providers",
        providers_file(concurrency=1),
    )
    rows = run.scores.filter(run.scores["rater"] != "").sort("pass_no", "item")
    assert [(1, 1.0), (1, 1.0), (2, 1.0), (2, 0.5), (3, 0.0), (3, 0.5)] == rows.select(
        "pass_no", "value"
    ).rows()
    assert {"fake/j1"} == set(rows["rater"])
    assert 6 == len(judge.sent)
    by_rule = run.scores.filter(run.scores["metric"].str.starts_with("exact"))
    assert [1, 1] == by_rule["pass_no"].to_list()
    assert pytest.approx(2 / 3) == row(run.estimates("judge"), criterion="correct")["estimate"]


def test_equal_answers_share_a_call_within_a_pass_and_not_across(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "same", "q2": "own"}, "B": {"q1": ["same", "same"]}})
    run.score(CORRECTNESS, passes=2, providers=providers_file())
    assert (4, 2, 2) == (len(judge.sent), len(judge.about("same")), len(judge.about("own")))
    assert 8 == run.scores.height
    assert {"ok"} == set(run.scores["status"])


def test_passes_added_later_ask_only_for_themselves(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": "y"}})
    run.score(CORRECTNESS, providers=providers_file())
    run.score(CORRECTNESS, passes=3, providers=providers_file())
    assert 6 == len(judge.sent)
    run.score(CORRECTNESS, passes=2, providers=providers_file())
    assert 6 == len(judge.sent)
    assert 6 == run.scores.height


def test_a_new_candidate_is_asked_about_alone(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    run.score(CORRECTNESS, providers=providers_file())
    made(tmp_path, {"A": {"q1": "x"}, "B": {"q1": "x"}, "C": {"q1": "z"}}, run=run)
    run.score(CORRECTNESS, providers=providers_file())
    assert [("x",), ("z",)] == [sent.answers for sent in judge.sent]


def test_another_temperature_is_another_judge(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    for model in ("fake/j1", "fake/j2", "'fake/j1(temperature=0.7)'"):
        run.score(f"judge(rubric=correctness, model={model})", providers=providers_file())
    assert [("j1", 0.0), ("j2", 0.0), ("j1", 0.7)] == [
        (s.body["model"], s.body["temperature"]) for s in judge.sent
    ]
    assert 3 == len(run.measures)


def test_a_changed_rubric_is_another_measure(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    own = tmp_path / "own.md"
    shipped = load("correctness").path.read_text(encoding="utf-8")
    run = made(tmp_path, {"A": {"q1": "x"}})
    for version in (1, 2):
        own.write_text(shipped.replace("version: 1", f"version: {version}"), encoding="utf-8")
        run.score(f"judge(rubric='{own}', model=fake/j1)", providers=providers_file())
    assert 2 == len({m.signature for m in run.measures})
    assert 1 == len(judge.sent)  # the words are the same, so the reply is too


def test_no_pass_is_no_marking(tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(InputError, match="--passes 0: every answer is scored once at least"):
        run.score(CORRECTNESS, passes=0, providers=providers_file())


def test_an_interruption_keeps_what_came(
    tmp_path: Path,
    judge: FakeJudge,
    providers_file: ProvidersFile,
    calls: Callable[[Run], list[dict[str, Any]]],
) -> None:
    """Ctrl-C lets the reply on the wire arrive: it is kept, and the command ends with 130."""
    run = made(tmp_path, {"A": twins([f"answer {k}" for k in range(4)])})
    judge.manners = {"answer 1": ("slow",)}
    command = [sys.executable, "-m", "vivavoce", "score", str(run.file.path), CORRECTNESS]
    process = subprocess.Popen(
        [*command, "--providers", str(providers_file(concurrency=1))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(1200):
        if judge.about("answer 1"):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert 130 == process.returncode
    assert b"interrupted; what was stored is safe" in said
    assert 2 == len(calls(run)) == len(judge.sent)
    judge.sent.clear()
    run.score(CORRECTNESS, providers=providers_file())
    assert ["answer 2", "answer 3"] == sorted(answer for sent in judge.sent for answer in sent.answers)


def test_a_setting_for_candidates_is_refused(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(SpecError, match="system is for candidates"):
        run.score("judge(rubric=correctness, model='fake/j1(system=Hi)')", providers=providers_file())
    assert [] == judge.sent


def test_a_killed_process_loses_no_reply_that_it_stored(
    tmp_path: Path,
    judge: FakeJudge,
    providers_file: ProvidersFile,
    calls: Callable[[Run], list[dict[str, Any]]],
) -> None:
    """Killed while the last of eight is on the wire: seven replies are there, and one is asked again."""
    run = made(tmp_path, {"A": twins([f"answer {k}" for k in range(7)]) | {"z": "the last"}})
    judge.manners = {"the last": ("stalled", "structured")}
    command = [sys.executable, "-m", "vivavoce", "score", str(run.file.path), CORRECTNESS]
    process = subprocess.Popen(
        [*command, "--providers", str(providers_file())], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(1200):
            if len(calls(run)) == 7 and judge.about("the last"):
                break
            time.sleep(0.05)
        assert 7 == len(calls(run))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert 0 == run.scores.height
    judge.sent.clear()
    found = run.score(CORRECTNESS, providers=providers_file())
    assert [("the last",)] == [sent.answers for sent in judge.sent]
    assert (8, 1.0) == (found.rows[0]["n_responses"], found.rows[0]["coverage"])
    assert 8 == len(calls(run))
