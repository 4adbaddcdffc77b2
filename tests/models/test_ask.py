"""The engine against a fake server on real sockets that misbehaves in eleven ways."""

import asyncio
from collections import Counter

import pytest
from tests.lengths import length
from tests.models.one_by_one import each

from vivavoce.models.endpoints import EndpointConfig
from vivavoce.models.engine import scheduler
from vivavoce.models.engine.calls import Call, Queue
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.engine.writing import MAX_UNSTORED
from vivavoce.models.providers.openai import OpenAIChat
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Message, Request


def requests(n: int):
    for k in range(n):
        yield Call(Request(messages=(Message("user", f"question {k}"),)), 1, k)


def model(base_url: str, name: str = "fake/one", **settings) -> OpenAIChat:
    config = EndpointConfig(name="fake", base_url=base_url, **{"timeout": 5.0, **settings})
    return OpenAIChat(name, name.partition("/")[2], config)


def asked(works, **settings):
    got: list[tuple[int, object]] = []
    tally = ask(works, each(lambda model, job, answer: got.append((job.tag, answer))), **settings)
    return tally, got


def test_every_request_of_a_good_endpoint_is_answered_once(serving):
    server = serving()
    tally, got = asked([Queue(model(server.base_url), requests(300), Limits(concurrency=20))])
    assert (300, 0, 0) == (tally.answered, tally.failed, tally.remaining)
    assert sorted(tag for tag, _ in got) == list(range(300))
    assert all(a.reply.text == f"answer to question {tag}" for tag, a in got)
    assert {1} == set(server.seen.values())
    assert (300 * 11, 300 * 3) == (tally.input_tokens, tally.output_tokens)


@pytest.mark.slow
def test_under_eleven_kinds_of_faults_each_request_is_answered_or_explained(serving, monkeypatch):
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.05)
    server = serving(faults=0.05, stall=60)
    one = model(server.base_url, timeout=0.5)
    n = length(500, 5_000)
    tally, got = asked([Queue(one, requests(n), Limits(concurrency=200, attempts=6))])
    assert n == len(got) == tally.done
    assert Counter(tag for tag, _ in got) == Counter(range(n))
    for tag, answer in got:
        if answer.reply is None:
            assert answer.error.endswith("after 6 attempts"), answer.error
            assert len(answer.error) > 30
        else:
            assert f"answer to question {tag}" == answer.reply.text
    assert tally.answered > 0.94 * n
    assert max(server.seen.values()) <= 6


def test_no_more_is_on_the_wire_than_the_limit_allows(serving):
    server = serving(latency=0.05)
    asked([Queue(model(server.base_url), requests(60), Limits(concurrency=7))])
    assert 7 == server.told()["most"]


def test_equal_requests_on_the_wire_are_asked_once(serving):
    server = serving(latency=0.2)
    same = Request(messages=(Message("user", "the same"),))
    tally, got = asked([Queue(model(server.base_url), [Call(same, 1, k) for k in range(5)])])
    assert {"the same": 1} == server.seen
    assert (5, 4) == (tally.answered, tally.shared)
    assert [0, 1, 2, 3, 4] == sorted(tag for tag, _ in got)


def test_another_repeat_of_an_equal_request_is_asked_again(serving):
    server = serving(latency=0.2)
    same = Request(messages=(Message("user", "the same"),))
    asked([Queue(model(server.base_url), [Call(same, k, k) for k in range(3)])])
    assert {"the same": 3} == server.seen


def test_an_endpoint_that_is_not_there_is_given_up_not_hammered():
    one = model("http://127.0.0.1:9/v1")
    tally, got = asked([Queue(one, requests(1_000), Limits(concurrency=5, attempts=1))])
    assert 3 <= len(got) < 10
    assert 1_000 == len(got) + tally.remaining
    assert "failed for the same reason: http://127.0.0.1:9 cannot be reached" in tally.stopped["fake/one"]


def test_a_generator_that_breaks_is_heard_of(serving):
    server = serving()

    def broken():
        yield from requests(3)
        raise ValueError("no more questions")

    with pytest.raises(ValueError, match="no more questions"):
        asked([Queue(model(server.base_url), broken(), Limits(concurrency=1))])


def test_what_keep_raises_stops_the_asking(serving):
    server = serving()

    def full(batch):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        ask([Queue(model(server.base_url), requests(500), Limits(concurrency=4))], full)
    assert sum(server.seen.values()) <= 4 + MAX_UNSTORED


def test_where_an_event_loop_runs_already_the_answers_come_all_the_same(serving):
    server = serving(latency=1.5 * scheduler.WAKE_S)

    async def notebook():
        return asked([Queue(model(server.base_url), requests(2), Limits(concurrency=1))])

    tally, got = asyncio.run(notebook())
    assert (2, [0, 1]) == (tally.answered, [tag for tag, _ in got])


def test_max_cost_stops_before_it_is_passed(serving):
    server = serving()
    price = (1e6, 0.0)  # 11 tokens in: 11 a request
    work = Queue(model(server.base_url), requests(100), Limits(concurrency=1), price)
    tally, got = asked([work], max_cost=60.0)
    assert 5 == len(got)
    assert 55.0 == tally.cost
    assert "--max-cost 60" in tally.stopped["fake/one"]


def test_a_model_without_a_price_has_no_cost(serving):
    server = serving()
    tally, got = asked([Queue(model(server.base_url), requests(3))])
    assert {None} == {a.cost for _, a in got}
    assert 3 == tally.unpriced


def test_two_models_are_asked_side_by_side(serving):
    fast, slow = serving(), serving(latency=0.2)
    works = [
        Queue(model(slow.base_url, "fake/slow"), requests(4), Limits(concurrency=1)),
        Queue(model(fast.base_url, "fake/fast"), requests(50), Limits(concurrency=1)),
    ]
    order: list[str] = []
    ask(works, each(lambda model, job, answer: order.append(model.name)))
    assert order.index("fake/fast") < order.index("fake/slow") or order[:2].count("fake/slow") <= 1
    assert Counter(order) == {"fake/slow": 4, "fake/fast": 50}
