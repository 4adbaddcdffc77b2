"""Why replies ended, and the thinking before them: in the words of every provider, kept in the response."""

from pathlib import Path
from typing import Any

import pytest
from tests.models.endpoint_cases import case_of, chat_body
from tests.models.test_api import asking, chat, claude, completion
from tests.models.test_charges import asked, calls, connected

from vivavoce.core.records import Item, Response
from vivavoce.models.content import checked_reply
from vivavoce.models.engine import scheduler
from vivavoce.models.requests import Reply, RetryableError
from vivavoce.run.collect.generate import response_of
from vivavoce.run.exchange.logs.fields import answer_fields


def response(server: Any) -> Response:
    """The response to a question that one reply of the server makes."""
    _, (outcome,) = asked(connected(server))
    item = Item(benchmark="exam", item="q", format="open", question="?")
    return response_of("exam", "fake/m", calls(1)[0]._replace(tag=item), outcome)


def shared_response(fake: Any, shared: Path, name: str) -> Response:
    return response(fake(chat_body(case_of(shared, name)["reply"])))


@pytest.mark.parametrize(
    ("name", "word"),
    [("gemini-safety", "SAFETY"), ("gemini-prohibited", "content_filter: PROHIBITED_CONTENT")],
)
def test_what_gemini_withholds_is_filtered_and_its_word_is_kept(
    fake: Any, shared: Path, name: str, word: str
) -> None:
    answer = shared_response(fake, shared, name)
    assert ("filtered", None, "content_filter") == (answer.status, answer.text, answer.finish_reason)
    assert word == answer.meta["finish_reason"]


@pytest.mark.parametrize(
    "choice",
    [
        {"finish_reason": "RECITATION", "message": {"role": "assistant", "content": None}},
        {"finish_reason": "content_filter: SPII", "index": 0},
        {"finish_reason": "FinishReason.BLOCKLIST", "message": {"content": []}},
        {"finish_reason": "LANGUAGE", "message": {"content": ""}},
        {"finish_reason": "image-safety", "message": None},
    ],
)
def test_whatever_a_filter_is_called_it_withheld_the_answer(fake: Any, choice: dict[str, Any]) -> None:
    reply = asking(fake({"choices": [choice]}))
    assert (None, "content_filter", choice["finish_reason"]) == (
        reply.text, reply.finish_reason, reply.raw_reason
    )  # fmt: skip


def test_what_came_before_a_filter_is_kept(fake: Any) -> None:
    reply = asking(fake(chat("Answer:", "SAFETY")))
    assert ("Answer:", "content_filter") == (reply.text, reply.finish_reason)


def test_a_malformed_call_is_the_endpoint_s_failure(
    fake: Any, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "FIRST_WAIT", 0.0)
    answer = shared_response(fake, shared, "malformed-call")
    assert ("failed", None) == (answer.status, answer.text)
    assert "the endpoint ended the reply by 'MALFORMED_FUNCTION_CALL', after 6 attempts" == answer.error


