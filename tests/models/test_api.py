"""Endpoints: what is sent, to the letter, and what is made of the answers, good, strange and hostile."""

import asyncio
import gzip
import json
import logging
import shutil
import ssl
import subprocess
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web
from tests.absent import absent

from vivavoce.core.errors import EgressError
from vivavoce.core.net import offline
from vivavoce.models import http_client
from vivavoce.models.endpoints import EndpointConfig
from vivavoce.models.providers.anthropic import AnthropicMessages
from vivavoce.models.providers.openai import OpenAIChat, OpenAICompletions
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

KEY = "sk-test-abcdef0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
TALK = (
    Message("system", "Be brief."),
    Message("user", "2+2?"),
    Message("assistant", "4"),
    Message("user", "3+3?"),
)
SAMPLED = Sampling(temperature=0.5, top_p=0.9, max_tokens=50, seed=7, stop=("END",))
KINDS = {"openai": OpenAIChat, "completions": OpenAICompletions, "anthropic": AnthropicMessages}


def asking(server, kind="openai", request=None, *, model="m", way="generate", **settings) -> Reply:
    request = request or Request(messages=TALK[-1:])
    config = EndpointConfig(
        name="fake",
        kind=kind,
        **{"base_url": getattr(server, "base_url", server), "timeout": 5.0, **settings},
    )

    async def once() -> Reply:
        one = KINDS[kind](f"fake/{model}", model, config)
        try:
            return await getattr(one, way)(request)
        finally:
            await one.close()

    return asyncio.run(once())


def chat(content="6", reason="stop", **more) -> dict:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    return {
        "model": "m",
        "choices": [{"message": message, "finish_reason": reason, **more.pop("choice", {})}],
        **more,
    }


def completion(text="6", reason="stop", **more) -> dict:
    return {
        "model": "m",
        "choices": [{"text": text, "finish_reason": reason, **more.pop("choice", {})}],
        **more,
    }


def claude(*blocks, reason="end_turn", **more) -> dict:
    return {"model": "m", "content": list(blocks), "stop_reason": reason, **more}


def failing(status: int, body="", headers=None):
    text = body if isinstance(body, str) else json.dumps(body)

    async def answer(request):
        return web.Response(status=status, text=text, headers=headers)

    return answer


def raw(body: bytes, **headers):
    async def answer(request):
        return web.Response(body=body, headers={"Content-Type": "application/json", **headers})

    return answer


# What is sent.


def test_chat_sends_what_is_stated_and_nothing_else(fake):
    server = fake(chat())
    asking(server, request=Request(messages=TALK, sampling=SAMPLED))
    assert {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2+2?"},
            {"role": "assistant", "content": "4"},
            {"role": "user", "content": "3+3?"},
        ],
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 50, "seed": 7, "stop": ["END"],
    } == server.body  # fmt: skip
    asking(server)
    assert {"model": "m", "messages": [{"role": "user", "content": "3+3?"}]} == server.body


def test_a_temperature_of_zero_is_stated(fake):
    server = fake(chat())
    asking(server, request=Request(messages=TALK, sampling=Sampling(temperature=0.0, seed=0)))
    assert (0.0, 0) == (server.body["temperature"], server.body["seed"])


def test_options_reference_and_draw_are_sent_to_nobody(fake):
    server = fake(chat())
    asking(server, request=Request(messages=TALK[-1:], options=("6", "7"), reference="6", draw=3))
    assert {"model", "messages"} == server.body.keys()


def test_completions_send_one_text(fake):
    server = fake(completion())
    asking(server, "completions", Request(messages=TALK, sampling=SAMPLED))
    assert {
        "model": "m", "prompt": "Be brief.\n\n2+2?\n\n4\n\n3+3?",
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 50, "seed": 7, "stop": ["END"],
    } == server.body  # fmt: skip
    assert "/v1/completions" == server.received[-1][0]


def test_messages_take_the_system_apart_and_have_no_seed(fake):
    server = fake(claude({"type": "text", "text": "6"}))
    asking(server, "anthropic", Request(messages=TALK, sampling=SAMPLED))
    assert {
        "model": "m", "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "2+2?"},
            {"role": "assistant", "content": "4"},
            {"role": "user", "content": "3+3?"},
        ],
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 50, "stop_sequences": ["END"],
    } == server.body  # fmt: skip
    asking(server, "anthropic")
    assert {
        "model": "m",
        "messages": [{"role": "user", "content": "3+3?"}],
        "max_tokens": 4096,
    } == server.body


