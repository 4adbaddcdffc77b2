"""The engine's promises, one by one: limits, rates, waits, stops, sharing, cost."""

import asyncio
import contextlib
import json
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter

import pytest
from aiohttp import web
from tests.lengths import length
from tests.models.one_by_one import each, recalling

from vivavoce.core.net import offline
from vivavoce.models import rate_limit as gates
from vivavoce.models.endpoints import EndpointConfig
from vivavoce.models.engine import scheduler
from vivavoce.models.engine.calls import Call, CallOutcome, Queue
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.engine.sources import MIN_TAKEN
from vivavoce.models.engine.writing import MAX_UNSTORED
from vivavoce.models.providers.openai import OpenAIChat
from vivavoce.models.rate_limit import Limits, Rate, RateLimiter
from vivavoce.models.requests import (
    FatalError,
    Message,
    RejectedError,
    Reply,
    Request,
    RetryableError,
    Sampling,
    Usage,
)


class Stub:
    """A model in this process that does what it is told with a question's number."""

    endpoint, place = "stub", ""

    def __init__(self, act=lambda k: None, name="stub/one"):
        self.name, self.act = name, act
        self.asked: Counter[int] = Counter()
        self.closed = 0

    async def generate(self, request):
        number = int(request.messages[-1].content)
        self.asked[number] += 1
        await asyncio.sleep(0)
        self.act(number)
        return Reply(text=f"answer {number}", usage=Usage(10, 3))

    async def close(self):
        self.closed += 1


def job(k, tag=None, **sampling):
    return Call(
        Request(messages=(Message("user", str(k)),), sampling=Sampling(**sampling)),
        1,
        k if tag is None else tag,
    )


def jobs(n, **sampling):
    return (job(k, **sampling) for k in range(n))


def asked(works, **settings):
    got: list[tuple[str, int, CallOutcome]] = []
    works = [works] if isinstance(works, Queue) else works
    tally = ask(works, each(lambda model, job, answer: got.append((model.name, job.tag, answer))), **settings)
    return tally, got


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(gates, "CUT_INTERVAL_S", 0.05)


def chat(server, name="fake/m", **settings):
    return OpenAIChat(
        name, "m", EndpointConfig(name="fake", base_url=server.base_url, timeout=5.0, **settings)
    )


