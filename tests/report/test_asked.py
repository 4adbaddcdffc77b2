"""What a report says of asking: that a sample was asked, of how many, where requests went, and of size."""

from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import exam, marked, twins
from tests.studies.test_weighted import STRATIFIED, A, B, asked

from vivavoce import stats
from vivavoce.run.run import Run, open_run
from vivavoce.store.write import put_provenance

SENT = [{"endpoint": "https://a.example/v1", "requests": 12, "characters": 3456}]
SAMPLE = "Of exam a sample was asked, 5 of 40 questions; each counts for as many as it stands for."


def rows(run: Run, section: str) -> list[dict[str, Any]]:
    made = run.report_rows(run.file.path.with_suffix(".html"))
    return [row for row in made if row["section"] == section]


def texts(run: Run, section: str) -> str:
    return "\n".join(row["text"] for row in rows(run, section))


def page(run: Run) -> str:
    return run.report(run.file.path.with_suffix(".html")).read_text(encoding="utf-8")


def collected(run: Run, **more: Any) -> Run:
    """The run with a collect in its provenance."""
    with run.file.writing() as db:
        put_provenance(db, "collect", {"sent": SENT, **more}, changed=1)
    return run


def test_methods_and_limitations_name_the_sample(tmp_path: Path) -> None:
    run = asked(tmp_path, {"A": A, "B": B}, STRATIFIED)
    assert SAMPLE in texts(run, "methods")
    assert "each weighted by the number of questions of the exam that it stands for" in texts(run, "methods")
    assert f"{SAMPLE} What the others would have shown is not known." in texts(run, "limitation")
    assert any(SAMPLE in (row["answer"] or "") for row in rows(run, "checklist"))
    assert SAMPLE in page(run)


def test_an_exam_that_was_asked_whole_has_no_word_of_samples(tmp_path: Path) -> None:
    run = asked(tmp_path, {"A": A, "B": B}, [None] * 5)
    said = texts(run, "methods") + texts(run, "limitation") + str(rows(run, "checklist"))
    assert "a sample was asked" not in said
    assert "weighted" not in said


def test_how_it_was_drawn_is_said_only_of_our_own_samples(tmp_path: Path) -> None:
    run = asked(tmp_path, {"A": A, "B": B}, STRATIFIED)
    assert "drawn by category" not in texts(run, "methods")
    assert "drawn by category" in texts(collected(run, sample="5"), "methods")


def test_the_leaderboard_and_profiles_are_weighted(tmp_path: Path) -> None:
    weights = [1.0, 3.0] * 3 + [2.0, 5.0] * 3
    answers = {"A": {f"{'ab'[k % 2]}{k}": (k * 7 % 10) / 10 for k in range(12)}}
    run = asked(tmp_path, answers, weights)
    for part in "ab":
        own = [(v, w) for (k, v), w in zip(answers["A"].items(), weights, strict=True) if k[0] == part]
        expected = stats.estimate_mean(
            [v for v, _ in own], range(6), weights=[w for _, w in own], low=0, high=1
        )
        (found,) = [r for r in rows(run, "profile") if (r["by"], r["part"]) == ("category", part)]
        assert pytest.approx(expected[:3]) == tuple(found[k] for k in ("estimate", "low", "high"))


def test_provenance_lists_endpoints_with_requests_and_characters(tmp_path: Path) -> None:
    run = collected(collected(marked(tmp_path, {"A": twins([1, 0])})))
    assert [
        {"section": "endpoint", "endpoint": "https://a.example/v1", "requests": 24, "characters": 6912}
    ] == (rows(run, "endpoint"))
    step = next(row for row in rows(run, "provenance") if row["verb"] == "collect")
    assert "https://a.example/v1: 12 requests, 3,456 characters" == step["sent"]
    assert "12 requests, 3,456 characters" in page(run)
    assert "models were asked" in [row["what"] for row in rows(run, "dates")]
    assert "at https://a.example/v1; candidates bear the name and settings" in texts(run, "methods")


def test_a_run_that_asked_nobody_lists_no_endpoint(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0])})
    assert [] == rows(run, "endpoint")
    assert "Models were asked" not in texts(run, "methods")


def test_a_collect_of_what_runs_here_is_in_the_methods(tmp_path: Path) -> None:
    run = open_run(tmp_path / "run.viva")
    run.collect(exam(tmp_path, ["q1", "q2", "q3"]), models=["baseline/echo"], sample=2)
    assert "Of exam a sample was asked, 2 of 3 questions" in texts(run, "methods")
    assert "drawn by category" in texts(run, "methods")


@pytest.mark.parametrize("order", [1, -1])
def test_the_study_of_size_has_its_section(tmp_path: Path, order: int) -> None:
    answers = {"llama-3.1-8b-instruct": twins([0.5] * 12), "llama-3.1-70b-instruct": twins([0.75] * 12)}
    run = marked(tmp_path, dict(list(answers.items())[::order]))
    found = run.study("size")["size"]
    assert ["size", "slope"] == [r["contrast"] for r in found.rows]
    assert ["size", "size"] == [r["study"] for r in rows(run, "study")]
    assert "with its base, in pairs as candidates are" in texts(run, "methods")
    assert "llama-3.1-70b-instruct (70 billion) against llama-3.1-8b-instruct" in page(run)
    assert "What more parameters bring within a family" in page(run)
