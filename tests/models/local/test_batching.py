"""Requests that wait share batches, and each has its own outcome."""

import asyncio
import threading
from collections.abc import Callable, Sequence

import pytest

from vivavoce.models.local import batching
from vivavoce.models.local.batching import BatchWorker, Job, is_out_of_memory
from vivavoce.models.requests import FatalError, Message, RejectedError, Reply, Request


class OutOfMemoryError(RuntimeError):
    """Fake: named as torch names its own."""


def request(text: str) -> Request:
    return Request(messages=(Message("user", text),))


class FakeWork:
    """A request's text is `kind:length`; holds only so many tokens at once, and keeps what it was given."""

    def __init__(self, room: int = 10**9, fails: Callable[[Sequence[Job]], None] = lambda jobs: None) -> None:
        self.room, self.fails = room, fails
        self.batches: list[list[str]] = []
        self.begun, self.gate = threading.Event(), threading.Event()

    def prepare(self, asked: Request) -> Job:
        text = asked.messages[0].content
        if text == "no":
            raise RejectedError("not this one")
        kind, _, length = text.partition(":")
        return Job(kind, int(length), text)

    def run(self, jobs: Sequence[Job]) -> list[Reply]:
        texts = [job.payload for job in jobs]
        if texts == ["gate:1"]:
            self.begun.set()
            self.gate.wait(10)
            return [Reply(text="open")]
        self.batches.append(texts)
        if len(jobs) * max(job.length for job in jobs) > self.room:
            raise OutOfMemoryError("CUDA out of memory")
        self.fails(jobs)
        return [Reply(text=text) for text in texts]


def answered(work: FakeWork, texts: Sequence[str], most: int = 4) -> list[Reply | BaseException]:
    """What comes of requests that all wait before the first of them is taken."""

    async def asking() -> list[Reply | BaseException]:
        batches = BatchWorker(work.prepare, work.run, most)
        first = asyncio.create_task(batches.reply(request("gate:1")))
        await asyncio.to_thread(work.begun.wait, 10)
        rest = [asyncio.create_task(batches.reply(request(text))) for text in texts]
        await asyncio.sleep(0)
        work.gate.set()
        await first
        found = await asyncio.gather(*rest, return_exceptions=True)
        await batches.close()
        return found

    return asyncio.run(asking())


def test_what_waits_runs_longest_first_and_everybody_gets_their_own():
    work = FakeWork()
    texts = ["a:3", "a:9", "a:1", "a:7", "a:5"]
    assert texts == [reply.text for reply in answered(work, texts, most=2)]
    assert [["a:9", "a:7"], ["a:5", "a:3"], ["a:1"]] == work.batches


def test_kinds_do_not_share_a_batch():
    work = FakeWork()
    answered(work, ["a:1", "b:2", "a:3", "b:4"])
    assert [["a:3", "a:1"], ["b:4", "b:2"]] == work.batches


def test_out_of_memory_halves_the_batch_and_goes_on():
    work = FakeWork(room=40)
    texts = ["a:20"] * 4 + ["a:18"] * 3
    assert texts == [reply.text for reply in answered(work, texts)]
    assert [4, 2, 2, 2, 1] == [len(batch) for batch in work.batches]


def test_the_smaller_batch_is_remembered_by_its_tokens():
    work = FakeWork(room=40)
    answered(work, ["a:20"] * 4 + ["a:10"] * 4)
    # 80 tokens did not fit and 40 are tried from now on: two long requests, or four short ones
    assert [["a:20"] * 4, ["a:20"] * 2, ["a:20"] * 2, ["a:10"] * 4] == work.batches


def test_what_does_not_fit_alone_is_refused_with_its_size():
    found = answered(FakeWork(room=40), ["a:50", "a:30"])
    assert isinstance(found[0], RejectedError)
    assert "does not fit in memory even alone, with 50 tokens" in str(found[0])
    assert found[1] == Reply(text="a:30")


def test_one_that_fails_fails_alone():
    def fails(jobs: Sequence[Job]) -> None:
        if any(job.length == 7 for job in jobs):
            raise ValueError("seven")

    found = answered(FakeWork(fails=fails), ["a:6", "a:7", "a:8"])
    assert [Reply(text="a:6"), Reply(text="a:8")] == [found[0], found[2]]
    assert isinstance(found[1], ValueError)


