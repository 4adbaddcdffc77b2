"""Models through Inspect's providers: one attempt, our errors, our limits, and nothing leaves offline."""

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.lazy import lazy_module
from tests.models.fake_server import MODES
from tests.models.one_by_one import each

from vivavoce.core.errors import EgressError, ExtraError, ModelError, SpecError
from vivavoce.core.net import offline
from vivavoce.models.candidates import parse_candidate
from vivavoce.models.endpoints import load_endpoints
from vivavoce.models.engine.calls import Call, Queue
from vivavoce.models.engine.scheduler import ask
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
from vivavoce.run.run import open_run
from vivavoce.testing.provider import check_provider

fake, models = lazy_module("tests.models.inspect_provider"), lazy_module("inspect_ai.model")

KEY = "sk-fake-0123456789abcdef0123456789"
QUESTION = (Message("system", "Be brief."), Message("user", "Which organ filters the blood?"))
UNREAD_BY_INSPECT = {
    "parts", "usage that counts nothing", "citations of NaN", "half characters", "a deep object",
    "citations that are deep",
}  # fmt: skip
"""Odd replies that we read and Inspect's client cannot: they fail, and are never an answer."""


def output(text: Any, reason: str = "stop", tokens: int | None = 2, **message: Any) -> Any:
    return fake.output(text, reason, tokens, **message)


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("FAKE_KEY", KEY)
    before = fake.FakeAPI.acts
    fake.FakeAPI.seen, fake.FakeAPI.closed = [], 0
    yield fake.FakeAPI
    fake.FakeAPI.acts = before


@pytest.fixture
def acts(provider: Any) -> Callable[[Any], None]:
    """Let the provider return this output, raise this error, or call this function."""

    def act(what: Any) -> None:
        def do(messages: list[Any], config: Any) -> Any:
            if isinstance(what, Exception):
                raise what
            return what(messages, config) if callable(what) else what

        provider.acts = staticmethod(do)

    return act


def generated(spec: str = "inspect/fake/m", *, timeout: float = 5.0, **sampling: Any) -> Reply:
    """The reply of one attempt."""

    async def attempt() -> Reply:
        model = parse_candidate(spec, load_endpoints()).connect()
        model._timeout = timeout
        try:
            return await model.generate(Request(messages=QUESTION, sampling=Sampling(**sampling)))
        finally:
            await model.close()

    return asyncio.run(attempt())


# What is asked.


def test_a_request_is_put_into_inspect_s_words(provider):
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    generated(
        "inspect/fake/m(reasoning_effort=low, reasoning_tokens=99)",
        temperature=0.25, top_p=0.5, max_tokens=7, seed=3, stop=("END",), logprobs=True, schema=schema,
    )  # fmt: skip
    ((messages, config),) = provider.seen
    assert [("system", "Be brief."), ("user", QUESTION[1].content)] == [(m.role, m.text) for m in messages]
    assert (0.25, 0.5, 7, 3) == (config.temperature, config.top_p, config.max_tokens, config.seed)
    assert (["END"], True) == (config.stop_seqs, config.logprobs)
    assert ("low", 99) == (config.reasoning_effort, config.reasoning_tokens)
    assert "integer" == config.response_schema.json_schema.properties["score"].type


def test_what_nobody_set_is_left_to_the_provider(provider):
    generated()
    config = provider.seen[0][1]
    unset = (
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "stop_seqs",
        "logprobs",
        "response_schema",
        "cache",
    )
    assert [None] * len(unset) == [getattr(config, name) for name in unset]


def test_inspect_s_own_retries_and_caches_are_off_and_its_connections_are_ours(provider):
    generated()
    config = provider.seen[0][1]
    assert (0, False, 32) == (config.max_retries, config.cache_prompt, config.max_connections)


