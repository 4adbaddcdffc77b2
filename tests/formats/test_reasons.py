"""A choice with a reason behind it, and a hedge that goes on: what is chosen, and what is not."""

from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core.records import Item
from vivavoce.formats import FORMATS, read_response

DRUGS = ("Nitrofurantoin", "Fosfomycin", "Ciprofloxacin", "Amoxicillin", "No antimicrobial treatment")
TESTS = (
    "Serum troponin",
    "Plasma clozapine concentration",
    "Chest radiograph",
    "Serum prolactin",
    "Full blood count with differential",
)
COUNT = TESTS[4]


def picked(text: str, options: tuple[str, ...]) -> Any:
    reading = read_response(Item(benchmark="b", item="i", format="mcq", question="q", options=options), text)
    return reading.parsed if reading.status == "ok" else reading.status


def truth(text: str) -> Any:
    reading = read_response(Item(benchmark="b", item="i", format="true_false", question="q"), text)
    return reading.parsed if reading.status == "ok" else reading.status


@pytest.mark.parametrize(
    "text",
    [
        "**E**: asymptomatic bacteriuria, no treatment.",
        "**E:** asymptomatic bacteriuria, no treatment.",
        "E: no treatment is needed.",
        "E: asymptomatic bacteriuria is not treated.",
        "**E** - asymptomatic bacteriuria; pregnancy was excluded.",
    ],
)
def test_a_leading_letter_with_a_free_reason_is_a_choice(text: str) -> None:
    assert DRUGS[4] == picked(text, DRUGS)


@pytest.mark.parametrize(
    "text",
    [
        "**E. Full blood count with differential** - agranulocytosis has to be excluded the same day.",
        "E - agranulocytosis must be ruled out.",
        "E – agranulocytosis is excluded first.",
        "E - to rule out agranulocytosis.",
        "E. Full blood count with differential - rules out agranulocytosis",
    ],
)
def test_what_must_be_ruled_out_is_the_disease_and_not_the_option(text: str) -> None:
    assert COUNT == picked(text, TESTS)


@each_case(
    "text",
    [
        "E - excluded.",
        "E - must be excluded.",
        "E - this is excluded.",
        "E - the test should be excluded.",
        "E. Excluded",
        "E must be ruled out.",
        "B is ruled out",
        "B is ruled out.",
        "**E**: wrong.",
        "**E**: not indicated.",
        "**E**: no.",
        "E: no role here",
        "E: no longer recommended",
        "E - clearly contraindicated",
    ],
)
def test_an_option_that_is_itself_turned_down_is_not_chosen(text: str) -> None:
    assert "unreadable" == picked(text, TESTS)


def test_a_reason_counts_only_behind_a_letter_that_stands_alone() -> None:
    remarks = "A) Serum troponin: ECG normal, so excluded\nB) Plasma clozapine concentration: not urgent\n"
    assert COUNT == picked(f"{remarks}C) Chest radiograph: wrong\nE) {COUNT}: needed", TESTS)
    assert DRUGS[2] == picked("A: no effect\nB: no effect\nC: the best choice\nD: no effect", DRUGS)
    assert DRUGS[1] == picked("**E**: no, B.", DRUGS)


@each_case(
    "text",
    [
        "It could be true in some patients and false in others.",
        "It could be false in some patients and true in others.",
        "It might be true for some and it might be false for others.",
        "The statement can be true in type 1 and false in type 2 diabetes.",
        "The statement is true in type 1 and false in type 2 diabetes.",
        "Answer: true in adults and false in children.",
        "The statement is both true and false.",
        "The claim is partly true and partly false.",
        "It can be true.",
    ],
)
def test_a_hedge_between_true_and_false_is_unreadable(text: str) -> None:
    assert "unreadable" == truth(text)


@each_case(
    ("text", "want"),
    [
        ("It could be true, but it is false.", False),
        ("While it could be true in children, the statement is false.", False),
        ("Although it could be true in children, it is false here.", False),
        ("It may be true in adults; here it is false.", False),
        ("It could be true in theory. In practice it is false.", False),
        ("The answer is True and not False.", True),
        ("The statement is true, not false.", True),
        ("It cannot be true.", False),
    ],
)
def test_a_verdict_behind_a_concession_stands(text: str, want: bool) -> None:
    assert want is truth(text)


@each_case("kind", sorted(FORMATS))
def test_a_refusal_about_a_subject_is_unanswered_in_every_format(kind: str) -> None:
    item = Item(
        benchmark="b", item="i", format=kind, question="q", options=("Insulin treatment", "Diet"),
        steps=("a", "b"), step=1, false_answer="f", references=("r",),
    )  # fmt: skip
    for text in (
        "As an AI language model I can't answer questions about insulin treatment. Please consult a doctor.",
        "As an AI model, I cannot discuss insulin treatment.",
        "I'm unable to answer questions regarding insulin. Consult your doctor.",
    ):
        assert "unanswered" == read_response(item, text).status, text


def test_a_patient_who_cannot_answer_questions_is_an_answer() -> None:
    item = Item(benchmark="b", item="i", format="short", question="q", references=("r",))
    for text in (
        "The patient is drowsy and unable to answer questions.",
        "He could not answer questions about his history.",
        "I can't answer questions about dosing, but insulin lowers glucose.",
    ):
        assert "ok" == read_response(item, text).status, text
