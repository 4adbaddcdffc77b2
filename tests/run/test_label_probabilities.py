"""Imported labels with the probabilities with which their cases were drawn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.run.test_recorded_scores import marks, refused
from tests.studies.making import Answers, made

from vivavoce.run.run import Run
from vivavoce.store.label_draws import LabelDraw, read_label_draws

ANSWERS: Answers = {who: {"q1": "x", "q2": "y", "q3": "z"} for who in "AB"}
METRIC = "rating(rubric=care)"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path, ANSWERS)


def labels(*probabilities: tuple[str, Any]) -> list[dict[str, Any]]:
    """Both candidates' labels by Ann, for each item with what its column says."""
    return [
        {"item": item, "candidate": who, "rater": "Ann", "value": 3, "p": p}
        for item, p in probabilities
        for who in "AB"
    ]


def settings(**more: Any) -> dict[str, Any]:
    return {"measure": METRIC, "map": {"probability": "p"}} | more


def draws(run: Run) -> Mapping[str, LabelDraw]:
    with run.file.reading() as db:
        return read_label_draws(db)


def test_the_column_is_kept_as_the_draw_of_the_labels(run: Run) -> None:
    marks(run, labels(("q1", "0.25"), ("q3", 1)), **settings())
    of_items = {("exam", "q1", ""): 0.25, ("exam", "q3", ""): 1.0}
    assert {METRIC: LabelDraw(METRIC, of_items, frozenset(of_items), "import")} == draws(run)


def test_one_probability_for_all_rows_is_a_simple_random_draw(run: Run) -> None:
    marks(run, labels(("q1", ""), ("q2", "")), **settings(map={}, set={"probability": "0.5"}))
    assert {0.5} == set(draws(run)[METRIC].probabilities.values())


def test_a_column_of_that_name_says_nothing_unless_it_is_named(run: Run) -> None:
    """A file of scores may hold some other probability."""
    rows = [row | {"probability": 7} for row in labels(("q1", 0.5))]
    marks(run, rows, measure=METRIC)
    assert {} == draws(run)


def test_the_same_file_again_changes_nothing(run: Run) -> None:
    for _ in range(2):
        marks(run, labels(("q1", 0.5)), **settings())
    with run.file.reading() as db:
        assert 1 == db.execute("SELECT count(*) FROM events").fetchone()[0]


@pytest.mark.parametrize("value", [0, 1.5, -0.1, "", None])
def test_a_probability_is_above_0_and_at_most_1(run: Run, value: Any) -> None:
    sentence = refused(run, labels(("q1", 0.5), ("q2", value)), **settings())
    assert "above 0 and at most 1" in sentence
    assert "marks.jsonl, line 3, " in sentence
    assert "marks.jsonl, line 4." in sentence
    assert "Nothing was imported." in sentence


def test_a_probability_is_a_number(run: Run) -> None:
    assert "line 1: probability must be a number" in refused(run, labels(("q1", "often")), **settings())


def test_an_item_has_one_probability(run: Run) -> None:
    rows = [row | {"p": 0.5 if row["candidate"] == "A" else 0.25} for row in labels(("q1", None))]
    sentence = refused(run, rows, **settings())
    assert "one case (q1) has the probabilities 0.5 and 0.25: " in sentence
    assert "marks.jsonl, line 1, " in sentence


def test_the_items_of_a_case_have_one_probability(tmp_path: Path) -> None:
    """Two items that ask the same question are one case, whatever their ids."""
    question = "Which dose lowers a fever?"
    items = [{"item": name, "question": question} for name in ("q1", "q2")]
    run = made(tmp_path, {who: {"q1": "x", "q2": "y"} for who in "AB"}, items=items)
    sentence = refused(run, labels(("q1", 0.5), ("q2", 0.25)), **settings())
    assert "one case (q1) has the probabilities 0.5 and 0.25" in sentence


@pytest.mark.parametrize(
    "measure", ["judge(rubric=r, model=m)", "jury(of=[judge(rubric=r, model=m)])", "x(model=m)"]
)
def test_scores_of_models_are_no_labels(run: Run, measure: str) -> None:
    sentence = refused(run, labels(("q1", 0.5)), **settings(measure=measure))
    assert "is no measure of people: leave the probability out for scores of models." in sentence


def test_labels_without_a_rater_are_refused(run: Run) -> None:
    rows = [{k: v for k, v in row.items() if k != "rater"} for row in labels(("q1", 0.5))]
    assert "--set rater=NAME says who gave them" in refused(run, rows, **settings())


def test_rows_about_other_items_say_nothing_of_the_draw(run: Run) -> None:
    marks(run, [*labels(("q1", 0.5)), labels(("elsewhere", 9))[0]], **settings())
    assert {("exam", "q1", "")} == set(draws(run)[METRIC].probabilities)
