"""Conversations in a user's file: as given, with the candidate's own replies, and with scripted turns."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import vivavoce as viva
from vivavoce.benchmarks import load, sampled
from vivavoce.core.cases import count_items
from vivavoce.core.conversations import Message
from vivavoce.core.errors import InputError

TALK = [
    {"role": "system", "content": "You are a nurse."},
    {"role": "user", "content": "My head hurts."},
    {"role": "assistant", "content": "How long?"},
    {"role": "user", "content": "Two days."},
]


def items(folder: Path, *rows: dict[str, Any], **settings: str) -> tuple:
    file = folder / "talks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    more = "".join(f", {name}={value}" for name, value in settings.items())
    return load(f"jsonl(path={file}{more})").items


def test_messages_are_a_conversation_without_naming_the_format(tmp_path: Path):
    (item,) = items(tmp_path, {"id": "a", "messages": TALK, "references": ["Rest."]})
    assert ("conversation", "a", None) == (item.format, item.group, item.follows)
    assert "System: You are a nurse.\n\nUser: My head hurts.\n\nAssistant: How long?\n\nUser: Two days." == (
        item.question
    )
    assert Message("user", "Two days.") == item.messages[-1]
    assert ("Rest.",) == item.references


def test_a_question_beside_its_messages_is_the_last_of_them(tmp_path: Path):
    (item,) = items(tmp_path, {"id": "a", "messages": TALK, "question": "Two days."})
    assert 4 == len(item.messages)
    with pytest.raises(InputError, match=r"line 1: the question is not the last of its messages"):
        items(tmp_path, {"id": "a", "messages": TALK, "question": "Three days."})


def test_a_question_alone_is_a_conversation_of_one_message(tmp_path: Path):
    (item,) = items(tmp_path, {"id": "a", "question": "My head hurts.", "format": "conversation"})
    assert (Message("user", "My head hurts."),) == item.messages


def test_messages_go_with_no_other_format_and_no_context(tmp_path: Path):
    with pytest.raises(InputError, match="its format is conversation"):
        items(tmp_path, {"id": "a", "messages": TALK, "format": "short", "answer": "Rest."})
    with pytest.raises(InputError, match="a conversation has no context beside its messages"):
        items(tmp_path, {"id": "a", "messages": TALK, "context": "A ward."})


def test_own_replies_ask_each_message_of_the_user(tmp_path: Path):
    first, last = items(tmp_path, {"id": "a", "messages": TALK, "must": ["rest"]}, replies="own")
    assert ("a/1", None, ()) == (first.item, first.follows, first.must)
    assert ("a/2", "a/1", ("rest",)) == (last.item, last.follows, last.must)
    assert ["system", "user"] == [message.role for message in first.messages]
    assert (Message("user", "Two days."),) == last.messages
    assert {"a"} == {first.group, last.group}


def test_one_message_of_the_user_stays_one_item(tmp_path: Path):
    (item,) = items(tmp_path, {"id": "a", "messages": TALK[:2]}, replies="own")
    assert ("a", None) == (item.item, item.follows)


def test_scripted_turns_are_items_of_one_case_with_their_own_keys(tmp_path: Path):
    turns = [
        {"content": "To my arm.", "must": ["call 112"], "rubric": [{"text": "urgent", "weight": 2}]},
        "Thanks.",
    ]
    row = {
        "id": "b",
        "question": "My chest hurts.",
        "must": ["ask more"],
        "category": "heart",
        "turns": turns,
    }
    asked = items(tmp_path, row)
    assert ["b/1", "b/2", "b/3"] == [item.item for item in asked]
    assert [None, "b/1", "b/2"] == [item.follows for item in asked]
    assert [("ask more",), ("call 112",), ()] == [item.must for item in asked]
    assert {("b", "heart", "conversation")} == {(i.group, i.category, i.format) for i in asked}
    assert [1, 2, 3] == [item.meta["turn"] for item in asked]
    assert 2.0 == asked[1].rubric[0].weight
    assert 1 == count_items(asked).cases


def test_equal_later_turns_of_two_conversations_are_two_cases(tmp_path: Path):
    """ "Thanks." asks for something else behind another conversation."""
    rows = [{"id": name, "question": f"About {name}?", "turns": ["Thanks."]} for name in "ab"]
    counted = count_items(items(tmp_path, *rows))
    assert (2, 0) == (counted.cases, counted.repeated)


@pytest.mark.parametrize(
    ("turns", "sentence"),
    [
        ("Thanks.", "turns are a list of texts or of objects with content, not 'Thanks.'."),
        ([{"must": ["x"]}], "turns, turn 1: a turn is a text, or an object with content"),
        ([" "], "turns, turn 1: a turn is a text, or an object with content"),
        (
            [{"content": "x", "options": ["a"]}],
            "a turn has content, must, nice, references, rubric, not 'options'",
        ),
    ],
)
def test_turns_that_cannot_be_asked_are_one_sentence(tmp_path: Path, turns: Any, sentence: str):
    with pytest.raises(InputError) as error:
        items(tmp_path, {"id": "b", "question": "My chest hurts.", "turns": turns})
    assert sentence in str(error.value)


def test_a_sample_draws_whole_conversations(tmp_path: Path):
    rows = [{"id": f"t{k}", "question": f"Question {k}?", "turns": ["More?", "Thanks."]} for k in range(10)]
    drawn = sampled(items(tmp_path, *rows), "30%")
    assert 9 == len(drawn)
    assert 3 == len({item.group for item in drawn})
    assert {10 / 3} == {item.weight for item in drawn}


def test_a_data_frame_with_messages_holds_its_questions():
    talk = pl.DataFrame({"messages": [TALK], "model": ["A"], "text": ["Rest."], "references": ["Rest."]})
    run = viva.evaluate(talk, metrics=["rouge(n=1)"])
    assert ("conversation", 4) == (run.items["format"][0], len(json.loads(run.items["messages"][0])))
