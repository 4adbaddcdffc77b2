"""What is made in a run is answered and scored with the exam, and enters studies, never a leaderboard."""

from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import exam, write_lines

from vivavoce.run.run import Run, open_run

ITEM = {
    "format": "mcq",
    "options": ["Aspirin", "Heparin", "Warfarin"],
    "answer": "Warfarin",
    "references": [],
}
BASES, TWINS = 5, 10


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """An exam of five questions."""
    asked = "He is ill. He asks for help. Which drug is right?"
    return exam(tmp_path, [ITEM | {"item": f"q{k}", "question": f"Case {k}. {asked}"} for k in range(BASES)])


@pytest.fixture
def varied(tmp_path: Path, spec: str) -> Run:
    """The questions and their twins, biased and neutral, answered by two candidates and scored."""
    run = open_run(tmp_path / "exam.viva")
    run.vary("bias(type=recency)", items=spec)
    rows = [
        {"item": item, "variant": variant, "candidate": who, "text": text}
        for item, variant in run.items.select("item", "variant").iter_rows()
        for who, text in (("A", "Warfarin"), ("B", "Heparin"))
    ]
    run.import_answers(write_lines(tmp_path / "answers.jsonl", rows), benchmark=spec)
    run.score("accuracy", "planted")
    return run


def rows(found: Any, **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in found.rows if wanted.items() <= row.items()]


def test_a_leaderboard_and_a_comparison_are_of_the_exam_alone(varied: Run) -> None:
    assert {BASES} == {row["n_items"] for row in varied.estimates("accuracy").rows}
    assert BASES == varied.compare("A", "B", metric="accuracy").rows[0]["n_items"]
    assert BASES == varied.study("ranking")["ranking"].rows[0]["n_items"]


def test_twins_are_marked_and_the_study_of_bias_reads_them(varied: Run) -> None:
    assert BASES + TWINS == varied.scores.filter(metric="accuracy", candidate="A").height
    found = varied.study("bias")["bias"]
    assert {BASES} == {r["n_pairs"] for r in rows(found, metric="accuracy", contrast="bias", type="all")}


def test_the_questions_of_a_spec_bring_what_was_made_of_them(varied: Run, spec: str) -> None:
    varied.score("list_f1", "accuracy", items=spec)
    found = varied.study("bias", items=spec)["bias"]
    assert {BASES} == {r["n_pairs"] for r in rows(found, metric="accuracy", contrast="bias", type="all")}


def test_the_report_counts_the_exam(varied: Run) -> None:
    (totals,) = [row for row in varied.report_rows() if row["section"] == "run"]
    assert (BASES, 2 * BASES) == (totals["questions"], totals["answers"])


def test_status_counts_variants_apart_from_the_questions(varied: Run) -> None:
    for topic, n in (("marks", BASES), ("variants", TWINS)):
        (scores,) = rows(varied.status(), about=topic, metric="accuracy", candidate="A")
        assert (n, n, n) == (scores["expected"], scores["responses"], scores["ok"])


def test_what_was_made_is_asked_with_its_benchmark(varied: Run, spec: str) -> None:
    varied.collect(spec, models=["baseline/random"])
    assert BASES + TWINS == varied.responses.filter(candidate="baseline/random").height
