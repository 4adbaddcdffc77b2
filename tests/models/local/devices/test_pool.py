"""A local model in device processes, here on the CPU: the answers are those of one process."""

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.lazy import lazy_module
from tests.lengths import LONG
from tests.models.local.families import saved

import vivavoce as viva
from vivavoce.core import net
from vivavoce.core.errors import VivaError
from vivavoce.models import local
from vivavoce.models.local import devices
from vivavoce.models.local.batching import Job
from vivavoce.models.local.devices import Device
from vivavoce.models.local.devices import pool as pool_module
from vivavoce.models.local.devices.pool import DevicePool, connect_pool
from vivavoce.models.local.devices.process import DeviceProcess, DeviceRefusedError
from vivavoce.models.local.devices.weight_files import fetch_weights, weight_files
from vivavoce.models.local.loading import source
from vivavoce.models.requests import (
    Continuations,
    FatalError,
    Message,
    RejectedError,
    Reply,
    Request,
    Sampling,
)

torch, huggingface_hub = lazy_module("torch"), lazy_module("huggingface_hub")
pytestmark = pytest.mark.usefixtures("one_thread")
SETTINGS: dict[str, Any] = {"dtype": "float32", "batch": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return saved(tmp_path_factory.mktemp("models"), "llama", chat=True)


@pytest.fixture(scope="module")
def on_cpu() -> Iterator[None]:
    """Device processes run on the CPU, where a GPU would be named."""

    def cpu_devices(gpus: Sequence[int]) -> tuple[Device, ...]:
        return tuple(Device(f"GPU {k}", {"CUDA_VISIBLE_DEVICES": ""}, "cpu") for k in gpus)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "gpu_devices", cpu_devices)
        yield


@pytest.fixture
def runs(monkeypatch) -> dict[str, list[int]]:
    """How many requests were in each batch of each device."""
    batches: dict[str, list[int]] = {}
    run = DeviceProcess.run

    def counted(process: DeviceProcess, jobs: Sequence[Job]) -> Any:
        batches.setdefault(process.label, []).append(len(jobs))
        return run(process, jobs)

    monkeypatch.setattr(DeviceProcess, "run", counted)
    return batches


@pytest.fixture(scope="module")
def starts() -> Iterator[list[str]]:
    """The devices for which a process was started, which loads the model."""
    labels: list[str] = []
    start = DeviceProcess._start

    def counted(process: DeviceProcess) -> None:
        labels.append(process.label)
        start(process)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeviceProcess, "_start", counted)
        yield labels


@pytest.fixture(scope="module")
def pool(folder: Path, on_cpu: None, starts: list[str], fork_server: Any) -> Iterator[DevicePool]:
    """Two devices, whose processes several tests ask; they are forks of one that has imported torch."""
    with fork_server():
        pool = connect_pool("hf/some", str(folder), {**SETTINGS, "gpus": (0, 1)}, (0, 1))
        yield pool
        pool.release()
    assert all(p._process is None for p in pool._processes)


def requests() -> list[Request]:
    """Greedy and drawn answers, beams, targets and branches, of many lengths; one that cannot be."""
    found = []
    for k in range(8):
        asked = (Message("user", f"What is fever {k}? " + "The patient is ill. " * (k % 5)),)
        found.append(Request(messages=asked, sampling=Sampling(max_tokens=12)))
        found.append(Request(messages=asked, sampling=Sampling(max_tokens=9, temperature=1.0, seed=k)))
        found.append(Request(messages=asked, kind="loglikelihood", target="the liver"))
        branches = Continuations(("insulin", "an organ"))
        found.append(Request(messages=asked, kind="loglikelihood", branches=branches))
    found.append(Request(messages=asked, sampling=Sampling(beams=2, max_tokens=6)))
    found.append(Request(messages=asked, sampling=Sampling(max_tokens=10_000)))
    return found