@pytest.mark.parametrize(
    ("kind", "settings", "header", "value"),
    [
        ("openai", {}, "Authorization", f"Bearer {KEY}"),
        ("completions", {}, "Authorization", f"Bearer {KEY}"),
        ("openai", {"key_header": "api-key"}, "api-key", KEY),
        ("anthropic", {}, "x-api-key", KEY),
    ],
)
def test_the_key_stands_in_its_header_and_nowhere_else(fake, monkeypatch, kind, settings, header, value):
    monkeypatch.setenv("FAKE_KEY", KEY)
    server = fake(
        chat()
        | completion()
        | claude({"type": "text", "text": "6"})
        | {"choices": [{"message": {"content": "6"}, "text": "6"}]}
    )
    asking(server, kind, key="FAKE_KEY", **settings)
    path, headers, body = server.received[-1]
    assert [header] == [name for name, v in headers.items() if KEY in v]
    assert value == headers[header]
    assert KEY not in path + json.dumps(body)


def test_without_a_key_no_header_is_sent(fake):
    server = fake(chat())
    asking(server)
    assert not {"Authorization", "api-key", "x-api-key"} & server.received[-1][1].keys()


def test_what_netrc_and_a_proxy_hold_is_not_for_this_machine(fake, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine localhost login nurse password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("FAKE_KEY", KEY)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server = fake(chat())
    asking(server, key="FAKE_KEY")
    assert f"Bearer {KEY}" == server.received[-1][1]["Authorization"]


def test_a_proxy_of_the_environment_is_used_for_other_hosts(fake, monkeypatch):
    proxy = fake(chat())
    monkeypatch.setenv("http_proxy", f"http://nurse:secret@127.0.0.1:{proxy.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert "6" == asking("http://model.example.org/v1").text
    assert "model.example.org" == proxy.received[-1][1]["Host"]
    assert proxy.received[-1][1]["Proxy-Authorization"].startswith("Basic ")


def test_a_query_of_the_base_url_follows_the_path(fake):
    server = fake(chat())
    asking(f"http://localhost:{server.port}/deployments/mine/?api-version=2024-10-21")
    assert "/deployments/mine/chat/completions?api-version=2024-10-21" == server.received[-1][0]


def test_chat_asks_for_a_schema_by_response_format(fake):
    server = fake(chat('{"verdict": "good"}'))
    reply = asking(server, request=Request(messages=TALK, sampling=Sampling(schema=SCHEMA)))
    assert {
        "type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}
    } == server.body["response_format"]  # fmt: skip
    assert {"verdict": "good"} == json.loads(reply.text)


def test_messages_ask_for_a_schema_by_a_tool_that_must_be_used(fake):
    server = fake(
        claude({"type": "tool_use", "name": "answer", "input": {"verdict": "größer"}}, reason="tool_use")
    )
    reply = asking(server, "anthropic", Request(messages=TALK, sampling=Sampling(schema=SCHEMA)))
    assert SCHEMA == server.body["tools"][0]["input_schema"]
    assert {"type": "tool", "name": server.body["tools"][0]["name"]} == server.body["tool_choice"]
    assert ('{"verdict": "größer"}', "stop") == (reply.text, reply.finish_reason)


def test_completions_refuse_a_schema_and_send_nothing(fake):
    server = fake(completion())
    with pytest.raises(RejectedError, match="completions take no schema"):
        asking(server, "completions", Request(messages=TALK, sampling=Sampling(schema=SCHEMA)))
    assert [] == server.received


def test_max_tokens_is_asked_by_its_new_name_once_the_endpoint_says_so(fake):
    no = failing(
        400,
        {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}},
    )
    server = fake(no, no, no, chat())
    request = Request(messages=TALK, sampling=Sampling(max_tokens=9))

    async def several() -> list[Reply]:
        model = OpenAIChat("fake/m", "m", EndpointConfig(name="fake", base_url=server.base_url))
        first = await asyncio.gather(  # all find out at once
            *(model.generate(request) for _ in range(3)), return_exceptions=True
        )
        assert [True] * 3 == [isinstance(error, RetryableError) and error.at_once for error in first]
        second = [await model.generate(request) for _ in range(4)]
        await model.close()
        return second

    assert ["6"] * 4 == [reply.text for reply in asyncio.run(several())]
    named = [body.keys() & {"max_tokens", "max_completion_tokens"} for _, _, body in server.received]
    assert [{"max_tokens"}] * 3 + [{"max_completion_tokens"}] * 4 == named


# What is made of an answer.


@pytest.mark.parametrize(
    ("answer", "text", "reasoning", "reason"),
    [
        (chat("6"), "6", None, "stop"),
        (
            chat([{"type": "text", "text": "6 "}, {"type": "image"}, {"text": "apples"}]),
            "6 apples",
            None,
            "stop",
        ),
        (chat(None, message={"reasoning_content": "3 and 3"}), "", "3 and 3", "stop"),
        (chat("6", message={"reasoning": "3 and 3"}), "6", "3 and 3", "stop"),
        (chat("6", message={"reasoning": {"steps": 1}}), "6", None, "stop"),
        (chat(None, message={"refusal": "I cannot."}), "I cannot.", None, "stop"),
        (chat("", "length"), "", None, "length"),
        (chat("", "content_filter"), None, None, "content_filter"),
        (chat(None, "content_filter"), None, None, "content_filter"),
        (chat("Take two", "content_filter"), "Take two", None, "content_filter"),
        (chat("6", None), "6", None, None),
        (chat("6", ["stop"]), "6", None, None),
        (chat("6", choice={"logprobs": []}, usage=[], citations={"a": 1}), "6", None, "stop"),
    ],
)
def test_an_answer_of_chat_is_read(fake, answer, text, reasoning, reason):
    reply = asking(fake(answer))
    assert (text, reasoning, reason) == (reply.text, reply.reasoning, reply.finish_reason)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"model": "m", "choices": []}, "no choices"),
        ({"model": "m", "choices": ["6"]}, "no choices"),
        ({"model": "m"}, "no choices"),
        (chat(choice={"message": None}), "no message"),
    ],
)
def test_an_answer_without_an_answer_is_asked_again(fake, answer, said):
    with pytest.raises(RetryableError, match=said):
        asking(fake(answer))


