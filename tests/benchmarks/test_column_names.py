"""Which column is what: our names, others' names, and names that may be two things."""

from pathlib import Path

import pytest

from vivavoce.benchmarks.column_names import (
    FIELDS,
    OF_ITEMS,
    OF_RESPONSES,
    OF_SCORES,
    folded,
    match_answers,
    match_columns,
)
from vivavoce.core.errors import InputError


@pytest.mark.parametrize(
    "name", ["Model Answer", "modelAnswer", "model-answer", "MODEL_ANSWER", " model.answer "]
)
def test_case_and_signs_make_no_other_name(name: str):
    assert folded(name) == "model_answer"


def test_others_names_are_found():
    found = match_answers(["Question ID", "Model", "Response", "Trial"], map={})

    assert found == {"item": "Question ID", "candidate": "Model", "text": "Response", "repeat": "Trial"}


def test_our_own_name_comes_before_others_and_exact_before_capitals():
    assert match_columns(["item", "id", "qid"], ["item"], map={}) == {"item": "item"}
    assert match_columns(["Question", "prompt", "input"], ["question"], map={}) == {"question": "Question"}
    assert match_columns(["question", "QUESTION"], ["question"], map={}) == {"question": "question"}


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        (["output", "response"], "text"),
        (["text", "response"], "text"),  # the prompt's text and the response
        (["answer", "correct_answer"], "answer"),  # what the model said and the key
        (["prompt", "input"], "question"),
        (["ID", "Id"], "item"),
    ],
)
def test_two_columns_that_may_be_one_field_are_refused_and_map_says_which(columns: list[str], field: str):
    with pytest.raises(InputError) as error:
        match_columns(columns, [field], map={})

    assert all(repr(column) in str(error.value) for column in columns)
    assert "map=" in str(error.value)
    assert "--map" in str(error.value)
    assert match_columns(columns, [field], map={field: columns[1]}) == {field: columns[1]}


def test_a_mapped_column_and_a_constant_are_not_found_again():
    assert match_columns(["model", "id"], OF_RESPONSES, map={"item": "model"}) == {
        "item": "model",  # and `id` is nothing: the item is named
    }
    assert "candidate" not in match_columns(["model"], OF_RESPONSES, map={}, set=["candidate"])


def test_a_case_id_names_the_case_where_the_question_has_an_id_of_its_own():
    fields = (*OF_RESPONSES, *OF_ITEMS)
    assert match_columns(["id", "case_id"], fields, map={}) == {"item": "id", "group": "case_id"}
    assert match_columns(["case_id"], fields, map={}) == {"item": "case_id"}


class TestAnswer:
    """A column `answer` is the key or what the model answered."""

    def test_beside_a_response_it_is_the_key(self):
        found = match_answers(["id", "question", "answer", "model", "output"], map={}, with_questions=True)
        assert (found["answer"], found["text"]) == ("answer", "output")

    def test_without_models_it_is_the_key(self):
        found = match_answers(["question", "answer"], map={}, with_questions=True)
        assert found == {"question": "question", "answer": "answer"}

    def test_with_a_benchmark_it_is_what_the_model_answered(self):
        assert match_answers(["id", "model", "answer"], map={})["text"] == "answer"

    def test_beside_another_key_it_is_what_the_model_answered(self):
        columns = ["question", "model", "Answer", "correct_answer"]
        found = match_answers(columns, map={}, with_questions=True)
        assert (found["answer"], found["text"]) == ("correct_answer", "Answer")
        columns[-1] = "reference"
        found = match_answers(columns, map={}, with_questions=True)
        assert (found["references"], found["text"]) == ("reference", "Answer")

    def test_with_a_model_and_no_other_column_it_is_refused(self):
        with pytest.raises(
            InputError, match=r"may be the key or what the model answered.*map=.*text.*map=.*answer"
        ):
            match_answers(["question", "model", "answer"], map={}, with_questions=True)


def test_no_name_stands_for_two_fields_of_one_table():
    for fields in ((*OF_RESPONSES, *OF_ITEMS), OF_SCORES):
        names = [name for field in fields for name in FIELDS[field].others]
        assert len(names) == len(set(names))
        assert not set(names) & set(fields)
    assert all(folded(name) == name for field in FIELDS.values() for name in field.others)


def test_the_page_lists_every_name(root: Path):
    page = (root / "docs/how-to/own-exam.md").read_text(encoding="utf-8")
    for field, (meaning, others) in FIELDS.items():
        assert f"| `{field}` | {meaning} | {', '.join(f'`{name}`' for name in others)} |" in page