def answers(model: local.Local, asked: Sequence[Request]) -> list[Any]:
    async def asking() -> list[Any]:
        async with asyncio.timeout(240):
            found = await asyncio.gather(
                *(model.generate(r) if r.kind == "generate" else model.loglikelihood(r) for r in asked),
                return_exceptions=True,
            )
            await model.close()
        return found

    return asyncio.run(asking())


def texts(found: Sequence[Any]) -> list[Any]:
    """Texts and how they ended, or the refusal."""
    return [(r.text, r.finish_reason, r.usage) if isinstance(r, Reply) else str(r) for r in found]


def logprobs(found: Sequence[Any]) -> list[float]:
    return [likelihood.logprob for r in found if isinstance(r, Reply) for likelihood in r.likelihoods]


def test_two_devices_answer_as_one_process_does(folder, pool, runs, starts, monkeypatch):
    """In the long form one process is killed in between: another replaces it, with the same answers.

    `test_interrupts` kills processes that load no torch in the gate.
    """
    here = local.connect("hf/some", str(folder), {**SETTINGS, "device": "cpu"})
    expected = answers(here, requests())
    here.release()
    monkeypatch.setattr(local, "weights", lambda *a, **k: pytest.fail("the weights were loaded here"))
    found = answers(pool, requests())
    assert texts(expected) == texts(found)
    assert logprobs(expected) == pytest.approx(logprobs(found), rel=1e-5)
    assert isinstance(found[-1], RejectedError)
    assert {"GPU 0", "GPU 1"} >= set(runs)
    assert len(requests()) - 1 == sum(map(sum, runs.values()))
    assert max(map(max, runs.values())) <= 4
    assert 2 == len(starts)
    assert ("float32", "packed or branched", "0,1") == tuple(
        pool.facts[key] for key in ("dtype", "way", "gpus")
    )
    assert here.facts["weights"] == pool.facts["weights"]
    if LONG:
        runs.clear()
        process = next(p for p in pool._processes if p.facts)._process
        assert process is not None
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        assert texts(expected) == texts(answers(pool, requests()))
        assert len(requests()) - 1 == sum(map(sum, runs.values()))
        assert 2 <= len(starts) <= 3  # none is started anew where the other had answered all before


def test_what_one_process_alone_knows_is_in_the_facts(folder, on_cpu):
    """Only one of the two has scored anything, so that the other knows no way."""
    pool = connect_pool("hf/some", str(folder), {**SETTINGS, "gpus": (0, 1)}, (0, 1))
    wrote, scored = pool._processes
    wrote.facts = {"dtype": "float32"}
    scored.facts = {"dtype": "float32", "way": "packed", "why": "as asked"}
    assert ("packed", "as asked", "float32") == tuple(pool.facts[key] for key in ("way", "why", "dtype"))


def test_a_run_has_the_same_rows_on_devices(folder, pool, runs, tmp_path, monkeypatch):
    released = []
    monkeypatch.setattr(DevicePool, "release", lambda self: released.append(self))

    def lend(name: str, *connection: Any) -> DevicePool:
        monkeypatch.setattr(pool, "name", name)
        return pool

    monkeypatch.setattr(pool_module, "connect_pool", lend)
    exam = tmp_path / "exam.csv"
    lines = [f"q{k},short,What is {k}?,a thing" for k in range(40)]
    exam.write_text("\n".join(["id,format,question,answer", *lines]))
    rows = []
    for gpus in (None, "0,1"):
        run = viva.open(tmp_path / f"{gpus}.viva")
        model = f"hf/{folder}(dtype=float32, max_tokens=8, batch=4)"
        done = run.collect(f"csv(path={exam})", models=[model], gpus=gpus, offline=True)
        assert "40 answers came" in done.text
        table = run.responses.sort("item")
        rows.append(table.select("candidate", "item", "repeat", "text", "status", "finish_reason").rows())
    assert rows[0] == rows[1]
    assert 40 == sum(map(sum, runs.values()))
    assert [pool] == released


