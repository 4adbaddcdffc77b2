"""Lists of entities made elsewhere: which answer and reference they are of, and what cannot be used."""

import json

import pytest

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, Response
from vivavoce.systems.hivmedqa.entities.entity_files import read_lists

ITEM = Item(benchmark="b", item="q1", format="longform", question="?", references=("x", "y"))
TWIN = Item(benchmark="b", item="q1", variant="bias:recency", alias="q9", format="longform", question="?")


def answer(repeat=1, edit="", candidate="m"):
    return Response(benchmark="b", item="q1", candidate=candidate, repeat=repeat, edit=edit)


@pytest.fixture
def lists(tmp_path):
    def write(*rows):
        file = tmp_path / "lists.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return read_lists(file)

    return write


def test_a_list_is_of_one_answer_or_one_reference(lists):
    found = lists(
        {"item": "q1", "candidate": "m", "entities": ["HIV", "hiv", "Fever"]},
        {"item": "q1", "candidate": "m", "repeat": 2, "entities": []},
        {"item": "q1", "candidate": "m", "edit": "rephrase", "entities": ["c"]},
        {"item": "q1", "entities": ["gold"]},
        {"item": "q1", "reference": 2, "entities": ["other"]},
    )
    assert ("hiv", "fever") == found.answer(ITEM, answer())
    assert () == found.answer(ITEM, answer(2))
    assert ("c",) == found.answer(ITEM, answer(edit="rephrase"))
    assert [("gold",), ("other",)] == [found.reference(ITEM, n) for n in (1, 2)]


def test_what_has_no_list_has_none_and_not_an_empty_one(lists):
    found = lists({"item": "q1", "candidate": "m", "entities": ["a"]})
    assert None is found.answer(ITEM, answer(2)) is found.answer(ITEM, answer(candidate="n"))
    assert None is found.answer(TWIN, answer()) is found.reference(ITEM, 1)


def test_a_twin_is_found_by_its_variant_and_by_its_published_id(lists):
    for row in ({"item": "q1", "variant": "bias:recency"}, {"item": "q9"}):
        assert ("a",) == lists({**row, "candidate": "m", "entities": ["a"]}).answer(TWIN, answer())


def test_a_named_benchmark_goes_before_any(lists):
    rows = [{"item": "q1", "benchmark": b, "entities": [b or "any"]} for b in ("b", "c", "")]
    found = lists(*rows)
    assert ("b",) == found.reference(ITEM, 1)
    other = Item(benchmark="d", item="q1", format="longform", question="?")
    assert ("any",) == found.reference(other, 1)


def test_a_csv_holds_lists_as_json(tmp_path):
    file = tmp_path / "lists.csv"
    file.write_text('item,candidate,repeat,entities\nq1,m,2,"[""a, b""]"\nq1,,,"[]"\n')
    found = read_lists(file)
    assert ("a, b",) == found.answer(ITEM, answer(2))
    assert () == found.reference(ITEM, 1)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"entities": ["a"]}, "needs the column 'item'"),
        ({"item": "q1"}, "needs the column 'entities'"),
        ({"item": 1, "entities": ["a"]}, "item must be text, not 1"),
        ({"item": "q1", "entities": "a, b"}, "must be a JSON array, not 'a, b'"),
        ({"item": "q1", "entities": ["a", ""]}, "texts that are not blank"),
        ({"item": "q1", "entities": ["a", 1]}, "texts that are not blank"),
        ({"item": "q1", "candidate": "m", "repeat": 0, "entities": []}, "repeat must be a whole number"),
        ({"item": "q1", "candidate": "m", "repeat": True, "entities": []}, "repeat must be a whole number"),
        ({"item": "q1", "reference": "one", "entities": []}, "reference must be a whole number"),
        ({"item": "q1", "candidate": "m", "reference": 1, "entities": []}, "not of both"),
        ({"item": "q0", "entities": []}, r"a second list of what .*line 1 lists"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(lists, row, words):
    with pytest.raises(InputError, match=rf"lists\.jsonl, line 2: .*{words}"):
        lists({"item": "q0", "entities": []}, row)
