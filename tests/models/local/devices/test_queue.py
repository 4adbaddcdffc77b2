"""Requests for several devices: who takes which, and what becomes of those whose process ends."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from vivavoce.models.local.batching import Job
from vivavoce.models.local.devices.process import DeviceEndedError, DeviceRefusedError
from vivavoce.models.local.devices.queue import MOST_KILLS, DeviceQueue
from vivavoce.models.requests import FatalError, Message, RejectedError, Reply, Request

PATIENCE_S = 60.0
"""Seconds after which a test takes something for hung; a busy machine may need many."""


class FakeDevice:
    """Answers with the text it was asked, and keeps its batches; a text in `deadly` ends its process."""

    def __init__(
        self,
        label: str = "GPU 0",
        deadly: Sequence[str] = (),
        *,
        always: bool = False,
        refusal: str = "",
        unready: int = 0,
        before: Callable[[], Any] = lambda: None,
        wait_for: threading.Event | None = None,
    ) -> None:
        self.label, self.deadly, self.always, self.refusal = label, deadly, always, refusal
        self.unready, self.before, self.wait_for = unready, before, wait_for
        self.batches: list[list[str]] = []
        self.deaths, self.kills, self.ends = 0, 0, 0
        self.killed = threading.Event()

    def ready(self, seconds: float) -> bool:
        if self.refusal:
            raise DeviceRefusedError(self.refusal)
        if self.unready:
            self.unready -= 1
            raise DeviceEndedError("ended with code 3", ready=False)
        return self.wait_for is None or self.wait_for.wait(seconds)

    def run(self, jobs: Sequence[Job]) -> list[Reply | Exception]:
        texts = [str(job.payload) for job in jobs]
        self.batches.append(texts)
        self.before()
        if "hang:1" in texts:
            self.killed.wait(PATIENCE_S)
            raise DeviceEndedError("killed by signal 9", ready=True)
        if self.always or set(texts) & set(self.deadly):
            self.deaths += 1
            raise DeviceEndedError("killed by signal 9", ready=True)
        return [ValueError("seven") if text == "a:7" else Reply(text=text) for text in texts]

    def kill(self) -> None:
        self.kills += 1
        self.killed.set()

    def end(self) -> None:
        self.ends += 1


def request(text: str) -> Request:
    return Request(messages=(Message("user", text),))


def prepare(asked: Request) -> Job:
    """A request's text is `kind:length`."""
    text = asked.messages[0].content
    if text == "no":
        raise RejectedError("not this one")
    kind, _, length = text.partition(":")
    return Job(kind, int(length), text)


async def together(queue: DeviceQueue, texts: Sequence[str]) -> list[Any]:
    """What comes of requests that arrive at once, however busy the machine: the queue sees all or none."""
    with queue._changed:
        replies = [asyncio.create_task(queue.reply(request(text))) for text in texts]
        await asyncio.sleep(0)
    return await asyncio.gather(*replies, return_exceptions=True)


def answered(devices: Sequence[FakeDevice], texts: Sequence[str], most: int = 4) -> list[Any]:
    """What comes of requests that arrive together, as text or as the error."""

    async def asking() -> list[Any]:
        queue = DeviceQueue(prepare, devices, most)
        async with asyncio.timeout(PATIENCE_S):
            replies = await together(queue, texts)
            await queue.close()
        queue.end()
        return [reply.text if isinstance(reply, Reply) else reply for reply in replies]

    return asyncio.run(asking())


def test_the_longest_go_first_and_kinds_share_no_batch():
    device = FakeDevice()
    texts = ["a:3", "a:9", "b:8", "a:1", "b:5", "a:6"]
    assert texts == answered([device], texts, most=2)
    assert [["a:9", "a:6"], ["b:8", "b:5"], ["a:3", "a:1"]] == device.batches


def test_few_requests_are_shared_evenly():
    """Neither device answers before the other has its part."""
    barrier = threading.Barrier(2)
    devices = [FakeDevice("GPU 0", before=lambda: barrier.wait(PATIENCE_S)) for _ in range(2)]
    texts = [f"a:{k}" for k in range(10, 18)]
    assert texts == answered(devices, texts, most=16)
    longest_first = sorted((device.batches for device in devices), key=str, reverse=True)
    assert [[["a:17", "a:16", "a:15", "a:14"]], [["a:13", "a:12", "a:11", "a:10"]]] == longest_first