GOOD = {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


# How much at once.


def test_too_much_halves_the_limit_and_each_good_round_adds_one():
    gate = RateLimiter(Limits(concurrency=16))
    gate.on_overload(sent=1.0, now=2.0)
    assert 8.0 == gate.limit
    for _ in range(8):
        gate.on_success()
    assert 8.9 < gate.limit < 9.0
    for _ in range(1000):
        gate.on_success()
    assert 16.0 == gate.limit


def test_what_was_sent_before_a_cut_or_a_moment_after_says_nothing_new(monkeypatch):
    monkeypatch.setattr(gates, "CUT_INTERVAL_S", 1.0)
    gate = RateLimiter(Limits(concurrency=16))
    gate.on_overload(sent=1.0, now=2.0)
    gate.on_overload(sent=1.5, now=9.0)
    gate.on_overload(sent=2.1, now=2.2)
    assert 8.0 == gate.limit
    gate.on_overload(sent=2.1, now=3.1)
    assert 4.0 == gate.limit


def test_one_at_a_time_is_the_least():
    gate = RateLimiter(Limits(concurrency=3))
    for k in range(9):
        gate.on_overload(sent=10.0 * k, now=10.0 * k + 1)
    assert 1.0 == gate.limit


def test_an_endpoint_that_bears_four_is_soon_asked_about_four(fake):
    flying, seen, crowd = 0, [], asyncio.Event()

    async def at_most_four(request):
        nonlocal flying
        flying += 1
        mine = flying
        seen.append(mine)
        if mine > 8:
            crowd.set()
        if len(seen) <= 8:  # however slow they come, the first wait until they are many
            await crowd.wait()
        await asyncio.sleep(0.02)
        flying -= 1
        return web.json_response(GOOD) if mine <= 4 else web.Response(status=429)

    tally, _ = asked(Queue(chat(fake(at_most_four)), jobs(300), Limits(32, attempts=20)))
    assert 300 == tally.answered
    assert max(seen) > 8  # it began with all it was allowed
    assert statistics.median(seen[-100:]) <= 10


def test_two_models_of_one_endpoint_share_its_limit(serving):
    server = serving(latency=0.05)
    one = chat(server, "fake/one")
    two = chat(server, "fake/two")
    tally, _ = asked([Queue(one, jobs(20), Limits(4)), Queue(two, jobs(20), Limits(4))])
    assert (40, 4) == (tally.answered, server.told()["most"])


def test_a_place_given_to_one_who_was_cancelled_goes_to_the_next():
    async def scene():
        gate = RateLimiter(Limits(concurrency=1))
        await gate.enter()
        first, second = asyncio.create_task(gate.enter()), asyncio.create_task(gate.enter())
        await asyncio.sleep(0)
        gate.leave()  # gives the place to first
        first.cancel()  # before it ran
        with contextlib.suppress(asyncio.CancelledError):
            await first
        await asyncio.wait_for(second, 5)
        gate.leave()
        assert 0 == gate.active

    asyncio.run(scene())


# How much per minute.


@pytest.mark.parametrize(("per_minute", "within"), [(6, 7), (60, 62), (600, 611)])
def test_in_a_minute_no_more_starts_than_the_rate_and_a_second_s_worth(per_minute, within):
    rate = Rate(per_minute / 60)
    starts = [rate.starts(1, now=0.0) for _ in range(4 * per_minute)]
    assert 0.0 == starts[0]
    for minute in range(3):
        assert per_minute - 1 <= sum(60 * minute <= at < 60 * (minute + 1) for at in starts) <= within


def test_the_first_request_need_not_wait_and_idle_time_is_not_saved_up():
    rate = Rate(1 / 60)
    assert 1000.0 == rate.starts(1, now=1000.0)
    assert 9999.0 == rate.starts(1, now=9999.0)
    assert rate.starts(1, now=9999.0) >= 9999.0 + 58


def test_tokens_are_what_is_sent_and_may_be_made():
    gate = RateLimiter(Limits(tokens_per_minute=6000))
    request = Request(messages=(Message("user", "x" * 400),), sampling=Sampling(max_tokens=900))
    assert [0.0, 9.0, 19.0] == [gate.starts(request, 0.0) for _ in range(3)]


def test_the_slower_rate_counts():
    gate = RateLimiter(Limits(requests_per_minute=60, tokens_per_minute=6000))
    request = Request(messages=(Message("user", "x" * 4000),))
    assert [0.0, 9.0, 19.0] == [gate.starts(request, 0.0) for _ in range(3)]


def test_the_engine_keeps_to_the_rate(fake):
    server, begun = fake(GOOD), time.monotonic()
    asked(Queue(chat(server), jobs(16), Limits(requests_per_minute=600)))
    assert server.times[-1] - begun > 0.45  # eleven at once, then a tenth of a second each


def refusing_max_tokens(received):
    """An endpoint that knows the limit on tokens by its newer name alone."""

    async def answer(request):
        body = await request.json()
        received.append(body.keys() & {"max_tokens", "max_completion_tokens"})
        if "max_tokens" in body:
            return web.json_response({"error": "use max_completion_tokens instead of max_tokens"}, status=400)
        return web.json_response(GOOD)

    return answer


def test_a_request_that_is_put_otherwise_takes_its_place_in_the_rate_and_is_no_attempt(fake):
    received = []
    server, begun = fake(refusing_max_tokens(received)), time.monotonic()
    tally, got = asked(
        Queue(chat(server), jobs(12, max_tokens=9), Limits(12, requests_per_minute=600, attempts=1))
    )
    assert (12, 0, {1}) == (tally.answered, tally.retries, {outcome.attempts for _, _, outcome in got})
    assert 12 == received.count({"max_completion_tokens"})
    assert len(received) == sum(tally.traffic.requests.values())
    # eleven at once, then a tenth of a second each
    assert server.times[-1] - begun > (len(received) - 11) / 10 - 0.05


def test_a_model_that_always_wants_to_be_asked_otherwise_fails_after_its_attempts():
    def otherwise(k):
        raise RetryableError("put it otherwise", at_once=True)

    model = Stub(otherwise)
    tally, got = asked(Queue(model, jobs(1), Limits(attempts=3)))
    assert ({0: 6}, 1) == (model.asked, tally.failed)
    assert "put it otherwise, after 3 attempts" == got[0][2].error


# Waiting and trying again.


def test_a_retry_after_is_kept_to(fake):
    server = fake(lambda request: later("0.6"), GOOD)
    tally, _ = asked(Queue(chat(server), jobs(1)))
    assert (1, 1) == (tally.answered, tally.retries)
    assert server.times[1] - server.times[0] >= 0.6


async def later(seconds):
    return web.Response(status=429, headers={"Retry-After": seconds})


@pytest.mark.parametrize(
    ("after", "low", "high"), [(7.0, 7, 7.01), (1e9, 600, 600.01), (float("inf"), 600, 600.01)]
)
def test_a_retry_after_is_bounded(after, low, high):
    assert low <= scheduler._backoff(1, after) <= high


def test_a_wait_is_doubled_and_bounded(monkeypatch):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.5)
    monkeypatch.setattr(scheduler.random, "uniform", lambda low, high: high)
    assert [1, 2, 4, 8, 16, 32, 60, 60] == [scheduler._backoff(k, None) for k in range(1, 9)]


