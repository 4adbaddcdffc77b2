"""Ctrl-C and answers that end workers: what is stored stays, and the last rows are those of one process.

Kills at random are in `tests/run/test_kills.py`.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.run.workers.every_format import stored_scores
from tests.soak.kills import broken
from tests.studies.making import borrowed, made

from vivavoce.core import registry
from vivavoce.run.run import Run
from vivavoce.run.score import response_scores

TARDY = Path(__file__).with_name("tardy.py")
N = 800


@pytest.fixture(autouse=True)
def _plugin() -> Iterator[None]:
    with borrowed():
        registry.load_plugin(TARDY)
        yield


def run_of(folder: Path, texts: dict[int, str] | None = None, n: int = N) -> Run:
    folder.mkdir()
    said = {f"q{k:04}": (texts or {}).get(k, f"answer {k} {'so ' * (k % 7)}") for k in range(n)}
    return made(folder, {"A": said})


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    """The rows of one process, under the slow metric's name: it says the same, in no time."""
    with borrowed():
        registry.load_plugin(TARDY)
        run = run_of(tmp_path_factory.mktemp("expected") / "alone")
        run.score("tardy")
    return [row[1:] for row in stored_scores(run)]


def scoring(run: Run, seconds: float = 0.004, **variables: str) -> "subprocess.Popen[str]":
    """`viva score --workers 2` in a process and a group of its own."""
    words = ["score", str(run.file.path), f"tardy(seconds={seconds})", "--plugin", str(TARDY)]
    return subprocess.Popen(
        [sys.executable, "-m", "vivavoce", *words, "--workers", "2", "--quiet"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, **variables},
    )  # fmt: skip


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    """The worker processes of a command that runs."""
    pids = []
    with suppress(OSError):
        for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            with suppress(OSError):  # it has ended since
                pids += [int(pid)] * (b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes())
    return pids


def wait_for_workers(process: "subprocess.Popen[str]") -> list[int]:
    end = time.monotonic() + 60
    while len(workers_of(process)) < 2 and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    return workers_of(process)


def n_stored(run: Run) -> int:
    with run.file.reading() as db:
        return int(db.execute("SELECT count(*) FROM scores").fetchone()[0])


def wait_for_rows(run: Run, n: int, process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 60
    while n_stored(run) < n and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


def assert_ended(pids: list[int]) -> None:
    end = time.monotonic() + 20
    while (alive := [pid for pid in pids if Path(f"/proc/{pid}/exe").exists()]) and time.monotonic() < end:
        time.sleep(0.05)
    assert [] == [pid for pid in alive if Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_ctrl_c_ends_driver_and_workers_and_keeps_what_is_stored(
    tmp_path: Path, expected: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scored again, it ends in the rows of one process."""
    run = run_of(tmp_path / "run")
    process = scoring(run, 0.01)
    pids = wait_for_workers(process)
    wait_for_rows(run, 1, process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all of them
    output, errors = process.communicate(timeout=60)
    assert (130, "") == (process.returncode, output)
    assert "viva: interrupted; what was stored is safe; rerun the command to resume.\n" == errors
    assert_ended(pids)
    assert 0 < n_stored(run) < N
    monkeypatch.setenv("TARDY_MENDED", "1")
    run.score("tardy(seconds=0.01)")
    assert expected == [row[1:] for row in stored_scores(run)]
    assert broken(run.file.path) is None


def test_an_answer_that_ends_its_worker_gives_failed_marks_and_all_others_are_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, viva: Callable[..., Any]
) -> None:
    monkeypatch.setattr(response_scores, "SMALLEST", 10)
    run = run_of(tmp_path / "run", {33: "deadly"}, 80)
    done = viva("score", run.file.path, "tardy", "exact", "--workers", 2, "--json", code=1)
    rows = run.scores.to_dicts()
    failed = [row for row in rows if row["status"] == "failed"]
    assert [f"q{k:04}" for k in range(30, 40)] == sorted({row["item"] for row in failed})
    assert 20 == len(failed)
    cause = "3 worker processes ended while they computed it, the last killed by signal 9, as where memory "
    assert {f"{cause}runs out"} == {row[-1] for row in stored_scores(run) if row[7] is None}
    assert 2 * 80 == len(rows)
    printed = json.loads(done.stdout)["rows"]
    assert [10, 10] == [row["n_failed"] for row in printed if row["view"] == "mean"]
    (line,) = done.stderr.splitlines()
    assert line.startswith("viva: 20 scores failed")
    monkeypatch.setenv("TARDY_MENDED", "1")
    run.score("tardy", "exact")
    assert {"ok"} == set(run.scores["status"])
    assert 2 * 80 == run.scores.height
