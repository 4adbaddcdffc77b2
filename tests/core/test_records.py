"""The vocabulary: frozen records, item names, and what the content hash covers."""

from dataclasses import FrozenInstanceError, fields, replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.core.conversations import Message
from vivavoce.core.records import Card, Download, Finding, Item, Located, Reading, Reasoned, Response

ITEM = Item(
    benchmark="b", item="q1", format="mcq", question="Which?", options=("a", "b"), answer=("a",), group="g"
)


def test_records_are_frozen_and_keyword_only() -> None:
    with pytest.raises(FrozenInstanceError):
        ITEM.question = "What?"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Response("b", "q1")  # type: ignore[call-arg, misc]
    assert not hasattr(ITEM, "__dict__")


def test_the_group_is_the_base_item_unless_one_is_given() -> None:
    assert "q1" == Item(benchmark="b", item="q1", variant="neutral", format="short", question="?").group
    assert "g" == ITEM.group


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "q1"),
        ({"variant": "bias:recency"}, "q1 [bias:recency]"),
        ({"variant": "bias:recency", "alias": "c5q00"}, "c5q00"),
    ],
)
def test_an_item_is_known_by_its_alias_or_id_and_variant(given: dict[str, str], name: str) -> None:
    assert name == Item(benchmark="b", item="q1", format="short", question="?", **given).name  # type: ignore[arg-type]


@each_case(
    "change",
    [
        {"format": "list"},
        {"question": "What?"},
        {"options": ("b", "a")},
        {"options": ()},
        {"answer": ("b",)},
        {"references": ("a",)},
        {"context": "A note."},
        {"steps": ("First this.",)},
        {"step": 1},
        {"false_answer": "b"},
        {"messages": (Message("user", "q"),)},
        {"follows": "q0"},
    ],
)
def test_what_is_seen_makes_another_item(change: dict[str, Any]) -> None:
    assert ITEM.hash != replace(ITEM, **change).hash


@each_case(
    "change",
    [
        {"benchmark": "c"},
        {"item": "q2"},
        {"variant": "neutral"},
        {"alias": "x"},
        {"group": "h"},
        {"category": "c"},
        {"source": "s"},
        {"meta": {"a": 1}},
        {"context": ""},
        {"steps": ()},
        {"step": None},
        {"false_answer": ""},
    ],
)
def test_what_is_not_seen_leaves_the_hash(change: dict[str, Any]) -> None:
    assert ITEM.hash == replace(ITEM, **change).hash


def test_every_field_of_an_item_is_content_or_is_not() -> None:
    seen = {"format", "question", "options", "context", "steps", "false_answer"}
    content = seen | {"answer", "references", "must", "nice", "step", "rubric", "messages", "follows"}
    beside = {"benchmark", "item", "variant", "alias", "group", "category", "source", "origin", "weight"}
    beside |= {"meta", "outer_groups"}
    assert content | beside == {f.name for f in fields(Item)}


def test_the_hash_stays_what_it_was() -> None:
    """It is stored in run files: another recipe would call every item of every run changed."""
    content = '{"answer": ["a"], "format": "mcq", "options": ["a", "b"], "question": "Which?"}'
    assert sha256(content.encode()).hexdigest()[:16] == ITEM.hash
    assert "57d1375c67d754d4" == ITEM.hash


@given(st.text(st.characters()))
def test_any_question_has_a_hash(question: str) -> None:
    assert 16 == len(replace(ITEM, question=question).hash)


def test_a_finding_is_printed_as_its_text_and_notes() -> None:
    assert "A is better.\nOne look." == str(
        Finding(study="compare", rows=(), text="A is better.", notes=("One look.",))
    )
    assert "A is better." == str(Finding(study="compare", rows=(), text="A is better."))


def test_a_card_needs_source_licence_and_citation() -> None:
    with pytest.raises(TypeError, match="licence"):
        Card(name="b", description="d", source="s", citation="c")  # type: ignore[call-arg]


def test_the_order_of_steps_makes_another_item() -> None:
    chain = replace(ITEM, steps=("a", "b"), step=1)
    assert 3 == len({chain.hash, replace(chain, steps=("b", "a")).hash, replace(chain, step=2).hash})


COMMIT = "70a2d9106c724729be8b3c4ddb00d1b14ec300c8"


@each_case(
    ("settings", "why"),
    [
        ({}, "an address and files, or by_hand"),
        ({"hub": "o/n"}, "an address and files, or by_hand"),
        ({"files": ("a.csv",)}, "an address and files, or by_hand"),
        ({"hub": "o/n", "url": "https://x.org/", "files": ("a.csv",)}, "not both"),
        ({"url": "http://x.org/", "files": ("a.csv",)}, "no https address"),
        ({"url": "https://me:key@x.org/", "files": ("a.csv",)}, "no https address"),
        ({"url": "https://x.org/a", "files": ("a.csv",)}, "ends in a slash"),
        ({"url": "https://x.org/", "files": ("*.csv",)}, "named whole"),
        ({"hub": "o/n", "files": ("*.csv",), "revision": "main"}, "branches and tags move"),
        ({"hub": "o/n", "files": ("a.csv",), "sha256": {"a.csv": "1f"}}, "no hash of 64 digits"),
    ],
)
def test_a_download_that_could_fetch_nothing_is_refused(settings: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Download(**settings)


def test_a_download_has_an_address_or_says_what_a_person_does() -> None:
    assert "o/n" == Download(hub="o/n", files=("data/*.parquet",), revision=COMMIT).address
    url = "https://raw.example.org/o/n/{revision}/"
    assert url == Download(url=url, files=("a b/c.csv",), revision=COMMIT).address
    assert "" == Download(by_hand="sign the terms at example.org").address


@pytest.mark.parametrize(
    ("parsed", "text"),
    [
        ("Heparin", "Heparin"),
        (Reasoned("Heparin", ("It acts fast.",)), "Heparin"),
        (Located(2, "It acts slowly."), "It acts slowly."),
        (Located(2, ""), ""),
    ],
)
def test_the_text_of_a_reading_is_what_is_compared(parsed: Any, text: str) -> None:
    assert text == Reading("ok", parsed).text