class InThisProcess(DeviceProcess):
    """A device whose process is this one, as far as it loads a model."""

    def ready(self, seconds: float) -> bool:
        try:
            self._opener.open(self._device.name)
        except VivaError as error:
            raise DeviceRefusedError(str(error)) from None
        return True


def test_a_model_that_no_device_can_load_is_left_and_says_why(tmp_path, folder, on_cpu, monkeypatch):
    monkeypatch.setattr(pool_module, "DeviceProcess", InThisProcess)
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    pool = connect_pool("hf/some", str(broken), SETTINGS, (0,))
    (broken / "model.safetensors").write_bytes(b"no weights")
    (error,) = answers(pool, requests()[:1])
    assert isinstance(error, FatalError)
    assert "no GPU is left to run it on (GPU 0: hf/some: its files changed while it was asked" in str(error)
    assert ["GPU 0"] == list(pool.facts["lost"])
    pool.release()


def test_a_model_that_is_not_here_is_refused_before_gpus_are_looked_for(on_cpu):
    with pytest.raises(FatalError, match=r"no folder /no/where"):
        connect_pool("hf/some", "/no/where", SETTINGS, (0,))


COMMIT = "0123456789012345678901234567890123456789"


@pytest.fixture
def cached(tmp_path, folder, monkeypatch) -> Path:
    """The snapshot of org/some in a hub's cache of its own, without its weights."""
    snapshot = tmp_path / "hub" / "models--org--some" / "snapshots" / COMMIT
    shutil.copytree(folder, snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text(COMMIT)
    (snapshot / "model.safetensors").unlink()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    return snapshot


def test_weights_that_are_not_here_are_fetched_before_a_process_starts(cached, monkeypatch):
    fetched = []

    def download(model: str, file: str, *, revision: str) -> None:
        fetched.append((model, file, revision))
        (cached / file).write_bytes(b"")

    monkeypatch.setattr(
        huggingface_hub.HfApi,
        "list_repo_files",
        lambda hub, model, revision: ["config.json", "model.safetensors"],
    )
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    at = source("hf/some", "org/some", None)
    for _ in range(2):
        fetch_weights("hf/some", at)
    assert [("org/some", "model.safetensors", COMMIT)] == fetched


def test_weights_that_are_not_here_are_not_fetched_offline(cached, on_cpu):
    with net.offline():
        pool = connect_pool("hf/some", "org/some", SETTINGS, (0,))
        (error,) = answers(pool, requests()[:1])
    assert "org/some is no folder, and not whole in the hub's cache; offline" in str(error)


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (["model.safetensors", "pytorch_model.bin", "consolidated.safetensors"], ["model.safetensors"]),
        (
            [
                "model-1-of-2.safetensors",
                "model-2-of-2.safetensors",
                "model.safetensors.index.json",
                "x/model-1.bin",
            ],
            ["model.safetensors.index.json", "model-1-of-2.safetensors", "model-2-of-2.safetensors"],
        ),
        (["pytorch_model.bin", "flax_model.msgpack"], ["pytorch_model.bin"]),
        (["README.md"], []),
    ],
)
def test_the_files_that_hold_the_weights(files, wanted):
    assert wanted == weight_files(files)


def test_a_snapshot_that_lacks_one_of_several_files_is_not_whole(cached, monkeypatch):
    (cached / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-1.safetensors"}}')
    asked: list[str] = []
    monkeypatch.setattr(
        huggingface_hub.HfApi, "list_repo_files", lambda hub, model, revision: asked.append(model) or []
    )
    at = source("hf/some", "org/some", None)
    fetch_weights("hf/some", at)
    (cached / "model-1.safetensors").touch()
    fetch_weights("hf/some", at)
    assert ["org/some"] == asked


def test_the_pool_is_a_local_model_to_whoever_asks_it(folder, on_cpu):
    pool = connect_pool("hf/some", str(folder), SETTINGS, (0, 1))
    assert isinstance(pool, DevicePool)
    assert pool.branching
    assert ("hf on cpu", "", "hf/some") == (pool.endpoint, pool.place, pool.name)
    pool.release()