def test_attempts_are_bounded_and_the_last_cause_is_told():
    def busy(k):
        raise RetryableError("HTTP 500: oops")

    model = Stub(busy)
    tally, got = asked(Queue(model, jobs(1), Limits(attempts=3)))
    assert ({0: 3}, 2) == (model.asked, tally.retries)
    assert "HTTP 500: oops, after 3 attempts" == got[0][2].error
    assert (3, None) == (got[0][2].attempts, got[0][2].cost)


def test_a_refusal_is_not_tried_again():
    def too_long(k):
        if k == 1:
            raise RejectedError("the question is longer than the model's context")

    model = Stub(too_long)
    tally, _ = asked(Queue(model, jobs(3)))
    assert (2, 1) == (tally.answered, tally.failed)
    assert {0: 1, 1: 1, 2: 1} == model.asked
    assert {"the question is longer than the model's context": 1} == tally.causes


def test_what_a_stranger_s_model_raises_is_a_failure_and_loses_nothing():
    def slip(k):
        if k == 1:
            raise KeyError("text")

    tally, got = asked(Queue(Stub(slip), jobs(3)))
    assert (2, 1) == (tally.answered, tally.failed)
    assert "the model raised KeyError: 'text'" == next(a.error for _, k, a in got if k == 1)


def test_a_model_that_cancels_its_own_request_has_failed_with_a_cause():
    def cancelled(k):
        if k == 1:
            raise asyncio.CancelledError

    tally, got = asked(Queue(Stub(cancelled), jobs(3), Limits(1)))
    assert (2, 1, 0) == (tally.answered, tally.failed, tally.remaining)
    assert "a task of its own was cancelled" in next(a.error for _, k, a in got if k == 1)


def test_causes_with_numbers_in_them_do_not_pile_up():
    def numbered(k):
        if k:
            raise RejectedError(f"HTTP 400: request {k} is bad")

    tally, _ = asked(Queue(Stub(numbered), jobs(1000), Limits(1)))
    assert (101, 999) == (len(tally.causes), tally.causes.total())
    assert 899 == tally.causes["other causes"]


# Giving up.


def test_a_model_that_refuses_everything_is_given_up():
    def no(k):
        raise RejectedError("HTTP 400: temperature is not supported")

    tally, got = asked(Queue(Stub(no), jobs(1000), Limits(2)))
    assert 3 <= len(got) <= 4
    assert "temperature is not supported" in tally.stopped["stub/one"]
    assert 1000 == len(got) + tally.remaining


def test_questions_that_are_refused_do_not_stop_a_model_that_answers():
    def long(k):
        if k > 0:
            raise RejectedError("too long")

    tally, _ = asked(Queue(Stub(long), jobs(100), Limits(1)))
    assert (1, 99, {}) == (tally.answered, tally.failed, tally.stopped)


def test_failures_between_answers_do_not_add_up():
    def odd(k):
        if k % 2:
            raise RetryableError("HTTP 500")

    tally, _ = asked(Queue(Stub(odd), jobs(100), Limits(1, attempts=1)))
    assert (50, 50, {}) == (tally.answered, tally.failed, tally.stopped)


