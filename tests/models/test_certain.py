"""Log-probabilities that are all 0.0 are the endpoint's fault: no text is certain token by token."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.models.endpoint_cases import case_of
from tests.models.test_api import asking, chat, completion, echoed
from tests.models.test_charges import asked, calls, connected
from tests.models.test_likelihood import TEMPLATE, chatted, completed, likely, placed

from vivavoce.logprobs.requests import missing_reason
from vivavoce.models.providers.openai import OpenAICompletions
from vivavoce.models.requests import Message, RejectedError, Request, Sampling

QUESTION = ["What", " is", " aspirin", "?"]
FAULT = "gives every token of the text the log-probability 0.0"


def test_an_echo_of_zeros_has_no_likelihood(fake: Any, shared: Path) -> None:
    assert "every token of an echo 0.0" == case_of(shared, "zeros")["logprobs"]
    server = fake(echoed([*QUESTION, " A", " drug"], [None, 0.0, 0.0, 0.0, 0.0, 0.0]))
    with pytest.raises(RejectedError, match=FAULT):
        completed(server, likely("A drug"))


@pytest.mark.parametrize(
    "numbers",
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [None, -0.0, 0.0, -0.0, 0.0, 0.0],
        [None, 0, 0, 0, 0, 0],
        [None, 1e-7, -1e-9, 0.0, 0.0, 0.0],
        [None, None, None, None, 0.0, 0.0],
    ],
)
def test_zeros_in_any_form_are_none(fake: Any, numbers: list[Any]) -> None:
    with pytest.raises(RejectedError, match=FAULT):
        completed(fake(echoed([*QUESTION, " A", " drug"], numbers)), likely("A drug"))


def test_zeros_in_the_prompt_log_probabilities_of_chat_are_none(fake: Any) -> None:
    zeros = [(token, 0.0, 1) for token, _, _ in TEMPLATE]
    with pytest.raises(RejectedError, match=FAULT):
        chatted(fake(placed(*zeros, ("A", 0.0, 1))), likely("A"))


def test_a_model_of_zeros_is_given_up_and_says_why(fake: Any) -> None:
    server = fake(echoed(["0000", " yes"], [0.0, 0.0]))
    request = likely("yes", messages=(Message("user", "0000"),))
    listed = [
        call._replace(request=replace(request, target=f"yes{k * ' '}")) for k, call in enumerate(calls(9))
    ]
    tally, _ = asked(connected(server, OpenAICompletions), calls=listed)
    assert 3 == len(server.received)
    assert FAULT in tally.stopped["fake/m"]


@pytest.mark.parametrize(
    ("tokens", "numbers", "target"),
    [
        ([*QUESTION, " A"], [None, -3.0, -2.0, -1.0, 0.0], "A"),
        ([*QUESTION, " A", " drug"], [None, -3.0, 0.0, 0.0, 0.0, 0.0], "A drug"),
        (["?", " A"], [None, 0.0], "A"),
    ],
)
def test_a_token_may_be_certain(fake: Any, tokens: list[str], numbers: list[Any], target: str) -> None:
    messages = (Message("user", "".join(tokens).removesuffix(f" {target}")),)
    reply = completed(fake(echoed(tokens, numbers)), likely(target, messages=messages))
    assert 0.0 == reply.likelihoods[0].logprob


def generated(n: int, number: float = 0.0) -> dict[str, Any]:
    """A chat completion of n tokens, each with this log-probability."""
    listed = [{"token": " a", "logprob": number, "top_logprobs": []} for _ in range(n)]
    return chat(" a" * n, choice={"logprobs": {"content": listed}})


SAMPLED = Request(messages=(Message("user", "?"),), sampling=Sampling(logprobs=True, max_tokens=50))


def test_a_long_answer_of_zeros_has_no_log_probabilities(fake: Any) -> None:
    reply = asking(fake(generated(20)), request=SAMPLED)
    assert (" a" * 20, None) == (reply.text, reply.logprobs)
    reason = missing_reason(SAMPLED, reply)
    assert reason
    assert "gives every token of the answer the log-probability 0.0" in reason


@pytest.mark.parametrize("answer", [generated(1), generated(5), generated(20, -1e-4)])
def test_a_short_or_nearly_certain_answer_keeps_its_log_probabilities(
    fake: Any, answer: dict[str, Any]
) -> None:
    reply = asking(fake(answer), request=SAMPLED)
    assert reply.logprobs
    assert missing_reason(SAMPLED, reply) is None


def test_completions_are_read_alike(fake: Any) -> None:
    listed = {"tokens": [" a"] * 20, "token_logprobs": [0.0] * 20}
    reply = asking(fake(completion(" a" * 20, choice={"logprobs": listed})), "completions", SAMPLED)
    assert reply.logprobs is None
    assert missing_reason(SAMPLED, reply)
