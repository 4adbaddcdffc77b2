"""What we do with Ray, on a fake one: in flight, ends of workers, GPUs, where workers may be, refusals."""

import os
import platform
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.run.workers.fake_ray import EXCEPTIONS, FakeRay, node
from tests.studies.making import made

from vivavoce.core import net
from vivavoce.core.errors import EgressError, ExtraError, InputError, MetricError
from vivavoce.core.records import Card, Item
from vivavoce.models.engine.egress import Privacy, worker_guard
from vivavoce.run.workers import open_executor, ray_connection, ray_worker, worker_pool
from vivavoce.run.workers.executor import Lost, Shard
from vivavoce.run.workers.ray_executor import IN_FLIGHT, RayExecutor

FOLDER = Path(__file__).parent


@pytest.fixture(autouse=True)
def _workers_are_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fake workers are this process: they must not take its keys and its network."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(ray_worker, "_job", "")
    monkeypatch.setattr(worker_pool, "PATIENCE_S", 0.2)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    return installed(monkeypatch)


@pytest.fixture(autouse=True)
def _fakes_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    while FAKES:
        FAKES.pop().end()
    assert "ray._private" not in sys.modules  # Ray itself would end this process a minute later


FAKES: list[FakeRay] = []


def installed(monkeypatch: pytest.MonkeyPatch, *nodes: dict[str, Any]) -> FakeRay:
    fake = FakeRay(nodes)
    FAKES.append(fake)
    monkeypatch.setitem(sys.modules, "ray", fake)
    grpc = ModuleType("grpc")
    grpc.__spec__ = ModuleSpec("grpc", None)
    monkeypatch.setitem(sys.modules, "grpc", grpc)
    return fake


def Doubling(log: Path, refusal: str = "") -> Any:  # noqa: N802
    """The fake job of that name."""
    return import_module("fake_jobs").Doubling(log, refusal)


def works(n: int, *, lanes: int = 0, **more: Any) -> list[Shard[dict[str, Any]]]:
    return [Shard({"number": k, **more}, k % lanes if lanes else None) for k in range(n)]


def doubles(results: Iterator[Any]) -> list[Any]:
    return [result if isinstance(result, Lost) else result["double"] for result in results]


@pytest.mark.parametrize("lanes", [0, 2])
def test_results_come_in_order_and_the_job_is_sent_once(ray: FakeRay, tmp_path: Path, lanes: int) -> None:
    with open_executor("ray") as executor:
        assert (True, 2, 2) == (executor.has_workers, executor.n_workers, executor.n_lanes)
        assert [2 * k for k in range(20)] == doubles(
            executor.results(works(20, lanes=lanes), Doubling(tmp_path))
        )
        assert 1 == ray.puts
    assert not ray.initialized
    (settings,) = ray.inits
    assert ("local", False, False) == (
        settings["address"], settings["include_dashboard"], settings["log_to_driver"]
    )  # fmt: skip
    assert not Path(settings["_temp_dir"]).exists()


