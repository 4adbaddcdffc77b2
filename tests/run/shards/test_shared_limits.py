"""Sixteen shards at once: what they may do together is what one run may do."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import vivavoce as viva
from vivavoce.core.errors import InputError
from vivavoce.core.records import Finding
from vivavoce.models.engine.client import ModelClient
from vivavoce.store.read import provenance
from vivavoce.store.runfile import RunFile

Exam = Callable[..., str]
Limits = Callable[..., Path]
GOOD = {
    "model": "m",
    "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 1},
}


class Mock:
    """What a slow endpoint sees: how many requests at once, and when each arrived."""

    def __init__(self, latency: float) -> None:
        self.latency, self.flying, self.most = latency, 0, 0
        self.arrivals: list[float] = []

    async def __call__(self, request: Any) -> Any:
        self.flying += 1
        self.most = max(self.most, self.flying)
        self.arrivals.append(time.monotonic())
        try:
            await asyncio.sleep(self.latency)
            return GOOD
        finally:
            self.flying -= 1


@pytest.fixture
def mock(fake: Any, monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What answers as `vllm/m`."""
    endpoint = Mock(0.0)
    monkeypatch.setenv("VLLM_BASE_URL", fake(endpoint).base_url)
    return endpoint


def all_shards(folder: Path, spec: str, of: int, **options: Any) -> list[Finding]:
    def collected(number: int) -> Finding:
        run = viva.open(folder / f"part-{number}.viva")
        return run.collect(spec, models=["vllm/m"], shard=f"{number}/{of}", **options)

    with ThreadPoolExecutor(of) as pool:
        return list(pool.map(collected, range(1, of + 1)))


def test_sixteen_shards_keep_the_concurrency_of_the_endpoint(
    exam: Exam, mock: Mock, limits: Limits, tmp_path: Path
) -> None:
    mock.latency = 0.2
    findings = all_shards(tmp_path, exam(160), 16, providers=limits(concurrency=32))
    assert 160 == sum(finding.rows[0]["answered"] for finding in findings)
    assert 160 == len(mock.arrivals)
    assert 2 < mock.most <= 32


def test_whole_limits_are_not_divided(exam: Exam, mock: Mock, limits: Limits, tmp_path: Path) -> None:
    """The limit above is what holds: without it more requests are on the wire."""
    mock.latency = 0.3
    all_shards(tmp_path, exam(160), 4, providers=limits(concurrency=8), limits="whole")
    assert 8 < mock.most <= 32


def test_sixteen_shards_keep_the_rate_and_the_cost(
    exam: Exam, mock: Mock, limits: Limits, tmp_path: Path
) -> None:
    providers = limits(requests_per_minute=1920, prices={"m": [100_000.0, 0.0]})  # a request costs 1
    findings = all_shards(tmp_path, exam(160), 16, providers=providers, max_cost=80.0)
    for start in mock.arrivals:  # 32 a second, and each shard a second's worth at once
        assert sum(start <= at < start + 1.0 for at in mock.arrivals) <= 2 * 32 + 16
    assert 32 < len(mock.arrivals) <= 80
    assert sum(finding.rows[0]["cost"] for finding in findings) <= 80.0
    assert all(finding.rows[0]["answered"] <= 5 for finding in findings)


def test_a_client_of_scoring_keeps_its_part(limits: Limits, tmp_path: Path) -> None:
    from vivavoce.models.endpoints import load_endpoints

    endpoints = load_endpoints(limits(concurrency=32, tokens_per_minute=1000))
    client = ModelClient(RunFile(tmp_path / "run.viva"), endpoints=endpoints, shards=16)
    assert (2, None, 62) == client.candidate("vllm/m").limits[:3]
    assert ["vllm/m"] == list(client.candidates)


def test_a_judge_of_a_shard_is_asked_within_its_part(
    exam: Exam, mock: Mock, limits: Limits, tmp_path: Path
) -> None:
    run = viva.open(tmp_path / "part.viva")
    run.collect(exam(12), models=["baseline/echo"], shard="1/2")
    mock.latency = 0.2
    judge = "judge(rubric=correctness, model=vllm/m)"
    finding = run.score(judge, shard="1/2", providers=limits(concurrency=4))
    assert 2 == mock.most
    assert any(note.startswith("Shard 1/2 may ask 2 at once at vllm.") for note in finding.notes)


class Remarks:
    """A progress that keeps what is to be said before anybody is asked."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def __call__(self, *counts: Any) -> None:
        pass

    def remark(self, sentence: str) -> None:
        self.sentences.append(sentence)


@pytest.mark.parametrize("amount", [-1, float("inf"), float("nan"), 1e13])
@pytest.mark.parametrize("more", [{}, {"limits": "whole"}, {"dry_run": True}])
def test_no_limit_of_cost_is_quoted_as_it_stands_and_nothing_is_said_or_stored_before(
    exam: Exam, mock: Mock, tmp_path: Path, amount: float, more: dict[str, Any]
) -> None:
    spec, remarks = exam(12), Remarks()
    run = viva.open(tmp_path / "part.viva")
    run.collect(spec, models=["baseline/echo"], shard="1/4")
    with run.file.reading() as db:
        before = provenance(db)
    options = {"max_cost": amount, "shard": "1/4", "progress": remarks, **more}
    for ask in (
        partial(run.collect, spec, models=["vllm/m"]),
        partial(run.score, "exact"),
        partial(run.score, "judge(rubric=correctness, model=vllm/m)"),
    ):
        with pytest.raises(InputError) as error:
            ask(**options)
        assert f"--max-cost {amount}: a number from 0 to 1,000,000,000,000 is needed." == str(error.value)
    with run.file.reading() as db:
        assert before == provenance(db)
    assert ([], []) == (remarks.sentences, mock.arrivals)


def test_a_price_that_is_not_known_is_said_without_the_part_of_the_limit(
    exam: Exam, mock: Mock, tmp_path: Path
) -> None:
    run = viva.open(tmp_path / "part.viva")
    with pytest.raises(InputError, match=r"^--max-cost: the price of vllm/m is not known"):
        run.collect(exam(12), models=["vllm/m"], shard="1/4", max_cost=8)
