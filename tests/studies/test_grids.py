"""Grids: candidates by items, what is absent in them, and the names that tell measures apart."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.studies.making import SILENT, Answers, exam, made, marked, score, twins

from vivavoce.core.records import Card, Criterion, Measure
from vivavoce.run.run import Run, open_run
from vivavoce.run.tables.load import load_scores
from vivavoce.run.tables.stored_benchmarks import load_benchmark
from vivavoce.store.view import with_view
from vivavoce.store.write import put_benchmark
from vivavoce.studies import score_matrix
from vivavoce.studies.score_matrix import (
    ScoreMatrix,
    common,
    grids,
    grids_with_fillings,
    key_of,
    labels,
    side_by_side,
)
from vivavoce.studies.score_table import resolve, with_group_codes


def of(run: Run) -> list[ScoreMatrix]:
    marks = with_view(run.file, load_scores)
    return list(grids(marks.scores, marks.measures))


def test_a_grid_is_candidates_by_items(tmp_path: Path) -> None:
    items = [{"item": "q2", "category": "c", "group": "g"}, {"item": "q1"}, {"item": "q1", "variant": "twin"}]
    (grid,) = of(
        marked(tmp_path, {"B": {"q1": [0, 1], "q1|twin": 0.2, "q2": 1}, "A": {"q1": 0.1}}, items=items)
    )
    assert (("A", "B"), (("q1", ""), ("q1", "twin"), ("q2", ""))) == (grid.candidates, grid.items)
    assert [[0.1, 0, 0], [0.5, 0.2, 1]] == grid.values.tolist()
    assert [[True, False, False], [True, True, True]] == grid.present.tolist()
    assert ([1, 1, 0], ["", "", "c"]) == (grid.groups.tolist(), grid.categories.tolist())


def test_the_complete_grid_has_the_items_of_all(tmp_path: Path) -> None:
    (grid,) = of(marked(tmp_path, {"A": {"q1": 1, "q2": 1, "q3": "fail"}, "B": {"q2": 0.5, "q3": 0.5}}))
    assert ((("q2", ""),), [[1.0], [0.5]]) == (grid.complete.items, grid.complete.values.tolist())


def test_a_large_table_is_read_a_candidate_at_a_time_and_gives_the_same_matrices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: Answers = {
        "A": {"q1": [0, 1], "q2": 0.3, "q4": SILENT},
        "B": {"q2": "fail", "q3": 1, "q4": 0.1},
        "C": {"q1": "fail", "q4": 0.7},
    }
    marks = with_view(marked(tmp_path, answers).file, load_scores)
    expected = list(grids_with_fillings(marks.scores, marks.measures))
    candidates: list[set[str]] = []

    def resolved(rows: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
        candidates.append(set(rows["candidate"]))
        return resolve(rows, criterion)

    monkeypatch.setattr(score_matrix, "resolve", resolved)
    monkeypatch.setattr(score_matrix, "PART", 2)
    by_parts = list(grids_with_fillings(marks.scores, marks.measures))
    assert [{"A"}, {"B"}, {"C"}] == candidates
    assert [repr(pair) for pair in expected] == [repr(pair) for pair in by_parts]


def test_floor_and_ceiling_are_no_candidates(tmp_path: Path) -> None:
    answers = {name: {"q1": 0.5} for name in "ABC"}
    (grid,) = of(marked(tmp_path, answers, role={"A": "floor", "C": "ceiling"}))
    assert ("B",) == grid.candidates


@pytest.mark.parametrize(("silence", "worth", "there"), [("worst", 0.0, True), ("set_aside", 0.0, False)])
def test_silence_is_settled_by_the_criterions_rule(
    tmp_path: Path, silence: str, worth: float, there: bool
) -> None:
    answers = {"A": {"q1": SILENT, "q2": 1}, "B": {"q1": 1, "q2": 1}}
    (grid,) = of(marked(tmp_path, answers, f"told(silence={silence})"))
    assert (worth, there) == (grid.values[0, 0], grid.present[0, 0])


def test_each_benchmark_and_criterion_has_its_grid(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": 1}}, name="one")
    made(tmp_path, {"A": {"q1": 0, "q2": 0}}, name="two", run=run)
    score(run, "told(criteria_named=[x, y])")
    assert [("one", "x", 1), ("two", "x", 2), ("one", "y", 1), ("two", "y", 2)] == [
        (g.benchmark, g.measure.criterion.criterion, len(g.items)) for g in of(run)
    ]


def asked(benchmark: str, *names: str) -> list[dict[str, str]]:
    """Items whose questions are those of no other benchmark."""
    return [{"item": name, "question": f"What does {benchmark} ask of {name}?"} for name in names]


def two(folder: Path, run: Run | None = None) -> Run:
    """Benchmarks one and two, whose ids are the same."""
    on_one = {"A": {"q1": 1, "q2": 0}, "B": {"q1": 0.5, "q2": 0.5}}
    run = made(folder, on_one, items=asked("one", "q1", "q2"), name="one", run=run)
    on_two = {"A": {"q1": 0.5}, "B": {"q1": 1}, "C": {"q1": 1}}
    made(folder, on_two, items=asked("two", "q1"), name="two", run=run)
    score(run)
    return run


def test_benchmarks_side_by_side_keep_items_and_cases_apart(tmp_path: Path) -> None:
    """Equal ids are two items and two cases; the candidates are those of both."""
    both = side_by_side(of(two(tmp_path)))
    assert (("A", "B"), "one + two") == (both.candidates, both.benchmark)
    assert (("one: q1", ""), ("one: q2", ""), ("two: q1", "")) == both.items
    assert both.benchmarks is not None
    assert ["one", "one", "two"] == both.benchmarks.tolist()
    assert 3 == len(set(both.groups.tolist()))
    assert [[1, 0, 0.5], [0.5, 0.5, 1]] == both.values.tolist()
    assert pytest.approx([0.5, 2 / 3]) == both.means(), (
        "each question counts the same, so larger benchmarks more"
    )
    assert both.on(both.benchmarks == "two").complete.values.tolist() == [[0.5], [1]]


def test_a_shared_case_stays_one_side_by_side_where_it_is_declared(tmp_path: Path) -> None:
    run = open_run(tmp_path / "run.viva")
    fields = dict.fromkeys(("description", "source", "licence", "citation", "revision_note"), "c")
    card = Card(name="two", access="own", groups_of="one", **fields)  # type: ignore[arg-type]
    loaded = with_view(run.file, load_benchmark, exam(tmp_path, asked("two", "q1"), name="two"))
    with run.file.writing() as db:
        put_benchmark(db, card, loaded.items, spec=loaded.spec, signature=loaded.signature)
    both = side_by_side(of(two(tmp_path, run)))
    case = dict(zip(both.items, both.groups.tolist(), strict=True))
    assert case["one: q1", ""] == case["two: q1", ""] != case["one: q2", ""]


def test_the_same_question_on_two_benchmarks_is_one_case_side_by_side(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": 1}}, items=[{"item": "q1", "question": "Same?"}], name="one")
    items = [{"item": "x", "question": "same"}, {"item": "q1", "question": "Other?"}]
    made(tmp_path, {"A": {"x": 1, "q1": 1}}, items=items, name="two", run=run)
    score(run)
    both = side_by_side(of(run))
    case = dict(zip(both.items, both.groups.tolist(), strict=True))
    assert case["one: q1", ""] == case["two: x", ""] != case["two: q1", ""]


def test_what_is_absent_on_one_benchmark_is_absent_side_by_side(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": {"q1": 1}, "B": {"q1": 0}}, name="one")
    made(tmp_path, {"A": {"q1": 1, "q2": "fail"}, "B": {"q1": 0, "q2": 0}}, name="two", run=run)
    score(run)
    both = side_by_side(of(run))
    assert [[True, True, False], [True, True, True]] == both.present.tolist()
    assert (("one: q1", ""), ("two: q1", "")) == both.complete.items


def test_matrices_that_do_not_fit_are_refused_side_by_side(tmp_path: Path) -> None:
    run = two(tmp_path)
    score(run, "told(direction=lower)")
    by_place = {(m.benchmark, m.measure.criterion.direction): m for m in of(run)}
    for other in (("one", "higher"), ("two", "lower")):
        with pytest.raises(ValueError, match="side by side lie different benchmarks"):
            side_by_side([by_place["one", "higher"], by_place[other]])


def test_what_two_grids_share(tmp_path: Path) -> None:
    """Items in one order, candidates of both; a cell that one lacks is absent in both."""
    run = marked(tmp_path, {"A": {**twins([1, 0.9]), "x": 1}, "B": twins([0.2, "fail", 0.1]), "C": {"x": 1}})
    (grid,) = of(run)
    other = grid.of(["B", "A"]).on(np.array([name != ("x", "") for name in grid.items]))
    one, two = common(grid, other)
    assert ("A", "B") == one.candidates == two.candidates
    assert (("q00", ""), ("q01", ""), ("q02", "")) == one.items == two.items
    assert one.values.tolist() == two.values.tolist()
    assert [[True, True, False], [True, False, True]] == one.present.tolist() == two.present.tolist()


def measured(specs: Iterable[tuple[str, str, str, str]]) -> dict[int, Measure]:
    return {
        n: Measure(metric=metric, signature=signature, rater=rater, criterion=Criterion(criterion=criterion))
        for n, (metric, signature, criterion, rater) in enumerate(specs)
    }


@pytest.mark.parametrize(
    ("specs", "names"),
    [
        ([("rouge(n=1)", "rouge(n=1)@1#a", "f1", "")], ["rouge(n=1)"]),
        ([("judge(model=m)", "judge(model=m)@recorded", "harm", "m")], ["judge by m: harm"]),
        (
            [("judge(model=m)", "s()@1", "harm", "m"), ("judge(model=n)", "t()@1", "harm", "n")],
            ["judge by m: harm", "judge by n: harm"],
        ),
        (
            [("judge(rubric=r)", "judge(rubric=r)@recorded", "harm", rater) for rater in ("m", "n")],
            ["r: harm by m", "r: harm by n"],
        ),
        (  # two files of one name: the folder tells
            [(f"judge(model=m, rubric={d}/r.md)", f"judge(r={d})@1", "harm", "m") for d in "ab"],
            ["judge(model=m, rubric=a/r.md): harm", "judge(model=m, rubric=b/r.md): harm"],
        ),
        (
            [
                ("judge(model=m, rubric=r)", f"judge(r=r)@1#{n}", c, "m")
                for n in "ab"
                for c in ("harm", "tone")
            ],
            [f"r by m: {c}{e}" for e in (" (earlier version 1#a)", "") for c in ("harm", "tone")],
        ),
        (
            [("rouge(n=1)", f"rouge(n=1)@{n}", "f1", "") for n in (1, 2, 3)],
            ["rouge(n=1) (earlier version 1)", "rouge(n=1) (earlier version 2)", "rouge(n=1)"],
        ),
        (
            [("panel(r=1)", "s()@1", "harm", "Ann"), ("panel(r=1)", "s()@1", "harm", "Bob")],
            ["panel: harm by Ann", "panel: harm by Bob"],
        ),
        (
            [("panel(r=1)", "s()@1", "harm", ""), ("panel(r=1)", "s()@1", "harm", "Bob")],
            ["panel: harm", "panel: harm by Bob"],
        ),
        (
            [("f(x=1)", "f(x=1)@1#ab", "f1", ""), ("f(x=1)", "f(x=1)@recorded", "f1", "")],
            ["f(x=1) @1#ab", "f(x=1) @recorded"],
        ),
        ([("exact", "exact()@1#a", "exact", "")], ["exact"]),
    ],
)
def test_the_shortest_names_that_tell_measures_apart(
    specs: list[tuple[str, str, str, str]], names: list[str]
) -> None:
    measures = measured(specs)
    assert names == [labels(measures)[key_of(m)] for m in measures.values()]


def test_group_codes_keep_the_order_of_the_labels_and_a_missing_one_stays_missing() -> None:
    """Labels in any script sort as Python sorts them; null is no label."""
    labels = ["b", "é", "a", "z", "10", "9", "b", "漢", "", None]
    codes = with_group_codes(pl.DataFrame({"group": labels}))["group"].to_list()
    names = sorted({label for label in labels if label is not None})
    assert [None if label is None else names.index(label) for label in labels] == codes
