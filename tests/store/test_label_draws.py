"""Draws of labels: what the run keeps of them, and what a merge and a copy carry."""

from pathlib import Path

import pytest
from tests.studies.making import Answers, made

from vivavoce.run.run import Run, open_run
from vivavoce.store.label_draws import LabelDraw, put_label_draw, read_label_draws

ANSWERS: Answers = {"A": {"q1": "x", "q2": "y", "q3": "z"}}
METRIC = "rating(rubric=care)"
Q1, Q2, Q3 = (("exam", name, "") for name in ("q1", "q2", "q3"))


def draw(probabilities: dict[tuple[str, str, str], float], *items: tuple[str, str, str], source: str = "p1"):
    return LabelDraw(METRIC, probabilities, frozenset(items), source)


def put(run: Run, *draws: LabelDraw) -> None:
    with run.file.writing() as db:
        for one_draw in draws:
            put_label_draw(db, one_draw)


def stored(run: Run) -> dict[str, LabelDraw]:
    with run.file.reading() as db:
        return read_label_draws(db)


def n_events(run: Run) -> int:
    with run.file.reading() as db:
        return int(db.execute("SELECT count(*) FROM events").fetchone()[0])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made(tmp_path, ANSWERS)


def test_a_draw_is_read_as_it_was_stored(run: Run) -> None:
    put(run, draw({Q1: 0.5, Q2: 1 / 3}, Q1))
    assert {METRIC: draw({Q1: 0.5, Q2: 1 / 3}, Q1)} == stored(run)


def test_a_run_without_a_draw_has_none(run: Run) -> None:
    assert {} == stored(run)


def test_the_same_draw_again_changes_nothing(run: Run) -> None:
    put(run, draw({Q1: 0.5, Q2: 0.5}, Q1), draw({Q2: 0.5, Q1: 0.5}, Q1))
    assert 1 == n_events(run)


def test_later_totals_replace_earlier_ones_and_drawn_cases_stay_drawn(run: Run) -> None:
    put(run, draw({Q1: 0.5, Q2: 0.5, Q3: 0.5}, Q1), draw({Q1: 0.75, Q2: 0.75}, Q2, source="p2"))
    assert {METRIC: draw({Q1: 0.75, Q2: 0.75, Q3: 0.5}, Q1, Q2, source="p1, p2")} == stored(run)


def test_an_earlier_draw_that_comes_again_does_not_undo_a_later_one(run: Run) -> None:
    """A file of labels that is imported again states its old probabilities."""
    first, second = draw({Q1: 0.5}, Q1), draw({Q1: 0.75}, source="p2")
    put(run, first, second, first)
    assert 0.75 == stored(run)[METRIC].probabilities[Q1]


def test_draws_of_two_metrics_stay_apart(run: Run) -> None:
    other = LabelDraw("expert()", {Q1: 0.1}, frozenset([Q1]), "import")
    put(run, draw({Q1: 0.5}), other)
    assert {METRIC: draw({Q1: 0.5}), "expert()": other} == stored(run)


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.01, float("nan")])
def test_a_probability_outside_0_to_1_is_refused(run: Run, probability: float) -> None:
    with pytest.raises(ValueError, match=r"not in \(0, 1\]"):
        put(run, draw({Q1: probability}))


def test_a_case_cannot_be_drawn_without_a_probability(run: Run) -> None:
    with pytest.raises(ValueError, match=r"q2.*has no probability"):
        put(run, draw({Q1: 0.5}, Q2))


def test_a_merge_and_a_copy_carry_the_draws(run: Run, tmp_path: Path) -> None:
    put(run, draw({Q1: 0.5, Q2: 0.5}, Q1), draw({Q1: 0.75, Q2: 0.75}, Q2, source="p2"))
    copied = open_run(run.copy(tmp_path / "copy.viva"))
    assert stored(run) == stored(copied)
    target = made(tmp_path / "target", ANSWERS)
    target.merge(run.file.path)
    target.merge(copied.file.path)
    assert (2, stored(run)) == (n_events(target), stored(target))


def test_an_older_draw_that_a_merge_brings_does_not_undo_a_newer_one(run: Run, tmp_path: Path) -> None:
    """Events come over under new numbers; the time at which they were made decides."""
    put(run, draw({Q1: 0.5}, Q1))
    before = open_run(run.copy(tmp_path / "before.viva"))
    newer = made(tmp_path / "newer", ANSWERS)
    put(newer, draw({Q1: 0.75}, source="p2"))
    newer.merge(before.file.path)
    assert 0.75 == stored(newer)[METRIC].probabilities[Q1]
