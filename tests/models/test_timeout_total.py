"""A request takes so much time in all, however it is spent; and what is waited for has a name."""

import asyncio
import time
from types import SimpleNamespace

import pytest
from aiohttp import web
from tests.models.test_engine import GOOD, Stub, asked, chat, jobs

from vivavoce.models.engine import scheduler
from vivavoce.models.engine.calls import Queue
from vivavoce.models.engine.stop import Stop
from vivavoce.models.engine.usage import Waiting
from vivavoce.models.rate_limit import Limits


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.01)


async def dripping(request):
    reply = web.StreamResponse()
    await reply.prepare(request)
    for _ in range(100):
        await reply.write(b" ")
        await asyncio.sleep(0.1)
    return reply


async def silent(request):
    await asyncio.sleep(20)


def busy(after):
    async def answer(request):
        return web.json_response({"error": "wait"}, status=429, headers={"Retry-After": after})

    return answer


END = "; another attempt would pass the {} s of a request (--timeout-total), after "


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (dripping, "no reply came in time"),
        (silent, "no reply came in time"),
        (busy("60"), "HTTP 429: wait"),
    ],
)
def test_a_request_that_passes_its_time_has_failed_with_the_cause(fake, answer, cause):
    server, begun = fake(answer), time.monotonic()
    tally, got = asked(Queue(chat(server), jobs(1), Limits(attempts=50)), timeout_total=1.0)
    assert time.monotonic() - begun < 8
    assert (0, 1) == (tally.answered, tally.failed)
    assert f"{cause}{END.format(1)}" in got[0][2].error


def test_the_time_is_of_all_attempts_and_waits_together(fake, monkeypatch):
    async def at_once(stop, seconds, model):
        waits.append(seconds)

    waits = []
    monkeypatch.setattr(Stop, "pause", at_once)
    server = fake(busy("20"))
    tally, got = asked(Queue(chat(server), jobs(1), Limits(attempts=50)), timeout_total=50.0)
    assert (0, 1, 3) == (tally.answered, tally.failed, len(server.received))
    assert [20, 20] == [round(seconds) for seconds in waits if seconds > 0]
    assert f"HTTP 429: wait{END.format(50)}3 attempts" in got[0][2].error


def test_a_wait_that_would_pass_the_time_is_not_waited_for(fake):
    server, begun = fake(busy("500")), time.monotonic()
    asked(Queue(chat(server), jobs(1)), timeout_total=20.0)
    assert time.monotonic() - begun < 8


def test_the_time_is_of_all_attempts_together(fake):
    async def slow(request):
        await asyncio.sleep(0.3)
        return web.json_response({}, status=500)

    server = fake(slow)
    asked(Queue(chat(server), jobs(1), Limits(attempts=50)), timeout_total=1.0)
    assert 2 <= len(server.received) <= 4


def test_waits_for_our_own_limits_do_not_count():
    class FakeRemote(Stub):
        """Replies at once, so that it takes no time itself; requests to it have one."""

        place = "localhost"

    begun = time.monotonic()
    limits = Limits(concurrency=8, requests_per_minute=240)
    tally, _ = asked(Queue(FakeRemote(), jobs(10), limits), timeout_total=0.7)
    assert (10, 0) == (tally.answered, tally.failed)
    assert time.monotonic() - begun > 0.8


def test_a_model_in_this_process_has_all_the_time_it_takes():
    class Slow(Stub):
        async def generate(self, request):
            await asyncio.sleep(0.3)
            return await super().generate(request)

    tally, _ = asked(Queue(Slow(), jobs(2)), timeout_total=0.05)
    assert 2 == tally.answered


def test_progress_names_the_endpoint_that_is_waited_for(fake, monkeypatch):
    monkeypatch.setattr(scheduler, "SILENCE_S", 0.5)

    async def slow(request):
        await asyncio.sleep(2.5)
        return web.json_response(GOOD)

    server, heard = fake(slow), []
    asked(Queue(chat(server), jobs(3), Limits(3)), progress=lambda tally: heard.append(tally.waiting))
    (waiting,) = next(filter(None, heard))
    assert (f"http://localhost:{server.port}", 3) == waiting[:2]
    assert 0.5 <= waiting.longest_s < 3
    assert () == heard[-1]


def test_an_endpoint_that_answers_is_not_waited_for(fake, monkeypatch):
    """By its requests' clock: each takes nearly as long as an endpoint may be silent."""

    async def steady(request):
        await asyncio.sleep(0.1)
        return web.json_response(GOOD)

    server, heard = fake(steady), []
    clock = SimpleNamespace(monotonic=lambda: 0.9 * scheduler.SILENCE_S * len(server.received))
    monkeypatch.setattr(scheduler, "time", clock)
    asked(Queue(chat(server), jobs(20), Limits(1)), progress=lambda tally: heard.append(tally.waiting))
    assert 20 == len(server.received)
    assert not any(heard)


def test_the_name_of_an_endpoint_stands_with_how_many_and_how_long():
    assert "https://host (3 requests, longest 45 s)" == str(Waiting("https://host", 3, 45.2))
    assert "https://host (1 request, longest 6 s)" == str(Waiting("https://host", 1, 6.0))


def test_what_a_progress_raises_while_nothing_comes_is_heard_of(fake, monkeypatch):
    monkeypatch.setattr(scheduler, "SILENCE_S", 0.2)

    async def slow(request):
        await asyncio.sleep(2)
        return web.json_response(GOOD)

    def broken(tally):
        if tally.waiting:
            raise OSError("the display is gone")

    with pytest.raises(OSError, match="display is gone"):
        asked(Queue(chat(fake(slow)), jobs(1)), progress=broken)
