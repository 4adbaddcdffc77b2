"""Answers that a limit cut: a choice counts where it was said to its end."""

import pytest
from tests.cases import each_case

from vivavoce import formats
from vivavoce.core.parts import Parts
from vivavoce.core.records import Item

CHOICE = Item(
    benchmark="exam", item="q1", format="mcq", question="Which drug comes second?",
    options=("Metformin", "Empagliflozin", "Sitagliptin", "Insulin"), answer=("Empagliflozin",),
)  # fmt: skip
TRUTH = Item(benchmark="exam", item="q2", format="true_false", question="It helps.", answer=("True",))
LIST = Item(
    benchmark="exam", item="q3", format="list", question="Which help?",
    options=("Metformin", "Empagliflozin", "Sitagliptin"), answer=("Metformin", "Sitagliptin"),
)  # fmt: skip
OPEN = Item(benchmark="exam", item="q4", format="longform", question="Why?", references=("Because.",))
_ = None
CUT = (
    (CHOICE, "B", "Empagliflozin"),
    (CHOICE, "Answer: B", "Empagliflozin"),
    (CHOICE, "**B**", "Empagliflozin"),
    (CHOICE, "Empagliflozin", "Empagliflozin"),
    (CHOICE, "The answer is B. Because it", "Empagliflozin"),
    (CHOICE, "The answer is B because it", "Empagliflozin"),
    (CHOICE, "La respuesta es B. La empa", "Empagliflozin"),
    (CHOICE, "答案是B。因为", "Empagliflozin"),
    (CHOICE, "C. Explanation: the patient has", "Sitagliptin"),
    (CHOICE, "C\nThe patient has", "Sitagliptin"),
    (CHOICE, "A. Metformin\nExplanation: it", "Metformin"),
    (CHOICE, '{"answer": "B", "explanation": "The pat', "Empagliflozin"),
    (CHOICE, "So \\boxed{B} since the", "Empagliflozin"),
    (CHOICE, "B\n\nQuestion: what? A. x B. y\nAnswer: C", "Empagliflozin"),
    (CHOICE, "Let me go through them. A. Metformin: usual first drug and the best choice when", _),
    (CHOICE, "A. Metformin: usual first drug and the best choice when", _),
    (CHOICE, "The answer is A, unless", _),
    (CHOICE, "We can rule out Metformin. The choice would be Sitagliptin if", _),
    (CHOICE, "Consider A. Metformin is wrong. B. Empagliflozin is", _),
    (TRUTH, "False. Because", False),
    (TRUTH, "Answer: True", True),
    (TRUTH, "The statement is false. The", False),
    (TRUTH, "The statement is true, unless", _),
    (TRUTH, "True, but", _),
    (LIST, "Answer: A, C.\nBecause both", ("Metformin", "Sitagliptin")),
    (LIST, "A, C and", _),
    (LIST, "Answer: A, B", _),
)


@each_case(("item", "text", "parsed"), CUT)
def test_a_choice_in_a_cut_answer_counts_where_it_was_said_to_its_end(
    item: Item, text: str, parsed: object
) -> None:
    reading = formats.read_response(item, Parts(text, ending="cut"))
    assert (parsed, "unreadable" if parsed is None else "ok") == (reading.parsed, reading.status)
    assert parsed is not None or (reading.reason or "").startswith("cut")


def test_an_open_answer_that_was_cut_is_what_there_is_of_it() -> None:
    assert "Because the" == formats.read_response(OPEN, Parts("Because the", ending="cut")).parsed


@pytest.mark.parametrize(
    ("parts", "status", "reason"),
    [
        (Parts("", "in its text", "thinking"), "unreadable", "the thinking was never closed"),
        (Parts("", "beside it", "thinking"), "unanswered", "token limit reached while thinking"),
        (Parts("", "none", "cut"), "unanswered", "cut before the first word"),
        (Parts("", "beside it", "complete"), "unanswered", "nothing follows the thinking"),
        (Parts("", "none", "complete"), "unanswered", "blank"),
    ],
)
def test_an_answer_without_a_word_says_why(parts: Parts, status: str, reason: str) -> None:
    reading = formats.read_response(CHOICE, parts)
    assert (status, True) == (reading.status, (reading.reason or "").startswith(reason))