@pytest.mark.parametrize("kind", KINDS)
def test_what_azure_s_filter_withholds_has_no_text(fake, kind):
    body = {"error": {"code": "content_filter", "message": "The response was filtered due to the prompt"}}
    reply = asking(fake(failing(400, body)), kind)
    assert (None, "content_filter") == (reply.text, reply.finish_reason)


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 11, "completion_tokens": 3}, Usage(11, 3)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        ({"prompt_tokens": 11}, Usage(11, None)),
        ({"prompt_tokens": "11", "completion_tokens": -3}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": 1e3}, Usage()),
        ({"prompt_tokens": 10**60, "completion_tokens": None}, Usage()),
        (None, Usage()),
        ("many", Usage()),
    ],
)
def test_tokens_that_are_not_counted_are_null(fake, usage, read):
    assert read == asking(fake(chat(usage=usage))).usage


def test_log_probabilities_of_the_answer_are_read(fake):
    server = fake(
        chat(
            choice={"logprobs": {"content": [{"token": "6", "logprob": -0.5}, {"token": ".", "logprob": 0}]}}
        )
    )
    reply = asking(server, request=Request(messages=TALK, sampling=Sampling(logprobs=True)))
    assert (-0.5, 0.0) == reply.logprobs
    assert server.body["logprobs"] is True


def test_a_log_probability_that_is_none_is_not_made_up(fake):
    with pytest.raises(RetryableError, match=r"a log-probability is None \(that of token 1 of 1\)"):
        asking(fake(chat(choice={"logprobs": {"content": [{"token": "6"}]}})))


@pytest.mark.parametrize(
    "answer",
    [
        chat(message={"citations": ["https://a", "https://b"]}),
        chat(citations=["https://a", "https://b"]),
        chat(message={"annotations": ["https://a", "https://b"]}),
    ],
)
def test_citations_are_kept(fake, answer):
    assert ("https://a", "https://b") == asking(fake(answer)).citations


