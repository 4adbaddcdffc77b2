"""The five lines that a status begins with."""

from pathlib import Path

import pytest
from tests.studies.making import SILENT, made, marked, score, twins

from vivavoce.run.run import Run
from vivavoce.studies.comparing.status_lines import missing_line, shard_lines, status_lines
from vivavoce.studies.text import missing_words


def lines(run: Run, *, compared: bool = False) -> dict[str, str]:
    """The lines by their first word."""
    five = status_lines(run.status().rows, str(run.file.path), compared=compared)
    assert ["Missing", "Here", "Coverage", "Cost", "Next"] == [line.partition(":")[0] for line in five]
    return dict(line.split(": ", 1) for line in five)


def test_a_run_without_a_score_says_what_to_type(tmp_path: Path) -> None:
    run = made(tmp_path, {"A": twins([1] * 6)})
    said = lines(run)
    assert "6 questions (6 cases) of exam, answered by 1 candidate, scored by 0 metrics." == said["Here"]
    assert "100.0% of 6 answers are ok." == said["Coverage"]
    assert f"`viva score {run.file.path}` scores by what fits the formats." == said["Next"]


def test_coverage_names_the_least_and_what_is_missing_its_cause(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 6), "B": twins([1, SILENT, SILENT, 1, 1, 1])})
    said = lines(run)
    assert "83.3% of 12 scores are ok; the least, 66.7%, of B by told." == said["Coverage"]
    assert said["Missing"].startswith("2 scores unanswered. Most often (2) ")
    assert "none, no model was asked." == said["Cost"]


def test_what_is_missing_has_a_unit_answers_before_scoring_and_scores_after() -> None:
    row = {"about": "marks", "benchmark": "exam", "candidate": "A", "causes": {}, "never_asked": 1200}
    row |= {"unanswered": 0, "unreadable": 2, "failed": 1, "set_aside": 3, "unscored": 4}
    states = "2 answers unreadable, 1 failed, 3 set aside, 4 not scored yet"
    unasked = row | {"criterion": None, "never_asked": 0}
    assert f"Missing: {states}." == missing_line([unasked])
    scored = "2 scores unreadable, 1 failed, 3 set aside, 4 not made yet"
    assert f"Missing: 1,200 answers never asked, {scored}." == missing_line([row | {"criterion": "f1"}])
    assert "1 score failed" == missing_words({"failed": 1, "unreadable": 0}, "score")
    assert "" == missing_words({}, "score")


def test_two_scored_candidates_are_compared_next_and_then_reported(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 6), "B": twins([0.5] * 6)})
    assert "nothing." == lines(run)["Missing"]
    assert "viva compare" in lines(run)["Next"]
    assert "viva report" in lines(run, compared=True)["Next"]


def test_answers_without_a_score_are_scored_next(tmp_path: Path) -> None:
    run = marked(tmp_path, {"A": twins([1] * 6)})
    made(tmp_path, {"A": twins([1] * 6), "B": twins([1] * 6)}, run=run)
    later = made(tmp_path / "later", {"A": twins([1] * 6, name="r")}, name="second", run=run)
    score(later)
    assert run.status().rows
    assert lines(run)["Here"].startswith("12 questions")


@pytest.mark.parametrize("cost", [None, 0.5])
def test_a_bill_that_is_not_known_is_no_sum(cost: float | None) -> None:
    calls = {"about": "calls", "calls": 2, "failed": 1, "last_cause": None, "advice": None}
    rows = [calls | {"model": name, "cost": price} for name, price in (("a", 0.25), ("b", cost))]
    (line,) = (line for line in status_lines(rows, "r.viva", compared=False) if line.startswith("Cost"))
    expected = "not known" if cost is None else "0.7500"
    assert f"Cost: {expected}, for 4 calls to 2 models, 2 failed." == line


def test_a_path_in_a_command_is_quoted() -> None:
    (line,) = (
        line for line in status_lines([], "my run; ls.viva", compared=False) if line.startswith("Next")
    )
    assert "`viva import 'my run; ls.viva' FILE`" in line


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"done": 34, "state": "complete"}, "34 of 34 answers"),
        ({"done": 40, "state": "complete"}, "40 of 40 answers"),  # asked again in more repeats
        ({"done": 20}, "20 of 34 answers"),
        ({"done": 32, "failed": 2}, "32 of 34 answers, 2 failed"),
        ({"done": 34}, "34 answers so far"),  # variants came since
        ({"verb": "score", "done": 5, "expected": None}, "5 scores so far"),
        ({"done": 0, "expected": 0, "state": "complete"}, "0 of 0 answers"),
    ],
)
def test_a_shard_counts_what_it_has_of_its_part(row: dict[str, object], words: str) -> None:
    rest = {"verb": "collect", "of_what": "exam\nby A", "state": "unfinished", "expected": 34, "failed": 0}
    (line,) = shard_lines([{"about": "shard", "shard": "3/16", **rest, **row}])
    assert f"Shard: 3/16; {row.get('verb', 'collect')} exam by A: {words}." == line


def test_a_run_that_is_no_shard_has_no_line_on_it() -> None:
    assert [] == shard_lines([])