def test_a_providers_file_sets_limits_price_and_key(tmp_path, monkeypatch, provider):
    file = tmp_path / "own.yaml"
    file.write_text("inspect: {kind: inspect, concurrency: 77, key: WARD_KEY, prices: {fake/m: [1, 2]}}\n")
    monkeypatch.setenv("WARD_KEY", "ward-0123456789abcdef")
    candidate = parse_candidate("inspect/fake/m", load_endpoints(file))
    model = candidate.connect()
    assert (77, (1.0, 2.0)) == (candidate.limits.concurrency, candidate.price)
    assert ("ward-0123456789abcdef", 77) == (model._api.api_key, model._connections)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("inspect/mockllm", "names no provider and model"),
        ("inspect//model", "names no provider and model"),
        ("inspect/fake/m(reasoning_effort=huge)", "reasoning_effort is one of none, minimal"),
        ("inspect/fake/m(reasoning_tokens=0)", "a whole number from 1, not 0"),
        ("inspect/fake/m(region=eu)", "no setting 'region'"),
    ],
)
def test_a_spec_that_cannot_be_used_is_refused_before_anything_is_asked(spec, why):
    with pytest.raises(SpecError, match=why):
        parse_candidate(spec, load_endpoints())


def test_a_provider_that_inspect_does_not_know_is_said_in_one_sentence():
    with pytest.raises(
        FatalError, match=r"^Inspect cannot reach nobody/m: Model API nobody .* not recognized\.$"
    ):
        parse_candidate("inspect/nobody/m", load_endpoints()).connect()


def test_a_key_that_is_not_set_is_named_by_its_variable(monkeypatch):
    monkeypatch.delenv("GHOST_API_KEY", raising=False)
    with pytest.raises(FatalError, match="GHOST_API_KEY"):
        parse_candidate("inspect/openai-api/ghost/m", load_endpoints()).connect()


def test_without_inspect_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(ExtraError, match=r'pip install "vivavoce\[inspect\]"'):
        parse_candidate("inspect/fake/m", load_endpoints()).connect()


# What comes back.


@pytest.mark.parametrize(
    ("reason", "ours"),
    [("stop", "stop"), ("max_tokens", "length"), ("model_length", "length"), ("tool_calls", "tool_calls")],
)
def test_a_reason_for_an_end_is_put_into_our_words(acts, reason, ours):
    acts(output("the kidney", reason))
    assert ("the kidney", ours) == (generated().text, generated().finish_reason)


def test_tokens_are_those_of_the_endpoint_its_cache_included(acts):
    whole = output("x")
    whole.usage.input_tokens_cache_read, whole.usage.input_tokens_cache_write = 100, 20
    acts(whole)
    assert Usage(129, 2) == generated().usage


@pytest.mark.parametrize("empty", [False, True])
def test_tokens_that_nobody_counted_are_null_and_not_zero(acts, empty):
    uncounted = output("x")
    uncounted.usage = models.ModelUsage() if empty else None
    acts(uncounted)
    assert Usage(None, None) == generated().usage


def test_thinking_is_kept_apart_and_a_closed_one_by_its_summary(acts):
    acts(
        output([
            models.ContentReasoning(reasoning="first the liver", signature="s"),
            models.ContentReasoning(reasoning="gAAAA-sealed", summary="in short", redacted=True),
            models.ContentText(text="the "),
            models.ContentText(text="kidney"),
        ])
    )  # fmt: skip
    reply = generated()
    assert ("first the liver\nin short", "the kidney") == (reply.reasoning, reply.text.replace("\n", ""))


def test_log_probabilities_come_with_the_pieces_of_the_text(acts):
    scored = output("kidney")
    scored.choices[0].logprobs = models.Logprobs(
        content=[models.Logprob(token="kid", logprob=-0.5), models.Logprob(token="ney", logprob=-0.25)]
    )
    acts(scored)
    reply = generated(logprobs=True)
    (generation,) = reply.generations
    assert ((-0.5, -0.25), ("kid", "ney")) == (reply.logprobs, generation.pieces)
    assert None is generated().logprobs


def test_of_several_choices_the_first_is_the_answer(acts):
    several = output("first")
    several.choices += output("second").choices
    acts(several)
    assert "first" == generated().text


def test_an_output_without_a_choice_is_a_failure_and_no_empty_answer(acts):
    acts(models.ModelOutput(model="m", choices=[], error="moderated"))
    with pytest.raises(RetryableError, match=r"no choices \(moderated\)"):
        generated()


def test_what_is_no_output_is_a_failure(acts):
    for odd in (None, 6, "kidney", (), {}, [output("x")], (None, None)):
        acts(odd)
        with pytest.raises(RetryableError, match="not an output"):
            generated()


