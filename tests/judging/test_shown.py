"""What others see of a judge's marks: rows in JSON, the status, and a report that no reply can break."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import made

from vivavoce.run.run import Run

ProvidersFile = Callable[..., Path]
CORRECTNESS = "judge(rubric=correctness, model=fake/j1)"


@pytest.fixture
def lossy(tmp_path: Path, judge: FakeJudge) -> Run:
    """One answer that the judge scores, and one about which it says something hostile, for ever."""
    judge.manners = {"bad": ("hostile",)}
    return made(tmp_path, {"A": {"q1": "good", "q2": "bad <img src=x onerror=alert(2)>"}})


def test_rows_say_who_marked(lossy: Run, providers_file: ProvidersFile, viva: Callable[..., Any]) -> None:
    told = viva(
        "score", lossy.file.path, CORRECTNESS, "exact", "--providers", providers_file(), "--json", code=1
    )
    rows = json.loads(told.stdout)["rows"]
    by = {r["metric"].split("(")[0]: r for r in rows}
    assert ("fake/j1", "") == (by["judge"]["rater"], by["exact"]["rater"])
    assert (1, 1, 0.5) == (by["judge"]["n_items"], by["judge"]["n_failed"], by["judge"]["coverage"])
    assert by["judge"]["signature"].startswith("judge(")


def test_the_status_tells_of_calls_and_of_why_marks_failed(
    lossy: Run, providers_file: ProvidersFile, viva: Callable[..., Any], judge: FakeJudge
) -> None:
    lossy.score(CORRECTNESS, providers=providers_file(prices={"j1": [3.0, 10.0]}))
    rows = json.loads(viva("status", lossy.file.path, "--json", code=1).stdout)["rows"]
    (calls,) = (r for r in rows if r["about"] == "calls")
    assert ("fake/j1", "judge", 3, 2) == tuple(calls[k] for k in ("model", "purpose", "calls", "failed"))
    assert (3000, 300, pytest.approx(0.012)) == tuple(
        calls[k] for k in ("input_tokens", "output_tokens", "cost")
    )
    (marks,) = (r for r in rows if r["about"] == "marks")
    assert ("fake/j1", 1, 1) == tuple(marks[k] for k in ("rater", "ok", "failed"))
    ((why, n),) = marks["causes"].items()
    assert 1 == n
    assert "asked again" in why
    assert "(judge): 3 calls, 2 failed; cost 0.0120." in str(lossy.status())


def test_no_reply_and_no_answer_breaks_out_of_the_report(
    lossy: Run, providers_file: ProvidersFile, tmp_path: Path
) -> None:
    lossy.score(CORRECTNESS, providers=providers_file())
    with lossy.file.reading() as db:
        (note,) = db.execute("SELECT note FROM scores WHERE note IS NOT NULL").fetchone()
    assert "<script>" in note
    page = tmp_path / "report.html"
    lossy.report(page)
    text = page.read_text(encoding="utf-8")
    assert "fake/j1" in text
    for hostile in ("<script>alert", "<img src=x"):
        assert hostile not in text
    assert "alert(1)" in text  # it is told all the same


def test_the_report_says_that_the_judge_was_not_examined(
    lossy: Run, providers_file: ProvidersFile, tmp_path: Path
) -> None:
    lossy.score(CORRECTNESS, providers=providers_file())
    lossy.report(tmp_path / "report.html")
    assert "unvalidated" in (tmp_path / "report.html").read_text(encoding="utf-8").casefold()


def test_marks_of_a_judge_are_exported_with_their_rater(
    lossy: Run, providers_file: ProvidersFile, tmp_path: Path, viva: Callable[..., Any]
) -> None:
    lossy.score(CORRECTNESS, providers=providers_file())
    viva("export", lossy.file.path, tmp_path / "out", "--to", "csv")
    with (tmp_path / "out" / "scores.csv").open(encoding="utf-8", newline="") as stream:
        assert ["fake/j1"] * 2 == [one["rater"] for one in csv.DictReader(stream)]


def test_a_score_says_that_the_judges_server_cut_its_prompts(tmp_path: Path, judge: FakeJudge) -> None:
    """The fake counts 1,000 tokens whatever it is sent."""
    run = made(tmp_path, {"A": {"q1": "worth 0.5 " + "and so the answer continues " * 1_000, "q2": "short"}})
    (providers := tmp_path / "providers.json").write_text(json.dumps({"fake": {"base_url": judge.base_url}}))
    notes = [run.score(CORRECTNESS, providers=providers).notes for _ in range(2)]
    (sentence,) = (note for note in notes[0] if "cut the prompts" in note)
    assert sentence.startswith("fake/j1 counted 1,000 tokens for a prompt of ")
    assert "(1 reply with too few)" in sentence
    assert [] == [note for note in notes[1] if "cut the prompts" in note]
