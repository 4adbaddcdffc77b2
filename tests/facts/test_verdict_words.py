"""What a checker's reply says of a fact."""

import json

import pytest
from tests.cases import each_case

from vivavoce.facts import verdict
from vivavoce.systems.dahl.published_text import replace_prompt, substring_verdict


@pytest.fixture(scope="module")
def replies(shared):
    path = shared / "data" / "dahl" / "preprocess_cases.json"
    return json.loads(path.read_text(encoding="utf-8"))["verdict_parsing"]


@pytest.mark.parametrize("number", range(10))
def test_a_written_reply_is_read_as_expected(replies, number):
    reply = replies[number]
    assert (reply["expected"], reply["repository_gives"]) == (
        verdict(reply["raw"]),
        substring_verdict(reply["raw"]),
    )


def test_no_written_reply_is_left_out(replies):
    assert 10 == len(replies)


@each_case(
    ("reply", "word"),
    [
        ("**True**", "true"),
        ('{"verdict": "false"}', "false"),
        ("It is not wrong, it is true.", "true"),
        ("False, not true.", "false"),
        ("That isn’t true.", "false"),
        ("Never true.", "false"),
        ("<think>It looks false.</think>True", "true"),
        ("<think>True so far", "bad"),
        ("True, not false.", "bad"),
        ("Not entirely true.", "bad"),
        ("Half-true.", "bad"),
        ("True, but only partially.", "bad"),
        ("I do not know whether this is true.", "bad"),
        ("Not untrue.", "bad"),
        ("true/false", "bad"),
        ("Truthful.", "bad"),
        ("Is this true or false? Answer in one word.", "bad"),
        ("It is unclear whether this is true.", "bad"),
        ("True only if the kidneys are healthy.", "bad"),
        ("This could well be true.", "bad"),
        ("I’m not sure, true?", "bad"),
        ("True. If the dose is higher, it is toxic.", "true"),
        ("Wahr.", "bad"),
        ("真", "bad"),
    ],
)
def test_a_reply_says_one_word_or_is_bad(reply, word):
    assert word == verdict(reply)


def test_case_and_white_space_make_no_verdict():
    assert {"false"} == {verdict(text) for text in ("false", " FALSE\n", "Ｆａｌｓｅ", "Not\ntrue")}


def test_the_published_rule_cuts_the_question_out_of_a_sentence():
    assert "Experts by onset." == replace_prompt(
        "Say it.\nExperts define shock by onset.", "Say it.", "define shock "
    )
