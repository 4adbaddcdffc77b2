"""What was expected of candidates, and what of it is missing, is one number wherever it is shown."""

import asyncio
import csv
import os
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.lengths import length
from tests.run.collect.likely import FakeLocal
from tests.studies.making import marked, twins, write_lines

from vivavoce import open as open_run
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.requests import Reply, Request
from vivavoce.run.run import Run

QUESTIONS = length(80, 480)
MODELS = ("vllm/m", "vllm/n")
EXPECTED = QUESTIONS * len(MODELS)


@pytest.fixture
def interrupted(
    tmp_path: Path, exam: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[float], Run]:
    """A collect of all questions from two models, stopped by Ctrl-C after a share of them; then scored."""

    def collect(share: float) -> Run:
        requests: list[Request] = []

        class FakeInterrupted(FakeLocal):
            async def generate(self, request: Request) -> Reply:
                requests.append(request)
                if len(requests) == round(share * EXPECTED):
                    os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.01)
                return Reply(text="answer 1", finish_reason="stop")

        monkeypatch.setattr(CandidateConfig, "connect", lambda self: FakeInterrupted(str(self.spec)))
        run = open_run(tmp_path / "exam.viva")
        run.collect(exam(QUESTIONS), models=list(MODELS))
        run.score("exact")
        return run

    return collect


def places(run: Run, folder: Path) -> dict[str, tuple[int, float]]:
    """By place the responses that were never asked for, and the share of the expected ones that are ok."""
    status = [row for row in run.status().rows if row["about"] == "marks"]
    report = run.report_rows(folder / "report.html")
    run.export(folder / "tables", format="csv")
    with (folder / "tables" / "estimates.csv").open(encoding="utf-8-sig") as file:
        exported = list(csv.DictReader(file))
    gaps = [row for row in report if row["section"] == "missing"]
    return {
        "status": _counted(status, "never_asked", "coverage", "expected"),
        "estimates": _counted(run.estimates("exact").rows, "n_never_asked", "coverage", "n_expected"),
        "export": _counted(exported, "n_never_asked", "coverage", "n_expected"),
        "leaderboard": _counted(
            [row for row in report if row["section"] == "leaderboard"],
            "n_never_asked",
            "coverage",
            "n_expected",
        ),
        "coverage": _with_silent(
            [row for row in report if row["section"] == "coverage"], "never_asked", "ok", "expected"
        ),
        "missing": _with_silent(gaps, "n_never_asked", "n_ok", "n_expected"),
    }


def _counted(rows: Any, gap: str, share: str, expected: str) -> tuple[int, float]:
    ok = sum(float(row[share] or 0) * int(row[expected]) for row in rows)
    return _of_all(rows, gap, expected, ok)


def _with_silent(rows: Any, gap: str, ok: str, expected: str) -> tuple[int, float]:
    return _of_all(rows, gap, expected, sum(row[ok] for row in rows))


def _of_all(rows: Any, gap: str, expected: str, ok: float) -> tuple[int, float]:
    # A candidate whose turn never came has no estimate, and no row of estimates.
    absent = EXPECTED - sum(int(row[expected]) for row in rows)
    return sum(int(row[gap]) for row in rows) + absent, round(ok / EXPECTED, 9)


@pytest.mark.parametrize("share", length([0.1, 0.5], [0.1, 0.5, 0.9]))
def test_an_interrupted_collect_has_one_coverage_in_every_place(
    interrupted: Callable[[float], Run], tmp_path: Path, share: float
) -> None:
    run = interrupted(share)
    came = run.responses.height
    assert share * EXPECTED <= came < EXPECTED
    assert {(EXPECTED - came, round(came / EXPECTED, 9))} == set(places(run, tmp_path).values())
    assert f"{EXPECTED - came:,} responses never asked for" in repr(run)


def test_what_was_never_asked_comes_first_and_the_command_asks_for_it(
    interrupted: Callable[[float], Run], viva: Callable[..., Any]
) -> None:
    run = interrupted(0.5)
    n_left = EXPECTED - run.responses.height
    (request,) = [row for row in run.status().rows if row["about"] == "request"]
    assert n_left == request["never_asked"]
    words = [f"Next: `{request['command']}` asks for the {n_left} answers that were never asked for."]
    assert words == [line for line in viva("status", run.file.path).output.splitlines() if "Next" in line]
    viva(*shlex.split(request["command"])[1:])
    assert EXPECTED == run.responses.height
    assert [] == [row for row in run.status().rows if row["about"] == "request"]


def test_a_gap_that_no_collect_was_to_fill_does_not_hold_up_what_comes_next(tmp_path: Path) -> None:
    answers = {"A": twins([1, 1, 1]), "B": {"q00": "1", "q01": "1"}}
    run = marked(tmp_path, answers)
    (gap,) = [row for row in run.status().rows if row["about"] == "marks" and row["candidate"] == "B"]
    assert (3, 1, 2) == (gap["expected"], gap["never_asked"], gap["responses"])
    assert [] == [row for row in run.status().rows if row["about"] == "request"]


def test_a_lost_answer_was_asked_for(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, None, 1])})
    (row,) = [row for row in run.status().rows if row["about"] == "marks"]
    assert (3, 0, 1, 1) == tuple(row[name] for name in ("expected", "never_asked", "lost", "failed"))


def test_labels_of_a_drawn_sample_are_no_gap(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 6), "B": twins([1] * 6)})
    labels = [
        {"item": f"q0{k}", "candidate": name, "criterion": "worth", "value": 1, "rater": "Ann"}
        for name in "AB"
        for k in range(2)
    ]
    run.import_scores(write_lines(tmp_path / "labels.jsonl", labels), measure="people", range={"*": (0, 1)})
    rows = [r for r in run.status().rows if r["about"] == "marks" and r["metric"] == "people"]
    assert [(2, 2, 0, 1.0)] * 2 == [(r["expected"], r["ok"], r["unscored"], r["coverage"]) for r in rows]


def test_edits_and_variants_are_in_no_coverage_of_the_questions(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q00": "1", "q01": "1", "q01|bias:recency": "1"}})
    assert 1.0 == run.estimates().rows[0]["coverage"]
