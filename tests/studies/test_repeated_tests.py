"""What counts as one more test on a run, and what is the same test made again."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.making import Answers, made, marked, score, twins

from vivavoce.run.compare.verb import compare_candidates
from vivavoce.run.run import Run
from vivavoce.store import read
from vivavoce.store.comparisons import comparison_tests, comparisons
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.repeated_tests import data_digests

THREE: Answers = {"A": twins([0.5, 0.7] * 6), "B": twins([0.4] * 12), "C": twins([0.4, 0.5] * 6)}


def number(run: Run, *names: str, **settings: Any) -> int:
    return int(run.compare(*names, metric="told", **settings).rows[0]["looks"])


def stored(run: Run) -> list[dict[str, Any]]:
    with run.file.reading() as db:
        return read.findings(db, "compare")


def test_the_same_comparison_on_unchanged_data_is_one_test_and_stored_once(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    first, again = run.compare("A", "B", metric="told"), run.compare("A", "B", metric="told")
    assert (first.rows, str(first)) == (again.rows, str(again))
    assert "This is the 1st test on this run." in str(again)
    assert 1 == len(stored(run))


def test_either_order_of_the_pair_is_the_same_test(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    assert [1, 1, 1] == [number(run, *names) for names in ("AB", "BA", "AB")]
    assert [1] == [len(comparison_tests(stored(run)))]


def test_each_other_pair_metric_margin_and_population_is_one_more_test(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    assert [1, 2, 3, 4] == [
        number(run, "A", "B"),
        number(run, "A", "C"),
        number(run, "A", "B", "C"),
        number(run, "A", "B", margin=0.1),
    ]
    score(run, "rouge(n=1)")
    assert 5 == run.compare("A", "B", metric="rouge(n=1)").rows[0]["looks"]
    assert 1 == number(run, "A", "B")


def test_new_scores_make_it_a_new_test(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    assert 1 == number(run, "A", "B")
    more = {name: {**by_item, "q99": 0.3} for name, by_item in THREE.items()}
    score(made(tmp_path, more, run=run))
    assert [2, 2] == [number(run, "A", "B"), number(run, "A", "B")]
    assert 2 == len(stored(run))


def test_answers_of_one_alone_change_nothing_between_the_two(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    assert 1 == number(run, "A", "B")
    score(made(tmp_path, {**THREE, "A": {**THREE["A"], "q99": 0.3}}, run=run))
    assert 1 == number(run, "A", "B")
    assert 2 == len(stored(run)), "how many items only A has changed, so the row is another"


def test_a_pair_that_cannot_be_compared_is_no_test(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1, 0] * 6), "B": {"elsewhere": 0.5}, "C": twins([0.5] * 12)})
    finding = run.compare("A", "B", metric="told")
    assert 0 == finding.rows[0]["looks"]
    assert "No pair could be compared, so nothing was tested." in str(finding)
    assert 1 == number(run, "A", "C")


def test_findings_of_earlier_versions_each_count(tmp_path: Path) -> None:
    """They say nothing of their data, so none of them is known to be another's repetition."""
    run = marked(tmp_path, THREE)
    number(run, "A", "B")
    with run.file.writing() as db:
        db.execute("UPDATE findings SET settings = json_remove(settings, '$.digest')")
        db.execute("INSERT INTO findings (study, settings, rows) SELECT study, settings, rows FROM findings")
    assert [3, 3] == [number(run, "A", "B"), number(run, "A", "B")]


def test_a_comparison_made_again_is_the_latest(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    for margin in (0.1, 0.2, 0.1):
        number(run, "A", "B", margin=margin)
    with run.file.reading() as db:
        latest = comparisons(db)
    assert [0.2, 0.1] == [finding["settings"]["margin"] for finding in latest]
    assert latest[1]["first_at"] < latest[0]["made_at"] < latest[1]["made_at"]


def test_a_comparison_made_again_is_not_overtaken_by_what_came_before_it(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    number(run, "A", "B")
    score(made(tmp_path, {**THREE, "D": twins([0.1] * 12)}, run=run))
    assert 1 == number(run, "A", "B")
    assert {False} == {row["stale"] for row in run.report_rows() if row["section"] == "comparison"}


def test_a_report_counts_tests_as_a_comparison_does(tmp_path: Path) -> None:
    run = marked(tmp_path, THREE)
    for pair in ("AB", "AB", "BA", "AC"):
        number(run, *pair)
    file = tmp_path / "checklist.md"
    run.report_rows(checklist=file)
    page = run.report().read_text(encoding="utf-8")
    # Two pairs, and the family that the report tests.
    assert "3 tests were made on this run in all" in page
    assert "3 tests of candidates." in file.read_text(encoding="utf-8")
    assert "3 tests were made on this run; each makes chance findings likelier." in page


@pytest.mark.parametrize("change", ["order", "value", "status", "case", "edit"])
def test_a_digest_is_of_the_data_and_not_of_its_order(tmp_path: Path, change: str) -> None:
    run = marked(tmp_path, THREE)
    scores, names = run.scores, [("A", "B")]
    measures = {1: run.measures[0]}
    table = scores.with_columns(measure_id=pl.lit(1))
    changed = {
        "order": table.sample(fraction=1.0, shuffle=True, seed=1),
        "value": table.with_columns(value=pl.col("value") + 1e-12),
        "status": table.with_columns(status=pl.lit("unanswered")),
        "case": table.with_columns(group=pl.lit("one")),
        "edit": pl.concat([table, table.with_columns(edit=pl.lit("short"))]),
    }[change]
    (digest,) = data_digests(table, measures, names).values()
    (other,) = data_digests(changed, measures, names).values()
    assert (digest == other) is (change in ("order", "edit"))
    assert data_digests(table, measures, names) == data_digests(table, measures, [("B", "A")])


def test_what_cannot_be_recorded_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vivavoce.core.errors import StoreError

    run = marked(tmp_path, THREE)

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("vivavoce.run.tables.load.put_comparison", full)
    settings: dict[str, Any] = {"margin": None, "against": None, "population": "sample", "items": None}
    finding = with_view(run.file, compare_candidates, ("A", "B"), metric="told", **settings)
    assert "This result could not be recorded: the disk is full" in finding.notes
