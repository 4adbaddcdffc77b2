"""Questions from a table: one item for each id, formats by rule, contradictions refused."""

from typing import Any

import numpy as np
import pytest
from tests.cases import each_case

from vivavoce.benchmarks import load
from vivavoce.benchmarks.table import TableItems, table_items
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.tables import Line


def table(*rows: dict[str, Any]) -> TableItems:
    return table_items([Line(f"data, row {n}", row) for n, row in enumerate(rows, 1)], "exam")


def item(**row: Any) -> Item:
    (only,) = table({"item": "q1", "question": "Which?", **row}).benchmark.items
    return only


@each_case(
    ("row", "format", "answer", "references"),
    [
        ({"options": ["a", "b"], "answer": "b"}, "mcq", ("b",), ()),
        ({"options": ["a", "b"], "references": "b"}, "mcq", ("b",), ()),
        ({"options": '["a", "b"]', "answer": "B"}, "mcq", ("b",), ()),
        ({"options": "['a', 'b']", "answer": "(b)"}, "mcq", ("b",), ()),
        ({"options": {"A": "x", "B": "y"}, "answer": "B"}, "mcq", ("y",), ()),
        ({"options": {"1": "x", "2": "y"}, "answer": "2"}, "mcq", ("y",), ()),
        ({"options": ["10", "20"], "answer": 20}, "mcq", ("20",), ()),
        ({"options": ["yes", "no"], "answer": "no"}, "mcq", ("no",), ()),
        ({"options": ["a", "b", "c"], "answer": ["a", "c"]}, "list", ("a", "c"), ()),
        ({"options": ["x", "y", "z"], "answer": "A, C"}, "list", ("x", "z"), ()),
        ({"answer": True}, "true_false", ("True",), ()),
        ({"answer": "false"}, "true_false", ("False",), ()),
        ({"options": ["True", "False"], "answer": "True"}, "true_false", ("True",), ()),
        ({"options": {"A": "True", "B": "False"}, "answer": "B"}, "mcq", ("False",), ()),
        ({"options": ["True", "False"], "answer": "B"}, "mcq", ("False",), ()),
        ({"references": "T"}, "true_false", ("True",), ()),
        ({"answer": "yes"}, "short", (), ("yes",)),
        ({"references": ["beta blocker", "metoprolol"]}, "short", (), ("beta blocker", "metoprolol")),
        ({"references": "one two three four five six seven eight nine ten"}, "short", (),
         ("one two three four five six seven eight nine ten",)),
        ({"references": "one two three four five six seven eight nine ten eleven"}, "longform", (),
         ("one two three four five six seven eight nine ten eleven",)),
        ({}, "longform", (), ()),
        ({"steps": ["a", "b"], "references": "c"}, "multi_hop", (), ("c",)),
        ({"steps": ["a", "b"], "step": 2, "references": "c"}, "multi_hop_inverse", (), ("c",)),
        ({"answer": "yes", "format": "longform"}, "longform", (), ("yes",)),
    ],
)  # fmt: skip
def test_the_format_follows_the_rule(row: dict[str, Any], format: str, answer: Any, references: Any):
    read = item(**row)
    assert (read.format, read.answer, read.references) == (format, answer, references)


def test_what_was_inferred_is_counted_and_what_was_stated_is_not():
    read = table(
        {"item": "a", "question": "A?", "answer": "x"}, {"item": "a", "question": "A?", "answer": "x"},
        {"item": "b", "question": "B.", "answer": True},
        {"item": "c", "question": "C?", "format": "longform"},
    )  # fmt: skip
    assert read.formats == {"short": 1, "true_false": 1}


def test_an_array_as_numpy_writes_it_is_not_joined():
    assert item(references="['yes' 'no']").references == ("['yes' 'no']",)


def test_a_text_of_numpy_is_a_text():
    read = item(category=np.str_("dosing"), format=np.str_("short"), answer=np.str_("5 mg"))
    assert ("dosing", "short", ("5 mg",)) == (read.category, read.format, read.references)


def test_a_text_that_begins_with_a_bracket_is_a_text():
    assert item(answer="[18F]FDG").references == ("[18F]FDG",)


def test_rows_of_one_id_are_one_question_and_may_leave_out_what_another_says():
    read = table(
        {"item": "q1", "question": "Which?", "answer": "x", "category": None},
        {"item": "q1", "question": None, "answer": None, "category": "heart"},
    )
    (only,) = read.benchmark.items
    assert (only.question, only.references, only.category) == ("Which?", ("x",), "heart")


@pytest.mark.parametrize(
    ("field", "one", "other"),
    [
        ("question", "Which?", "What?"),
        ("answer", "x", "y"),
        ("options", ["a", "b"], ["a", "c"]),
        ("category", "a", "b"),
    ],
)
def test_two_contents_under_one_id_are_refused(field: str, one: Any, other: Any):
    row = {"item": "q1", "question": "Which?"}
    with pytest.raises(InputError) as error:
        table({**row, field: one}, {**row, field: other})
    assert f"data, row 2: the question 'q1' has another {field} than in data, row 1" in str(error.value)


def test_without_ids_a_question_bears_a_stable_one():
    one, again, other = (
        table({"question": text, "answer": "x"}).benchmark.items[0].item
        for text in ("Which?", " Which? ", "What?")
    )
    assert one == again
    assert one != other
    assert one.startswith("q")
    assert len(one) == 11


def test_a_question_asked_of_two_cases_is_two_questions():
    read = table(
        {"question": "Treat?", "context": "A", "answer": "x"},
        {"question": "Treat?", "context": "B", "answer": "y"},
    )
    assert len(read.benchmark.items) == 2


def test_the_same_question_with_two_keys_is_two_questions_without_ids():
    rows = [{"question": "Which?", "answer": "x"}, {"question": "Which?", "answer": "y"}]
    first, second = table(*rows).benchmark.items
    assert (f"{first.item}-2", ("y",)) == (second.item, second.references)
    with pytest.raises(InputError, match="has another answer than in data, row 1"):
        table({**rows[0], "candidate": "A"}, {**rows[1], "candidate": "B"})


@each_case(
    ("row", "words"),
    [
        ({"item": None, "question": "Which?"}, "data, row 1: the id is empty"),
        ({"question": None}, "data, row 1: neither an id nor a question."),
        ({"item": "q1", "question": None}, "data, row 1: no row says what the question 'q1' is."),
        (
            {"item": "q1", "question": "Which?", "options": ["a", "b"]},
            "row 1: options and no key: name its col",
        ),
        (
            {"item": "q1", "question": "Which?", "options": ["a", "b"], "answer": "c"},
            "the key 'c' is no option",
        ),
        ({"item": "q1", "question": "Which?", "format": "mqc"}, "no format named 'mqc'. Did you mean 'mcq'?"),
        ({"item": 1e30, "question": "Which?", "options": {"A"}}, "a text is needed, not set"),
        ({"item": "q1", "question": "Which?", "references": [["a"]]}, "a text is needed, not list"),
    ],
)
def test_what_is_no_question_is_refused_with_its_row(row: dict[str, Any], words: str):
    with pytest.raises(InputError) as error:
        table(row)
    assert words in str(error.value)


def test_the_signature_follows_the_questions():
    one, same, other = (
        table(
            {"item": "q1", "question": "Which?", "answer": answer, "category": category}
        ).benchmark.signature
        for answer, category in (("x", "a"), ("x", "b"), ("y", "a"))
    )
    assert one == same != other


def test_without_a_run_the_benchmark_says_where_its_questions_are():
    with pytest.raises(InputError, match="came from a table, and stand in the run"):
        load("table(name=exam)")