def test_a_device_that_is_free_takes_what_a_busy_one_does_not():
    busy, ready = threading.Event(), threading.Event()
    slow = FakeDevice("GPU 0", before=lambda: (ready.set(), busy.wait(PATIENCE_S)))
    free = FakeDevice("GPU 1", wait_for=ready)

    async def asking() -> None:
        queue = DeviceQueue(prepare, [slow, free], 1)
        async with asyncio.timeout(PATIENCE_S):
            first = asyncio.create_task(queue.reply(request("a:50")))
            while not slow.batches:
                await asyncio.sleep(0.01)
            await together(queue, [f"a:{k}" for k in range(20, 40)])
            busy.set()
            await first
            await queue.close()

    asyncio.run(asking())
    assert [["a:50"]] == slow.batches
    assert [[f"a:{k}"] for k in range(39, 19, -1)] == free.batches


def test_a_request_that_ends_three_processes_fails_and_the_others_are_answered():
    device = FakeDevice(deadly=["a:6"])
    found = answered([device], ["a:9", "a:8", "a:6", "a:5", "a:2"])
    assert ["a:9", "a:8", "a:5", "a:2"] == [text for text in found if isinstance(text, str)]
    assert isinstance(found[2], RejectedError)
    assert "3 processes ended while they ran it, the last (GPU 0) killed by signal 9" == str(found[2])
    assert MOST_KILLS == device.deaths


def test_a_request_that_ended_a_process_runs_alone_from_then_on():
    device = FakeDevice(deadly=["a:6"])
    answered([device], ["a:9", "a:8", "a:6", "a:5"])
    assert [["a:9", "a:8", "a:6", "a:5"], ["a:9"], ["a:8"], ["a:6"], ["a:6"], ["a:5"]] == device.batches


def test_two_such_requests_fail_and_the_rest_goes_on():
    device = FakeDevice(deadly=["a:6", "a:9"])
    found = answered([device], ["a:9", "a:6", "a:5", "a:4", "a:3"], most=2)
    assert [True, True, False, False, False] == [isinstance(each, RejectedError) for each in found]


def test_requests_of_a_device_that_dies_go_to_another_which_answers_them():
    """The one that always dies is given up, since what ended its processes ends none elsewhere."""
    bad, good = FakeDevice("GPU 0", always=True), FakeDevice("GPU 1")
    bad.before = lambda: time.sleep(0.01)
    texts = [f"a:{k}" for k in range(10, 90)]

    async def asking() -> tuple[list[Reply], dict[int, str]]:
        queue = DeviceQueue(prepare, [bad, good], 2)
        async with asyncio.timeout(PATIENCE_S):
            found = await asyncio.gather(*(queue.reply(request(text)) for text in texts))
            while not queue.lost:
                found += await asyncio.gather(*(queue.reply(request(text)) for text in texts[:8]))
            await queue.close()
        return found, queue.lost

    found, lost = asyncio.run(asking())
    assert texts == [reply.text for reply in found[: len(texts)]]
    cause = "3 processes ended with requests that another GPU answered, the last killed by signal 9"
    assert {0: cause} == lost
    assert bad.deaths >= 3


def test_requests_that_end_processes_cost_no_device():
    """Four such requests, each between others, whose processes end on whichever device they run."""
    deadly = ["a:11", "a:14", "a:17", "a:20"]
    devices = [FakeDevice(f"GPU {k}", deadly) for k in range(2)]
    texts = [f"a:{k}" for k in range(10, 30)]
    found = answered(devices, texts, most=2)
    assert deadly == [
        text for text, each in zip(texts, found, strict=True) if isinstance(each, RejectedError)
    ]
    assert set(texts) - set(deadly) == {each for each in found if isinstance(each, str)}
    assert MOST_KILLS * len(deadly) == sum(device.deaths for device in devices)