def test_a_folder_of_ray_is_closed_to_others(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(_temp_dir: str, **settings: Any) -> None:
        Path(_temp_dir).mkdir(mode=0o777)
        modes.append(Path(_temp_dir).parent.stat().st_mode & 0o777)

    modes = list[int]()
    monkeypatch.setattr(ray, "init", init)
    with open_executor("ray") as executor:
        doubles(executor.results(works(1), Doubling(tmp_path)))
    assert [0o700] == modes


def test_a_ray_of_ours_that_listens_on_the_network_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray = installed(monkeypatch, node("192.0.2.7"))
    sentence = "would listen at 192.0.2.7, where other machines reach it, .* before `import ray`"
    with open_executor("ray") as executor, pytest.raises(InputError, match=sentence):
        doubles(executor.results(works(1), Doubling(tmp_path)))
    assert not ray.initialized


def test_nothing_is_started_before_there_is_work(ray: FakeRay, tmp_path: Path) -> None:
    with open_executor("ray") as executor:
        assert [] == doubles(executor.results([], Doubling(tmp_path)))
    assert [] == ray.inits


@pytest.mark.parametrize("lanes", [0, 2])
def test_few_shards_are_on_their_way(ray: FakeRay, tmp_path: Path, lanes: int) -> None:
    drawn, taken = [], 0
    shards = (drawn.append(s.work["number"]) or s for s in works(50, lanes=lanes))  # type: ignore[func-returns-value]
    with open_executor("ray") as executor:
        for _ in executor.results(shards, Doubling(tmp_path)):
            assert len(drawn) <= taken + 2 * IN_FLIGHT
            taken += 1
    assert 50 == taken


def test_a_task_whose_worker_ends_is_sent_again_and_no_other(ray: FakeRay, tmp_path: Path) -> None:
    ends = iter([EXCEPTIONS["WorkerCrashedError"](), EXCEPTIONS["NodeDiedError"]()])
    ray.death = lambda work: next(ends, None) if work["number"] == 5 else None
    with open_executor("ray") as executor:
        assert [2 * k for k in range(12)] == doubles(executor.results(works(12), Doubling(tmp_path)))
    assert {5: 3} | dict.fromkeys([k for k in range(12) if k != 5], 1) == dict(ray.times_sent())


def test_an_actor_that_ends_loses_only_what_it_had_not_finished(ray: FakeRay, tmp_path: Path) -> None:
    ends = iter([EXCEPTIONS["RayActorError"]()])
    ray.death = lambda work: next(ends, None) if work["number"] == 4 else None
    with open_executor("ray") as executor:
        assert [2 * k for k in range(12)] == doubles(executor.results(works(12, lanes=2), Doubling(tmp_path)))
    first, other, again = ray.actors
    assert [0, 2, 4] == first.numbers[:3]
    assert [4, 6, 8, 10] == again.numbers
    assert [1, 3, 5, 7, 9, 11] == other.numbers
    assert first in ray.killed  # Ray may only have lost sight of it


@pytest.mark.parametrize("lanes", [0, 2])
@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("WorkerCrashedError", "killed or crashed, as where memory runs out"),
        ("OutOfMemoryError", "killed or crashed, as where memory runs out"),
        ("NodeDiedError", "lost with its machine"),
    ],
)
def test_a_shard_that_ends_three_workers_is_lost_and_all_others_are_computed(
    ray: FakeRay, tmp_path: Path, lanes: int, end: str, words: str
) -> None:
    ray.death = lambda work: EXCEPTIONS[end]() if work["number"] == 2 else None
    with open_executor("ray") as executor:
        results = doubles(executor.results(works(10, lanes=lanes), Doubling(tmp_path)))
    assert Lost(f"3 worker processes ended while they computed it, the last {words}") == results.pop(2)
    assert [2 * k for k in range(10) if k != 2] == results
    assert 3 == ray.times_sent()[2]


def test_encoders_get_one_actor_for_each_gpu_and_rules_a_task_for_each_core(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray = installed(monkeypatch, node(cores=6, gpus=3))
    with open_executor("ray") as executor:
        assert (6, 3) == (executor.n_workers, executor.n_lanes)
        doubles(executor.results(works(9, lanes=3), Doubling(tmp_path)))
        assert 3 == len(ray.actors)
        assert 1 == next(options["num_gpus"] for options in ray.options if "num_gpus" in options)
        assert [2 * k for k in range(9)] == doubles(executor.results(works(9), Doubling(tmp_path)))
        assert {*ray.actors} == {*ray.killed}  # they would hold what tasks need
    assert all(0 == options.get("max_retries", options.get("max_restarts")) for options in ray.options)


def test_what_nobody_waits_for_is_ended(ray: FakeRay, tmp_path: Path) -> None:
    with open_executor("ray") as executor:
        results = executor.results(works(8, seconds=0.3), Doubling(tmp_path))
        next(results)
        results.close()
        assert ray.cancelled


@pytest.mark.parametrize("noticed", [True, False])
def test_ray_that_ends_is_one_sentence(ray: FakeRay, tmp_path: Path, noticed: bool) -> None:
    def end(work: dict[str, Any]) -> Exception | None:
        if work["number"] != 3:
            return None
        if noticed:
            ray.machines[0]["Alive"] = False
        ray.raylet.close()
        return EXCEPTIONS["LocalRayletDiedError"]("raylet died")

    ray.death = end
    with open_executor("ray") as executor, pytest.raises(MetricError) as stopped:
        doubles(executor.results(works(8), Doubling(tmp_path)))
    assert str(stopped.value) == (
        "Ray on this machine ended while its workers computed: what was stored is safe; rerun the command to "
        "resume."
    )


def test_ray_that_ends_without_a_word_is_noticed(ray: FakeRay, tmp_path: Path) -> None:
    released = threading.Event()

    def hang(work: dict[str, Any]) -> None:
        ray.machines[0]["Alive"] = False
        released.wait(20)

    ray.death = hang
    with open_executor("ray") as executor:
        try:
            with pytest.raises(MetricError, match="Ray on this machine ended"):
                doubles(executor.results(works(1), Doubling(tmp_path)))
        finally:
            released.set()


def test_an_error_of_ray_itself_is_one_sentence(ray: FakeRay, tmp_path: Path) -> None:
    ray.death = lambda work: EXCEPTIONS["RayTaskError"]("it\nhas " + "long words " * 90)
    with open_executor("ray") as executor, pytest.raises(MetricError) as stopped:
        doubles(executor.results(works(1), Doubling(tmp_path)))
    assert "ended while its workers computed (RayTaskError: it has long words" in str(stopped.value)
    assert len(str(stopped.value)) < 320


def test_a_job_that_a_worker_cannot_open_is_refused_with_its_sentence(ray: FakeRay, tmp_path: Path) -> None:
    with open_executor("ray") as executor, pytest.raises(MetricError, match=r"^no such plugin\.$"):
        doubles(executor.results(works(3), Doubling(tmp_path, "no such plugin.")))


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (
            "version",
            "vivavoce {here}, and the process that sends it work has 0.0.1: install the same version",
        ),
        ("python", "Python {python}, and the process that sends it work has 2.7: use the same"),
        ("module", "no vivavoce, and the process that sends it work has {here}: install the same version"),
    ],
)
def test_a_worker_that_has_another_version_says_so(
    monkeypatch: pytest.MonkeyPatch, what: str, sentence: str
) -> None:
    here, python = (
        import_module("vivavoce._version").__version__,
        ".".join(platform.python_version_tuple()[:2]),
    )
    if what == "module":
        monkeypatch.setitem(sys.modules, "vivavoce._version", None)
    call = ray_worker.remote_call()
    said = call("0.0.1" if what == "version" else here, "2.7" if what == "python" else python, [], [], "job")
    assert f"a worker has {sentence.format(here=here, python=python)} for both." == said


