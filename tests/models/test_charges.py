"""A reply of status 200 that cannot be used is paid too: by its usage, else by the engine's estimate."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from tests.models.one_by_one import each

from vivavoce.models.endpoints import EndpointConfig
from vivavoce.models.engine import scheduler
from vivavoce.models.engine.calls import Call, CallOutcome, Queue, call_record
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.engine.usage import UsageCounter
from vivavoce.models.providers.anthropic import AnthropicMessages
from vivavoce.models.providers.inspect.replies import reply_of
from vivavoce.models.providers.openai import HTTPModel, OpenAIChat, OpenAICompletions
from vivavoce.models.rate_limit import Limits
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

PRICE = (1e6, 1e6)
"""One a token."""
USAGE = {"prompt_tokens": 11, "completion_tokens": 3}
TEXT = {"message": {"content": "yes"}, "finish_reason": "stop"}
ESTIMATE = 1 + 9
"""Of a call: four characters sent, nine tokens at most."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.0)


def calls(n: int, **fields: Any) -> list[Call]:
    sampling = Sampling(max_tokens=9)
    texts = (Message("user", f"{k:04}") for k in range(n))
    return [
        Call(Request(messages=(text,), sampling=sampling, **fields), 1, k) for k, text in enumerate(texts)
    ]


def connected(server: Any, kind: type[HTTPModel] = OpenAIChat) -> HTTPModel:
    return kind("fake/m", "m", EndpointConfig(name="fake", base_url=server.base_url, timeout=5.0))


def asked(model: Any, n: int = 1, **settings: Any) -> tuple[UsageCounter, list[CallOutcome]]:
    outcomes: list[CallOutcome] = []
    limits = Limits(concurrency=settings.pop("concurrency", 1))
    queue = Queue(model, settings.pop("calls", None) or calls(n), limits, settings.pop("price", PRICE))
    tally = ask([queue], each(lambda model, call, outcome: outcomes.append(outcome)), **settings)
    return tally, outcomes


def raw(body: bytes, status: int = 200) -> Any:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, status=status)

    return answer


NO_JSON = raw(b"<html>It works!</html>")


def test_without_a_usage_the_estimate_is_charged(fake: Any) -> None:
    server = fake(NO_JSON)
    tally, (outcome,) = asked(connected(server))
    assert 6 == len(server.received)
    assert (6 * ESTIMATE, 0.0, 6) == (tally.guessed, tally.cost, tally.unpriced)
    assert (None, "the answer is no JSON object, after 6 attempts") == (outcome.cost, outcome.error)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": {"content": 6}}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{**TEXT, "finish_reason": "error"}]},
        {"model": "another", "choices": [TEXT]},
        {"error": {"message": "the engine is overloaded"}},
    ],
)
def test_with_a_usage_that_is_charged(fake: Any, body: dict[str, Any]) -> None:
    tally, (outcome,) = asked(connected(fake({**body, "usage": USAGE})))
    assert (6 * 14.0, 0.0, 0) == (tally.cost, tally.guessed, tally.unpriced)
    assert (6 * 14.0, Usage(66, 18)) == (outcome.cost, outcome.unusable)


def test_an_estimate_is_the_mean_of_what_replies_cost(fake: Any) -> None:
    tally, _ = asked(
        connected(
            fake({"choices": [TEXT], "usage": USAGE}, NO_JSON, NO_JSON, {"choices": [TEXT], "usage": USAGE})
        ),
        2,
    )
    assert (28.0, 28.0) == (tally.cost, tally.guessed)


