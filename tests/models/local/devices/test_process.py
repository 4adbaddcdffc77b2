"""Device processes: what they start with, how they end, and what is heard of it."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from vivavoce.core import net
from vivavoce.models.local.batching import Job
from vivavoce.models.local.devices import Device
from vivavoce.models.local.devices.process import DeviceEndedError, DeviceProcess, DeviceRefusedError
from vivavoce.models.local.devices.queue import DeviceQueue
from vivavoce.models.requests import Message, RejectedError, Reply, Request

FOLDER = Path(__file__).parent


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Device processes get our path: they import the fake runners from there."""
    monkeypatch.syspath_prepend(str(FOLDER))


Start = Callable[..., DeviceProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Makes device processes whose model is fake, and ends them."""
    started: list[DeviceProcess] = []

    def make(number: int = 0, **settings: Any) -> DeviceProcess:
        opener = import_module("fake_runners").FakeOpener(tmp_path, **settings)
        device = Device(f"GPU {number}", {"CUDA_VISIBLE_DEVICES": str(number)}, "fake")
        started.append(DeviceProcess(device, opener))
        return started[-1]

    yield make
    for process in started:
        process.end()


def wait_until_ready(process: DeviceProcess) -> None:
    end = time.monotonic() + 60
    while not process.ready(0.1):
        assert time.monotonic() < end


def run(process: DeviceProcess, *texts: str) -> Sequence[Reply | Exception]:
    wait_until_ready(process)
    return process.run([Job("a", 1, text) for text in texts])


def texts_of(outcomes: Sequence[Reply | Exception]) -> list[str | None]:
    return [outcome.text for outcome in outcomes if isinstance(outcome, Reply)]


def loads(log: Path) -> list[int]:
    """The processes that loaded the model."""
    return [int(line.split()[0]) for line in (log / "loads").read_text().splitlines()]


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_ended(pid: int) -> None:
    end = time.monotonic() + 20
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_running(pid)


def test_a_process_sees_one_device_has_no_key_and_no_network(start, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-is-long-enough")
    monkeypatch.setenv("HF_TOKEN", "hf_a_token_that_is_long_enough")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7,8")
    names = ("CUDA_VISIBLE_DEVICES", "OPENAI_API_KEY", "HF_TOKEN", "OMP_NUM_THREADS", "torch")
    device = start(3)
    found = texts_of(run(device, *(f"look {name}" for name in names), "look network"))
    assert ["3", "None", "None", "1", "False"] == found[:5]
    assert "offline" in str(found[5])
    assert "7,8" == os.environ["CUDA_VISIBLE_DEVICES"]


def test_starting_one_leaves_our_own_environment_alone_for_other_threads(start, monkeypatch):
    """Where a thread looked into a changed environment, we would stay offline for ever."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-is-long-enough")
    seen: set[tuple[bool, str | None]] = set()
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            seen.add((net.is_offline(), os.environ.get("OPENAI_API_KEY")))

    thread = threading.Thread(target=look)
    thread.start()
    devices = [start(k) for k in range(3)]
    for device in devices:
        device.ready(0)
    over.set()
    thread.join()
    assert {(False, "a-key-that-is-long-enough")} == seen


def test_the_model_is_loaded_once_for_all_batches(start, tmp_path):
    device = start()
    assert ["A", "B"] == texts_of(run(device, "a", "b"))
    assert ["C"] == texts_of(run(device, "c"))
    assert {"dtype": "float32", "answered": 3} == device.facts
    assert 1 == len(loads(tmp_path))


def test_a_killed_process_is_heard_of_and_another_starts(start, tmp_path):
    device = start()
    with pytest.raises(DeviceEndedError, match=r"^killed by signal 9, as where memory runs out$") as error:
        run(device, "a", "deadly")
    assert error.value.ready
    assert ["A"] == texts_of(run(device, "a"))
    assert 2 == len(set(loads(tmp_path)))


def test_one_that_is_killed_while_nothing_runs_costs_no_request(start, tmp_path):
    device = start()
    run(device, "a")
    os.kill(loads(tmp_path)[0], signal.SIGKILL)
    with pytest.raises(DeviceEndedError, match="killed by signal 9"):  # once its last thread is gone
        any(time.sleep(0.01) for _ in range(2000) if device.ready(0.0))
    assert ["B"] == texts_of(run(device, "b"))


def test_what_a_killed_process_said_of_how_it_ran_is_kept(start):
    device = start()
    run(device, "score")
    with pytest.raises(DeviceEndedError):
        run(device, "deadly")
    run(device, "a")
    assert {"dtype": "float32", "answered": 1, "way": "packed"} == device.facts