def test_halves_of_characters_become_marks_that_a_database_takes(fake):
    reply = asking(fake(raw(json.dumps(chat("a\ud800b 😀")).encode())))
    assert "a\ufffdb 😀" == reply.text


def test_thoughts_of_messages_are_kept_apart_and_citations_kept(fake):
    answer = claude(
        {"type": "thinking", "thinking": "3 and 3", "signature": "x"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "It is ", "citations": [{"cited_text": "p. 1"}]},
        {"type": "text", "text": "6"},
        "stray",
        usage={"input_tokens": 9, "output_tokens": 2},
    )
    reply = asking(fake(answer), "anthropic")
    assert ("It is 6", "3 and 3", Usage(9, 2)) == (reply.text, reply.reasoning, reply.usage)
    assert ({"cited_text": "p. 1"},) == reply.citations


@pytest.mark.parametrize(
    ("reason", "blocks", "text", "read"),
    [
        ("max_tokens", (), "", "length"),
        ("model_context_window_exceeded", ({"type": "text", "text": "6"},), "6", "length"),
        ("stop_sequence", ({"type": "text", "text": "6"},), "6", "stop"),
        ("refusal", (), None, "content_filter"),
        ("refusal", ({"type": "text", "text": "I"},), "I", "content_filter"),
        ("pause_turn", ({"type": "text", "text": "6"},), "6", "pause_turn"),
    ],
)
def test_why_messages_ended_is_said_in_the_words_of_chat(fake, reason, blocks, text, read):
    reply = asking(fake(claude(*blocks, reason=reason)), "anthropic")
    assert (text, read) == (reply.text, reply.finish_reason)


def test_an_overloaded_messages_endpoint_is_throttled(fake):
    with pytest.raises(RetryableError, match=r"HTTP 529: Overloaded \[overloaded_error\]") as error:
        asking(
            fake(failing(529, {"error": {"type": "overloaded_error", "message": "Overloaded"}})), "anthropic"
        )
    assert error.value.throttled


# Which model answered.


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4", "gpt-4-0613"),
        ("openai/gpt-4o", "gpt-4o"),
        ("gpt-4o", "openai/GPT-4o"),
        ("gemini-1.5-pro", "models/gemini-1.5-pro-002"),
        ("llama3", "llama3:latest"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("claude-sonnet-4", "claude-sonnet-4@20250514"),
        ("claude-sonnet-4", "claude-sonnet-4-20250514-v1:0"),
        ("mistral-large-latest", "mistral-large-2411"),
        ("x/llama-3-8b:free", "x/llama-3-8b"),
    ],
)
def test_a_dated_name_is_the_same_model(fake, asked, said):
    assert said == asking(fake(chat() | {"model": said}), model=asked).model


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("llama3", "llama3.1-70b"),
        ("gpt-4", "gpt-4o"),
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("llama-3-8b", "llama-3-8b-instruct"),
        ("llama3:8b", "llama3:70b"),
        ("llama3:8b", "llama3"),
        ("qwen-7", "qwen-72b"),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4", "gpt-4-32k"),
        ("gpt-4", "gpt-4-"),
        ("m", ""),
    ],
)
def test_another_model_is_not_taken_for_the_one_asked(fake, asked, said):
    server = fake(chat() | {"model": said})
    if not said:
        assert asking(server, model=asked).model is None  # it does not say, which is no contradiction
        return
    with pytest.raises(RetryableError, match=f"'{said}' answered in place of '{asked}'.*accept"):
        asking(server, model=asked)


@pytest.mark.parametrize(
    "accept", [{"mine": ("gpt-4o",)}, {"mine": ("*",)}, {"*": ("*",)}, {"*": ("gpt-4o",)}]
)
def test_a_name_that_is_listed_is_accepted(fake, accept):
    assert (
        "gpt-4o-2024-08-06"
        == asking(fake(chat() | {"model": "gpt-4o-2024-08-06"}), model="mine", accept=accept).model
    )


# The probability of a given text.