def test_an_empty_answer_is_an_answer_if_it_says_why_it_ended(acts):
    acts(output(""))
    assert "" == generated().text
    acts(output("", "unknown"))
    with pytest.raises(RetryableError, match="does not say why it ended"):
        generated()


def test_what_a_filter_withheld_is_null_and_what_it_cut_is_kept(acts):
    acts(output("I cannot, said the provider", "content_filter", tokens=None))
    withheld = generated()
    assert (None, "content_filter") == (withheld.text, withheld.finish_reason)
    acts(output("The kidney fil", "content_filter"))
    assert "The kidney fil" == generated().text


def test_a_question_that_is_too_long_is_rejected_and_its_notice_is_no_answer(acts):
    acts(output("maximum context length is 8192 tokens", "model_length", tokens=None))
    with pytest.raises(RejectedError, match="longer than the model's context") as caught:
        generated()
    assert caught.value.of_question


def test_the_answer_of_a_fallback_model_is_not_the_model_s(acts):
    swap = SimpleNamespace(model="big", fallback_model="small")
    acts(SimpleNamespace(choices=output("x").choices, fallback=swap))
    with pytest.raises(RetryableError, match="'small' answered in place of 'big'"):
        generated()


def test_halves_of_surrogate_pairs_reach_nobody_and_no_file(acts, provider):
    halves = output("x")
    halves.choices[0].message = models.ChatMessageAssistant.model_construct(
        content="kid\ud83eney", role="assistant"
    )
    acts(halves)

    async def attempt() -> Reply:
        model = parse_candidate("inspect/fake/m", load_endpoints()).connect()
        return await model.generate(Request(messages=(Message("user", "which \ud83e organ?"),)))

    assert "kid\ufffdney" == asyncio.run(attempt()).text
    assert "which \ufffd organ?" == provider.seen[0][0][0].text


def test_an_answer_of_ten_megabytes_is_whole(acts):
    acts(output("kidney " * 1_500_000))
    assert 10_500_000 == len(generated().text)


def test_an_answer_without_end_is_rejected(acts, monkeypatch):
    monkeypatch.setattr("vivavoce.models.providers.inspect.replies.LARGEST", 1 << 20)
    acts(output("x" * ((1 << 20) + 1)))
    with pytest.raises(RejectedError, match="longer than"):
        generated()


# What goes wrong.


class Status(Exception):
    def __init__(self, status_code: int, text: str = "no") -> None:
        super().__init__(text)
        self.status_code = status_code


class NoCredentialsError(Exception):
    pass


@pytest.mark.parametrize(
    ("raised", "kind", "why"),
    [
        (Status(429), RetryableError, "HTTP 429"),
        (Status(503, "overloaded"), RetryableError, "HTTP 503: overloaded"),
        (Status(401, "bad key"), FatalError, "inspect/fake refuses the key"),
        (Status(404, "gone"), FatalError, "no such model"),
        (Status(402, "pay"), FatalError, "no credit"),
        (Status(413, "big"), RejectedError, "longer than the model's context"),
        (Status(400, "temperature is not supported"), RejectedError, "HTTP 400: temperature"),
        (Status(307, "moved"), FatalError, "sends us elsewhere"),
        (NoCredentialsError("Unable to locate credentials"), FatalError, "Unable to locate credentials"),
        (ConnectionResetError("by peer"), RetryableError, "the connection broke"),
        (TimeoutError(), RetryableError, "the connection broke"),
        (socket.gaierror(-2, "Name not known"), FatalError, "host cannot be found"),
        (KeyError("choices"), RetryableError, "the reply is malformed"),
        (RecursionError("deep"), RetryableError, "the reply is malformed"),
        (RuntimeError("prompt is too long"), RejectedError, "longer than the model's context"),
        (RuntimeError("odd"), RejectedError, "odd"),
    ],
)
def test_an_error_of_a_provider_becomes_one_of_ours(acts, raised, kind, why):
    acts(raised)
    with pytest.raises((RetryableError, RejectedError, FatalError), match=why) as caught:
        generated()
    assert kind is type(caught.value)


def test_what_a_content_filter_refuses_is_withheld(acts):
    acts(Status(400, "content management policy"))
    assert (None, "content_filter") == (generated().text, generated().finish_reason)


def test_an_error_that_is_returned_counts_as_one_that_is_raised(acts):
    acts((Status(429), None))
    with pytest.raises(RetryableError, match="HTTP 429") as caught:
        generated()
    assert caught.value.throttled


