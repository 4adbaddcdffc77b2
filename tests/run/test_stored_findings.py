"""Findings of a file that a stranger wrote: what no study of ours stores is damage, never a fault."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.store.damaging import full_run

from vivavoce.core.errors import StoreError
from vivavoce.report.sections.comparisons import latest_comparisons, matrices
from vivavoce.report.sections.findings import ranks_of, sections
from vivavoce.run.run import open_run
from vivavoce.run.tables.stored_findings import checked_findings
from vivavoce.store import read
from vivavoce.store.damage import DamagedValue
from vivavoce.store.write import put_finding
from vivavoce.studies.answers import answers_in

ODD: tuple[object, ...] = (None, "odd", 7, 1.5, [], {}, True, -1e308, 10**400, ...)
"""The last stands for a column that is not there."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = full_run(tmp_path_factory.mktemp("full"))
    run.study("ranking", "gaps", "consistency", "correlation")
    return run.file.path


def findings(path: Path, study: str) -> list[dict[str, Any]]:
    with open_run(path).file.reading() as db:
        return read.findings(db, study)


def show(study: str, finding: dict[str, Any]) -> None:
    [checked] = checked_findings([finding], study)
    if study == "compare":
        first = checked["rows"][0]
        pairs = [first, {**first, "b": "C"}, {**first, "a": "C", "b": first["a"]}]
        matrices(latest_comparisons([{**checked, "rows": pairs}], ()))
    else:
        sections({study: [checked]}, {}, (), selection=None, answers=answers_in(pl.DataFrame()))
        ranks_of([checked] if study == "ranking" else [], (), selection=None)


@pytest.mark.parametrize("study", ["compare", "ranking", "gaps", "consistency", "correlation"])
def test_a_column_of_any_value_is_shown_or_called_damage(whole: Path, study: str) -> None:
    finding, outcomes = findings(whole, study)[-1], set()
    show(study, finding)
    for column in finding["rows"][0]:
        for odd in ODD:
            first = {**finding["rows"][0], column: odd}
            if odd is ...:
                del first[column]
            try:
                show(study, {**finding, "rows": [first, *finding["rows"][1:4]]})
                outcomes.add("shown")
            except DamagedValue as error:
                outcomes.add(
                    "refused" if f"a finding of {study}: {column} is " in error.subject else error.subject
                )
    assert {"shown", "refused"} == outcomes


@pytest.mark.parametrize("setting", ["items", "text", "digest", "test"])
def test_a_setting_that_is_no_text_is_called_damage(whole: Path, setting: str) -> None:
    finding = findings(whole, "compare")[-1]
    with pytest.raises(DamagedValue, match=rf"a finding of compare: {setting} is \[7\]"):
        checked_findings([{**finding, "settings": {setting: [7]}}], "compare")


def test_a_row_of_an_earlier_version_lacks_columns_and_is_read_with_nulls() -> None:
    row = {"benchmark": "x", "metric": "m", "criterion": "c", "a": "A", "b": "B", "verdict_code": "better"}
    [checked] = checked_findings([{"settings": {}, "rows": [row]}], "compare")
    assert checked["rows"][0].items() >= row.items()
    assert checked["rows"][0]["population"] is None


def test_rows_of_a_study_that_is_not_registered_stay_as_they_are() -> None:
    finding = {"settings": {}, "rows": [{"anything": [1]}]}
    assert [finding] == checked_findings([finding], "a plugin's")


@pytest.mark.parametrize("use", ["report", "compare", "interim"])
def test_an_unknown_verdict_is_one_sentence_on_damage(tmp_path: Path, use: str) -> None:
    run = full_run(tmp_path)
    row = findings(run.file.path, "compare")[-1]["rows"][0] | {"verdict_code": "superb"}
    with run.file.writing() as db:
        put_finding(db, "compare", {}, [row])
    uses = {
        "report": lambda: run.report(tmp_path / "page.html"),
        "compare": lambda: run.compare("Able", "Poor", metric="exact"),
        "interim": run.interim,
    }
    with pytest.raises(StoreError) as refused:
        uses[use]()
    sentence = str(refused.value)
    assert str(run.file.path) in sentence
    assert "(a finding of compare: verdict_code is 'superb')" in sentence
    assert "Restore a copy" in sentence
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "record", [{"changed": "many"}, {"sent": [{"endpoint": "x"}]}, {"sent": 7}, {"sent": [{"endpoint": [],
    "requests": 1, "characters": 1}]}]
)  # fmt: skip
def test_a_record_of_provenance_that_counts_nothing_is_damage(
    whole: Path, tmp_path: Path, record: dict[str, object]
) -> None:
    copy = open_run(whole).copy(tmp_path / "copy.viva")
    with closing(sqlite3.connect(copy)) as db:
        db.execute("UPDATE provenance SET body = ? WHERE provenance_id = 1", (json.dumps(record),))
        db.commit()
    with pytest.raises(StoreError, match=r"the provenance of .* cannot be read"):
        open_run(copy).report(tmp_path / "page.html")
