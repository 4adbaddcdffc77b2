"""Two columns that name two options as right are refused with the row and both, by both doors."""

import json
from pathlib import Path
from typing import Any

import pytest

import vivavoce
from vivavoce.benchmarks import load
from vivavoce.core.errors import InputError

OPTIONS = {"A": "Iron", "B": "Naloxone", "C": "Zinc"}


def question(**keys: Any) -> dict[str, Any]:
    return {"question": "Opioids?", "options": OPTIONS} | keys


def exam(folder: Path, *rows: dict[str, Any]) -> Any:
    (folder / "exam.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return load(f"jsonl:path={folder / 'exam.jsonl'}").items


@pytest.mark.parametrize(
    "keys",
    [
        {"answer": "Zinc", "answer_idx": "B"},
        {"answer": "Iron", "answer_idx": 2},
        {"answer": "C", "answer_text": "Naloxone"},
        {"answer": "B", "correct_option_index": "0"},
        {"answer": "Iron", "richtig": "c"},
    ],
)
def test_keys_that_name_two_options_are_refused(tmp_path: Path, keys: dict[str, Any]) -> None:
    column = next(name for name in keys if name != "answer")
    agreeing = {"question": "Why?", "answer": "Naloxone", column: "B"}
    with pytest.raises(InputError) as error:
        exam(tmp_path, question(**agreeing), question(**keys))
    assert "line 2: the key is " in str(error.value)
    assert f"{column!r} is {str(keys[column])!r}" in str(error.value)
    assert f"--map answer={column}" in str(error.value)


@pytest.mark.parametrize(
    "keys",
    [
        {"answer": "Naloxone", "answer_idx": "B"},
        {"answer": "Naloxone", "answer_idx": 1},
        {"answer": "Naloxone", "answer_idx": 2},
        {"answer": "B", "answer_text": "naloxone is right"},
        {"answer": "Naloxone", "answer_idx": None},
        {"answer": "Naloxone", "answer_idx": ""},
        {"answer": "Naloxone", "answer_letter_count": "A"},
    ],
)
def test_keys_that_agree_or_say_nothing_are_one(tmp_path: Path, keys: dict[str, Any]) -> None:
    (item,) = exam(tmp_path, question(**keys))
    assert ("Naloxone",) == item.answer


def test_a_table_of_answers_and_an_exam_of_our_own_are_refused_too(tmp_path: Path) -> None:
    rows = [
        question(answer="Zinc", gold_idx="B", model=model, response="B") | {"id": 7} for model in ("a", "b")
    ]
    run = vivavoce.open(tmp_path / "r.viva")
    with pytest.raises(
        InputError, match=r"row 1: the key is 'Zinc', which is the option 'Zinc', and 'gold_idx'"
    ):
        run.import_answers(rows)
    assert 2 == run.import_answers(rows, map={"answer": "gold_idx"}).responses
    assert [["Naloxone"]] == run.items["answer"].to_list()
    layout = question(answer="Zinc", answer_idx="B") | {
        "id": "q",
        "format": "mcq",
        "options": [*OPTIONS.values()],
    }
    with pytest.raises(InputError, match="'answer_idx' is 'B', which is 'Naloxone'"):
        exam(tmp_path, layout)


def test_a_question_with_two_keys_can_be_left_out(tmp_path: Path) -> None:
    rows = [question(answer="Iron", gold_idx="A", model="m", response="A") | {"id": k} for k in range(3)]
    rows[1] |= {"gold_idx": "B"}
    imported = vivavoce.open(tmp_path / "r.viva").import_answers(rows, faulty="exclude")
    assert (2, {"two columns name two options as right": 1}) == (imported.responses, imported.exclusions)


@pytest.mark.parametrize("chosen", [{"answer_letter": "B"}, {"answer_text": "Naloxone"}, {"richtig": 0}])
def test_beside_answers_what_a_model_chose_is_no_second_key(tmp_path: Path, chosen: dict[str, Any]) -> None:
    rows = [question(answer="Zinc", model="m", response="I pick B.") | {"id": 1} | chosen]
    run = vivavoce.open(tmp_path / "r.viva")
    assert 1 == run.import_answers(rows).responses
    assert [["Zinc"]] == run.items["answer"].to_list()


@pytest.mark.parametrize("start", [0, 1])
def test_numbers_as_options_may_have_an_index_of_either_start(tmp_path: Path, start: int) -> None:
    options = {"A": "1", "B": "2", "C": "3"}
    items = exam(
        tmp_path,
        *(
            {"question": f"{k}?", "options": options, "answer": f"{k + 1}", "answer_idx": k + start}
            for k in range(3)
        ),
    )
    assert [("1",), ("2",), ("3",)] == [item.answer for item in items]


def test_a_key_in_another_case_is_its_option(tmp_path: Path) -> None:
    columns = {"A": "Iron", "B": "Naloxone", "answer": "NALOXONE", "answer_label": "(b)"}
    (item,) = exam(tmp_path, {"question": "Opioids?"} | columns)
    assert ("Naloxone",) == item.answer
