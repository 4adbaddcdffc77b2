"""Whatever marks stand around its thinking, an answer is worth the same to every examiner."""

from pathlib import Path
from typing import Any

import pytest
from tests.core.test_reasoning_marks import MARKS, THINKING
from tests.studies.making import write_lines

import vivavoce as viva
from vivavoce.core.records import Item, Response
from vivavoce.facts import clean
from vivavoce.judging.loading import load

ANSWER = "The heart needs rest and 5 mg of bisoprolol."
OPEN = {
    "id": "open",
    "format": "short",
    "question": "What helps?",
    "references": ["Rest, and bisoprolol 5 mg"],
}
CLOSED = {"id": "closed", "format": "mcq", "question": "Which?", "options": ["Metformin", "Bisoprolol"],
          "answer": "Bisoprolol"}  # fmt: skip


def around(family: str | None, answer: str) -> str:
    opening, closing = MARKS[family] if family else ("", "")
    return f"{opening}{THINKING}{closing}{answer}" if family else answer


def run_of(folder: Path) -> Any:
    """A run in which each candidate gives the same answers, behind thinking in the marks of a family."""
    run = viva.open(folder / "run.viva")
    run.import_answers(
        [
            {"item": item, "candidate": family or "no thinking", "text": around(family, text)}
            for family in (None, *MARKS)
            for item, text in (("open", ANSWER), ("closed", "Answer: B"))
        ],
        benchmark=f"jsonl(path='{write_lines(folder / 'exam.jsonl', [OPEN, CLOSED])}')",
    )
    return run


def test_every_metric_gives_the_same_under_all_marks(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    run.score("exact", "token_f1", "rougeL", "chrf", "accuracy")
    by_measure = run.scores.group_by("metric", "criterion", "item").agg("value", "status")
    assert by_measure.height > 5
    n_candidates = len(MARKS) + 1
    for row in by_measure.iter_rows(named=True):
        assert [row["value"][0]] * n_candidates == row["value"], row["metric"]
        assert ["ok"] * n_candidates == row["status"]


@pytest.mark.parametrize("family", MARKS)
def test_a_judge_and_facts_are_given_the_same_text(family: str) -> None:
    item = Item(benchmark="exam", item="open", format="short", question="What helps?", references=("Rest",))
    plain, thought = (
        Response(benchmark="exam", item="open", candidate="A", text=text).parts.final
        for text in (ANSWER, around(family, ANSWER))
    )
    rubric = load("correctness")
    assert rubric.requests(item, plain) == rubric.requests(item, thought)
    assert clean("What helps?", plain) == clean("What helps?", thought)


def test_a_table_of_answers_has_the_final_part_beside_the_text(tmp_path: Path) -> None:
    finals = run_of(tmp_path).responses.filter(item="open")
    assert {ANSWER} == set(finals["final"])
    assert len(MARKS) + 1 == finals["text"].n_unique()
