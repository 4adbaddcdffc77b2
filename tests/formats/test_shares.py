"""Shares of 100 % that an answer gives to options: the one with more than half is its choice."""

import pytest
from tests.cases import each_case
from tests.formats.test_reading import of

DRUGS = ("Aspirin", "Heparin", "Warfarin", "Alteplase")


@each_case(
    ("text", "parsed"),
    [
        ("A: 10%, B: 15%, C: 5%, D: 70%", "Alteplase"),
        ("A (10%) B (20%) C (60%) D (10%)", "Warfarin"),
        ("| A | 10% |\n| B | 90% |", "Heparin"),
        ("Aspirin 10%, Heparin 80%, Warfarin 5%, Alteplase 5%", "Heparin"),
        ("A (Aspirin) 20,5 %; B (Heparin) 79,5 %", "Heparin"),
        ("60 % C, 40 % B", "Warfarin"),
        ("C 60 %, B 30 %, A 10 %", "Warfarin"),
        ("I am 80% sure it's B and 20% it's A.", "Heparin"),
        ("Wahrscheinlichkeit: A 33 %, B 67 %", "Heparin"),
        ("A: 33%, B: 66%", "Heparin"),
        ("A 10%, B 90%. Final answer: A", "Aspirin"),
    ],
)
def test_the_option_with_most_is_chosen(text: str, parsed: str) -> None:
    assert ("ok", parsed) == (of("mcq", text, DRUGS).status, of("mcq", text, DRUGS).parsed)


@each_case(
    "text",
    [
        "A 50%, B 50%",
        "A 40%, B 35%, C 25%",
        "A 40%, B 30%",
        "A 60%, B 60%",
        "A 90%, A 10%",
        "A 20% 30% B 50%",
        "Sensitivity: aspirin 40%, heparin 60%",
        "30% of patients get A, 70% get B",
        "Heparin lowers it by 30 %, warfarin by 70 %.",
    ],
)
def test_anything_else_is_not_read(text: str) -> None:
    assert "unreadable" == of("mcq", text, DRUGS).status


@each_case("text", ["25% or 75%", "25% and 75%", "25%, 75%", "A 25%, D 75%"])
def test_options_that_are_shares_have_none(text: str) -> None:
    assert "unreadable" == of("mcq", text, ("10%", "25%", "50%", "75%")).status


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_the_order_of_the_options_decides_nothing(order: tuple[int, ...]) -> None:
    shares = (5, 15, 70, 10)
    text = ", ".join(f"{'ABCD'[n]} {shares[n]}%" for n in order)
    assert "Warfarin" == of("mcq", text, DRUGS).parsed
