"""Blank or not, thought or answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.core.text import Spoken, causes_said, is_blank, names_with, one_line, spoken


@each_case("text", ["", " \n", "...", "—", "̶ ̶ ̶", "🙂", "**", "\u200b"])
def test_no_letter_and_no_digit_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "7", "是", "½", "٣", "é", "-B-"])
def test_a_letter_or_digit_of_any_script_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@each_case(
    ("text", "want"),
    [
        (" B ", Spoken("B", False, True)),
        ("<think>A?</think> B", Spoken("B", True, True)),
        ("<think>A?</think>", Spoken("", True, True)),
        ("<think>A?", Spoken("", True, False)),
        ("B <think>but", Spoken("B", True, False)),
        ("A?</think>B", Spoken("B", True, True)),
        ("<THINK>a</THINK>B", Spoken("B", True, True)),
        ("<thinking>a</thinking>B", Spoken("B", True, True)),
        ("< think >a< / think >B", Spoken("B", True, True)),
        ("<think>a<think>b</think>c</think>D", Spoken("D", True, True)),
        ("<think>a</think>B<think>c</think>D", Spoken("BD", True, True)),
        ("I think B", Spoken("I think B", False, True)),
        ("<thinker>B", Spoken("<thinker>B", False, True)),
    ],
)
def test_thinking_is_no_answer(text: str, want: Spoken) -> None:
    assert want == spoken(text)


def test_a_long_run_of_blanks_costs_no_more_than_its_length() -> None:
    assert "<" == spoken("<" + " " * 300_000).text


@given(st.text(), st.text())
def test_what_stands_in_closed_thinking_changes_nothing(thought: str, answer: str) -> None:
    if "<" not in thought + answer:
        assert answer.strip() == spoken(f"<think>{thought}</think>{answer}").text


def test_one_line_cuts_with_an_ellipsis() -> None:
    assert "a b" == one_line("a\n  b")
    assert "aaaa…" == one_line("a" * 9, 5)


def test_causes_that_differ_in_numbers_are_one_and_the_rest_is_counted() -> None:
    causes = {"713 tokens do not fit 512": 1, "860 tokens do not fit 512": 2, "timeout": 1, "a": 1, "b": 1}
    assert "3 x 860 tokens do not fit 512, or alike; 1 x timeout; 2 of other causes" == causes_said(causes, 2)
    assert "5 x timeout" == causes_said({"timeout": 5})
    assert "" == causes_said({})


@each_case(
    ("part", "holding"),
    [
        ("acc", ["accuracy"]),  # and not step_accuracy, in which it stands too
        ("ACCURACY", ["accuracy"]),
        ("step", ["step_accuracy"]),
        ("b", ["Model B (made up)"]),  # a word of its own, before the letters within others
        ("made", ["Model A (made up)", "Model B (made up)"]),
        ("racy", ["accuracy", "step_accuracy"]),
        (" f1 ", ["token_f1"]),
        ("(made", ["Model A (made up)", "Model B (made up)"]),
        ("", []),
        ("  ", []),
        ("z", []),
    ],
)
def test_a_part_of_a_name_finds_it(part: str, holding: list[str]) -> None:
    names = ["accuracy", "step_accuracy", "token_f1", "Model A (made up)", "Model B (made up)", "accuracy"]
    assert holding == names_with(part, names)
