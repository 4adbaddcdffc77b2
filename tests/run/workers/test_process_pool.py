"""The pool of processes: order, few shards on their way, kills, refusals, and nothing left behind."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.errors import InputError, MetricError
from vivavoce.run.workers import open_executor, worker
from vivavoce.run.workers.executor import Lost, Shard
from vivavoce.run.workers.in_process import InProcess
from vivavoce.run.workers.open_files import allow_open_files
from vivavoce.run.workers.process_pool import IN_FLIGHT, ProcessPool
from vivavoce.run.workers.worker_count import read_workers
from vivavoce.run.workers.worker_pool import MOST_KILLS

FOLDER = Path(__file__).parent


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers get our path: they import the fake jobs from there."""
    monkeypatch.syspath_prepend(str(FOLDER))


def Doubling(log: Path, refusal: str = "", **more: bool) -> Any:  # noqa: N802
    """The fake job of that name."""
    return import_module("fake_jobs").Doubling(log, refusal, **more)


def sent(log: Path) -> list[list[int]]:
    """What each worker was sent, worker by worker."""
    return [[int(line) for line in file.read_text().split()] for file in sorted(log.iterdir())]


def works(n: int, **more: Any) -> list[Shard[dict[str, Any]]]:
    return [Shard({"number": k, **more}) for k in range(n)]


def doubles(results: Iterator[Any]) -> list[Any]:
    return [result if isinstance(result, Lost) else result["double"] for result in results]


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def limit() -> Iterator[Any]:
    """Sets how many files this process may open, until the test ends."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda soft: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def wait_until_ended(pids: list[int]) -> None:
    end = time.monotonic() + 20
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    assert [] == [pid for pid in pids if is_running(pid)]


def pids(log: Path) -> list[int]:
    return [int(file.name) for file in log.iterdir()]


def test_one_worker_is_this_process(tmp_path: Path) -> None:
    with open_executor(1) as executor:
        assert isinstance(executor, InProcess)
        assert [0, 2, 4] == doubles(executor.results(works(3), Doubling(tmp_path / "log")))
    assert [os.getpid()] == pids(tmp_path / "log")


def test_results_come_in_the_order_of_the_shards_whoever_is_first(tmp_path: Path) -> None:
    shards = [Shard({"number": k, "seconds": 0.2 if k % 3 == 0 else 0}) for k in range(9)]
    with open_executor("2") as executor:
        assert [2 * k for k in range(9)] == doubles(executor.results(shards, Doubling(tmp_path / "log")))
    assert 2 == len(sent(tmp_path / "log"))
    assert list(range(9)) == sorted(chain(*sent(tmp_path / "log")))
    wait_until_ended(pids(tmp_path / "log"))


def test_shards_of_one_lane_go_to_one_worker(tmp_path: Path) -> None:
    shards = [Shard({"number": k}, lane=k % 2) for k in range(8)]
    with ProcessPool(2) as executor:
        doubles(executor.results(shards, Doubling(tmp_path / "log")))
    assert [[0, 2, 4, 6], [1, 3, 5, 7]] == sorted(sent(tmp_path / "log"))


def test_few_shards_are_drawn_before_they_are_needed(tmp_path: Path) -> None:
    drawn = []

    def shards() -> Iterator[Shard[dict[str, Any]]]:
        for shard in works(40):
            drawn.append(shard)
            yield shard

    with ProcessPool(2) as executor:
        for taken, _ in enumerate(executor.results(shards(), Doubling(tmp_path / "log"))):
            assert len(drawn) <= taken + 2 * IN_FLIGHT
    assert 40 == len(drawn)


def test_a_killed_worker_is_replaced_and_its_unfinished_shards_alone_are_sent_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with ProcessPool(2) as executor:
        shards = works(12, once=[5], seconds=0.05)
        assert [2 * k for k in range(12)] == doubles(executor.results(shards, Doubling(log)))
    everything = list(chain(*sent(log)))
    assert 3 == len(pids(log))
    assert set(range(12)) == set(everything)
    assert len(everything) == 13  # what was computed then, and nothing else


def test_a_worker_killed_while_it_sends_a_result_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Half of the result stands in the pipe when its writer ends."""
    log = tmp_path / "log"
    with ProcessPool(1) as executor:
        assert [0, 2, 4] == doubles(executor.results(works(3, half=[1]), Doubling(log)))
    assert [0, 1, 1, 2] == sorted(chain(*sent(log)))