def test_one_that_ends_before_its_model_is_loaded_says_how(start):
    device = start(refusal="exit")
    with pytest.raises(DeviceEndedError, match=r"^ended with code 3$") as error:
        wait_until_ready(device)
    assert not error.value.ready


def test_a_model_that_cannot_be_loaded_is_refused_in_its_own_words(start):
    device = start(refusal="not enough memory on cuda to load it.")
    with pytest.raises(DeviceRefusedError, match=r"^not enough memory on cuda to load it\.$"):
        wait_until_ready(device)


def test_a_device_that_cuda_has_given_up_takes_its_process_with_it(start, tmp_path):
    device = start()
    with pytest.raises(DeviceEndedError, match="RuntimeError: CUDA error: device-side assert triggered"):
        run(device, "a", "cuda")
    assert ["A"] == texts_of(run(device, "a"))
    assert 2 == len(set(loads(tmp_path)))


def test_errors_arrive_as_they_were_those_of_libraries_by_name(start):
    refused, strange, reply = run(start(), "no", "strange", "a")
    assert isinstance(refused, RejectedError)
    assert ("StrangeError", "of a library") == (type(strange).__name__, str(strange))
    assert isinstance(reply, Reply)


def test_a_batch_that_does_not_fit_on_one_device_is_halved_there_and_all_are_answered(start, tmp_path):
    small, large = start(0, room=2), start(1)
    texts = [f"a{k}" for k in range(32)]

    async def asking() -> list[str | None]:
        queue = DeviceQueue(lambda r: Job("a", 1, r.messages[0].content), [small, large], 8)
        for device in (small, large):
            await asyncio.to_thread(wait_until_ready, device)
        requests = [Request(messages=(Message("user", text),)) for text in texts]
        found = await asyncio.gather(*(queue.reply(request) for request in requests))
        await queue.close()
        return [reply.text for reply in found]

    assert [text.upper() for text in texts] == asyncio.run(asking())
    sizes: dict[str, list[int]] = {}
    for line in (tmp_path / "batches").read_text().splitlines():
        pid, n = line.split()
        sizes.setdefault(pid, []).append(int(n))
    on_small, on_large = (sizes.get(str(pid), []) for pid in loads(tmp_path))
    failed = [n for n in on_small if n > 2]
    assert sorted(set(failed), reverse=True) == failed  # a size that did not fit is not tried again
    assert 32 == sum(on_large) + sum(on_small) - sum(failed)


def test_ctrl_c_and_sigterm_leave_the_end_to_the_driver(start, tmp_path):
    device = start()
    run(device, "a")
    (pid,) = loads(tmp_path)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(pid, number)
    assert ["B"] == texts_of(run(device, "b"))
    device.end()
    wait_until_ended(pid)


def test_one_that_still_loads_is_asked_about_without_waiting_for_it(start, tmp_path):
    device = start(waits=True)
    assert not device.ready(0.0)
    (tmp_path / "go").touch()
    wait_until_ready(device)


_DRIVER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fake_runners import FakeOpener
from vivavoce.models.local.batching import Job
from vivavoce.models.local.devices import Device
from vivavoce.models.local.devices.process import DeviceProcess

log = Path(sys.argv[2])
devices = [DeviceProcess(Device(f"GPU {k}", {}, "fake"), FakeOpener(log)) for k in range(2)]
while not all([device.ready(0.1) for device in devices]):
    pass
if sys.argv[3] == "running":
    import threading
    for device in devices:
        threading.Thread(target=device.run, args=([Job("a", 1, "sleep 60")],), daemon=True).start()
    while not (log / "jobs").exists():
        time.sleep(0.02)
(log / "begun").touch()
if sys.argv[3] != "exits":
    time.sleep(60)
"""


def begun(log: Path, state: str) -> "subprocess.Popen[bytes]":
    """A driver with two device processes, once they are in this state."""
    driver = subprocess.Popen([sys.executable, "-c", _DRIVER, str(FOLDER), str(log), state])
    end = time.monotonic() + 60
    while not (log / "begun").exists() and time.monotonic() < end:
        time.sleep(0.02)
    return driver


@pytest.mark.parametrize("state", ["idle", "running"])
def test_no_process_outlives_a_driver_that_is_killed(tmp_path, state):
    driver = begun(tmp_path, state)
    driver.kill()
    driver.wait()
    assert 2 == len(loads(tmp_path))
    for pid in loads(tmp_path):
        wait_until_ended(pid)


def test_no_process_outlives_a_driver_that_ends_without_releasing_them(tmp_path):
    driver = begun(tmp_path, "exits")
    assert 0 == driver.wait(20)
    for pid in loads(tmp_path):
        wait_until_ended(pid)