def test_what_the_provider_would_try_again_is_tried_again(acts, provider, monkeypatch):
    acts(RuntimeError("capacity"))
    monkeypatch.setattr(provider, "should_retry", lambda self, error: True)
    with pytest.raises(RetryableError, match="capacity"):
        generated()


def test_what_the_provider_would_try_again_is_tried_again_whatever_its_status(acts, provider, monkeypatch):
    acts(Status(400, "ThrottlingException"))
    monkeypatch.setattr(provider, "should_retry", lambda self, error: True)
    with pytest.raises(RetryableError, match="Throttling"):
        generated()
    acts(Status(401, "bad key"))
    with pytest.raises(FatalError, match="refuses the key"):
        generated()


def test_a_wait_that_the_provider_names_is_kept_to(acts, provider, monkeypatch):
    decision = type("Decision", (), {"retry_after": 7, "kind": "rate_limit"})()
    acts(RuntimeError("slow down"))
    monkeypatch.setattr(provider, "should_retry", lambda self, error: decision)
    with pytest.raises(RetryableError) as caught:
        generated()
    assert (7.0, True) == (caught.value.after, caught.value.throttled)


def test_an_attempt_ends_at_its_time(acts):
    acts(lambda messages, config: asyncio.sleep(60))
    with pytest.raises(RetryableError, match=r"no answer within 0\.1 s"):
        generated(timeout=0.1)


@pytest.mark.parametrize("kind", [RuntimeError, ConnectionError, ValueError])
def test_no_error_holds_a_key_or_what_the_library_raised(acts, monkeypatch, kind):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY")
    acts(kind(f"the headers were Authorization: {KEY}, secret wJalrXUtnFEMI/K7MDENG/bPxRfiCY"))
    with pytest.raises((RetryableError, RejectedError)) as caught:
        generated()
    assert KEY not in str(caught.value)
    assert "wJalr" not in str(caught.value)
    assert (None, None) == (caught.value.__cause__, caught.value.__context__)


def test_a_key_that_the_answer_repeats_is_struck_out(acts):
    acts(output(f"my key is {KEY}"))
    assert "my key is [key]" == generated().text


def test_no_probability_of_a_given_text_is_offered():
    async def attempt() -> None:
        await (
            parse_candidate("inspect/fake/m", load_endpoints())
            .connect()
            .loglikelihood(Request(messages=QUESTION, kind="loglikelihood", target="x"))
        )

    with pytest.raises(FatalError, match="no probability of a given text"):
        asyncio.run(attempt())


def test_it_keeps_the_rules_of_a_provider(acts):
    check_provider("inspect/fake/m", keys=["FAKE_KEY"])
    check_provider("inspect/mockllm/model")


# In our engine.


def asked(spec: str, n: int, **limits: Any) -> tuple[Any, list[Reply | None]]:
    candidate = parse_candidate(spec, load_endpoints())
    replies: list[Reply | None] = []
    calls = [Call(Request(messages=(Message("user", f"question {k}"),)), 1, k) for k in range(n)]
    queue = Queue(candidate.connect(), calls, Limits(**limits), candidate.price)
    return ask([queue], each(lambda model, call, outcome: replies.append(outcome.reply))), replies


def test_many_are_asked_at_once_and_no_more_than_our_limit(acts, provider):
    flying = most = 0

    async def slow(messages: list[Any], config: Any) -> Any:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.02)
        flying -= 1
        return output(f"answer to {messages[-1].text}")

    acts(slow)
    tally, replies = asked("inspect/fake/m", 120, concurrency=40)
    assert (120, 0, 40) == (tally.answered, tally.failed, most)
    assert {f"answer to question {k}" for k in range(120)} == {r.text for r in replies}
    assert 1 == provider.closed


def test_a_second_run_in_the_same_process_works_like_the_first(serving, monkeypatch):
    server = serving()
    monkeypatch.setenv("WARD_API_KEY", KEY)
    monkeypatch.setenv("WARD_BASE_URL", server.base_url)
    for _ in range(2):
        tally, _ = asked("inspect/openai-api/ward/six", 20, concurrency=8)
        assert (20, 0) == (tally.answered, tally.failed)
    assert {2} == set(server.seen.values())


