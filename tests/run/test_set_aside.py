"""Scores set aside: the metric does not apply to the item, so nobody failed and nothing is lost silently."""

import json
from pathlib import Path

import polars as pl
import pytest

import vivavoce as viva
from vivavoce.run.run import Run

REFERENCES = ["start aspirin now", "stop the warfarin", "Назначить аспирин", "give oral iron", "阿司匹林"]
REASON = "no reference is in Latin letters, as the words of tokens=latin are: take tokens=clinical"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Five questions, two of them with a reference in another script; B leaves one of these blank."""
    items = [
        {"item": f"q{k}", "format": "longform", "question": f"What now, {k}?", "references": [reference]}
        for k, reference in enumerate(REFERENCES)
    ]
    answers = [
        {"item": f"q{k}", "candidate": name, "text": "" if (name, k) == ("B", 4) else reference}
        for name in ("A", "B")
        for k, reference in enumerate(REFERENCES)
    ]
    for name, rows in (("exam", items), ("answers", answers)):
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    stored = viva.open(tmp_path / "run.viva")
    stored.import_answers(tmp_path / "answers.jsonl", benchmark=f"jsonl(path='{tmp_path / 'exam.jsonl'}')")
    return stored


def test_a_score_set_aside_enters_no_mean_and_no_bound_and_is_counted(run: Run) -> None:
    a, _ = run.score("rouge(n=1)").rows
    assert (1.0, 3, 2, 0) == (a["estimate"], a["n_items"], a["n_set_aside"], a["n_failed"])
    assert (3 / 5, 1.0, 1.0) == (a["coverage"], a["set_low"], a["set_high"])


def test_silence_about_such_an_item_costs_nothing_either(run: Run) -> None:
    """Else whoever answers is set aside, and whoever is silent has the worst score."""
    _, b = run.score("rouge(n=1)").rows
    assert (1.0, 3, 2, 0) == (b["estimate"], b["n_items"], b["n_set_aside"], b["n_unanswered"])
    assert 1 == run.score("token_f1").rows[1]["n_unanswered"]


def test_the_reason_is_stored_and_shown(run: Run) -> None:
    finding = run.score("rouge(n=1)")
    assert "2 set aside" in finding.text
    aside = run.scores.filter(pl.col("status") == "set_aside")
    assert (4, 4) == (aside.height, aside["value"].null_count())
    (row,) = (r for r in run.status().rows if r["about"] == "marks" and r["candidate"] == "A")
    assert (3, 2, 0, {REASON: 2}) == (row["ok"], row["set_aside"], row["failed"], row["causes"])


def test_it_is_settled_where_a_failure_is_tried_again(run: Run) -> None:
    run.score("rouge(n=1)")
    run.score("rouge(n=1)")
    with run.file.reading() as db:
        rows = [json.loads(body)["rows"] for (body,) in db.execute(
            "SELECT body FROM provenance WHERE verb = 'score' ORDER BY provenance_id")]  # fmt: skip
    assert [10, 0] == rows


def test_a_comparison_leaves_out_what_is_set_aside(run: Run) -> None:
    run.score("rouge(n=1)")
    (row,) = run.compare("A", "B", metric="rouge").rows
    assert 3 == row["n_items"]


def test_where_all_is_set_aside_there_is_no_figure_and_the_reason_stands(run: Run, tmp_path: Path) -> None:
    exam = (tmp_path / "exam.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "part.jsonl").write_text("\n".join([exam[2], exam[4]]), encoding="utf-8")
    part = f"jsonl(path='{tmp_path / 'part.jsonl'}', name=exam)"
    (a, _) = run.score("rouge(n=1)", items=part).rows
    assert (None, 0.0) == (a["estimate"], a["coverage"])
    assert "set aside" in a["reason"]


def test_the_report_says_how_many_and_why(run: Run, tmp_path: Path) -> None:
    run.score("rouge(n=1)", "token_f1")
    run.report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "2 set aside" in page
    assert "4 scores were set aside, because the metric does not apply to the question" in page
    assert REASON.replace("'", "&#39;") in page


def test_a_report_without_any_does_not_speak_of_it(run: Run, tmp_path: Path) -> None:
    run.score("token_f1")
    run.report(tmp_path / "run.html")
    assert 'Set aside</th><th scope="col">Reasons' not in (tmp_path / "run.html").read_text(encoding="utf-8")