def test_a_request_that_cannot_be_made_ready_fails_alone():
    found = answered(FakeWork(), ["a:6", "no"])
    assert found[0] == Reply(text="a:6")
    assert isinstance(found[1], RejectedError)


def test_a_broken_model_is_everybodys_and_is_not_tried_one_by_one():
    def fails(jobs: Sequence[Job]) -> None:
        raise FatalError("no such model.")

    work = FakeWork(fails=fails)
    found = answered(work, ["a:6", "a:7"])
    assert all(isinstance(one, FatalError) for one in found)
    assert 1 == len(work.batches)


def test_whoever_has_gone_away_is_not_run():
    work = FakeWork()

    async def asking() -> None:
        batches = BatchWorker(work.prepare, work.run, 4)
        first = asyncio.create_task(batches.reply(request("gate:1")))
        await asyncio.to_thread(work.begun.wait, 10)
        gone, stays = (asyncio.create_task(batches.reply(request(text))) for text in ("a:1", "a:2"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        work.gate.set()
        await asyncio.gather(first, stays)
        await batches.close()

    asyncio.run(asking())
    assert [["a:2"]] == work.batches


def test_what_is_being_made_when_the_model_is_closed_is_no_answer():
    work = FakeWork()

    async def asking() -> list[Reply | BaseException]:
        batches = BatchWorker(work.prepare, work.run, 4)
        making = asyncio.create_task(batches.reply(request("gate:1")))
        await asyncio.to_thread(work.begun.wait, 10)
        closing = asyncio.create_task(batches.close())
        await asyncio.sleep(0)
        work.gate.set()
        await closing
        again = await batches.reply(request("a:1"))
        found = await asyncio.gather(making, return_exceptions=True)
        await batches.close()
        return [*found, again]

    made, again = asyncio.run(asking())
    assert isinstance(made, FatalError)
    assert again == Reply(text="a:1")


class FakeDeath(FakeWork):
    """The thread that answers `bad:1` dies of it, once others wait."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def held(self) -> None:
        self.begun.set()
        self.gate.wait(10)

    def prepare(self, asked: Request) -> Job:
        job = super().prepare(asked)
        if self.how == "kind" and job.payload == "bad:1":
            self.held()
            return job._replace(kind=[])  # type: ignore[arg-type]
        return job

    def run(self, jobs: Sequence[Job]) -> list[Reply]:
        if [job.payload for job in jobs] != ["bad:1"]:
            return super().run(jobs)
        self.held()
        if self.how == "short":
            return []
        raise SystemExit("a library's") if self.how == "exit" else OutOfMemoryError("CUDA out of memory")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("short", "ValueError: zip"),
        ("exit", "SystemExit: a library's"),
        ("free_memory", "RuntimeError: CUDA error"),
        ("kind", "TypeError: unhashable"),
    ],
)
def test_a_thread_that_dies_breaks_all_that_wait_and_the_next_request_has_another(how, why, monkeypatch):
    def failed() -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    async def asking() -> tuple[list[Reply | BaseException], Reply]:
        batches = BatchWorker(work.prepare, work.run, 4)
        bad = asyncio.create_task(batches.reply(request("bad:1")))
        await asyncio.to_thread(work.begun.wait, 10)
        rest = [asyncio.create_task(batches.reply(request(text))) for text in ("a:1", "a:2", "a:3")]
        await asyncio.sleep(0)
        rest.pop().cancel()
        await asyncio.sleep(0)
        work.gate.set()
        async with asyncio.timeout(5):
            found = await asyncio.gather(bad, *rest, return_exceptions=True)
            later = await batches.reply(request("a:4"))
            await batches.close()
        return found, later

    work = FakeDeath(how)
    monkeypatch.setattr(batching, "free_memory", failed)
    found, later = asyncio.run(asking())
    assert 3 == len(found)
    for one in found:
        assert isinstance(one, FatalError)
        assert why in str(one)
    assert Reply(text="a:4") == later


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OutOfMemoryError("CUDA out of memory"), True),
        (MemoryError(), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), True),
        (RuntimeError("index out of range"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_says_that_memory_is_used_up(error, full):
    assert is_out_of_memory(error) is full


def test_torchs_own_error_says_that_memory_is_used_up():
    import torch

    assert is_out_of_memory(torch.OutOfMemoryError("of the device"))