@pytest.mark.parametrize(
    ("answer", "cost"),
    [
        (NO_JSON, ESTIMATE),
        ({"choices": [], "usage": USAGE}, 14),
        ({"choices": [], "usage": {"prompt_tokens": 11}}, 11 + 9),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_broken_server_cannot_pass_the_limit(fake: Any, answer: Any, cost: int, concurrency: int) -> None:
    server = fake(answer)
    tally, _ = asked(connected(server), 50, max_cost=70.0, concurrency=concurrency)
    assert cost * len(server.received) == tally.cost + tally.guessed
    # What is on the wire was booked at the estimate, and may cost more.
    assert 0 < tally.cost + tally.guessed <= 70.0 + concurrency * (cost - ESTIMATE)
    assert "--max-cost" in tally.stopped["fake/m"]


def test_what_was_paid_for_a_call_that_the_limit_ended_is_stored(fake: Any) -> None:
    tally, outcomes = asked(connected(fake({"choices": [], "usage": USAGE})), 5, max_cost=20.0)
    assert [14.0] == [outcome.cost for outcome in outcomes]
    assert "the answer has no choices; no other attempt was made, after 1 attempt" == outcomes[0].error
    assert (1, 4) == (tally.failed, tally.remaining)


def test_a_reply_at_last_costs_what_all_attempts_took(fake: Any) -> None:
    model = connected(fake({"choices": [], "usage": USAGE}, {"choices": [TEXT], "usage": USAGE}))
    tally, (outcome,) = asked(model)
    assert ("yes", 28.0, 28.0) == (outcome.reply and outcome.reply.text, outcome.cost, tally.cost)
    record = call_record(model, calls(1)[0], outcome, purpose="test", status="ok", error=None)
    assert (22, 6, 28.0) == (record.input_tokens, record.output_tokens, record.cost)
    assert (tally.input_tokens, tally.output_tokens) == (record.input_tokens, record.output_tokens)


def test_an_equal_request_on_the_wire_pays_nothing_for_the_failure_of_the_first(fake: Any) -> None:
    twins = calls(1) * 2
    tally, outcomes = asked(connected(fake({"choices": [], "usage": USAGE})), calls=twins, concurrency=2)
    assert 84.0 == tally.cost
    assert [None, 84.0] == sorted((o.cost for o in outcomes), key=lambda cost: cost or 0)


@pytest.mark.parametrize("answer", [raw(b"oops", 500), raw(b"", 503), {"error": {"message": "server error"}}])
def test_what_failed_before_the_model_costs_nothing(fake: Any, answer: Any) -> None:
    tally, (outcome,) = asked(connected(fake(answer)))
    assert (0.0, 0.0, 0, None) == (tally.cost, tally.guessed, tally.unpriced, outcome.cost)


def test_a_body_that_breaks_off_is_charged(fake: Any) -> None:
    async def half(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse(headers={"Content-Length": "100"})
        await reply.prepare(request)
        await reply.write(b'{"choices"')
        assert request.transport is not None
        request.transport.close()
        return reply

    tally, _ = asked(connected(fake(half)))
    assert 6 * ESTIMATE == tally.guessed


def test_without_a_price_tokens_are_counted_and_nothing_is_charged(fake: Any) -> None:
    tally, (outcome,) = asked(connected(fake({"choices": [], "usage": USAGE})), price=None)
    assert (66, 18, 0.0, 0.0) == (tally.input_tokens, tally.output_tokens, tally.cost, tally.guessed)
    assert (6, None) == (tally.unpriced, outcome.cost)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "many",
        {"prompt_tokens": -1},
        {"prompt_tokens": "11", "completion_tokens": True},
        {"prompt_tokens": 1e9},
    ],
)
def test_a_usage_that_counts_nothing_is_none(fake: Any, usage: Any) -> None:
    tally, _ = asked(connected(fake({"choices": [], "usage": usage})))
    assert 6 * ESTIMATE == tally.guessed


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (AnthropicMessages, {"content": None, "usage": {"input_tokens": 11, "output_tokens": 3}}),
        (OpenAICompletions, {"choices": [{"text": 6, "finish_reason": "stop"}], "usage": USAGE}),
    ],
)
def test_other_endpoints_are_charged_alike(fake: Any, kind: type[HTTPModel], body: dict[str, Any]) -> None:
    tally, _ = asked(connected(fake(body), kind))
    assert 84.0 == tally.cost


@pytest.mark.parametrize("kind", [OpenAIChat, OpenAICompletions])
def test_a_likelihood_that_cannot_be_read_is_charged(fake: Any, kind: type[HTTPModel]) -> None:
    likely = calls(1, kind="loglikelihood", target="yes")
    tally, (outcome,) = asked(connected(fake({"choices": [TEXT], "usage": USAGE}), kind), calls=likely)
    assert (14.0, 14.0, True) == (tally.cost, outcome.cost, outcome.fatal)


class FakePlugin:
    """A provider of a plugin, which raises or returns what it is given."""

    name, endpoint, place = "plugin/m", "plugin", ""

    def __init__(self, result: Any) -> None:
        self.result = result

    async def generate(self, request: Request) -> Any:
        await asyncio.sleep(0)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    async def loglikelihood(self, request: Request) -> Reply:
        raise FatalError("none")

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("result", "cost", "guessed"),
    [
        (RetryableError("broken", usage=Usage(11, 3)), 84.0, 0.0),
        (RejectedError("too odd", usage=Usage(11, 3)), 14.0, 0.0),
        (RetryableError("broken", usage=Usage()), 0.0, 60.0),
        (RetryableError("broken"), 0.0, 0.0),
        (Reply(text=None, usage=Usage(11, 3)), 84.0, 0.0),
        ("no reply", 0.0, 60.0),
    ],
)
def test_a_plugin_may_say_what_a_reply_took(result: Any, cost: float, guessed: float) -> None:
    tally, _ = asked(FakePlugin(result))
    assert (cost, guessed) == (tally.cost, tally.guessed)


def test_what_a_plugin_calls_usage_by_mistake_is_not_charged() -> None:
    error = RetryableError("broken")
    error.usage = json.loads('{"input": 3}')
    tally, _ = asked(FakePlugin(error))
    assert (0.0, 0.0, 1) == (tally.cost, tally.guessed, tally.failed)


def test_what_inspect_calls_a_reply_is_charged_unless_it_words_a_refusal() -> None:
    models = pytest.importorskip("inspect_ai.model")
    usage = models.ModelUsage(input_tokens=11, output_tokens=3, total_tokens=14)
    with pytest.raises(RetryableError, match="no choices") as malformed:
        reply_of(models.ModelOutput(model="m", usage=usage), logprobs=False, key=None)
    with pytest.raises(RetryableError, match="returned str, not an output") as unread:
        reply_of("words", logprobs=False, key=None)
    too_long = models.ModelOutput.from_content("m", "too long", stop_reason="model_length")
    with pytest.raises(RejectedError, match="longer than the model's context") as refused:
        reply_of(too_long, logprobs=False, key=None)
    assert [Usage(11, 3), Usage(), None] == [error.value.usage for error in (malformed, unread, refused)]