def test_what_a_worker_cannot_unpack_is_a_sentence() -> None:
    assert "a worker cannot go on: SystemExit: 3." == ray_worker.compute([], "", b"csys\nexit\n(I3\ntR.")
    said = ray_worker.compute([], "", b"cabsent_module\nName\n.")
    assert "a worker cannot go on: ModuleNotFoundError: No module named 'absent_module'." == said


def test_ray_that_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with open_executor("ray") as executor, pytest.raises(ExtraError) as refused:
        _ = executor.n_workers
    assert '--workers ray needs ray: pip install "vivavoce[ray]".' == str(refused.value)


def test_ray_that_does_not_start_is_tried_again_and_then_one_sentence(
    ray: FakeRay, capfd: pytest.CaptureFixture[str]
) -> None:
    before = dict(os.environ)
    ray.init_errors = [RuntimeError("The current node timed out during startup.")] * 2
    with open_executor("ray") as executor:
        assert 2 == executor.n_workers
    assert 3 == len(ray.inits)
    ray.init_errors = [RuntimeError("no\nroom " * 90)]
    with open_executor("ray") as executor, pytest.raises(InputError) as refused:
        _ = executor.n_workers
    assert str(refused.value).startswith(
        "--workers ray: Ray could not be started on this machine (RuntimeErr"
    )
    assert 1 == len(str(refused.value).splitlines())
    assert len(str(refused.value)) < 400
    assert ("", "") == capfd.readouterr()
    assert before == dict(os.environ)
    assert not any(Path(settings["_temp_dir"]).exists() for settings in ray.inits)


