"""What a reply is charged for: the larger of the answer's tokens and of the total less the prompt's."""

from pathlib import Path
from typing import Any

import pytest
from tests.models.endpoint_cases import case_of, chat_body
from tests.models.test_charges import asked, calls, connected

from vivavoce.models.engine.calls import call_record
from vivavoce.models.replies import stated_thinking, stated_usage
from vivavoce.models.requests import Usage


def test_thinking_that_is_counted_in_the_total_alone_is_charged(fake: Any, shared: Path) -> None:
    case = case_of(shared, "thoughts-outside")
    model = connected(fake(chat_body(case["reply"])))
    tally, (outcome,) = asked(model, price=tuple(case["price_per_million"]))
    assert (0.01015, 0.01015) == pytest.approx((outcome.cost, tally.cost))
    record = call_record(model, calls(1)[0], outcome, purpose="collect", status="ok", error=None)
    assert (100, 1005) == (record.input_tokens, record.output_tokens)
    assert (100, 1005) == (tally.input_tokens, tally.output_tokens)


def test_a_limit_counts_thinking_too(fake: Any, shared: Path) -> None:
    case = case_of(shared, "thoughts-outside")
    model = connected(fake(chat_body(case["reply"])))
    tally, outcomes = asked(model, 5, price=tuple(case["price_per_million"]), max_cost=0.025)
    assert 2 == len(outcomes)
    assert 0.025 > tally.cost
    assert "--max-cost" in tally.stopped["fake/m"]


@pytest.mark.parametrize(
    ("usage", "tokens", "thinking"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}, Usage(9, 5), None),
        ({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 12}, Usage(9, 5), None),
        ({"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 30}, Usage(9, 21), 21),
        ({"prompt_tokens": 9, "total_tokens": 30}, Usage(9, 21), None),
        ({"completion_tokens": 5, "total_tokens": 30}, Usage(None, 5), None),
        ({"total_tokens": 30}, Usage(None, None), None),
        ({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": "30"}, Usage(9, 5), None),
        ({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 1 << 60}, Usage(9, 5), None),
        ({"input_tokens": 9, "output_tokens": 5}, Usage(9, 5), None),
        # what came from a cache is part of the prompt, and of the total
        (
            {"input_tokens": 9, "output_tokens": 5, "cache_read_input_tokens": 90, "total_tokens": 104},
            Usage(99, 5),
            None,
        ),
        (
            {"input_tokens": 9, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 4}},
            Usage(9, 5),
            4,
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
            Usage(9, 5),
            None,
        ),
    ],
)
def test_a_usage_is_read_under_the_names_of_every_provider(
    usage: dict[str, Any], tokens: Usage, thinking: int | None
) -> None:
    assert tokens == stated_usage({"usage": usage})
    assert thinking == stated_thinking({"usage": usage})


def test_the_usage_of_gemini_is_read_with_its_thoughts() -> None:
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 5, "totalTokenCount": 114}
    assert Usage(9, 105) == stated_usage({"usageMetadata": counts})
    assert 100 == stated_thinking({"usageMetadata": counts})
    assert 99 == stated_thinking({"usageMetadata": {**counts, "thoughtsTokenCount": 99}})


@pytest.mark.parametrize("reply", [{}, {"usage": None}, {"usage": []}, {"usage": "many"}])
def test_a_reply_without_a_usage_counts_nothing(reply: dict[str, Any]) -> None:
    assert (Usage(), None) == (stated_usage(reply), stated_thinking(reply))


def test_inspect_s_count_of_thinking_beside_the_answer_is_charged() -> None:
    models = pytest.importorskip("inspect_ai.model")
    from vivavoce.models.providers.inspect.replies import reply_of

    output = models.ModelOutput.from_content("m", "Answer: B", "stop")
    output.usage = models.ModelUsage(
        input_tokens=80, input_tokens_cache_read=20, output_tokens=5, total_tokens=1105, reasoning_tokens=1000
    )
    assert Usage(100, 1005) == reply_of(output, logprobs=False, key=None).usage
