"""The format argument: the item keeps options and label, the answer is an explanation."""

import pytest

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item


def item(**fields: object) -> Item:
    values = {"benchmark": "b", "item": "q", "format": "argument", "question": "Which one?",
              "options": ("Fever", "Cough"), "answer": ("A",), **fields}  # fmt: skip
    return Item(**values)  # type: ignore[arg-type]


def test_the_label_stays_beside_the_explanations_of_people():
    checked = formats.check(item(references=("It is hot.", " ")))
    assert (("Fever",), ("It is hot.",)) == (checked.answer, checked.references)
    assert "It is hot." == formats.key(checked)
    assert "" == formats.key(formats.check(item()))


def test_the_options_are_shown_and_an_explanation_is_asked_for():
    prompt = formats.ask(item())
    assert "A. Fever\nB. Cough" in prompt
    assert "Explain" in prompt


def test_an_explanation_is_read_whole_and_never_as_a_choice():
    assert "B. Because of the cough." == formats.read_response(item(), "B. Because of the cough.").parsed
    assert "unanswered" == formats.read_response(item(), " ").status


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"answer": ()}, "one label"),
        ({"answer": ("A", "B")}, "one label"),
        ({"answer": ("Rash",)}, "is no option"),
        ({"options": ("Fever",)}, "2 or more options"),
        ({"options": ("Fever", "Fever")}, "stands there twice"),
        ({"question": " "}, "question"),
    ],
)
def test_a_task_without_one_label_is_refused(fields: dict[str, object], why: str):
    with pytest.raises(InputError, match=why):
        formats.check(item(**fields))