def echoed(tokens, numbers, offsets=None):
    listed = {"tokens": tokens, "token_logprobs": numbers, "text_offset": offsets}
    return completion("".join(tokens), choice={"logprobs": listed})


LIKELY = Request(messages=(Message("user", "Aspirin is a"),), kind="loglikelihood", target=" drug.")


@pytest.mark.parametrize(
    ("tokens", "numbers", "offsets", "kept"),
    [
        (["Aspirin", " is", " a", " drug", "."], [None, -3, -1, -2, -0.5], [0, 7, 10, 12, 17], (-2, -0.5)),
        (
            ["Aspirin", " is", " a d", "rug", "."],
            [None, -3, -1.5, -2, -0.5],
            [0, 7, 10, 14, 17],
            (-1.5, -2, -0.5),
        ),
        # a mark of the beginning is a token too, and moves the offsets
        (["<s>", "Aspirin", " is", " a", " drug."], [None, -9, -3, -1, -2], [0, 3, 10, 13, 15], (-2,)),
    ],
)
def test_an_echo_gives_the_probability_of_the_target_s_tokens_only(fake, tokens, numbers, offsets, kept):
    server = fake(echoed(tokens, numbers, offsets))
    reply = asking(server, "completions", LIKELY, way="loglikelihood")
    assert kept == reply.logprobs
    assert {
        "model": "m",
        "prompt": "Aspirin is a drug.",
        "echo": True,
        "logprobs": 1,
        "max_tokens": 0,
        "temperature": 0.0,
    } == server.body


def test_offsets_count_where_a_character_is_cut_into_tokens(fake):
    request = Request(messages=(Message("user", "x"),), kind="loglikelihood", target=" µg")
    server = fake(echoed(["x", " ", "\ufffd", "\ufffd", "g"], [None, -1, -2, -3, -4], [0, 1, 2, 2, 3]))
    assert (-1, -2, -3, -4) == asking(server, "completions", request, way="loglikelihood").logprobs


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [
        (["x", "drug", "store"], (-1, -2)),
        (["x", " ", "drug", "store"], (-1, -2, -3)),
        (["x", "", "drug", "store"], (-2, -3)),
    ],
)
def test_the_blank_before_a_word_may_be_lost_in_a_token_shown_alone(fake, tokens, kept):
    request = Request(messages=(Message("user", "x"),), kind="loglikelihood", target=" drug store")
    answer = completion("x drug store", choice={"logprobs": {
        "tokens": tokens, "token_logprobs": [None, -1, -2, -3][: len(tokens)]}})  # fmt: skip
    assert kept == asking(fake(answer), "completions", request, way="loglikelihood").logprobs


@pytest.mark.parametrize(
    "offsets", [None, [-1] * 5, [0] * 5, [0, 1, 2, 2], [0, 1, 2, 2, "3"], [4, 3, 2, 1, 0]]
)
def test_without_sound_offsets_tokens_that_do_not_spell_give_no_likelihood(fake, offsets):
    request = Request(messages=(Message("user", "x"),), kind="loglikelihood", target=" µg")
    server = fake(echoed(["x", " ", "\ufffd", "\ufffd", "g"], [None, -1, -2, -3, -4], offsets))
    with pytest.raises(RejectedError, match="do not spell the target"):
        asking(server, "completions", request, way="loglikelihood")


def test_a_token_that_was_made_although_none_was_asked_for_is_not_the_target_s(fake):
    request = Request(messages=(Message("user", "x"),), kind="loglikelihood", target=" aa")
    server = fake(echoed(["x", " a", "a", "a"], [None, -1, -2, -3], [0, 1, 3, 4]))
    assert (-1, -2) == asking(server, "completions", request, way="loglikelihood").logprobs


def test_an_empty_target_has_an_empty_likelihood(fake):
    request = Request(messages=(Message("user", "x"),), kind="loglikelihood", target="")
    assert (
        () == asking(fake(echoed(["x"], [None], [0])), "completions", request, way="loglikelihood").logprobs
    )


def test_tokens_that_do_not_spell_the_target_give_no_likelihood(fake):
    server = fake(
        echoed(["Aspirin", " is", " a", " plant", "."], [None, -3, -1, -2, -0.5], [0, 7, 10, 12, 18])
    )
    with pytest.raises(RejectedError, match="do not spell the target"):
        asking(server, "completions", LIKELY, way="loglikelihood")