def test_a_shard_that_ends_three_workers_is_lost_and_the_others_are_not(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with ProcessPool(2) as executor:
        results = doubles(executor.results(works(7, deadly=[2]), Doubling(log)))
    assert [0, 2, 6, 8, 10, 12] == [r for r in results if not isinstance(r, Lost)]
    assert isinstance(results[2], Lost)
    assert "3 worker processes ended while they computed it, the last killed by signal 9" in results[2].cause
    assert MOST_KILLS == list(chain(*sent(log))).count(2)


def test_a_plugin_that_exits_while_a_worker_gets_ready_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeJob:
        def open(self) -> Any:
            raise SystemExit(3)

    for name in ("_compute", "_refused"):
        monkeypatch.setattr(worker, name, None)
    worker.prepare(FakeJob())
    assert worker.Refusal("a worker cannot get ready: SystemExit: 3.") == worker.run(None)


def test_a_job_that_no_worker_can_open_is_refused_with_its_sentence(tmp_path: Path) -> None:
    with ProcessPool(2) as executor, pytest.raises(MetricError, match="no plugin of that name"):
        doubles(executor.results(works(4), Doubling(tmp_path / "log", "no plugin of that name.")))


def test_workers_that_end_before_they_are_ready_are_not_started_for_ever(tmp_path: Path) -> None:
    with (
        ProcessPool(1) as executor,
        pytest.raises(MetricError, match="3 worker processes ended before they were ready, the last ended"),
    ):
        doubles(executor.results(works(40), Doubling(tmp_path / "log", deadly=True)))


def test_a_caller_that_has_enough_leaves_no_process(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with ProcessPool(2) as executor:
        results = executor.results(works(50, seconds=0.3), Doubling(log))
        assert 0 == next(results)["double"]  # type: ignore[index]
        results.close()  # type: ignore[attr-defined]
        wait_until_ended(pids(log))
        assert [0, 2] == doubles(executor.results(works(2), Doubling(tmp_path / "next")))
    wait_until_ended(pids(tmp_path / "next"))


def test_an_error_in_the_block_ends_workers_that_compute(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def interrupted() -> None:
        with ProcessPool(2) as executor:
            next(executor.results(works(50, seconds=0.5), Doubling(log)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    wait_until_ended(pids(log))


def test_a_worker_has_one_thread_no_key_no_network_and_not_our_main_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-mine-1234567890")
    monkeypatch.setenv("MY_ENDPOINT_SAYS", "Bearer sk-a-key-of-mine-1234567890")
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    before = dict(os.environ)
    whats = ("environment", "environ", "main", "torch", "polars", "socket", "is worker")
    with ProcessPool(1) as executor:
        seen = dict(
            zip(
                whats,
                executor.results([Shard(w) for w in whats], import_module("fake_jobs").Looking()),
                strict=True,
            )
        )
    assert before == dict(os.environ)
    for text in (str(seen["environment"]), seen["environ"]):
        assert "sk-a-key" not in text
        assert "hf_0123456789" not in text
    assert ("1", "1") == (seen["environment"]["OMP_NUM_THREADS"], seen["environment"]["POLARS_MAX_THREADS"])
    assert (1, 1, None, True) == (seen["torch"], seen["polars"], seen["main"], seen["is worker"])
    assert "offline: '192.0.2.1' is not this machine" in str(seen["socket"])
    printed = capfd.readouterr()
    assert "a plugin prints" not in printed.out
    assert "a plugin prints" in printed.err


def test_workers_outlive_no_killed_process(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "from pathlib import Path\n"
        f"import sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        "from fake_jobs import Doubling\n"
        "from vivavoce.run.workers import open_executor\n"
        "from vivavoce.run.workers.executor import Shard\n"
        "shards = [Shard({'number': k, 'seconds': 0.5}) for k in range(99)]\n"
        f"list(open_executor(2).results(shards, Doubling(Path({str(log)!r}))))\n"
    )  # a script without `if __name__ == "__main__"`
    script = tmp_path / "script.py"
    script.write_text(code)
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not (log.exists() and len(pids(log)) == 2) and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.wait()
    wait_until_ended(pids(log))


@each_case(
    "workers",
    [
        "0",
        "-1",
        "x",
        "",
        "1.5",
        "²",
        "auto ",
        "9" * 5000,
        0,
        True,
        None,
        513,
        "ray:",
        "ray://h",
        "ray://h:0",
        "ray://h:65536",
        "ray://h h:1",
        "ray://h:1/x",
        "ray://u@h:1",
        "RAY",
        "ray\n",
    ],
)
def test_what_is_no_number_of_workers_is_refused(workers: Any) -> None:
    with pytest.raises(InputError, match="from 1 to 512, or auto") as refused:
        read_workers(workers)
    assert len(str(refused.value)) < 200


def test_auto_is_the_cores_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert 3 == read_workers("auto")
    assert (1, 512) == (read_workers(1), read_workers("512"))


# What a machine allows


def test_the_limit_of_open_files_is_raised_for_many_workers(limit: Any) -> None:
    import resource

    limit(256)
    allow_open_files(40 * 10)
    assert 64 + 400 == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    allow_open_files(10)
    assert 64 + 400 == resource.getrlimit(resource.RLIMIT_NOFILE)[0]  # never lowered


def test_more_workers_than_files_may_be_open_get_a_sentence(limit: Any, monkeypatch: Any) -> None:
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda what: (256, 512))
    with pytest.raises(InputError, match=r"so many workers need 564 open files, .* may open 512 at most"):
        ProcessPool(50)


def test_a_process_that_may_start_no_others_gets_a_sentence(monkeypatch: Any) -> None:
    monkeypatch.setitem(current_process()._config, "daemon", True)  # as multiprocessing.Pool starts its own
    with pytest.raises(InputError, match="workers=2 out"):
        open_executor(2)
    assert not open_executor(1).has_workers