def test_a_device_that_cannot_load_the_model_does_not_stop_the_others():
    full, good = FakeDevice("GPU 0", refusal="not enough memory on cuda to load it."), FakeDevice("GPU 1")
    texts = ["a:1", "a:2", "a:3"]
    assert texts == answered([full, good], texts)
    assert [] == full.batches


def test_when_no_device_can_load_the_model_the_error_names_each():
    async def asking() -> list[BaseException]:
        queue = DeviceQueue(
            prepare, [FakeDevice("GPU 0", refusal="full."), FakeDevice("GPU 3", refusal="x")], 4
        )
        async with asyncio.timeout(PATIENCE_S):
            first = await asyncio.gather(
                *(queue.reply(request(f"a:{k}")) for k in range(3)), return_exceptions=True
            )
            later = await asyncio.gather(queue.reply(request("a:1")), return_exceptions=True)
            await queue.close()
        return [error for error in (*first, *later) if isinstance(error, BaseException)]

    errors = asyncio.run(asking())
    assert ["no GPU is left to run it on (GPU 0: full; GPU 3: x)."] * 4 == list(map(str, errors))
    assert all(isinstance(error, FatalError) for error in errors)


def test_a_process_that_ends_before_it_is_ready_is_no_fault_of_a_request():
    device = FakeDevice(unready=2)
    assert ["a:1", "a:2"] == answered([device], ["a:1", "a:2"])
    assert [["a:2", "a:1"]] == device.batches


def test_processes_that_never_get_ready_give_the_device_up():
    (error,) = answered([FakeDevice(unready=9)], ["a:1"])
    assert isinstance(error, FatalError)
    assert "GPU 0: 3 processes ended before they were ready, the last ended with code 3" in str(error)


@pytest.mark.parametrize("others", [1, 0])
def test_a_device_that_was_given_up_is_tried_again_once_all_were_released(others: int):
    """Another model may have held its memory; with all given up, nothing else would be asked."""
    refused, tried = threading.Event(), threading.Event()
    device = FakeDevice("GPU 0", refusal="full.", before=tried.set)
    rest = [FakeDevice("GPU 1", wait_for=refused)] * others  # one that is quick could answer all

    async def asking() -> list[Any]:
        queue = DeviceQueue(prepare, [device, *rest], 4)
        async with asyncio.timeout(PATIENCE_S):
            asking_first = asyncio.create_task(together(queue, ["a:1"]))
            while not queue.lost:
                await asyncio.sleep(0.01)
            refused.set()
            first = await asking_first
            await queue.close()
            assert {0: "full."} == queue.lost  # to close is not to release
            queue.end()
            device.refusal = ""
            for other in rest:
                other.before = lambda: tried.wait(PATIENCE_S)
            second = await together(queue, [f"a:{k}" for k in range(6)])
            await queue.close()
        assert ({}, {0: "full."}) == (queue.lost, queue.lost_before)
        queue.end()
        return [first, second]

    first, second = asyncio.run(asking())
    assert others == sum(isinstance(reply, Reply) for reply in first)
    assert [f"a:{k}" for k in range(6)] == [reply.text for reply in second]
    assert tried.is_set()


def test_a_device_whose_processes_ended_has_all_of_its_chances_again_after_a_release():
    device = FakeDevice(unready=MOST_KILLS + MOST_KILLS - 1)

    async def asking() -> list[Any]:
        queue = DeviceQueue(prepare, [device], 4)
        async with asyncio.timeout(PATIENCE_S):
            first = await together(queue, ["a:1"])
            queue.end()
            second = await together(queue, ["a:2"])
            await queue.close()
        queue.end()
        return [*first, *second]

    error, reply = asyncio.run(asking())
    assert (True, "a:2") == (isinstance(error, FatalError), reply.text)


def test_where_everything_ends_its_process_the_rest_is_left_and_not_failed():
    """Three requests fail; of the others it is not known that they would."""
    found = answered([FakeDevice(always=True)], [f"a:{k}" for k in range(9, 0, -1)], most=1)
    assert 3 == sum(isinstance(error, RejectedError) for error in found)
    assert 6 == sum(isinstance(error, FatalError) for error in found)