def test_a_first_token_has_no_probability(fake):
    request = Request(messages=(Message("user", ""),), kind="loglikelihood", target="6")
    with pytest.raises(RejectedError, match="the first token has no probability"):
        asking(fake(echoed(["6"], [None], [0])), "completions", request, way="loglikelihood")


@pytest.mark.parametrize("answer", [completion("Aspirin is a drug."), completion(choice={"logprobs": None})])
def test_an_endpoint_without_echo_gives_no_likelihood(fake, answer):
    with pytest.raises(FatalError, match="echoes no log-probabilities"):
        asking(fake(answer), "completions", LIKELY, way="loglikelihood")


def test_chat_gives_the_probability_of_an_answer_by_prompt_logprobs(fake):
    places = [("<|user|>", -9), ("Aspirin", -8), ("<|assistant|>", -0.1), (" drug", -2), (".", -0.5)]
    listed = [
        None,
        *({str(k): {"logprob": n, "rank": 1, "decoded_token": t}} for k, (t, n) in enumerate(places)),
    ]
    server = fake(chat(prompt_logprobs=listed))
    reply = asking(server, request=LIKELY, way="loglikelihood")
    assert ((-2.0, -0.5), " drug.") == (reply.logprobs, reply.text)
    assert {
        "model": "m",
        "messages": [{"role": "user", "content": "Aspirin is a"}, {"role": "assistant", "content": " drug."}],
        "add_generation_prompt": False, "continue_final_message": True, "prompt_logprobs": 0, "max_tokens": 1,
        "temperature": 0.0,
    } == server.body  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [chat(), failing(400, {"error": {"message": "Unrecognized request argument supplied: prompt_logprobs"}})],
)
def test_chat_without_prompt_logprobs_gives_no_likelihood(fake, answer):
    with pytest.raises(FatalError, match="no prompt_logprobs"):
        asking(fake(answer), request=LIKELY, way="loglikelihood")


def test_messages_give_no_likelihood(fake):
    with pytest.raises(FatalError, match="gives no probability"):
        asking(fake(claude()), "anthropic", LIKELY, way="loglikelihood")


# What goes wrong.


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (
            400,
            {
                "error": {
                    "message": "maximum context length is 8192 tokens",
                    "code": "context_length_exceeded",
                }
            },
            RejectedError,
            "longer than the model's context",
        ),
        (413, "too big", RejectedError, "longer than the model's context"),
        (
            400,
            {"error": {"message": "temperature must be <= 2"}},
            RejectedError,
            "HTTP 400: temperature must be <= 2",
        ),
        (422, {"detail": [{"loc": ["body"], "msg": "bad"}]}, RejectedError, "HTTP 422: .*bad"),
        (400, "", RejectedError, "no explanation"),
        (401, {"error": {"message": "no"}}, FatalError, "refuses the key"),
        (403, {"error": {"message": "no"}}, FatalError, "refuses the key"),
        (
            404,
            {"error": {"message": "model 'm' does not exist"}},
            FatalError,
            "no such model or path .*Check the name",
        ),
        (402, {"error": {"message": "pay"}}, FatalError, "no credit left"),
        (
            429,
            {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}},
            FatalError,
            "no credit left",
        ),
        (429, {"error": {"message": "slow down"}}, RetryableError, "HTTP 429: slow down"),
        (500, "<html>\x1b[31moops</html>", RetryableError, "HTTP 500: <html>\ufffd"),
        (503, [1], RetryableError, "HTTP 503"),
        (
            200,
            {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}},
            RetryableError,
            "inside HTTP 200",
        ),
        (200, {"error": "the engine is overloaded"}, RetryableError, "inside HTTP 200"),
        (200, {"error": {"message": "oh no", "code": 500}}, RetryableError, "inside HTTP 200: oh no"),
        (200, {"error": {"message": "oh no", "code": "502"}}, RetryableError, "inside HTTP 200: oh no"),
        (200, {"error": "oh no", "code": 500}, RetryableError, "inside HTTP 200: oh no"),
        (
            200,
            {"error": {"message": "temperature must be a number", "code": 400}},
            RejectedError,
            "temperature must be",
        ),
        (
            200,
            {"error": {"message": "the context length is exceeded"}},
            RejectedError,
            "longer than the model's context",
        ),
        (200, "", RetryableError, "the answer is empty"),
        (200, "[1]", RetryableError, "no JSON object"),
        (200, '{"choices"', RetryableError, "no JSON object"),
        (200, "[" * 100_000, RetryableError, "no JSON object"),
        (200, '{"a":' * 100_000, RetryableError, "no JSON object"),
    ],
)
def test_what_an_endpoint_complains_of_is_named(fake, status, body, kind, said):
    with pytest.raises(kind, match=said) as error:
        asking(fake(failing(status, body)))
    assert len(str(error.value)) < 400


