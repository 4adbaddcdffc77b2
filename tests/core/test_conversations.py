"""Messages as files write them, and as people read them."""

import json

import pytest
from tests.cases import each_case

from vivavoce.core.conversations import Message, leading, read_messages, thread
from vivavoce.core.errors import RowError

USER = {"role": "user", "content": "It hurts."}


def test_messages_are_read_from_a_list_or_its_json():
    rows = [{"role": "developer", "content": "Be brief."}, {"role": "assistant", "content": "Where?"}, USER]
    messages = (Message("system", "Be brief."), Message("assistant", "Where?"), Message("user", "It hurts."))
    assert messages == read_messages(rows, "here") == read_messages(json.dumps(rows), "here")
    assert messages[:1] == leading(messages)


def test_text_parts_are_joined():
    parts = [{"type": "text", "text": "It"}, {"type": "text", "text": "hurts."}]
    assert (Message("user", "It\nhurts."),) == read_messages([{"role": "user", "content": parts}], "here")


def test_a_single_message_of_a_user_is_its_own_text():
    assert "It hurts." == thread((Message("user", "It hurts."),))


def test_a_thread_names_who_speaks():
    messages = (Message("user", "It hurts."), Message("assistant", "Where?"), Message("user", "Here."))
    assert "User: It hurts.\n\nAssistant: Where?\n\nUser: Here." == thread(messages)


@each_case(
    ("rows", "sentence"),
    [
        ([], "messages are a list of objects with role and content, not '[]'."),
        ("hello", "messages are a list of objects with role and content, not 'hello'."),
        ([USER, {"role": "assistant", "content": "x"}], "the last message is to be the user's"),
        ([USER, {"role": "system", "content": "x"}, USER], "a system message stands before all others"),
        ([{"role": "tool", "content": "x"}, USER], "message 1: a role is system, developer, user, assistant"),
        ([{"role": "user", "content": " \n"}], "message 1: a user's message is blank"),
        ([{"role": "user", "content": None}], "message 1: content is a text or a list of parts, not 'None'."),
        (["hello"], "message 1: a message is an object with role and content, not 'hello'."),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
            "message 1: a part of a message is text, as only text can be asked, not 'image_url'.",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(rows, sentence):
    with pytest.raises(RowError) as error:
        read_messages(rows, "exam.jsonl, line 1")
    assert str(error.value).startswith("exam.jsonl, line 1")
    assert sentence in str(error.value)