def test_an_error_of_one_request_is_its_own():
    found = answered([FakeDevice()], ["a:6", "a:7", "no", "a:8"])
    assert ["a:6", "a:8"] == [found[0], found[3]]
    assert isinstance(found[1], ValueError)
    assert isinstance(found[2], RejectedError)


def test_closing_ends_what_runs_and_a_later_request_is_answered():
    device = FakeDevice()

    async def asking() -> tuple[list[Any], Reply]:
        queue = DeviceQueue(prepare, [device], 1)
        async with asyncio.timeout(PATIENCE_S):
            running = asyncio.create_task(queue.reply(request("hang:1")))
            while not device.batches:
                await asyncio.sleep(0.01)
            waiting = asyncio.create_task(queue.reply(request("a:1")))
            await asyncio.sleep(0.05)
            await queue.close()
            found = await asyncio.gather(running, waiting, return_exceptions=True)
            device.killed.clear()
            later = await queue.reply(request("a:2"))
            await queue.close()
        return found, later

    found, later = asyncio.run(asking())
    assert all(isinstance(error, FatalError) for error in found)
    assert "a:2" == later.text
    assert 1 == device.kills


def test_a_request_that_comes_while_the_queue_closes_is_answered_after_it():
    """It starts no second thread beside that of a device that has not ended yet."""
    going_on = threading.Event()
    device = FakeDevice(before=lambda: going_on.wait(PATIENCE_S))

    async def asking() -> list[Any]:
        queue = DeviceQueue(prepare, [device], 1)
        async with asyncio.timeout(PATIENCE_S):
            running = asyncio.create_task(queue.reply(request("a:1")))
            while not device.batches:
                await asyncio.sleep(0.01)
            closing = asyncio.create_task(queue.close())
            while not device.kills:
                await asyncio.sleep(0.01)
            later = asyncio.create_task(queue.reply(request("a:2")))
            await asyncio.sleep(0)
            going_on.set()
            found = await asyncio.gather(running, closing, later, return_exceptions=True)
            await queue.close()
        return found

    _, closed, later = asyncio.run(asking())
    assert closed is None
    assert "a:2" == later.text
    assert [["a:1"], ["a:2"]] == device.batches


def test_what_a_process_ran_that_ends_when_no_device_is_left_hangs_nobody():
    device = FakeDevice(always=True)

    async def asking() -> list[Any]:
        queue = DeviceQueue(prepare, [device], 1)
        device.before = lambda: queue._leave_out(0, "others answered what ended its processes")
        async with asyncio.timeout(PATIENCE_S):
            found = await together(queue, ["a:1", "a:2"])
            await queue.close()
        return found

    causes = "no GPU is left to run it on (GPU 0: others answered what ended its processes)."
    assert [causes] * 2 == [str(error) for error in asyncio.run(asking())]


def test_idle_processes_are_not_killed_when_the_queue_closes():
    device = FakeDevice()

    async def asking() -> None:
        queue = DeviceQueue(prepare, [device], 1)
        await queue.reply(request("a:1"))
        await queue.close()

    asyncio.run(asking())
    assert (0, 0) == (device.kills, device.ends)


def test_a_request_that_cannot_be_prepared_by_a_fault_of_ours_hangs_nobody():
    def broken(asked: Request) -> Job:
        raise SystemExit("a library's")

    async def asking() -> list[Any]:
        queue = DeviceQueue(broken, [FakeDevice()], 1)
        async with asyncio.timeout(PATIENCE_S):
            found = await asyncio.gather(queue.reply(request("a:1")), return_exceptions=True)
            await queue.close()
        return found

    (error,) = asyncio.run(asking())
    assert isinstance(error, FatalError)
    assert "SystemExit: a library's" in str(error)


@pytest.mark.parametrize("n_devices", [1, 2, 3, 5])
def test_every_request_is_answered_once_whatever_the_number_of_devices(n_devices):
    devices = [FakeDevice(f"GPU {k}") for k in range(n_devices)]
    texts = [f"{'ab'[k % 2]}:{k}" for k in range(10, 110)]
    assert texts == answered(devices, texts)
    assert sorted(texts) == sorted(text for device in devices for batch in device.batches for text in batch)