def test_a_flagged_question_is_filtered_not_a_matter_of_the_key(fake):
    assert asking(fake(failing(403, {"error": {"message": "your input was flagged"}}))).text is None


def test_text_that_is_no_utf8_is_asked_again(fake):
    with pytest.raises(RetryableError, match="no JSON object"):
        asking(fake(raw(b'{"choices": "\xff\xfe"}')))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(fake, status):
    elsewhere = fake(chat())
    with pytest.raises(FatalError, match="redirects are not followed"):
        asking(fake(failing(status, "", {"Location": elsewhere.base_url})))
    assert [] == elsewhere.received


def test_a_body_without_end_is_cut(fake, monkeypatch):
    monkeypatch.setattr(http_client, "LARGEST", 1 << 20)
    with pytest.raises(RejectedError, match="longer than 1 MiB"):
        asking(fake(raw(b" " * (3 << 20))))


def test_a_bomb_counts_as_what_it_unpacks_to(fake, monkeypatch):
    monkeypatch.setattr(http_client, "LARGEST", 1 << 20)
    small = gzip.compress(b" " * (50 << 20))
    assert len(small) < 1 << 17
    with pytest.raises(RejectedError, match="longer than 1 MiB"):
        asking(fake(raw(small, **{"Content-Encoding": "gzip"})))


def test_a_body_that_is_no_gzip_is_asked_again(fake):
    with pytest.raises(RetryableError, match="the connection broke"):
        asking(fake(raw(b"not packed", **{"Content-Encoding": "gzip"})))


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("7", 7, 7),
        ("0.5", 0.5, 0.5),
        ("1e400", float("inf"), float("inf")),
    ],
)
def test_retry_after_is_seconds(fake, value, low, high):
    with pytest.raises(RetryableError) as error:
        asking(fake(failing(429, "", {"Retry-After": value})))
    assert low <= error.value.after <= high


def test_retry_after_is_a_date(fake):
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=1000), usegmt=True)
    with pytest.raises(RetryableError) as error:
        asking(fake(failing(429, "", {"Retry-After": then})))
    assert 900 <= error.value.after <= 1000


@pytest.mark.parametrize(
    "value", ["-5", "0", "nan", "soon", "Wed, 99 Foo 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"]
)
def test_a_retry_after_that_says_nothing_leaves_the_wait_to_us(fake, value):
    with pytest.raises(RetryableError) as error:
        asking(fake(failing(429, "", {"Retry-After": value})))
    assert error.value.after is None


def test_a_host_that_is_not_there_is_named():
    with pytest.raises(FatalError, match=r"no host 'nowhere\.invalid' can be found"):
        asking("http://nowhere.invalid/v1")


