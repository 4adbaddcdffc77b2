"""Thinking in the marks of every family of models is no part of an answer, and an unclosed mark says so."""

import json
import re
from pathlib import Path

import pytest

from vivavoce.core import reasoning_marks
from vivavoce.core.records import Item
from vivavoce.core.text import hide_thinking, spoken
from vivavoce.formats import read_response

THINKING = "It may be A. The answer is A? No: the heart needs B."
MARKS = {
    "think": ("<think>", "</think>"),
    "thinking, with blanks and capitals": ("< Think >", "</ THINKING >"),
    "thought": ("<thought>", "</thought>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "reflection": ("<reflection>", "</reflection>"),
    "thinking, as HTML escapes it": ("&lt;think&gt;", "&lt;/think&gt;"),
    "Sky-T1": ("<|begin_of_thought|>", "<|end_of_thought|><|begin_of_solution|>"),
    "a scratchpad": ("<scratchpad>", "</scratchpad>"),
    "a monologue": ("<inner_monologue>", "</inner_monologue>"),
    "Seed-OSS": ("<seed:think>", "</seed:think>"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "gpt-oss": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "gpt-oss without special tokens": ("analysis", "assistantfinal"),
    "Ollama's display": ("Thinking...\n", "\n...done thinking.\n\n"),
    "Granite": ("Here is my thought process:\n", "\nHere is my response:\n"),
}
WORDED = ("gpt-oss without special tokens", "Ollama's display", "Granite")
ITEM = Item(
    benchmark="exam", item="q", format="mcq", question="Which drug comes second?",
    options=("Metformin", "Empagliflozin", "Sitagliptin", "Insulin"), answer=("Empagliflozin",),
)  # fmt: skip


@pytest.mark.parametrize("family", MARKS)
def test_what_stands_between_the_marks_of_a_family_is_thinking(family: str) -> None:
    opening, closing = MARKS[family]
    assert ("Answer: B", True, True) == spoken(f"{opening}{THINKING}{closing}Answer: B")
    assert "Empagliflozin" == read_response(ITEM, f"{opening}{THINKING}{closing}B").parsed


@pytest.mark.parametrize("family", MARKS)
def test_thinking_that_is_never_closed_leaves_no_answer(family: str) -> None:
    opening, _ = MARKS[family]
    assert ("", True, False) == spoken(f"{opening}{THINKING}")
    reading = read_response(ITEM, f"{opening}{THINKING}")
    assert ("unreadable", None) == (reading.status, reading.parsed)


@pytest.mark.parametrize("family", [name for name in MARKS if name not in WORDED])
def test_a_lone_closing_mark_ends_thinking_that_the_template_opened(family: str) -> None:
    _, closing = MARKS[family]
    assert ("Answer: B", True, True) == spoken(f"{THINKING}{closing}Answer: B")


@pytest.mark.parametrize("family", MARKS)
def test_hidden_thinking_keeps_every_place(family: str) -> None:
    opening, closing = MARKS[family]
    text = f"{opening}{THINKING}{closing}Answer: B"
    hidden = hide_thinking(text)
    assert (len(text), "Answer: B", text.index("Answer: B")) == (
        len(hidden), hidden.strip(), hidden.index("Answer: B")
    )  # fmt: skip


def test_marks_of_one_family_inside_anothers_are_thinking() -> None:
    assert "B" == spoken("<think>I could write <thought> or [THINK] here.</think>B").text


def test_calls_of_tools_are_no_part_of_an_answer() -> None:
    call = '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"q": "A"}<|call|>'
    final = "<|start|>assistant<|channel|>final<|message|>B<|return|>"
    assert "B" == spoken(f"<|channel|>analysis<|message|>x<|end|><|start|>assistant{call}{final}").text
    assert "B" == spoken('<|START_ACTION|>[{"tool": "A"}]<|END_ACTION|>B').text


@pytest.mark.parametrize(
    "end", ["<|im_end|>", "<eos>", "<end_of_turn>", "</s>", "<|eot_id|>", "<|return|>", "<|endoftext|>"]
)
def test_a_chats_mark_of_an_end_ends_the_answer(end: str) -> None:
    assert ("B", False, True) == spoken(f"B{end}")
    assert "B" == spoken(f"B{end}\n<|im_start|>user\nAnd which comes third? A").text


def test_an_echo_of_the_conversation_is_no_answer() -> None:
    echo = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhich? A or B<|im_end|>\n"
    assert "B" == spoken(f"{echo}<|im_start|>assistant\nB<|im_end|>").text
    assert "B" == spoken(f"B<|im_end|>\n{echo}<|im_start|>assistant\nA<|im_end|>").text


def test_a_chats_own_beginning_is_no_text() -> None:
    assert "B" == spoken("<|im_start|>assistant\nB<|im_end|>").text
    assert "B" == spoken("<|start_header_id|>assistant<|end_header_id|>\n\nB").text


@pytest.mark.parametrize(
    "text",
    [
        "analysis of the case: B",
        "Thinking about the heart, B.",
        "My analysis: the answer is B. Here is my response: B",
        "<s>A</s> B",
        "5 < 7, so [B]",
        "Here is a thought: B",
        "I was thinking... done thinking. B",
    ],
)
def test_words_that_only_resemble_a_mark_are_an_answer(text: str) -> None:
    assert (text, False, True) == spoken(text)


def test_the_shared_texts_are_read_as_people_read_them(shared: Path) -> None:
    """The last of them, cut without any mark, is no matter of marks."""
    rows = [
        json.loads(line) for line in (shared / "data" / "field" / "thinking.jsonl").read_text().splitlines()
    ]
    misses = []
    for row in rows:
        item = Item(
            benchmark="exam", item=row["id"], format=row["format"], question=row["question"],
            options=tuple(row["options"]), answer=(row["answer"],),
        )  # fmt: skip
        reading = read_response(item, row["text"])
        if (reading.status, reading.parsed) != (row["want_status"], row["want_parsed"]):
            misses.append(row["id"])
    assert misses in ([], ["cut-plain"])


def test_every_family_has_a_test() -> None:
    texts = [f"{opening}x{closing}" for opening, closing in MARKS.values()]
    texts.append("<|START_ACTION|>x<|END_ACTION|>")
    untested = [
        marks.family
        for marks in reasoning_marks.FAMILIES
        if not any(re.search(marks.opening, text) and re.search(marks.closing, text) for text in texts)
    ]
    assert [] == untested