@pytest.mark.parametrize("limits", [Limits(8, requests_per_minute=2), Limits(8)])
def test_a_model_that_is_given_up_holds_nobody_up_by_waits(limits):
    def no_key(k):
        if k == 0:
            raise RetryableError("HTTP 429", after=300)
        raise FatalError("the key is refused.")

    first = 1 if limits.requests_per_minute else 0
    begun = time.monotonic()
    tally, _ = asked(Queue(Stub(no_key), (job(k) for k in range(first, 20)), limits))
    assert time.monotonic() - begun < 20
    assert {"stub/one": "the key is refused."} == tally.stopped
    assert 20 - first == tally.remaining


def test_a_model_that_fails_is_given_up_beside_one_on_the_same_endpoint_that_answers():
    def busy(k):
        raise RetryableError("HTTP 500")

    works = [
        Queue(Stub(busy, "stub/bad"), jobs(200), Limits(1, attempts=1)),
        Queue(Stub(), jobs(200), Limits(1)),
    ]
    tally, got = asked(works)
    assert 200 == sum(name == "stub/one" for name, _, _ in got)
    assert {"stub/bad"} == tally.stopped.keys()


def test_a_broken_model_leaves_the_others_going():
    def no_key(k):
        raise FatalError("the key is refused.")

    bad, good = Stub(no_key, "stub/bad"), Stub()
    tally, _ = asked([Queue(bad, jobs(50)), Queue(good, jobs(50))])
    assert (50, 0, 50) == (tally.answered, tally.failed, tally.remaining)
    assert {"stub/bad": "the key is refused."} == tally.stopped
    assert (1, 1) == (bad.closed, good.closed)


def test_offline_a_hosted_model_is_left_and_one_in_this_process_is_asked():
    hosted = OpenAIChat("far/m", "m", EndpointConfig(name="far", base_url="https://model.example.org/v1"))
    with offline():
        tally, _ = asked([Queue(hosted, jobs(5)), Queue(Stub(), jobs(5))])
    assert (5, 5) == (tally.answered, tally.remaining)
    assert "'model.example.org' is not this machine" in tally.stopped["far/m"]
    assert {} == tally.traffic.requests


# Memory.


@pytest.mark.parametrize("concurrency", [1, 50])
def test_memory_holds_few_calls_beyond_those_that_can_be_asked_at_once(concurrency):
    alive = most = 0
    n = length(4_000, 20_000)

    def made():
        nonlocal alive, most
        for k in range(n):
            alive += 1
            most = max(most, alive)
            yield job(k)

    def keep(model, job, answer):
        nonlocal alive
        alive -= 1

    assert n == ask([Queue(Stub(), made(), Limits(concurrency))], each(keep)).answered
    assert most <= concurrency + 1.5 * max(MIN_TAKEN, concurrency) + MAX_UNSTORED


# Asking once.


def test_what_is_recalled_is_kept_at_no_cost_and_not_asked():
    model, known = Stub(), CallOutcome(Reply(text="of old", usage=Usage(10, 3)), None, 2, 1.5, 9.0)
    work = Queue(model, jobs(3), price=(1e6, 0.0))
    tally, got = asked(work, recall=recalling(lambda job: known if job.tag == 1 else None))
    assert {0: 1, 2: 1} == model.asked
    assert (3, 1, 20, 20.0) == (tally.answered, tally.shared, tally.input_tokens, tally.cost)
    assert ("of old", 0.0) == next((a.reply.text, a.cost) for _, k, a in got if k == 1)


def test_a_failure_that_is_recalled_is_asked_again():
    model = Stub()
    tally, _ = asked(
        Queue(model, jobs(1)), recall=recalling(lambda job: CallOutcome(None, "HTTP 500", 6, 1.0, None))
    )
    assert ({0: 1}, 1, 0) == (model.asked, tally.answered, tally.shared)


def test_recalling_costs_no_budget():
    known = CallOutcome(Reply(text="of old"), None, 1, 1.0, None)
    tally, _ = asked(
        Queue(Stub(), jobs(9), price=(1e6, 1e6)), recall=recalling(lambda job: known), max_cost=0.0
    )
    assert (9, 0.0) == (tally.answered, tally.cost)


def test_what_recall_raises_is_heard_of():
    def torn(model, calls):
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        asked(Queue(Stub(), jobs(3)), recall=torn)


def test_a_failure_is_shared_by_equal_requests_on_the_wire():
    def busy(k):
        raise RetryableError("HTTP 500")

    model = Stub(busy)
    tally, got = asked(Queue(model, [job(7, tag) for tag in range(3)], Limits(attempts=2)))
    assert ({7: 2}, 3, 0) == (model.asked, tally.failed, tally.shared)
    assert 2 == sum(outcome.attempts for _, _, outcome in got)