@pytest.mark.parametrize("word", ["OTHER", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE", "ERROR"])
def test_an_end_that_no_model_makes_is_asked_again(fake: Any, word: str) -> None:
    with pytest.raises(RetryableError, match=f"ended the reply by '{word}'"):
        asking(fake(chat("", word)))


@pytest.mark.parametrize("word", ["MAX_TOKENS", "max_tokens", "model_length", "FinishReason.MAX_TOKENS"])
def test_a_limit_of_tokens_is_one_word_at_every_endpoint(fake: Any, word: str) -> None:
    assert ("6 ap", "length", word) == _ended(asking(fake(chat("6 ap", word))))
    assert ("6 ap", "length", word) == _ended(asking(fake(completion("6 ap", word)), "completions"))
    block = {"type": "text", "text": "6 ap"}
    assert ("6 ap", "length", word) == _ended(asking(fake(claude(block, reason=word)), "anthropic"))
    assert ("6 ap", "length", word) == _ended(checked_reply(Reply(text="6 ap", finish_reason=word)))


def _ended(reply: Reply) -> tuple[str | None, ...]:
    return reply.text, reply.finish_reason, reply.raw_reason


def test_a_word_that_is_stored_as_it_is_stands_once(fake: Any) -> None:
    assert ("6", "length", None) == _ended(asking(fake(chat("6", "length"))))
    assert ("6", "surprise", None) == _ended(asking(fake(chat("6", "surprise"))))
    assert {} == response(fake(chat("6") | {"model": None})).meta


def test_all_tokens_spent_on_thinking_can_be_told(fake: Any, shared: Path) -> None:
    answer = shared_response(fake, shared, "length-empty")
    assert ("ok", "", "length", 16) == (answer.status, answer.text, answer.finish_reason, answer.tokens)
    assert 16 == answer.meta["reasoning_tokens"]


def test_thinking_without_an_answer_is_kept(fake: Any, shared: Path) -> None:
    answer = shared_response(fake, shared, "null-reasoning")
    assert ("ok", "", "stop", "... Answer: B") == (
        answer.status, answer.text, answer.finish_reason, answer.reasoning
    )  # fmt: skip


def test_gemini_s_thinking_is_told_from_the_total(fake: Any) -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 0, "total_tokens": 1074}
    answer = response(fake(chat("", "MAX_TOKENS") | {"model": None, "usage": usage}))
    assert ("", "length", 1024, 1024) == (
        answer.text, answer.finish_reason, answer.tokens, answer.meta["reasoning_tokens"]
    )  # fmt: skip


@pytest.mark.parametrize(
    "part",
    [
        {"text": "B? Answer: A. No.", "thought": True},
        {"type": "text", "text": "B? Answer: A. No.", "thought": True},
        {"type": "thinking", "thinking": "B? Answer: A. No."},
        {"type": "thinking", "thinking": [{"type": "text", "text": "B? Answer: A. No."}]},
        {"type": "reasoning", "text": "B? Answer: A. No."},
    ],
)
def test_a_part_of_thinking_is_no_part_of_the_text(fake: Any, part: dict[str, Any]) -> None:
    reply = asking(fake(chat([part, {"type": "text", "text": "Answer: B"}])))
    assert ("Answer: B", "B? Answer: A. No.") == (reply.text, reply.reasoning)


@pytest.mark.parametrize(
    "part", [{"type": "thinking", "thinking": 6}, {"thought": True}, {"type": "thinking"}]
)
def test_a_part_of_thinking_without_a_text_is_none(fake: Any, part: dict[str, Any]) -> None:
    reply = asking(fake(chat([part, {"type": "text", "text": "B", "thought": False}])))
    assert ("B", None) == (reply.text, reply.reasoning)


def test_thinking_of_messages_is_counted_where_the_endpoint_counts_it(fake: Any) -> None:
    usage = {"input_tokens": 9, "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 48}}
    blocks = ({"type": "thinking", "thinking": "3 and 3"}, {"type": "text", "text": ""})
    reply = asking(fake(claude(*blocks, reason="max_tokens", usage=usage)), "anthropic")
    assert ("", "length", "3 and 3", 48) == (
        reply.text, reply.finish_reason, reply.reasoning, reply.reasoning_tokens
    )  # fmt: skip


@pytest.mark.parametrize(
    ("response", "text", "reason"),
    [
        ({"choices": [{"finish_reason": "SAFETY"}]}, None, "content_filter"),
        ({"candidates": [{"finish_reason": "SPII"}]}, None, "content_filter"),
        ({"candidates": [{"finishReason": "LANGUAGE"}]}, None, "content_filter"),
    ],
)
def test_what_inspect_calls_unknown_is_read_in_the_endpoint_s_words(
    response: dict[str, Any], text: str | None, reason: str
) -> None:
    models = pytest.importorskip("inspect_ai.model")
    from vivavoce.models.providers.inspect.replies import reply_of

    output = models.ModelOutput.from_content("m", "", "unknown")
    call = models.ModelCall(request={}, response=response)
    reply = reply_of((output, call), logprobs=False, key=None)
    assert (text, reason) == (reply.text, reply.finish_reason)
    broken = models.ModelCall(request={}, response={"candidates": [{"finish_reason": "OTHER"}]})
    with pytest.raises(RetryableError, match="ended the reply by 'OTHER'"):
        reply_of((output, broken), logprobs=False, key=None)


@pytest.mark.parametrize(
    ("text", "word", "status", "reason"),
    [
        ("B", "endoftext", "ok", "stop"),
        ("B be", "max_tokens", "ok", "length"),
        ("B be", "abort", "ok", "abort"),
        ("B", "unknown", "ok", "unknown"),
        ("", "SAFETY", "filtered", "content_filter"),
        ("", "MALFORMED_FUNCTION_CALL", "failed", None),
    ],
)
def test_logs_are_read_by_the_same_table(text: str, word: str, status: str, reason: str | None) -> None:
    fields = answer_fields(text, reason=word)
    assert (status, reason) == (fields.get("status", "ok"), fields.get("finish_reason"))
    raw_word = fields.get("meta", {}).get("finish_reason", reason)
    assert status == "failed" or word == raw_word
