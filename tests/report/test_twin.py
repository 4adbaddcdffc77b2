"""The report's twin in JSON: the page's numbers as rows, one source for both."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.finished_runs import finished_run
from tests.studies.making import SILENT, marked, twins

from vivavoce.core.numbers import printed
from vivavoce.report import context as module
from vivavoce.run.run import Run, open_run

SECTIONS = {
    *("file", "run", "answer", "leaderboard", "coverage", "compliance", "comparison", "chart", "sentence"),
    *("study", "examiner", "answers", "methods", "checklist", "card", "contamination", "dates", "provenance"),
    *("limitation", "profile", "quartiles", "grid", "missing", "first", "earlier"),
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    finished_run(tmp_path, _study)
    return open_run(tmp_path / "run.viva")


def _study(folder: Path) -> None:
    items = [{"item": f"q{n:02}", "category": "one" if n % 2 else "two"} for n in range(12)]
    answers = {"A": twins([0.5, 0.7] * 6), "B": twins([0.4, SILENT] * 6), "C": twins(["fail"] * 12)}
    run = marked(folder, answers, items=items)
    run.compare("A", "B", metric="told")
    run.study()


def of(rows: list[dict[str, Any]], section: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["section"] == section]


def test_every_part_of_the_page_has_rows(run: Run) -> None:
    rows = run.report_rows()
    assert SECTIONS == {row["section"] for row in rows}
    (file,) = of(rows, "file")
    assert rows[0] is file
    assert Path(file["path"]).stat().st_size == file["bytes"]
    assert file["plots"] is None


def test_the_twin_has_the_estimates_of_the_run_and_the_page_shows_them(run: Run) -> None:
    rows = run.report_rows()
    page = Path(rows[0]["path"]).read_text(encoding="utf-8")
    estimates = {row["candidate"]: row for row in run.estimates("told").rows}
    board = of(rows, "leaderboard")
    assert set(estimates) == {row["candidate"] for row in board}
    for row in board:
        told = estimates[row["candidate"]]
        assert {k: row[k] for k in told} == dict(told)
        if told["estimate"] is not None:
            assert printed(told["estimate"], ".3f") in page
    for compared in of(rows, "comparison"):
        assert compared["verdict"] in page


def test_what_is_not_there_is_null_with_a_reason(run: Run) -> None:
    rows = run.report_rows()
    (silent,) = (row for row in of(rows, "leaderboard") if row["candidate"] == "C")
    assert silent["estimate"] is None
    assert "no result: no answer could be scored (" in silent["reason"]
    (seen,) = of(rows, "contamination")
    assert seen["notes"] is None
    assert seen["reason"]


def test_studies_stand_in_the_twin_with_all_their_rows(run: Run) -> None:
    found = run.study("gaps")["gaps"]
    rows = [row for row in of(run.report_rows(), "study") if row["study"] == "gaps"]
    assert [dict(row) for row in found.rows] == [{k: row[k] for k in found.rows[0]} for row in rows]


def test_it_is_json_without_nan(run: Run) -> None:
    json.dumps(run.report_rows(), allow_nan=False)


def test_what_is_no_number_becomes_null_and_names_its_field() -> None:
    row = module._plain("study", {"f": math.nan, "deep": {"p": [1.0, math.inf]}, "reason": "too few"})
    assert {
        "section": "study",
        "f": None,
        "deep": {"p": [1.0, None]},
        "reason": "too few; no number: f, deep.p",
    } == row


def test_a_selection_and_an_empty_run_have_a_twin(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": {"q1": 1, "q2": SILENT}})
    rows = run.report_rows()
    (answers,) = of(rows, "answers")
    assert (2, 2) == (answers["n_total"], answers["n_here"])
    assert [] == of(rows, "comparison")
