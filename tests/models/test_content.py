"""What is malformed in a reply is the endpoint's failure; what is empty is the candidate's."""

import asyncio

import pytest
from tests.models.one_by_one import each
from tests.models.test_api import asking, chat, claude, completion

from vivavoce.models.engine.calls import Call, Queue
from vivavoce.models.engine.scheduler import ask
from vivavoce.models.providers.systems import FunctionModel
from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Message, Reply, Request, RetryableError

LIKELY = Request(messages=(Message("user", "Aspirin is a"),), kind="loglikelihood", target=" drug.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (chat({"text": "6"}), "its content is an object, not text"),
        (chat(6), "its content is a number"),
        (chat(False), "its content is true or false"),
        (chat(["6"]), "none of the parts of its content is an object"),
        (chat([{"type": "text", "text": ["6"]}]), "the text of a part is a list"),
        (chat([{"text": "6"}, {"type": "output_text"}]), "the text of a part is null"),
        (chat({"text": "6"}, "content_filter"), "its content is an object"),
        (chat([{"type": "image_url"}]), "the answer is image_url without a text"),
        (chat(None, None), "no text and does not say why it ended"),
        (chat("6 apples and", "error"), "the endpoint ended the reply by 'error'"),
        (chat("6", choice={"error": {"message": "upstream broke"}}), "'stop': upstream broke"),
        (chat("", "insufficient_system_resource"), "'insufficient_system_resource'"),
    ],
)
def test_a_malformed_reply_of_chat_is_asked_again(fake, answer, said):
    with pytest.raises(RetryableError, match=said):
        asking(fake(answer))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (chat([{"type": "thinking", "thinking": []}, {"type": "text", "text": "6"}]), "6"),
        (chat([{"type": "output_text", "text": "6"}]), "6"),
        (chat([{"type": "refusal", "refusal": "I cannot."}]), "I cannot."),
        (chat([{"type": "text", "text": "6"}, "stray"]), "6"),
        (chat([]), ""),
        (chat(None, "tool_calls"), ""),
        (chat(None, "MAX_TOKENS"), ""),
        (chat([], "content_filter"), None),
    ],
)
def test_what_is_odd_and_not_malformed_is_read(fake, answer, text):
    assert text == asking(fake(answer)).text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (completion(6), "no text"),
        (completion(6, "content_filter"), "no text"),
        (completion("", None), "does not say why it ended"),
        (completion("6 ap", "error"), "ended the reply by 'error'"),
    ],
)
def test_a_malformed_completion_is_asked_again(fake, answer, said):
    with pytest.raises(RetryableError, match=said):
        asking(fake(answer), "completions")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (claude() | {"content": None}, "no content"),
        (claude() | {"content": "6"}, "no content"),
        (claude(5, "6"), "none of the parts"),
        (claude({"type": "text", "text": 6}), "the text of a part is a number"),
        (claude(reason=None), "does not say why it ended"),
        (claude({"type": "text", "text": "6"}, reason="error"), "ended the reply by 'error'"),
    ],
)
def test_a_malformed_message_is_asked_again(fake, answer, said):
    with pytest.raises(RetryableError, match=said):
        asking(fake(answer), "anthropic")


@pytest.mark.parametrize(
    "reply", [{"text": 6}, {"text": None}, {}, 6, None, {"text": "6", "finish_reason": "error"},
              {"text": "6", "error": "out of memory"}],
)  # fmt: skip
def test_a_malformed_reply_of_a_system_is_asked_again(fake, monkeypatch, reply):
    monkeypatch.setattr("tests.models.test_content.given_reply", reply)
    with pytest.raises(RetryableError):
        asyncio.run(FunctionModel("callable", "tests.models.test_content:system").generate(LIKELY))


given_reply = None


def system(messages):
    return given_reply


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (chat(prompt_logprobs="none"), "prompt_logprobs are no list"),
        (completion("x", choice={"logprobs": {"tokens": ["x"], "token_logprobs": []}}), "1 tokens and 0"),
        (completion("x", "error", choice={"logprobs": {"tokens": ["x"], "token_logprobs": [-1]}}), "'error'"),
    ],
)
def test_a_malformed_likelihood_is_asked_again(fake, answer, said):
    kind = "completions" if "text" in answer["choices"][0] else "openai"
    with pytest.raises(RetryableError, match=said):
        asking(fake(answer), kind, LIKELY, way="loglikelihood")


@pytest.mark.parametrize("number", [-float("inf"), float("nan"), -(10**400), "-1", True, None, 3.0])
def test_a_log_probability_that_is_no_number_is_asked_again(fake, number):
    with pytest.raises(RetryableError, match="a log-probability is"):
        asking(fake(chat(choice={"logprobs": {"content": [{"token": "6", "logprob": number}]}})))


class Plugin:
    """A provider of somebody's that returns what it is made with."""

    name, endpoint, place = "plugin/m", "plugin", ""

    def __init__(self, reply):
        self.reply = reply

    async def generate(self, request):
        return self.reply

    async def close(self):
        pass


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("6", "returned str, not a Reply"),
        (None, "returned null, not a Reply"),
        (Reply(text=None, finish_reason="stop"), "a Reply whose text is null"),
        (Reply(text=6), "a Reply whose text is a number"),
        (Reply(text="6", finish_reason="error"), "ended the reply by 'error'"),
    ],
)
def test_what_a_plugin_returns_is_checked_before_it_counts_as_an_answer(reply, said):
    outcomes = []
    call = Call(Request(messages=(Message("user", "6?"),)), 1, None)
    queue = Queue(Plugin(reply), [call], Limits(attempts=1))
    tally = ask([queue], each(lambda model, call, outcome: outcomes.append(outcome)))
    assert (0, 1) == (tally.answered, tally.failed)
    assert said in outcomes[0].error
