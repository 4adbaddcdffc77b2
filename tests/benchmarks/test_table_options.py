"""Options of a table, however they are written, and the keys that name them."""

from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.benchmarks.table import table_items
from vivavoce.benchmarks.table_options import gathered, listed_options, option_columns
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.core.tables import Line


def items(*rows: dict[str, Any]) -> list[Item]:
    lines = [
        Line(f"data, row {n}", {"item": f"q{n}", "question": "Which?", **r}) for n, r in enumerate(rows, 1)
    ]
    return list(table_items(lines, "exam").benchmark.items)


def key(options: Any, answer: Any) -> str:
    (item,) = items({"options": options, "answer": answer})
    assert item.format == "mcq"
    return item.answer[0]


@each_case(
    ("names", "labels"),
    [
        (["option_a", "option_b"], ["A", "B"]),
        (["option_b", "option_a", "x"], ["A", "B"]),
        (["choice1", "choice2"], ["1", "2"]),
        (["option_0", "option_1"], ["0", "1"]),
        (["opa", "opb", "opc", "opd", "cop"], ["A", "B", "C", "D"]),
        (["a", "b", "c"], ["A", "B", "C"]),
        ([f"option_{n}" for n in range(1, 12)], [str(n) for n in range(1, 12)]),
        (["option_a"], []),
        (["option_a", "option_c"], []),
        (["b", "c"], []),
        (["option_2", "option_3"], []),
        (["x", "y", "options"], []),
    ],
)
def test_columns_of_options_are_a_whole_series_in_order(names: list[str], labels: list[str]) -> None:
    assert labels == list(option_columns({name: name for name in names}))


def test_columns_named_option_go_before_bare_letters() -> None:
    names = ["a", "b", "option_a", "option_b"]
    assert {"A": "option_a", "B": "option_b"} == option_columns({name: name for name in names})


def test_two_columns_for_one_option_are_refused() -> None:
    with pytest.raises(InputError, match="'Option A' and 'option_a' may each be option A: rename one"):
        option_columns({"Option A": "option_a", "option_a": "option_a", "option_b": "option_b"})


def test_a_row_without_options_has_none() -> None:
    line = Line("data, row 1", {"item": "q1", "a": "", "b": None})
    assert {"item": "q1", "options": None} == next(gathered([line], {"A": "a", "B": "b"})).row


PAIR = ["aspirin", "heparin"]


@each_case(
    ("options", "answer"),
    [
        (PAIR, "B"),
        (PAIR, " b. "),
        (PAIR, "B) heparin"),
        (PAIR, "(b) heparin"),
        (PAIR, "heparin"),
        ({"B": "heparin", "A": "aspirin"}, "B"),
        ({"a": "aspirin", "b": "heparin"}, "B"),
        ({"A": "aspirin", "B": "heparin", "C": "", "D": None}, "B"),
        ({"1": "aspirin", "2": "heparin"}, 2),
        ({"1": "aspirin", "2": "heparin"}, "2"),
        ({"0": "aspirin", "1": "heparin"}, 1),
        ({"label": ["A", "B"], "text": PAIR}, "B"),
        ([{"key": "A", "value": "aspirin"}, {"key": "B", "value": "heparin"}], "B"),
        ('[{"label": "A", "text": "aspirin"}, {"label": "B", "text": "heparin"}]', "B"),
    ],
)
def test_a_key_becomes_its_option(options: Any, answer: Any) -> None:
    assert key(options, answer) == "heparin"


def test_options_under_letters_stand_in_the_order_of_their_letters() -> None:
    """A model's answer B names the option under B, wherever the table writes it."""
    assert listed_options({"B": "heparin", "A": "aspirin"}, "")[0] == PAIR
    twelve = {str(n): f"option {n}" for n in range(12, 0, -1)}
    assert [f"option {n}" for n in range(1, 13)] == listed_options(twelve, "")[0]


def test_a_key_is_a_letter_where_the_keys_of_its_table_are() -> None:
    """B is the second option, also of the question whose third option is the blood group B."""
    groups = {"options": ["O", "A", "B", "AB"], "answer": "B"}
    drug = {"options": PAIR, "answer": "A"}
    assert [("A",), ("aspirin",)] == [item.answer for item in items(groups, drug)]
    text = {"options": PAIR, "answer": "aspirin"}
    assert [("B",), ("aspirin",)] == [item.answer for item in items(groups, text)]
    with pytest.raises(InputError, match="row 1: the key B is the letter of the option 'A'"):
        items(groups)
    letter = {"options": ["x", "y"], "answer": "A"}
    with pytest.raises(InputError, match="write the option's letter with its text, as B\\) A"):
        items(groups, text, letter)
    assert [("A",)] == [item.answer for item in items({**groups, "answer": "B) A"})]
    assert [("B",)] == [item.answer for item in items({**groups, "answer": ["B"]})], "a list names texts"
    alike = {"options": ["A", "B"], "answer": "B"}
    assert [("B",)] == [item.answer for item in items(alike)], "text and letter are of one option"


@each_case(
    ("options", "answer", "words"),
    [
        (PAIR, 1, "row 1: the key 1 is no option; as a position it may count from 0 or from 1"),
        (PAIR, "B) aspirin", "the key 'B\\) aspirin' is no option"),
        ({"1": "2", "2": "1"}, 2, "the key 2 is the number of one option and the text of another"),
        ({"A": "x", "B": None, "C": "y"}, "C", "row 1: option B is empty, and one behind it is not"),
        ({"A": "x", "C": "y"}, "C", "row 1: the options stand under A, C: letters go from A, without a gap"),
        ({"A": "x"}, "A", "mcq needs 2 or more options, not 1"),
        ("aspirin|heparin", "A", "the options are one text, 'aspirin|heparin': write a JSON array"),
        (PAIR, None, "row 1: options and no key: name its column with map="),
    ],
)
def test_a_key_or_an_option_that_may_be_another_is_refused(options: Any, answer: Any, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("|", r"\|")):
        key(options, answer)
