"""What is left of a Ray ends with the process that started it, however that ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from vivavoce.run.workers import ray_caretaker
from vivavoce.run.workers.ray_caretaker import VARIABLE, caretaker, clear, processes_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="Ray itself ends them there")
SLEEP = "import time; print(flush=True); time.sleep(60)"
LOGS = "import sys; log = open(sys.argv[1], 'w'); " + SLEEP
DRIVER = """
import sys, time
from vivavoce.run.workers.ray_caretaker import caretaker
with caretaker(sys.argv[1]):
    print("ready", flush=True)
    time.sleep(60)
"""
FORKING = """
import os, sys, time
from vivavoce.run.workers.ray_caretaker import caretaker
with caretaker(sys.argv[1]):
    if not (fork := os.fork()):
        time.sleep(60)
        os._exit(0)
    print(fork, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ray" / "logs").mkdir(parents=True)
    return tmp_path / "ray"


@pytest.fixture
def exits() -> Iterator[ExitStack]:
    with ExitStack() as exits:
        yield exits


def process(exits: ExitStack, *words: object, **variables: str) -> "subprocess.Popen[bytes]":
    """A process of Python that has printed a line, and sleeps."""
    command = [sys.executable, "-c", *map(str, words)]
    process = exits.enter_context(
        subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **variables})
    )
    exits.callback(process.kill)
    assert process.stdout
    process.stdout.readline()
    return process


def left_by_ray(exits: ExitStack, folder: Path) -> "list[subprocess.Popen[bytes]]":
    """One process that writes a log in the folder, and one that has its name in the environment."""
    by_log = process(exits, LOGS, folder / "logs" / "agent.out")
    return [by_log, process(exits, SLEEP, **{VARIABLE: str(folder)})]


def test_processes_of_a_ray_end_and_no_others(exits: ExitStack, folder: Path, tmp_path: Path) -> None:
    theirs = left_by_ray(exits, folder)
    reader = subprocess.Popen(["tail", "-f", folder / "logs" / "agent.out"], stdout=subprocess.DEVNULL)
    other = process(exits, LOGS, tmp_path / "ray2.log", **{VARIABLE: f"{folder}2"})
    fork = process(exits, LOGS, folder / "logs" / "python-core-driver-01_7.log")
    for harmless in (exits.enter_context(reader), other, fork):
        exits.callback(harmless.kill)
    assert {p.pid for p in theirs} == {*processes_of(str(folder))}
    with (folder / "logs" / "ours").open("w"):
        clear(str(folder), os.getpid())
    assert [-signal.SIGKILL] * 2 == [p.wait(10) for p in theirs]
    assert [None] * 3 == [p.poll() for p in (reader, other, fork)]
    assert not folder.exists()


@pytest.mark.parametrize("killed", [False, True])
def test_a_fork_that_lives_on_holds_nothing_up(exits: ExitStack, folder: Path, killed: bool) -> None:
    """It holds the input of the caretaker open, though nothing comes from it."""
    theirs = left_by_ray(exits, folder)
    driver = exits.enter_context(
        subprocess.Popen(
            [sys.executable, "-c", FORKING, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    )
    assert driver.stdin
    assert driver.stdout
    exits.callback(os.kill, int(driver.stdout.readline()), signal.SIGKILL)  # alive until then
    if killed:
        driver.kill()
    else:
        driver.stdin.close()
    driver.wait(20)
    assert [-signal.SIGKILL] * 2 == [p.wait(10) for p in theirs]


def test_nothing_is_left_when_the_block_ends(exits: ExitStack, folder: Path) -> None:
    with (folder / "logs" / "ours").open("w"), caretaker(str(folder)):
        theirs = left_by_ray(exits, folder)
    assert [-signal.SIGKILL] * 2 == [p.wait(10) for p in theirs]
    assert not folder.exists()


def test_nothing_is_left_where_the_process_is_killed(exits: ExitStack, folder: Path) -> None:
    theirs = left_by_ray(exits, folder)
    driver = process(exits, DRIVER, folder)
    assert [None, None] == [p.poll() for p in theirs]
    driver.kill()
    assert [-signal.SIGKILL] * 2 == [p.wait(10) for p in theirs]
    end = time.monotonic() + 10
    while folder.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not folder.exists()


def test_nothing_is_left_where_the_caretaker_is_killed(
    exits: ExitStack, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caretakers = []
    start = subprocess.Popen
    monkeypatch.setattr(
        ray_caretaker.subprocess, "Popen", lambda *a, **k: caretakers.append(start(*a, **k)) or caretakers[0]
    )
    with (folder / "logs" / "ours").open("w"), caretaker(str(folder)):
        monkeypatch.undo()
        theirs = left_by_ray(exits, folder)
        caretakers[0].kill()
    assert [-signal.SIGKILL] * 2 == [p.wait(10) for p in theirs]
    assert not folder.exists()


def test_no_folder_is_left_where_no_process_can_be_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(folder / "no python"))
    with pytest.raises(OSError, match="no python"), caretaker(str(folder)):
        pass
    assert not folder.exists()


def test_a_request_to_end_does_not_end_it_too_early(exits: ExitStack, folder: Path) -> None:
    command = [sys.executable, "-I", "-S", ray_caretaker.__file__, "0", str(folder)]
    keeper = subprocess.Popen(command, stdin=subprocess.PIPE)
    requests = (signal.SIGINT, signal.SIGTERM)
    while ignored_by(keeper.pid) & (mask := sum(1 << number - 1 for number in requests)) != mask:
        time.sleep(0.01)
    for request in requests:
        keeper.send_signal(request)
    (theirs, _) = left_by_ray(exits, folder)
    keeper.communicate()
    assert 0 == keeper.returncode
    assert -signal.SIGKILL == theirs.wait(10)


def ignored_by(pid: int) -> int:
    """The signals that a process ignores, a bit for each."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("SigIgn:")[2].split()[0], 16)
