"""A jury of judges that do not score the same items: what one never scores is none of the jury's."""

from pathlib import Path

import pytest
from tests.studies.judging import FREE, JUDGE, each, judged
from tests.studies.making import row

from vivavoce.core.errors import SelectionError
from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.combined_scores import consensus
from vivavoce.studies.comparing.estimates import estimates
from vivavoce.studies.score_table import ScoreTable

FIRST = frozenset(("exam", f"q{n:02}", "") for n in range(4))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Twelve items; the judge with the reference scores the first four, the free one all."""
    return judged(tmp_path, {JUDGE: each([4] * 4), FREE: each([2] * 12)})


def bound(run: Run, **only: frozenset[tuple[str, str, str]]) -> tuple[ScoreTable, list[str]]:
    """The scores, those bound that are named by their rubric, and the judges' signatures."""
    marks = with_view(run.file, load_scores)
    keys = {m.signature.split("rubric=")[1].split(")")[0]: k for k, m in marks.measures.items()}
    return marks._replace(only={keys[name]: items for name, items in only.items()}), [
        m.signature for m in marks.measures.values()
    ]


def test_a_jury_marks_what_all_its_judges_mark(run: Run) -> None:
    marks, judges = bound(run, r=FIRST)
    found = consensus(marks, metric="jury(rule=any)", judges=judges, rule="mean")
    (key,) = found.measures
    assert {key: FIRST} == found.only
    assert [(f"q{n:02}", 3.0, "ok") for n in range(4)] == found.scores.select(
        "item", "value", "status"
    ).rows()


def test_its_coverage_is_whole_where_each_judges_is(run: Run) -> None:
    marks, judges = bound(run, r=FIRST)
    joined = marks.joined(consensus(marks, metric="jury(rule=any)", judges=judges, rule="mean"))
    found = estimates(joined, run.items)
    assert {1.0} == {r["coverage"] for r in found.rows}
    jury = row(found, rater="jury")
    assert (3.0, 4, 0) == (jury["estimate"], jury["n_items"], jury["n_failed"])


def test_bounds_of_several_judges_are_cut_with_each_other(run: Run) -> None:
    some = frozenset(("exam", f"q{n:02}", "") for n in (2, 3, 9))
    marks, judges = bound(run, r=FIRST, r_free=some)
    found = consensus(marks, metric="jury(rule=any)", judges=judges, rule="worst")
    assert [FIRST & some] == list(found.only.values())
    assert ["q02", "q03"] == found.scores["item"].to_list()


def test_judges_without_bounds_leave_the_jury_none(run: Run) -> None:
    marks, judges = bound(run)
    found = consensus(marks, metric="jury(rule=any)", judges=judges, rule="mean")
    assert {} == found.only
    assert {"ok": 4, "failed": 8} == dict(found.scores["status"].value_counts().iter_rows())


def test_judges_without_an_item_in_common_are_no_jury(run: Run) -> None:
    marks, judges = bound(run, r=FIRST, r_free=frozenset({("exam", "q11", "")}))
    with pytest.raises(SelectionError, match="no item of which all its judges score worth"):
        consensus(marks, metric="jury(rule=any)", judges=judges, rule="mean")


def test_joined_marks_keep_the_bounds_of_both() -> None:
    import polars as pl

    none = ScoreTable(pl.DataFrame(), {}, only={1: FIRST})
    assert {1: FIRST, -7: frozenset()} == none.joined(none._replace(only={-7: frozenset()})).only
