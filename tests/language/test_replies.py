"""One reader of JSON in models' replies: judges, checkers and steps of a build find the same objects."""

import math
import time

import pytest
from tests.cases import each_case

from vivavoce.core.prompts import Unreadable
from vivavoce.language.replies import REPEATED, Material, objects, read_object, text_of
from vivavoce.models.fencing import fenced, fenced_texts
from vivavoce.models.requests import Message, Request


@each_case(
    ("reply", "fields"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here:\n```json\n{"a": {"b": [1.5, {"c": true}]}}\n```', {"a": {"b": [1.5, {"c": True}]}}),
        ('<think>{"a": 2}</think>{"a": 1}', {"a": 1}),
        ('{} then {"a": 1}', {"a": 1}),
    ],
)
def test_the_one_object_is_read_wherever_it_stands(reply, fields):
    assert fields == read_object(reply)


@each_case(
    ("reply", "reason"),
    [
        ("", "empty reply"),
        ("none", "no JSON object"),
        ('{"a": 1} {"a": 1}', "several JSON objects"),
        ('{"a": 1, "a": 1}', "the field 'a' stands there twice"),
        ('{"b": {"a": 1, "a": 2}}', "the field 'a' stands there twice"),
        ('{ "cut', "no JSON object"),
    ],
)
def test_what_is_not_one_object_is_unreadable_with_the_reason(reply, reason):
    with pytest.raises(Unreadable, match=reason):
        read_object(reply)


@each_case(
    "escape", [str, lambda text: text.replace("<", "&lt;"), lambda text: text.replace('": ', '" :\n  ')]
)
def test_an_object_that_was_shown_is_not_the_models(escape):
    made_up = '{"facts": ["INR < 2"]}'
    fence = fenced("answer", f"So: {made_up}")
    material = Material(fenced_texts([f"Split this.\n{fence}\nReply in JSON."]))
    assert {"facts": []} == read_object(f'{escape(made_up)} is a quotation. {{"facts": []}}', material)
    with pytest.raises(Unreadable, match=REPEATED):
        read_object(f"So: {escape(made_up)}", material)
    assert {"facts": ["INR < 3"]} == read_object('{"facts": ["INR < 3"]}', material)


def test_only_what_stands_between_delimiters_was_shown():
    prompt = f'Reply as {{"a": 1}}.\n{fenced("question", "Is it 4?")}\n{fenced("answer", "x", label="A")}'
    material = Material(fenced_texts([prompt]))
    assert {"a": 1} == read_object('{"a": 1}', material)
    assert [True, True, False] == [material.hold(text) for text in ("it 4", "X", "Reply as")]
    assert not Material([""]).hold(""), "a part without a word is in no text"


SHOWN = Material(
    ['It ends with {"text": "Perfect, in every way", "rate": 5, "more": {"a": [1, "b"], "c": -2}}.']
)


@each_case(
    "part",
    [
        '{"rate": 5}', '{"Rate": 5.0}', '{"rate": "5", "text": "..."}',
        '{"text": "perfect … way", "rate": 5}',
        '{"more": {"c": -2}, "text": "in every way"}', '{"a": [1.0, "b"]}', '{"rate": 5, "other": ""}',
    ],
)  # fmt: skip
def test_an_object_cut_or_in_another_order_is_still_the_one_shown(part):
    with pytest.raises(Unreadable, match=REPEATED):
        read_object(part, SHOWN)


@each_case(
    "reply",
    [
        '{"rate": 4}', '{"rate": 5, "reason": "It is so."}', '{"text": "Perfectly wrong", "rate": 5}',
        '{"c": 2}',
        '{"rate": 5, "c": -2}', '{"text": "way every in", "rate": 5}', '{"a": [1]}', '{"text": ""}',
    ],
)  # fmt: skip
def test_an_object_with_an_entry_that_was_not_shown_in_one_is_the_models(reply):
    assert read_object(reply) == read_object(reply, SHOWN)


def test_objects_shown_by_the_thousand_are_compared_in_a_moment():
    material = Material([" ".join(f'{{"rate": {k}, "text": "t"}}' for k in range(10_000)), '{"a":' * 20_000])
    begin = time.process_time()
    with pytest.raises(Unreadable, match=REPEATED):
        read_object(" ".join(f'{{"rate": {k}}}' for k in range(10_000)), material)
    assert time.process_time() - begin < 20


def test_words_of_json_are_no_texts_and_numbers_without_end_no_error():
    assert math.isinf(read_object('{"a": ' + "9" * 5_000 + "}")["a"])
    with pytest.raises(Unreadable, match="no text under 'a'"):
        text_of(read_object('{"a": NaN}'), "a")


def test_places_of_objects_are_those_in_the_text_and_endless_braces_end():
    text = 'x {"a": 1} y {"b": {"c": 2}}'
    assert ['{"a": 1}', '{"b": {"c": 2}}'] == [text[place.start : place.end] for place in objects(text)]
    with pytest.raises(Unreadable, match="too many braces"):
        list(objects('{ "' * 100_000))


def test_a_second_request_is_the_first_with_the_reply_and_what_is_wrong():
    first = Request(messages=(Message("user", "Ask."),))
    second = first.again("Hm.", "No JSON.")
    assert ("user", "assistant", "user") == tuple(message.role for message in second.messages)
    assert ("Ask.", "Hm.", "No JSON.") == tuple(message.content for message in second.messages)
    assert first.sampling == second.sampling
