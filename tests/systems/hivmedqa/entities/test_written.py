"""The dictionary that a model writes: ten terms a call, and replies read strictly."""

import json

import pytest

from vivavoce.core.prompts import Unreadable
from vivavoce.systems.hivmedqa.entities.synonyms import again, pages


def test_terms_are_asked_in_tens_whatever_their_order():
    terms = [f"term {k:02}" for k in range(23)]
    found = pages(reversed(terms + terms[:3]))
    assert [10, 10, 3] == [len(page.terms) for page in found]
    assert terms == [term for page in found for term in page.terms]
    assert [page.request for page in found] == [page.request for page in pages(terms)]
    assert [] == pages([])


def test_the_terms_stand_in_the_prompt_as_json():
    (page,) = pages(['"quoted" {{ terms }}', "β-lactam"])
    assert json.dumps(list(page.terms), ensure_ascii=False) in page.request.messages[0].content
    assert 0.0 == page.request.sampling.temperature
    assert list(page.terms) == page.request.sampling.schema["required"]


@pytest.mark.parametrize(
    "reply",
    [
        '{"hiv": ["Human immunodeficiency virus"], "tb": []}',
        ' \n{"tb": [], "hiv": ["Human immunodeficiency virus"]}\n',
        '```json\n{"hiv": ["Human immunodeficiency virus"], "tb": []}\n```',
    ],
)
def test_an_object_of_these_terms_is_read(reply):
    (page,) = pages(["hiv", "tb"])
    assert {"hiv": ("Human immunodeficiency virus",), "tb": ()} == page.parse(reply)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("Here you are: {}", "broken JSON"),
        ('{"hiv": []}', "no list for 'tb'"),
        ('{"hiv": [], "tb": [], "flu": []}', "'flu', which was not asked"),
        ('{"hiv": "AIDS", "tb": []}', "'hiv' needs a list of names"),
        ('{"hiv": [], "hiv": ["x"], "tb": []}', "'hiv' stands there twice"),
        ("[]", "a JSON object"),
        ("", "broken JSON"),
    ],
)
def test_anything_else_is_unreadable_and_says_why(reply, words):
    (page,) = pages(["hiv", "tb"])
    with pytest.raises(Unreadable, match=words):
        page.parse(reply)


def test_a_second_request_shows_the_reply_and_what_is_wrong_with_it():
    (page,) = pages(["hiv"])
    roles = [(m.role, m.content) for m in again(page.request, "[]", "no object").messages]
    assert page.request.messages[0] == roles[0]
    assert [("assistant", "[]"), "user"] == [roles[1], roles[2][0]]
    assert "no object" in roles[2][1]