def test_a_server_that_is_not_up_may_come_up():
    with pytest.raises(RetryableError, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        asking("http://127.0.0.1:9/v1")


def test_silence_ends(fake):
    async def silent(request):
        await asyncio.sleep(20)

    with pytest.raises(RetryableError, match=r"no answer within 0\.3 s"):
        asking(fake(silent), timeout=0.3)


@pytest.mark.parametrize(
    "base_url", ["http://:80", "ftp://host/v1", "https://", "http://host:port/v1", "http://[::1/v1"]
)
def test_a_base_url_that_is_none_is_named(base_url):
    with pytest.raises(FatalError, match="is no URL of an endpoint"):
        asking(base_url)


def test_a_base_url_holds_no_password():
    with pytest.raises(FatalError, match="user or password") as error:
        asking(f"https://nurse:{KEY}@host/v1")
    assert KEY not in str(error.value)


def test_offline_a_hosted_model_is_refused_before_anything_is_sent():
    with offline(), pytest.raises(EgressError, match=r"model\.example\.org"):
        asking("https://model.example.org/v1")


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A server context whose certificate nobody has signed."""
    if not shutil.which("openssl"):
        absent("no openssl program to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem"
    subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def test_a_certificate_that_nobody_signed_is_not_accepted(fake, certified):
    server = fake(chat(), context=certified)
    with pytest.raises(
        FatalError, match=r"no safe connection to https://localhost:\d+.*CERTIFICATE_VERIFY_FAILED.*authority"
    ):
        asking(server)
    assert [] == server.received


def test_tls_to_a_server_without_is_named(fake):
    server = fake(chat())
    with pytest.raises(FatalError, match="no safe connection"):
        asking(server.base_url.replace("http:", "https:"))


# Keys.


def test_a_key_with_blanks_is_refused_without_being_shown(fake, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", f"{KEY}\nX-Evil: 1")
    with pytest.raises(Exception, match="FAKE_KEY holds blanks") as error:
        OpenAIChat("fake/m", "m", EndpointConfig(name="fake", base_url="http://localhost/v1", key="FAKE_KEY"))
    assert KEY not in str(error.value)


async def parrot_error(request):
    return web.json_response(
        {"error": {"message": f"bad key {dict(request.headers)}", "code": KEY}}, status=400
    )


async def parrot_answer(request):
    return web.json_response(chat(f"You said {request.headers['Authorization']}", message={"reasoning": KEY}))


async def parrot_text(request):
    return web.Response(text=request.headers["Authorization"], status=500, headers={"Retry-After": KEY})


async def parrot_model(request):
    return web.json_response(chat() | {"model": KEY})


async def hang_up(request):
    request.transport.abort()
    return web.Response()


async def gibberish(request):
    request.transport.write(b"HTTP/1.1 two hundred\r\n\r\n")
    await asyncio.sleep(0.1)
    request.transport.abort()
    return web.Response()


async def half(request):
    answer = web.StreamResponse(headers={"Content-Length": "1000", "X-Key": KEY})
    await answer.prepare(request)
    await answer.write(KEY.encode())
    request.transport.abort()
    return answer


@pytest.mark.parametrize("key", [KEY, "hospital9key7without0prefix"])
@pytest.mark.parametrize(
    "answer",
    [parrot_error, parrot_answer, parrot_text, parrot_model, hang_up, gibberish, half,
     failing(401, f"wrong: {KEY}"),
     failing(307, "", {"Location": f"http://{KEY}.example.org"}), failing(404, KEY), raw(KEY.encode()),
     raw(b"x", **{"Content-Encoding": "gzip"}), None],
)  # fmt: skip
def test_a_key_comes_out_nowhere(fake, monkeypatch, caplog, capfd, answer, key):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("FAKE_KEY", key)
    server = fake(answer) if answer else "http://127.0.0.1:9/v1"
    config = EndpointConfig(
        name="fake", base_url=getattr(server, "base_url", server), key="FAKE_KEY", timeout=5.0
    )
    said = [repr(config)]

    async def once() -> None:
        one = OpenAIChat("fake/m", "m", config)
        said.extend([repr(one), repr(one.client), str(one.client.endpoint)])
        try:
            said.append(repr(await one.generate(Request(messages=TALK[-1:]))))
        except Exception as error:
            said.extend(traceback.format_exception(error))
            while (
                error is not None
            ):  # what is suppressed in a traceback is still there for a debugger's report
                said.append(repr(error))
                error = error.__cause__ or error.__context__
        finally:
            await one.close()

    asyncio.run(once())
    everything = "\n".join([*said, caplog.text, *capfd.readouterr()])
    assert len(said) > 4
    # KEY in place of the one in use is what a server made up; only the one in use is ours to guard
    assert key not in everything


def test_a_dummy_key_is_a_word_and_stays_in_answers(fake, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", "EMPTY")
    assert "on an EMPTY stomach" == asking(fake(chat("on an EMPTY stomach")), key="FAKE_KEY").text
