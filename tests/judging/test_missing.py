"""What missing scores, another role's repeats and several versions do to the figures that are shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import made, row, twins

from vivavoce.core.errors import InputError
from vivavoce.core.numbers import printed
from vivavoce.judging.loading import load

ProvidersFile = Callable[..., Path]
CORRECT = "judge(rubric=correctness, model=fake/j1)"


def test_an_answer_that_one_of_two_passes_could_mark_is_half_covered(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 1", "q2": "worth 1"}})
    run.score(CORRECT, providers=providers_file())
    judge.manners["worth 1"] = ["2-3"]
    found = run.score(CORRECT, passes=2, providers=providers_file())
    assert (0.5, 2) == (row(found, candidate="A")["coverage"], row(found, candidate="A")["n_failed"])


def test_repeats_of_a_ceiling_are_expected_of_nobody_else(tmp_path: Path) -> None:
    answers = {
        "A": {"q1": "x", "q2": "y"},
        "B": {"q1": "x", "q2": "y"},
        "gold": {"q1": ["x"] * 5, "q2": ["y"] * 5},
    }
    run = made(tmp_path, answers, role={"gold": "ceiling"})
    found = run.score("exact")
    assert {1.0} == {r["coverage"] for r in found.rows}


def test_a_judge_that_marks_its_own_answers_is_named(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"fake/j1(temperature=0.5)": {"q1": "worth 1"}, "B": {"q1": "worth 1"}})
    notes = run.score(CORRECT, providers=providers_file()).notes
    assert any(
        "fake/j1 scores its own answers, as the candidate fake/j1(temperature=0.5)" in n for n in notes
    )


def test_the_table_shows_bounds_where_marks_failed(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, viva: Callable[..., Any]
) -> None:
    run = made(tmp_path, {"A": {f"q{k}": f"worth {k % 2}, {k}" for k in range(6)}})
    judge.manners[", 5"] = ["2-3"]
    said = viva("score", run.file.path, CORRECT, "--providers", providers_file(), code=1).output
    bounds = row(run.estimates(CORRECT), candidate="A")
    assert f"{printed(bounds['bound_low'], '.3f')} to {printed(bounds['bound_high'], '.3f')}" in said


def test_no_less_than_nothing_can_be_spent(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "worth 1"}})
    with pytest.raises(InputError, match="--max-cost"):
        run.score(CORRECT, providers=providers_file(), max_cost=-2)
    assert not judge.sent


def test_a_comparison_is_by_the_rubric_of_today(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """Two versions of a file bear one name; who was scored by the newer is not compared by the older."""
    rubric = tmp_path / "own.md"
    spec = f"judge(rubric='{rubric}', model=fake/j1)"
    shipped = load("correctness").path.read_text(encoding="utf-8")
    run = made(tmp_path, {"A": twins(["worth 1"] * 12), "B": twins(["worth 0.5"] * 12)})
    for words in ("You compare", "Again you compare"):
        rubric.write_text(shipped.replace("You compare", words), encoding="utf-8")
        run.score(spec, providers=providers_file())
        judge.worth = lambda sent: [0.5]
    found = run.compare("A", "B", metric=spec).rows
    assert [0.0] == [r["difference"] for r in found]