def test_keys_are_no_part_of_the_environment_in_which_ray_starts(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-mine")
    seen: dict[str, str] = {}
    init = ray.init
    monkeypatch.setattr(ray, "init", lambda *a, **s: seen.update(os.environ) or init(*a, **s), raising=False)
    with open_executor("ray") as executor:
        _ = executor.n_workers
        assert "sk-of-mine" == os.environ["OPENAI_API_KEY"]
    assert "sk-of-mine" not in seen.values()
    assert ("0", "1") == (seen["RAY_USAGE_STATS_ENABLED"], seen["OMP_NUM_THREADS"])


def test_ray_in_use_by_this_process_is_left_alone(ray: FakeRay) -> None:
    ray.initialized = True
    with open_executor("ray") as executor, pytest.raises(InputError, match=r"call ray\.shutdown\(\) first"):
        _ = executor.n_workers
    assert ray.initialized


@pytest.fixture
def port() -> Iterator[int]:
    """A port on which something listens."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_an_address_where_nothing_listens_is_one_sentence(ray: FakeRay) -> None:
    began = time.monotonic()
    with open_executor("ray://127.0.0.1:1") as executor, pytest.raises(InputError) as refused:
        _ = executor.n_workers
    assert str(refused.value).startswith("--workers ray://127.0.0.1:1: Ray cannot be reached there (Connecti")
    assert time.monotonic() - began < ray_connection.REACH_S
    assert [] == ray.inits


def test_an_address_that_does_not_greet_is_one_sentence(ray: FakeRay, port: int) -> None:
    ray.init_errors = [ConnectionError("ray client connection timeout")]
    with open_executor(f"ray://127.0.0.1:{port}") as executor, pytest.raises(InputError) as refused:
        _ = executor.n_workers
    assert "(ConnectionError: ray client connection timeout): start it with `ray start" in str(refused.value)


def test_one_machine_behind_a_local_address_needs_no_leave_and_no_other_gets_shards(
    ray: FakeRay, port: int, tmp_path: Path
) -> None:
    def refuse(host: str) -> None:
        raise EgressError(host)

    with RayExecutor(f"ray://127.0.0.1:{port}", refuse) as executor:
        assert [0, 2, 4] == doubles(executor.results(works(3), Doubling(tmp_path)))
    assert all(("id-127.0.0.1", False) == options["scheduling_strategy"] for options in ray.options)


@pytest.mark.parametrize(
    ("machines", "host"),
    [
        ([node(), node("192.0.2.9", "gpu-box")], "gpu-box"),  # an address of ours is not enough, nor a name
        ([node("127.0.0.1", "gpu-box")], "gpu-box"),
        ([node("192.0.2.9")], None),
        ([node(cores=0)], "127.0.0.1"),  # others will join
    ],
)
def test_machines_behind_a_local_address_are_checked(
    monkeypatch: pytest.MonkeyPatch, port: int, machines: list[dict[str, Any]], host: str | None
) -> None:
    ray = installed(monkeypatch, *machines)

    def refuse(host: str) -> None:
        raise EgressError(host)

    with RayExecutor(f"ray://127.0.0.1:{port}", refuse) as executor, pytest.raises(EgressError) as refused:
        _ = executor.n_workers
    assert (host or machines[0]["NodeManagerHostname"]) == str(refused.value)
    assert not ray.initialized
    assert [] == ray.sent


ITEM = Item(benchmark="b", item="q", format="short", question="?", references=("r",))


def test_offline_workers_elsewhere_have_to_be_named() -> None:
    def guard(*allow: str) -> Any:
        return worker_guard(Privacy(True, False, allow), items=[ITEM], texts=list, credentialed=[])

    with pytest.raises(EgressError, match=r"^offline: workers at 'head' .* Say --allow head if"):
        guard()("head")
    guard("HEAD ")("head")
    with net.offline(), pytest.raises(EgressError, match="--allow head"):
        worker_guard(Privacy(), items=[ITEM], texts=list, credentialed=[])("head")


def test_patient_data_and_credentialed_items_stay_here() -> None:
    def guard(**privacy: Any) -> Any:
        texts = ["Call Mr John Smith on 555-123-4567, john.smith@mail.example"]
        return worker_guard(
            Privacy(**privacy), items=[ITEM], texts=lambda: texts, credentialed=["mimic(path=x)"]
        )

    with pytest.raises(EgressError, match=r"mimic.* is credentialed.*--allow head"):
        guard()("head")
    with pytest.raises(EgressError, match="--allow-phi"):
        guard(offline=True, allow=("head",))("head")
    guard(allow=("head",), allow_phi=True)("head")


@pytest.mark.parametrize("verb", ["score", "vary"])
def test_a_verb_offline_refuses_an_address_before_anything_is_sent(
    ray: FakeRay, tmp_path: Path, verb: str
) -> None:
    run = made(tmp_path, {"A": {"q1": "an answer"}})
    what = {"score": "exact", "vary": "neutralise"}[verb]
    with pytest.raises(EgressError, match=r"offline: workers at 'head\.example'"):
        getattr(run, verb)(what, workers="ray://head.example:10001", offline=True)
    assert [] == ray.inits
    assert 0 == run.scores.height
    getattr(run, verb)(what, workers="ray://head.example:10001", offline=True, dry_run=True)
    assert [] == ray.inits


def test_scores_of_a_credentialed_exam_stay_here(ray: FakeRay, tmp_path: Path) -> None:
    from vivavoce.store.write import put_benchmark

    run = made(tmp_path, {"A": {"q1": "an answer"}})
    card = Card(
        name="secret", description="d", source="s", revision_note="made here", licence="l", citation="c",
        access="credentialed",
    )  # fmt: skip
    item = Item(benchmark="secret", item="s", format="short", question="Who?", references=("r",))
    with run.file.writing() as db:
        put_benchmark(db, card, [item], spec="secret()", signature="secret()@1")
    others = f"jsonl(path='{tmp_path / 'exam.jsonl'}')"
    for items in (None, others):  # workers get all items of a run: a metric may count in them
        with pytest.raises(EgressError, match=r"secret\(\) is credentialed.*--allow head\.example"):
            run.score("exact", workers="ray://head.example:10001", items=items)
    assert [] == ray.inits
