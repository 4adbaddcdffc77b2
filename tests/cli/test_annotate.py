"""`viva annotate` as a command; what its pages do is tested with the web."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import made

from vivavoce.run.run import Run
from vivavoce.store.sign_in_links import draw_link

Viva = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = made(tmp_path, {"A": {"q1": "x"}, "B": {"q1": "y"}})
    with run.file.writing() as db:
        draw_link(db, "rater", "anna")
    return run


def test_who_lost_a_link_is_an_object_in_json(viva: Viva, run: Run) -> None:
    answer = json.loads(viva("annotate", run.file.path, "rank", "--revoke", "anna", "--json").stdout)
    path = str(run.file.path)
    assert {"schema": "viva.annotate/1", "run": path, "rows": [], "revoked": ["anna"]} == answer


def test_a_link_is_revoked_quietly_where_that_is_asked(viva: Viva, run: Run) -> None:
    assert "" == viva("annotate", run.file.path, "rank", "--revoke", "anna", "--quiet").output


def test_who_lost_a_link_is_a_sentence(viva: Viva, run: Run) -> None:
    done = viva("annotate", run.file.path, "rank", "--revoke", "anna")
    assert "the link of anna signs nobody in any more.\n" == done.stdout
