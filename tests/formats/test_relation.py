"""relation: which texts are read as relations, what is stray, and how a key is checked."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.cases import each_case
from tests.growth import STEEPEST, growth
from tests.reading.hostile import Hostile

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.formats import ask, check, key, read_response
from vivavoce.formats.relation import relations_of
from vivavoce.reading.relations import Relation
from vivavoce.testing import check_format

TYPES = ("Positive_Correlation", "Negative_Correlation", "Bind")


def relation(head: Any, type: str, tail: Any, **more: Any) -> str:
    return json.dumps({"head": head, "type": type, "tail": tail, **more})


ITEM = check(
    Item(
        benchmark="b",
        item="1",
        format="relation",
        question="Which relations does the text state?",
        context="Aspirin (ASA) lowers the platelet count | and binds COX-1.",
        options=TYPES,
        answer=(relation(["Aspirin", "ASA"], "Negative_Correlation", "platelet count"), "ASA | Bind | COX-1"),
    )
)
ONE = (Relation("aspirin", "Bind", "COX-1"),)
TWO = (*ONE, Relation("ASA", "Negative_Correlation", "platelets"))


@each_case(
    ("text", "relations"),
    [
        ("aspirin | Bind | COX-1", ONE),
        ("The relations are:\n\n- aspirin | bind | COX-1\n2. ASA | negative correlation | platelets", TWO),
        ("| head | type | tail |\n|---|:--|--|\n| aspirin | Bind | COX-1 |", ONE),
        ("head | type | tail\naspirin | Bind | COX-1", ONE),
        ("aspirin\tBIND\tCOX-1", ONE),
        ("aspirin -> Bind -> COX-1\nASA --[Negative_Correlation]--> platelets", TWO),
        ("aspirin → Bind → COX-1\nThat → follows", ONE),
        ("```\naspirin | Bind | COX-1\n```", ONE),
        ('[{"head": "aspirin", "type": "bind", "tail": "COX-1"}]', ONE),
        ('So:\n```json\n{"triples": [{"subject": "aspirin", "label": "Bind", "object": "COX-1"}]}\n```', ONE),
        ('[["aspirin", "Bind", "COX-1"], ["ASA", "Negative-Correlation", "platelets"]]', TWO),
        ('["aspirin", "Bind", "COX-1"]', ONE),
        ('["aspirin | Bind | COX-1", "ASA | Negative_Correlation | platelets"]', TWO),
        ('{"entity1": "aspirin", "relation": "Bind", "entity2": "COX-1"}', ONE),
        ("aspirin | Bind | COX-1\naspirin | Bind | COX-1", ONE),
        ("<think>aspirin | Bind | x</think>aspirin | Bind | COX-1", ONE),
        ("aspirin | Inhibits | COX-1", (Relation("aspirin", "Inhibits", "COX-1"),)),
        ("aspirin | Bind | COX-1 | novel", (Relation("aspirin", "Bind", "COX-1", True),)),
        ("aspirin | Bind | COX-1 | No", (Relation("aspirin", "Bind", "COX-1", False),)),
        ('[{"head": "aspirin", "type": "Bind", "tail": "COX-1", "novel": true}]',
         (Relation("aspirin", "Bind", "COX-1", True),)),
        ('{"relations": []}', ()),
        ('{"relations": null}', ()),
        ('{"head": "aspirin", "type": "Bind", "tail": "COX-1"}\n["ASA", "Bind"\n'
         '{"head": "ASA", "type": "negative correlation", "tail": "platelets"},', TWO),
        ('So:\n[\n{"head": "aspirin", "type": "Bind", "tail": "COX-1"},\n{"head": "ASA", "ty', ONE),
        ("None.", ()),
        ("There are no relations stated in the text.", ()),
    ],
)  # fmt: skip
def test_relations_are_read(text: str, relations: tuple[Relation, ...]) -> None:
    reading = read_response(ITEM, text)
    assert ("ok", relations, ()) == (reading.status, reading.parsed, reading.stray)


@pytest.mark.parametrize(
    ("text", "stray"),
    [
        ("aspirin | Bind | COX-1\naspirin | Bind", ("aspirin | Bind",)),
        ("aspirin | Bind | COX-1\na | b | c | d | e", ("a | b | c | d | e",)),
        ("aspirin | Bind | COX-1\n| Bind | COX-2 |", ("Bind | COX-2",)),
        ('[["aspirin", "Bind", "COX-1"], ["aspirin", "Bind"]]', ("aspirin | Bind",)),
        ('[{"head": "aspirin", "type": "Bind", "tail": "COX-1"}, {"head": "x"}]', ("head: x",)),
        ('[{"head": "aspirin", "type": "Bind", "tail": "COX-1"}, 7]', ("7",)),
    ],
)
def test_what_is_written_as_a_relation_and_is_none_is_stray(text: str, stray: tuple[str, ...]) -> None:
    reading = read_response(ITEM, text)
    assert (ONE, stray) == (reading.parsed, tuple(s.strip("| ") for s in reading.stray))


@each_case(
    ("text", "status"),
    [
        ("", "unanswered"),
        ("[]", "unanswered"),  # no letter and no digit
        ("I cannot answer this.", "unanswered"),
        ("N/A", "unanswered"),
        ("Aspirin lowers the platelet count.", "unreadable"),
        ("aspirin -> platelets -> bleeding", "unreadable"),
        ("The drug -> Bind", "unreadable"),
        ("Aspirin\tbinds.\nIt\t\tlowers.", "unreadable"),
    ],
)
def test_talk_is_no_relation(text: str, status: str) -> None:
    assert status == read_response(ITEM, text).status


def test_the_prompt_shows_the_types_and_asks_for_novelty_where_the_key_tells() -> None:
    prompt = ask(ITEM)
    assert all(f"- {name}" in prompt for name in TYPES)
    assert prompt.rstrip().endswith("head | type | tail")
    tells = check(replace(ITEM, answer=(relation("a", "Bind", "b", novel=False),)))
    assert "| novel" in ask(tells)
    assert "a | Bind | b | known" == key(tells)


def test_a_key_has_lines_and_objects_in_one_form() -> None:
    assert ITEM == check(ITEM)
    first, second = relations_of(ITEM)
    assert (("Aspirin", "ASA"), ("platelet count",), None) == (first.head, first.tail, first.novel)
    assert (("ASA",), "Bind", ("COX-1",)) == second[:3]
    assert "Aspirin | Negative_Correlation | platelet count\nASA | Bind | COX-1" == key(ITEM)


@each_case(
    ("fields", "sentence"),
    [
        ({"answer": ()}, "one or more relations"),
        ({"options": ()}, "types as options"),
        ({"answer": ("aspirin binds COX-1",)}, "write head | type | tail"),
        ({"answer": ("aspirin | Inhibits | COX-1",)}, "'Inhibits' is none of its types"),
        ({"answer": (relation([], "Bind", "x"),)}, "without a name"),
        ({"answer": (relation("x", "Bind", " "),)}, "without a name"),
        ({"answer": (relation("x", "Bind", "y", novel="maybe"),)}, "novel is true, false or absent"),
        ({"question": " "}, "question is blank"),
    ],
)
def test_a_key_that_is_none_is_refused_in_one_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match="b, item '1': ") as error:
        check(replace(ITEM, **fields))
    assert sentence in str(error.value)


def test_it_keeps_the_rules_of_formats() -> None:
    novel = relation(["a", "b"], "Bind", "c", novel=True)
    check_format("relation", [ITEM, replace(ITEM, context=None, answer=(novel,))])


@each_case("pump", ["|", "a|b|c\n", "a -> Bind -> b\n", "[", '{"head":', "->", "```\n", "- ", '{"a":1}\n'])
def test_time_grows_with_length_and_no_faster(pump: str) -> None:
    assert growth(partial(read_response, ITEM), Hostile(pump).text) <= STEEPEST
