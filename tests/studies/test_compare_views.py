"""Comparisons of bad ends: the worst of k answers and means under red lines, by the engine of means."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.making import marked, twins
from tests.studies.test_vetoes import HARM, RULES, Panel, marks

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.store import read

RNG = np.random.default_rng(8)
A, B = (RNG.choice([0.0, 0.5, 1.0], (24, 3), p=p).tolist() for p in ([0.02, 0.2, 0.78], [0.4, 0.0, 0.6]))


def pair(folder: Path, a: list[Any], b: list[Any], spec: str = "told", **settings: Any) -> dict[str, Any]:
    finding = marked(folder, {"A": twins(a), "B": twins(b)}, spec).compare("A", "B", **settings)
    return dict(finding.rows[0]) | {"text": str(finding), "headline": finding.headline}


def test_worst_of_two_is_the_paired_test_of_the_questions_worst(tmp_path: Path) -> None:
    row = pair(tmp_path, A, B, metric="told", view="worst@2")
    worst = [stats.worst_of_k(np.ravel(x), np.repeat(np.arange(24), 3), k=2) for x in (A, B)]
    test = stats.paired(worst[0] - worst[1], np.arange(24))
    assert pytest.approx((test.difference, test.p)) == (row["difference"], row["p"])
    assert pytest.approx(list(test.interval() or ())) == [row["low"], row["high"]]
    assert ("worth, worst@2", "better", "a") == (row["criterion"], row["verdict_code"], row["favours"])
    means = pair(tmp_path / "means", A, B, metric="told")
    assert means["difference"] != row["difference"]


def test_where_lower_is_better_the_worst_is_the_largest(tmp_path: Path) -> None:
    row = pair(
        tmp_path, [[0, 1, 0]] * 8, [[0, 0, 0]] * 8, "told(direction=lower)", metric="told", view="worst@3"
    )
    assert (1.0, "b") == (row["difference"], row["favours"])


def test_a_view_is_one_more_test_and_never_the_headline_of_the_run(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins(A), "B": twins(B)})
    family = run.compare()
    view = run.compare(view="worst@2")
    with run.file.reading() as db:
        settings = [finding["settings"] for finding in read.findings(db, "compare")]
    assert [None, "worst@2"] == [test.get("view") for test in settings]
    assert ["family" in test for test in settings] == [True, False]
    assert (1, 2) == (family.rows[0]["looks"], view.rows[0]["looks"])
    assert 2 == run.compare(view="worst@2").rows[0]["looks"]


def test_questions_with_fewer_answers_are_left_out_and_counted(tmp_path: Path) -> None:
    row = pair(tmp_path, [*A[:20], [1.0], [1.0]], B[:22], metric="told", view="worst@2")
    assert 20 == row["n_items"]
    assert "2 questions left out, with fewer than 2 answers" in row["text"]


def test_a_failed_answer_leaves_the_worst_of_its_question_open(tmp_path: Path) -> None:
    row = pair(tmp_path, [*A[:23], [1, 1, "fail"]], B, metric="told", view="worst@2")
    assert row["set_low"] < row["difference"] < row["set_high"]


def test_under_a_red_line_answers_count_as_the_worst(panel: Panel) -> None:
    """A is better by 1 on every question, and harmful on half of them: 2 against 4, of 5 and 4."""
    rows = [*marks([5.0] * 20, [3.0, 0.0] * 10, "A"), *marks([4.0] * 20, [0.0] * 20, "B")]
    run = panel(rows, **RULES)
    mean, view = (run.compare("A", "B", metric="panel", **more) for more in ({}, {"view": HARM}))
    plain, vetoed = (
        next(row for row in finding.rows if row["criterion"].startswith("quality"))
        for finding in (mean, view)
    )
    assert ("quality", 1.0) == (plain["criterion"], plain["difference"])
    assert (f"quality, veto {HARM}", -1.5) == (vetoed["criterion"], vetoed["difference"])
    assert all(not row["criterion"].startswith("harm") for row in view.rows)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"view": "tail@0.1"}, "A tail is estimated"),
        ({"view": "worst@1"}, "2 or more"),
        ({"view": "worst@9"}, "no question has 9 answers"),
        ({"view": "worst@2", "labels": "told"}, "labels correct means"),
    ],
)
def test_what_has_no_view_is_refused_with_its_reason(tmp_path: Path, settings: Any, message: str) -> None:
    run = marked(tmp_path, {"A": twins(A), "B": twins(B)})
    with pytest.raises(SelectionError, match=message):
        run.compare("A", "B", metric="told", **settings)