def test_equal_questions_with_other_keys_are_two_to_a_baseline():
    first, second = (Request(messages=(Message("user", "Which?"),), reference=r) for r in "AB")
    assert first.key != second.key


# Cost.


def test_the_budget_holds_with_many_at_once():
    model = Stub()  # 3 tokens out each, 11 booked until it is known
    tally, got = asked(Queue(model, jobs(100, max_tokens=11), Limits(10), (0.0, 1e6)), max_cost=60.0)
    assert (20, 60.0) == (len(got), tally.cost)
    assert 80 == tally.remaining


def test_a_budget_below_one_request_asks_nothing():
    model = Stub()
    tally, _ = asked(Queue(model, jobs(100, max_tokens=11), Limits(10), (0.0, 1e6)), max_cost=5.0)
    assert ({}, 100) == (model.asked, tally.remaining)


def test_what_has_no_price_goes_on_when_the_budget_is_spent():
    works = [
        Queue(Stub(name="stub/dear"), jobs(50), Limits(1), (1e6, 0.0)),
        Queue(Stub(), jobs(50), Limits(1)),
    ]
    _, got = asked(works, max_cost=30.0)
    assert {"stub/dear": 3, "stub/one": 50} == Counter(name for name, _, _ in got)


# Ctrl-C and SIGTERM.

INT, TERM = signal.SIGINT, signal.SIGTERM
SCRIPT = """
import json, signal, sys
from vivavoce.core.termination import interrupt_once
from vivavoce.models.engine.calls import Call, Queue
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Message, Request
from vivavoce.models.providers.openai import OpenAIChat
from vivavoce.models.endpoints import EndpointConfig

signal.signal(signal.SIGTERM, interrupt_once)  # as our commands do
base_url, limits = sys.argv[1], Limits(**json.loads(sys.argv[2]))
calls = [Call(Request(messages=(Message("user", f"q{k // 2}"),)), 1, k) for k in range(50)]  # each has a twin
model = OpenAIChat("fake/m", "m", EndpointConfig(name="fake", base_url=base_url))
kept = []
tally = ask([Queue(model, calls, limits)], lambda batch: kept.extend(one.call.tag for one in batch))
print(json.dumps([len(kept), tally.answered, tally.remaining, tally.interrupted]))
"""


@contextlib.contextmanager
def running(base_url, **limits):
    words = [sys.executable, "-W", "error", "-c", SCRIPT, base_url, json.dumps(limits)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(what):
    for _ in range(1200):
        if what():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to that")


@pytest.mark.parametrize("signals", [[INT], [TERM, TERM, TERM], [INT, TERM, TERM]])
def test_ctrl_c_or_any_sigterm_lets_what_is_on_the_wire_finish_and_asks_nothing_new(fake, signals):
    release = asyncio.Event()

    async def held(request):
        await release.wait()
        return web.json_response(GOOD)

    server = fake(held)
    with running(server.base_url, concurrency=6) as process:
        until(lambda: len(server.times) == 3)
        for number in signals:
            process.send_signal(number)
            time.sleep(0.2)
        server.loop.call_soon_threadsafe(release.set)
        said, complaints = process.communicate(timeout=60)
    assert [6, 6, 44, True] == json.loads(said)
    assert (3, "") == (len(server.times), complaints)


def test_a_second_ctrl_c_drops_what_is_on_the_wire(fake):
    async def held(request):
        await asyncio.sleep(600)

    server = fake(held)
    with running(server.base_url, concurrency=6) as process:
        until(lambda: len(server.times) == 3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.4)  # of two signals before the first is heard the system keeps one
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=60)
    assert [0, 0, 50, True] == json.loads(said)
    assert "" == complaints


@pytest.mark.parametrize(
    ("limits", "answer"), [({}, lambda request: later("500")), ({"requests_per_minute": 1}, GOOD)]
)
def test_ctrl_c_does_not_wait_for_waits(fake, limits, answer):
    server = fake(answer)
    with running(server.base_url, concurrency=2, **limits) as process:
        until(lambda: server.times)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=30)
    kept, _, left, interrupted = json.loads(said)
    assert (50, True, "") == (kept + left, interrupted, complaints)
