"""Runs read for a test, each time in a view of its own."""

from typing import Any

import polars as pl
from starlette.testclient import TestClient

from vivavoce.core.records import ItemKey
from vivavoce.run.run import Run
from vivavoce.run.study.study_tables import StudyTables
from vivavoce.run.tables.load import answers_of
from vivavoce.store.view import View, with_view
from vivavoce.studies.answers import Answers
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import Study
from vivavoce.web.view.app import view_app

KEY = "k" * 32
"""The key of the viewers that tests open."""


def viewer(run: Run) -> TestClient:
    """A browser on the viewer of a run, let in."""
    client = TestClient(view_app(run.file.path, KEY), base_url="http://127.0.0.1:8017")
    assert 200 == client.get(f"/?key={KEY}").status_code
    return client


def read_anew(run: Run, chosen: set[ItemKey] | None = None) -> Answers:
    """What reads the answers to the chosen items, null for all."""

    def read_answers(*columns: str, **options: Any) -> pl.DataFrame:
        return with_view(run.file, lambda view: answers_of(view, chosen)(*columns, **options))

    return read_answers


def study_table(run: Run, study: Study, items: str | None = None, *, named: bool = True) -> ScoreTable:
    """The table that a study of the run gets, which can be used when its view has ended."""

    def table_of(view: View) -> ScoreTable:
        return StudyTables(view, items).of(study, named=named)

    return with_view(run.file, table_of)._replace(answers=read_anew(run))
