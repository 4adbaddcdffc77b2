"""Scores beside the texts that were scored: those of other texts than the answers are refused, or counted."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import made, write_lines

from vivavoce.core.errors import InputError
from vivavoce.run.exchange.scores import ImportedScores
from vivavoce.run.run import Run, open_run

THOUGHT = "<think>Rare here.</think>\nGive naloxone."
REFUSED = (
    "marks.jsonl: 1 of 2 rows scores another text than the run's answer, such as A, q1, repeat 1 (column "
    "'response'): import the answers that were scored"
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two answers of A and one of B that thought."""
    return made(tmp_path, {"A": {"q1": "Café au lait,\r\nthen rest. ", "q2": "12"}, "B": {"q1": THOUGHT}})


def row(text: Any, candidate: str = "A", item: str = "q1", column: str = "response") -> dict[str, Any]:
    return {"id": item, "model": candidate, column: text, "score": 1}


def scored(run: Run, rows: Sequence[Mapping[str, Any]], **settings: Any) -> ImportedScores:
    file = write_lines(run.file.path.parent / "marks.jsonl", rows)
    return run.import_scores(file, measure="panel", **settings)


def test_a_score_of_another_text_is_refused_with_its_count_and_nothing_is_stored(run: Run) -> None:
    with pytest.raises(InputError, match=re.escape(REFUSED)):
        scored(run, [row("Wait and see."), row("12", item="q2")])
    assert 0 == run.scores.height


def test_scores_of_other_texts_are_stored_and_counted_where_that_is_said(run: Run) -> None:
    done = scored(run, [row("Wait and see."), row("12", item="q2")], texts="differ")
    assert (2, {"A, q1, repeat 1": 1}) == (done.scores, done.other_texts)
    assert 2 == run.scores.height


@pytest.mark.parametrize(
    "text",
    [
        "Café au lait,\r\nthen rest. ",
        "Café au lait,\nthen rest.",
        "Cafe\u0301 au lait, then rest.",
        "Café au lait,\\nthen rest.",
        "<think>It is a skin sign.</think>Café au lait,\nthen rest.",
    ],
    ids=["the same", "other line ends", "decomposed, on one line", "escaped line ends", "with its thinking"],
)
def test_line_ends_blanks_composed_letters_and_thinking_make_no_other_text(run: Run, text: str) -> None:
    assert {} == scored(run, [row(text)]).other_texts


@pytest.mark.parametrize("text", [THOUGHT, "Give naloxone."])
def test_an_answer_that_thought_is_told_by_its_final_part_too(run: Run, text: str) -> None:
    assert {} == scored(run, [row(text, "B")]).other_texts


@pytest.mark.parametrize("text", [None, "", " "])
def test_a_row_without_a_text_says_nothing_of_it(run: Run, text: str | None) -> None:
    assert {} == scored(run, [row(text)]).other_texts


def test_a_number_is_the_text_of_an_answer_in_digits(run: Run) -> None:
    assert {} == scored(run, [row(12, item="q2")]).other_texts
    with pytest.raises(InputError, match="1 of 1 row scores another text"):
        scored(run, [row(13, item="q2")])


def test_one_of_several_columns_that_may_be_the_text_suffices(run: Run) -> None:
    texts = {"text": "What is it?", "model_output": "12"}
    assert {} == scored(run, [row("12", item="q2") | texts]).other_texts
    with pytest.raises(InputError, match=r"\(column 'text' and 'response' and 'model_output'\)"):
        scored(run, [row("13", item="q2") | {"text": "What is it?", "model_output": "14"}])


@pytest.mark.parametrize("column", ["result", "answer", "judge_output"])
def test_a_column_that_may_be_a_verdict_a_key_or_a_judges_reply_is_not_taken_for_the_text(
    run: Run, column: str
) -> None:
    assert 1 == scored(run, [row("correct", column=column)]).scores


def test_a_column_that_is_mapped_is_the_text(run: Run) -> None:
    with pytest.raises(InputError, match=r"\(column 'answer'\)"):
        scored(run, [row("correct", column="answer")], map={"text": "answer"})


def test_a_column_that_holds_a_criterion_is_no_text(run: Run) -> None:
    assert ("prediction",) == scored(run, [row(1, column="prediction")], criteria=["prediction"]).criteria


def test_a_score_of_a_text_that_never_arrived_is_of_another_text(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": None}})
    assert {} == scored(run, [row("429 Too Many Requests")]).other_texts
    with pytest.raises(InputError, match="1 of 1 row scores another text"):
        scored(run, [row("Wait and see.")])


def test_rows_that_score_nothing_chosen_are_not_compared(run: Run) -> None:
    rows = [row("Wait.") | {"criterion": "harm", "value": 1}]
    rows += [row("12", item="q2") | {"criterion": "tone", "value": 1}]
    assert {} == scored(run, rows, criteria=["tone"]).other_texts


def test_a_word_that_is_no_choice_is_refused(run: Run) -> None:
    with pytest.raises(InputError, match="texts is same or differ, not 'other'"):
        scored(run, [row("12", item="q2")], texts="other")


def test_marks_of_other_texts_are_refused_and_stored_through_the_shell(
    viva: Callable[..., Any], shared: Path, tmp_path: Path
) -> None:
    folder, file = shared / "data" / "field" / "marks_of_other_texts", tmp_path / "x.viva"
    viva("import", file, folder / "answers.csv", "--benchmark", f"jsonl:path={folder / 'exam.jsonl'}")
    marks = ("import", file, folder / "marks.csv", "--scores", "--measure", "judge", "--criteria", "score")
    with pytest.raises(InputError, match="1 of 1 row scores another text than the run's answer"):
        viva(*marks)
    assert 0 == open_run(file).scores.height
    printed = viva(*marks, "--texts", "differ").output
    assert "1 row scored another text than the run's answer: m, q1, repeat 1." in printed


def test_the_texts_of_answers_are_no_matter_of_texts_that_were_scored(
    viva: Callable[..., Any], run: Run, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "more.jsonl", [row("12", item="q2")])
    with pytest.raises(InputError, match="--texts says something of scores"):
        viva("import", run.file.path, file, "--texts", "differ")
