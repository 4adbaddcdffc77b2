"""Leases: what another collect holds is waited for, and a clock that jumped holds nobody up."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from vivavoce.core.errors import StoreError
from vivavoce.core.processes import this_machine
from vivavoce.models.engine import leases
from vivavoce.models.engine.leases import LEASE_S, leased
from vivavoce.store import calls
from vivavoce.store.calls import lease
from vivavoce.store.runfile import RunFile

OTHER = "far-away pid:[7], process 41, 1"


@pytest.fixture
def run(tmp_path: Path) -> RunFile:
    return RunFile(tmp_path / "exam.viva")


def held_until(run: RunFile, until: object, holder: str = OTHER) -> None:
    with run.writing() as db:
        db.execute("INSERT OR REPLACE INTO leases VALUES ('work', ?, ?)", (holder, until))


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> float:
    """The time, at which the clock of leases stands still."""
    now = time.time()
    monkeypatch.setattr(calls, "time", SimpleNamespace(time=lambda: now))
    return now


@pytest.mark.parametrize("seconds", [1, LEASE_S, 2 * LEASE_S])
def test_a_lease_of_another_machine_is_waited_for(run: RunFile, now: float, seconds: float) -> None:
    held_until(run, now + seconds)
    with (
        pytest.raises(StoreError, match=r"another collect \(far-away, process 41\) is asking"),
        leased(run, ["work"], "collect"),
    ):
        pass


@pytest.mark.parametrize("seconds", [0, -1, 2 * LEASE_S + 1, 365 * 86_400, float("inf")])
def test_a_lease_that_has_ended_or_ends_too_far_ahead_is_void(
    run: RunFile, now: float, seconds: float
) -> None:
    """The clock of the other machine went ahead, or ours went back: no year is waited for."""
    held_until(run, now + seconds)
    with leased(run, ["work"], "collect") as own:
        own.check()


def test_a_clock_that_went_back_a_day_does_not_hold_up_the_next_collect(
    run: RunFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lease(run, ["work"], OTHER, LEASE_S) is None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 86_400)
    assert lease(run, ["work"], "ours, process 1, 1", LEASE_S) is None
    assert "ours, process 1, 1" == lease(run, ["work"], OTHER, LEASE_S)


def test_a_clock_that_goes_back_a_little_takes_nothing_from_a_collect_that_works(
    run: RunFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lease(run, ["work"], OTHER, LEASE_S) is None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - LEASE_S / 2)
    assert OTHER == lease(run, ["work"], "ours, process 1, 1", LEASE_S)


def test_a_collect_whose_lease_a_wrong_clock_took_says_so(
    run: RunFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE_S", 0.3)
    with leased(run, ["work"], "collect") as own:
        end = time.monotonic() + 20
        while not own.lost and time.monotonic() < end:
            held_until(run, time.time() + 0.5)  # the other lives, and renews it however late we look
            time.sleep(0.01)
        with pytest.raises(StoreError, match=r"another collect \(far-away, process 41\) has taken over"):
            own.check()


@pytest.mark.filterwarnings("error")
def test_a_lease_is_renewed_again_after_the_disk_was_away_for_a_moment(
    run: RunFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewals = []

    def away_once(*words: object, **options: object) -> str | None:
        renewals.append(words)
        if len(renewals) == 1:
            raise OSError(5, "Input/output error")
        return OTHER

    monkeypatch.setattr(leases, "LEASE_S", 0.3)
    with leased(run, ["work"], "collect") as own:
        monkeypatch.setattr(leases, "lease", away_once)
        end = time.monotonic() + 20
        while not own.lost and time.monotonic() < end:
            time.sleep(0.01)
    assert 2 == len(renewals)


@pytest.mark.parametrize(
    "holder", ["", "somebody", "a, b, c", ", process x, 1", "\x1b[2Jx\n" * 99, f"m, process {10**17}, 1"]
)
def test_a_holder_that_no_process_of_ours_wrote_is_shown_and_never_stops_the_program(
    run: RunFile, now: float, holder: str
) -> None:
    held_until(run, now + 9, holder)
    with pytest.raises(StoreError, match="another collect") as refused, leased(run, ["work"], "collect"):
        pass
    assert "\x1b" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_process_number_that_no_system_gives_has_ended(run: RunFile, now: float) -> None:
    held_until(run, now + 9, f"{this_machine()}, process {10**17}, 1")
    with leased(run, ["work"], "collect") as own:
        own.check()
    held_until(run, now + 9, f"{this_machine()}, process {os.getppid()}, 1")
    with pytest.raises(StoreError, match="another collect"), leased(run, ["work"], "collect"):
        pass


def test_a_killed_process_that_nobody_has_asked_after_holds_nobody_up(run: RunFile, now: float) -> None:
    """As in a container whose first process collects none."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as killed:
        held_until(run, now + 9, f"{this_machine()}, process {killed.pid}, 1")
        with pytest.raises(StoreError, match="another collect"), leased(run, ["work"], "collect"):
            pass
        killed.kill()
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
        with leased(run, ["work"], "collect") as own:
            own.check()