def test_our_engine_counts_every_attempt_and_inspect_makes_none_of_its_own(serving, monkeypatch):
    monkeypatch.setattr("vivavoce.models.engine.scheduler.FIRST_WAIT", 0.01)
    server = serving(mode="500")
    monkeypatch.setenv("WARD_API_KEY", KEY)
    monkeypatch.setenv("WARD_BASE_URL", server.base_url)
    asked("inspect/openai-api/ward/six", 1, concurrency=1, attempts=3)
    assert {"question 0": 3} == server.seen


CONVERSE = {
    "output": {"message": {"role": "assistant", "content": [{"text": "the kidney"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11},
    "metrics": {"latencyMs": 1},
}


@pytest.fixture
def bedrock(fake, monkeypatch):
    """A server on this machine in place of Bedrock, and an identity that nobody has."""

    def start(*answers):
        server = fake(*answers)
        monkeypatch.setenv("BEDROCK_BASE_URL", server.base_url.removesuffix("/v1"))
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAFAKEFAKEFAKEFAKE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        return server

    return start


def test_bedrock_is_asked_with_the_identity_of_the_cloud(bedrock):
    server = bedrock(CONVERSE)
    with offline():
        reply = generated("inspect/bedrock/amazon.nova-lite-v1:0", max_tokens=7, temperature=0.5)
    assert ("the kidney", "stop", Usage(9, 2)) == (reply.text, reply.finish_reason, reply.usage)
    ((path, headers, body),) = server.received
    assert path.startswith("/model/amazon.nova-lite-v1")
    assert "AWS4-HMAC-SHA256 Credential=AKIAFAKEFAKEFAKEFAKE/" in headers["Authorization"]
    assert {"maxTokens": 7, "temperature": 0.5} == body["inferenceConfig"]
    assert [{"text": "Be brief."}] == body["system"]


def test_bedrock_s_client_makes_one_request_for_an_attempt_too(bedrock):
    from aiohttp import web

    async def fails(request: web.Request) -> web.Response:
        return web.json_response({"message": "later"}, status=503)

    server = bedrock(fails)
    with pytest.raises(RetryableError, match="HTTP 503"):
        generated("inspect/bedrock/amazon.nova-lite-v1:0")
    assert 1 == len(server.received)


@pytest.mark.parametrize("mode", list(MODES))
def test_each_way_to_misbehave_has_the_fate_that_it_has_without_inspect(serving, monkeypatch, mode):
    acts = bool(MODES[mode].act)  # the others are heard out, however busy the machine
    server = serving(mode=mode, stall=8)
    monkeypatch.setenv("WARD_API_KEY", KEY)
    monkeypatch.setenv("WARD_BASE_URL", server.base_url)
    fates = {RetryableError: "failed", RejectedError: "refused", FatalError: "stopped"}
    text = ""
    try:
        reply = generated("inspect/openai-api/ward/six", timeout=0.6 if acts else 60.0)
    except tuple(fates) as error:
        fate, text = fates[type(error)], str(error)
    else:
        fate = "withheld" if reply.text is None else "answered" if reply.text else "silent"
    assert KEY not in text
    assert ("failed" if mode in UNREAD_BY_INSPECT else MODES[mode].fate) == fate
    assert {QUESTION[1].content: 1} == server.seen


# Egress.


def test_offline_a_server_on_this_machine_is_asked(serving, monkeypatch):
    monkeypatch.setenv("WARD_API_KEY", KEY)
    monkeypatch.setenv("WARD_BASE_URL", serving().base_url)
    with offline():
        assert generated("inspect/openai-api/ward/six").text.startswith("answer to")


@pytest.mark.parametrize("spec", ["inspect/openai/gpt-4o", "inspect/bedrock/amazon.nova-lite-v1:0"])
def test_offline_a_hosted_model_is_refused_before_it_is_asked(monkeypatch, spec):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with offline(), pytest.raises(EgressError, match="is not this machine"):
        parse_candidate(spec, load_endpoints()).connect()


def test_offline_a_client_that_connects_elsewhere_is_refused_before_a_byte_leaves(acts, monkeypatch):
    """The provider says that it is local, and its HTTP client, as Inspect's have one, goes elsewhere."""
    import httpx2

    async def astray(messages: list[Any], config: Any) -> Any:
        async with httpx2.AsyncClient() as client:
            await client.post("http://192.0.2.1:9/v1", json={"text": messages[-1].text})
        return output("it went out")

    acts(astray)
    monkeypatch.setenv("FAKE_URL", "http://localhost:1/v1")
    with offline(), pytest.raises(EgressError, match=r"'192\.0\.2\.1' is not this machine"):
        generated()


def test_a_redirect_is_not_followed(fake, monkeypatch):
    from aiohttp import web

    elsewhere = fake({"choices": []})

    async def sends_on(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": f"{elsewhere.base_url}/chat/completions"})

    first = fake(sends_on)
    monkeypatch.setenv("WARD_API_KEY", KEY)
    monkeypatch.setenv("WARD_BASE_URL", first.base_url)
    with pytest.raises(FatalError, match="redirects are not followed"):
        generated("inspect/openai-api/ward/six")
    assert (1, 0) == (len(first.received), len(elsewhere.received))


# Quiet.


def test_nothing_is_printed_logged_or_hooked(acts, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hook = sys.excepthook

    def warns(messages: list[Any], config: Any) -> Any:
        logging.getLogger("inspect_ai.model._providers.fake").warning("this model is old")
        return output("x")

    acts(warns)
    generated()
    assert ("", "") == tuple(capfd.readouterr())
    assert hook is sys.excepthook
    assert [] == list(tmp_path.iterdir())


def test_no_telemetry_of_inspect_is_sent(acts, monkeypatch):
    from inspect_ai.hooks import _legacy

    async def send(kind: str, body: str) -> bool:
        raise AssertionError(f"sent {kind}")

    monkeypatch.setattr(_legacy, "_send_telemetry", send)
    acts(output("x"))
    assert "x" == generated().text


# The verbs.


def test_a_model_of_inspect_is_collected_offline(viva, tmp_path):
    exam = tmp_path / "exam.jsonl"
    rows = [{"id": f"q{k}", "question": f"Question {k}?", "references": ["kidney"]} for k in range(3)]
    exam.write_text("\n".join(json.dumps(row | {"format": "short"}) for row in rows))
    run = tmp_path / "r.viva"
    viva("collect", run, f"jsonl(path={exam})", "--model", "inspect/mockllm/model", "--offline")
    stored = open_run(run)
    assert {"Default output from mockllm/model"} == set(stored.responses["text"])
    assert {0.0} == set(stored.responses["cost"])


def test_a_withheld_answer_is_filtered_and_a_failure_is_failed(acts, viva, tmp_path):
    def act(messages: list[Any], config: Any) -> Any:
        if "one" in messages[-1].text:
            return output("withheld", "content_filter", tokens=None)
        raise Status(400, "odd")

    acts(act)
    exam = tmp_path / "exam.jsonl"
    rows = [{"id": name, "question": name, "references": ["x"], "format": "short"} for name in ("one", "two")]
    exam.write_text("\n".join(map(json.dumps, rows)))
    run = tmp_path / "r.viva"
    viva("collect", run, f"jsonl(path={exam})", "--model", "inspect/fake/m", code=1)
    by_item = dict(open_run(run).responses.select("item", "status").iter_rows())
    assert {"one": "filtered", "two": "failed"} == by_item


def test_a_judge_may_be_a_model_of_inspect(acts):
    import vivavoce as viva

    acts(output('{"clarity": 3}'))
    rubric = Path(__file__).resolve().parents[2] / "examples" / "rubrics" / "clarity.md"
    answers = [
        {"id": "a", "question": "Which organ?", "references": ["kidney"], "model": "A", "response": "liver"}
    ]
    run = viva.evaluate(answers, f"judge(rubric={rubric}, model=inspect/fake/m)")
    assert [(3.0, "inspect/fake/m")] == run.scores.select("value", "rater").rows()


def test_an_unknown_provider_ends_the_command_with_a_sentence(viva, tmp_path):
    exam = tmp_path / "exam.jsonl"
    exam.write_text(json.dumps({"id": "a", "question": "x", "references": ["x"], "format": "short"}))
    with pytest.raises(ModelError, match="Inspect cannot reach nobody/m"):
        open_run(tmp_path / "r.viva").collect(f"jsonl(path={exam})", models=["inspect/nobody/m"])
