"""One family for one state of the data: all pairs by the primary criterion, whoever makes the test first."""

import html
import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.lengths import length
from tests.studies.making import marked, score, twins
from typer.testing import CliRunner

from vivavoce.cli import app
from vivavoce.core.errors import StoreError
from vivavoce.run.run import Run
from vivavoce.web.view.app import view_app

RUNS, CASES = length(1, 100), 20
CALLS: dict[str, Callable[[Run], object]] = {
    "a pair": lambda run: run.compare("A", "B", metric="told"),
    "another pair": lambda run: run.compare("C", "B", metric="told"),
    "the family": lambda run: run.compare(),
}


def equal_candidates(folder: Path, seed: int) -> Run:
    """A run of three candidates whose scores are drawn from one distribution."""
    values = np.random.default_rng(seed).random((3, CASES)).round(2)
    return marked(folder, {name: twins(list(row)) for name, row in zip("ABC", values.tolist(), strict=True)})


def headline(run: Run) -> str:
    return next(str(row["words"]) for row in run.report_rows() if row["section"] == "first")


@pytest.mark.slow
def test_the_headline_is_one_whatever_is_compared_before_and_in_whatever_order(tmp_path: Path) -> None:
    named_better = 0
    for seed in range(RUNS):
        words = set()
        for number, order in enumerate(permutations(CALLS)):
            run = equal_candidates(tmp_path / f"{seed} {number}", seed)
            for call in order[: 1 + number % 3]:
                CALLS[call](run)
            words.add(headline(run))
        assert 1 == len(words)
        named_better += "better" in words.pop()
    # 5 % and two Monte-Carlo errors of 100 runs
    assert named_better <= length(1, 9)


def test_a_narrower_comparison_is_counted_and_takes_no_headline(tmp_path: Path) -> None:
    values = [0.5, 0.7, 0.1, 0.3]
    run = marked(
        tmp_path,
        {
            "A": twins(values * 6),
            "B": twins([round(value - 0.02 - 0.05 * (k % 2), 2) for k, value in enumerate(values * 6)]),
            "C": twins([0.3, 0.2, 0.6, 0.1] * 6),
        },
    )
    words = headline(run)
    (pair,) = run.compare("A", "B", metric="told").rows
    assert 1 == pair["family"]
    assert words == headline(run)
    assert {1: 3, 2: 1} == {
        test: sum(row["test"] == test for row in run.interim().rows)
        for test in {row["test"] for row in run.interim().rows}
    }


def test_all_items_under_another_name_are_the_same_family(tmp_path: Path) -> None:
    run = equal_candidates(tmp_path, 0)
    words = headline(run)
    spec = f"jsonl(path='{tmp_path}/exam.jsonl')"
    assert words == next(str(r["words"]) for r in run.report_rows(items=spec) if r["section"] == "first")
    assert {1} == {row["test"] for row in run.interim().rows}


def test_all_candidates_named_are_the_family_in_any_order(tmp_path: Path) -> None:
    run = equal_candidates(tmp_path, 0)
    run.compare("C", "A", "B", metric="told")
    run.compare()
    headline(run)
    assert {1} == {row["test"] for row in run.interim().rows}


def test_new_scores_are_another_state_and_another_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6 + ["fail 0.6"]), "B": twins([0.4] * 13)})
    first = headline(run)
    monkeypatch.setenv("TOLD_MENDED", "1")
    score(run)
    assert first != headline(run)
    assert {1, 2} == {row["test"] for row in run.interim().rows}


def places(run: Run) -> dict[str, str]:
    """The headline of a run in each place that has one."""
    compared = CliRunner().invoke(app, ["compare", str(run.file.path)]).stdout.splitlines()[0]
    client = TestClient(view_app(run.file.path, "k" * 32), base_url="http://127.0.0.1:8017")
    (viewed,) = re.findall('<p class="headline">(.*?)</p>', client.get(f"/?key={'k' * 32}").text)
    cell = html.unescape(re.sub("<[^>]+>", "\n", run._repr_html_()))
    return {
        "compare": compared,
        "report": headline(run),
        "notebook": next((line for line in repr(run).splitlines() if compared in line), "").strip(),
        "cell": next((line for line in cell.splitlines() if compared in line), ""),
        "viewer": html.unescape(viewed),
    }


@pytest.mark.parametrize("first", ["the family", "a pair", "another pair"])
def test_all_places_have_one_headline(tmp_path: Path, first: str) -> None:
    run = equal_candidates(tmp_path, 3)
    CALLS[first](run)
    assert 1 == len(set(places(run).values())), places(run)


def test_names_in_any_order_have_the_headline_of_the_family(tmp_path: Path) -> None:
    run = equal_candidates(tmp_path, 3)
    assert {run.compare().headline} == {
        run.compare(*order, metric="told").headline for order in permutations("ABC")
    }


def test_an_additional_comparison_that_says_otherwise_is_named_in_both_places(tmp_path: Path) -> None:
    """Alone A is better than B by p .04; of three pairs it is not."""
    run = marked(
        tmp_path, {"A": twins([0.8, 0.4] * 10), "B": twins([0.5] * 20), "C": twins([0.5, 0.52] * 10)}
    )
    family, pair = run.compare(), run.compare("A", "B", metric="told")
    assert ("cannot_tell", "better") == (family.rows[0]["verdict_code"], pair.rows[0]["verdict_code"])
    line = (
        "An additional comparison found A better than B, all pairs together did not separate A and B. The "
        "headline rests on all pairs."
    )
    assert line in pair.notes
    assert line in run.compare().notes
    (basis,) = (row["basis"] for row in run.report_rows() if row["section"] == "first")
    assert line in basis


def test_a_run_that_cannot_be_written_has_its_family_tested_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = equal_candidates(tmp_path / "a", 3)
    words = headline(equal_candidates(tmp_path / "b", 3))

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("the disk is read-only.")

    monkeypatch.setattr("vivavoce.store.runfile.RunFile.writing", refuse)
    monkeypatch.setattr("vivavoce.store.runfile.RunFile.writing_through", refuse)
    assert words == headline(run)
    assert () == run.interim().rows


def test_scores_that_came_since_are_said_in_the_places_that_test_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6 + ["fail 0.6"]), "B": twins([0.4] * 13)})
    run.compare()
    monkeypatch.setenv("TOLD_MENDED", "1")
    score(run)
    assert "Scores changed since the candidates were compared." in repr(run)


def test_a_plan_of_interim_analyses_is_the_family_that_counts(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12)})
    run.compare("A", "B", metric="told", sequential=True, analyses=3)
    headline(run)
    assert 1 == len(run.interim().rows)
