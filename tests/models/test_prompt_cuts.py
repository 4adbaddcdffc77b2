"""A prompt that a server cut is told by its count of tokens, and no prompt that was read whole is."""

import base64
import random
from pathlib import Path
from typing import Any

import pytest
from tests.models.endpoint_cases import case_of, chat_body
from tests.models.test_charges import asked, connected

from vivavoce.core.records import Item
from vivavoce.models.engine.calls import Call
from vivavoce.models.prompt_cuts import SHORTEST, CutPrompts, prompt_cut, prompt_cut_in
from vivavoce.models.requests import Message, PromptCut, Request
from vivavoce.run.collect.generate import response_of

ENGLISH = "A 54-year-old woman presents with exertional dyspnoea and bilateral ankle oedema for three weeks. "
DIGITS = "".join(random.Random(7).choices("0123456789", k=40_000))


def asking(text: str) -> Request:
    return Request(messages=(Message("user", text),))


def test_a_cut_prompt_is_kept_with_the_response_and_said(fake: Any, shared: Path) -> None:
    case = case_of(shared, "prompt-cut")
    prompt = (ENGLISH * 400)[: case["prompt_characters"]]
    item = Item(benchmark="exam", item="q", format="open", question="?")
    tally, (outcome,) = asked(
        connected(fake(chat_body(case["reply"]))), calls=[Call(asking(prompt), 1, item)], price=None
    )
    response = response_of("exam", "fake/m", Call(asking(prompt), 1, item), outcome)
    assert {"tokens": 40, "characters": 37_000} == response.meta["prompt_cut"]
    assert PromptCut(40, 37_000) == prompt_cut_in(response.meta)
    assert {"fake/m": CutPrompts(1, PromptCut(40, 37_000))} == tally.cut_prompts
    sentence = tally.cut_prompts["fake/m"].sentence("fake/m")
    assert "fake/m counted 40 tokens for a prompt of 37,000 characters (1 reply with too few)" in sentence


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (ENGLISH * 380, 2048),  # Ollama's context of 2,048
        ("word " * 7400, 2048),
        ("患者女性五十四岁因呼吸困难三周入院查体双下肢水肿" * 800, 512),
        ("उसे तीन हफ़्ते से सांस फूल रही है। " * 900, 512),
        (DIGITS, 40),
        (ENGLISH * 11, 1),
    ],
)
def test_fewer_tokens_than_any_tokeniser_makes_are_a_cut(text: str, tokens: int) -> None:
    assert PromptCut(tokens, len(text)) == prompt_cut(asking(text), tokens)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (ENGLISH * 380, 380 * len(ENGLISH) // 3),
        (ENGLISH * 380, 380 * len(ENGLISH) // 8),  # tokens that join words
        (ENGLISH * 5, 1),  # short
        ("患者女性五十四岁因呼吸困难三周入院查体双下肢水肿" * 800, 9600),
        (" " * 37_000, 12),
        ("\n \t" * 12_000 + "x", 12),
        ("=" * 37_000, 300),
        ("ab" * 18_000, 300),
        ("-=" * 18_000 + "?", 300),
        (base64.b64encode(random.Random(7).randbytes(27_000)).decode(), 12_000),
        ("Donaudampfschifffahrtsgesellschaftskapitaen " * 800, 3200),
        (ENGLISH * 380, 0),
        (ENGLISH * 380, None),
    ],
)
def test_a_prompt_that_was_read_whole_is_none(text: str, tokens: int | None) -> None:
    assert prompt_cut(asking(text), tokens) is None


@pytest.mark.parametrize(
    ("words", "words_per_token"),
    [(["a", "the", "oedema"], 2), (["a", "hypertension", "electrocardiogra"], 1)],
)
def test_a_token_for_two_short_words_or_one_long_one_is_enough(
    words: list[str], words_per_token: int
) -> None:
    text = random.Random(7).choices(words, k=3000)
    request = asking(" ".join(text))
    assert request.characters >= SHORTEST
    assert prompt_cut(request, 3000 // words_per_token) is None
    assert prompt_cut(request, 700) is not None


def test_of_several_cuts_the_deepest_is_named() -> None:
    single = [CutPrompts(1, PromptCut(*counts)) for counts in ((2048, 37_000), (40, 37_000), (50, 9000))]
    cuts = single[0].joined(single[1]).joined(single[2]).joined(None)
    assert CutPrompts(3, PromptCut(40, 37_000)) == cuts


@pytest.mark.parametrize(
    "meta", [{}, {"prompt_cut": None}, {"prompt_cut": {"tokens": "40"}}, {"prompt_cut": 3}]
)
def test_what_is_no_cut_in_a_response_is_none(meta: dict[str, Any]) -> None:
    assert prompt_cut_in(meta) is None
