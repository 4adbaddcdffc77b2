"""Juries: several judges score, each is kept, and their consensus is worked out when asked for."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge, Sent
from tests.studies.making import SILENT, made, row

from vivavoce.core.errors import SelectionError, VivaError
from vivavoce.core.specs import parse
from vivavoce.judging.loading import load
from vivavoce.run.run import Run

ProvidersFile = Callable[..., Path]
ONE, TWO, THREE = (f"judge(rubric=correctness, model=fake/j{k})" for k in (1, 2, 3))
MARKS = {"high": (1, 1, 0.5), "even": (0, 0.5, 1), "low": (0.5, 0, 0)}
"""What the three judges give by answer."""


def written(folder: Path, *changes: tuple[str, str]) -> str:
    """A rubric of the user's own: the shipped one, changed."""
    text = load("correctness").path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "own.md").write_text(text, encoding="utf-8")
    return str(folder / "own.md")


def jury(*judges: str, **settings: object) -> str:
    said = "".join(f", {name}={value}" for name, value in settings.items())
    return f"jury(of=[{', '.join(judges or (ONE, TWO, THREE))}]{said})"


def by_judge(marks: Mapping[str, tuple[float, ...]]) -> Callable[[Sent], list[float]]:
    return lambda sent: [marks[sent.answers[0]][int(sent.body["model"][1]) - 1]]


@pytest.fixture
def run(tmp_path: Path, judge: FakeJudge) -> Run:
    judge.worth = by_judge(MARKS)
    return made(tmp_path, {"A": {f"q{k}": text for k, text in enumerate(MARKS)}})


def test_every_judge_marks_and_nothing_of_the_jury_is_stored(
    run: Run, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    found = run.score(jury(), providers=providers_file())
    assert {str(parse(one)) for one in (ONE, TWO, THREE)} == {m.metric for m in run.measures}
    assert 9 == run.scores.height == len(judge.sent)
    told = run.scores.sort("rater", "item").select("rater", "value").rows()
    assert [(f"fake/j{k}", float(marks[k - 1])) for k in (1, 2, 3) for marks in MARKS.values()] == told
    assert {"fake/j1", "fake/j2", "fake/j3", "jury"} == {r["rater"] for r in found.rows}
    run.score(jury(rule="mean"), providers=providers_file())
    assert 9 == run.scores.height == len(judge.sent)


@pytest.mark.parametrize(
    ("rule", "mean", "failed"),
    [
        ("mean", (2.5 / 3 + 0.5 + 0.5 / 3) / 3, 0),
        ("median", (1 + 0.5 + 0) / 3, 0),
        ("worst", (0.5 + 0 + 0) / 3, 0),
        ("majority", (1 + 0) / 2, 1),
    ],
)
def test_a_rule_makes_one_mark_of_three(
    rule: str, mean: float, failed: int, run: Run, providers_file: ProvidersFile
) -> None:
    """high 1, 1, 0.5; even 0, 0.5, 1, of which no score has a majority; low 0.5, 0, 0."""
    found = row(run.score(jury(rule=rule), providers=providers_file()), rater="jury")
    assert pytest.approx(mean) == found["estimate"]
    assert (failed, 3 - failed) == (found["n_failed"], found["n_items"])
    assert found == row(run.estimates(jury(rule=rule)), rater="jury")
    if failed:
        assert pytest.approx((1 + 0 + 0) / 3) == found["set_low"]
        assert pytest.approx((1 + 0 + 1) / 3) == found["set_high"]


def test_passes_of_a_judge_are_one_voice(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """A gives 1, 0, 0.5 in three passes, B always 0: the means are 0.5 and 0, and their mean 0.25."""
    given = iter([1, 0, 0.5])
    judge.worth = lambda sent: [next(given) if sent.body["model"] == "j1" else 0.0]
    run = made(tmp_path, {"A": {"q1": "x"}})
    run.score(ONE, passes=3, providers=providers_file(concurrency=1))
    found = run.score(jury(ONE, TWO, rule="mean"), providers=providers_file())
    assert 0.25 == row(found, rater="jury")["estimate"]


@pytest.mark.parametrize(("quorum", "fate"), [(None, (1, 1, 1.0)), (2, (0, 2, 0.75))])
def test_a_jury_without_its_quorum_has_failed(
    quorum: int | None,
    fate: tuple[float, ...],
    tmp_path: Path,
    judge: FakeJudge,
    providers_file: ProvidersFile,
) -> None:
    """Judge 3 cannot score 'hard': two scores of 0.5 are left, enough for a quorum of 2 and not for all."""
    judge.worth = lambda sent: [0.5 if "hard" in sent.answers[0] else 1.0]
    judge.manners = {"hard": ("structured", "structured", "empty")}
    run = made(tmp_path, {"A": {"q1": "easy", "q2": "hard"}})
    setting = {} if quorum is None else {"quorum": quorum}
    found = row(run.score(jury(**setting), providers=providers_file(concurrency=1)), rater="jury")
    assert fate == (found["n_failed"], found["n_items"], found["estimate"])


def test_silence_is_the_candidates_for_a_jury_too(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "x", "q2": SILENT, "q3": None}})
    found = row(run.score(jury(), providers=providers_file()), rater="jury")
    assert (1, 1, 2) == (found["n_unanswered"], found["n_failed"], found["n_items"])
    assert 0.5 == found["estimate"]


def test_candidates_are_compared_by_a_jury(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile, viva: Callable[..., Any]
) -> None:
    judge.worth = by_judge({"good": (1, 1, 0), "bad": (0, 0.5, 1)})
    items = [f"q{k}" for k in range(12)]
    run = made(tmp_path, {"A": dict.fromkeys(items, "good"), "B": dict.fromkeys(items, "bad")})
    said = viva("score", run.file.path, jury(), "--providers", providers_file())
    assert "correctness by a jury of fake/j1, fake/j2, fake/j3: correct on exam" in " ".join(
        said.output.split()
    )
    (found,) = run.compare("A", "B", metric=jury(rule="median")).rows
    assert (0.5, "jury") == (found["difference"], found["rater"])
    told = viva("compare", run.file.path, "A", "B", "--metric", jury(rule="median"))
    assert "A - B" in told.output
    assert pytest.approx(2 / 3 - 0.5) == run.compare("A", "B", metric=jury(rule="mean")).rows[0]["difference"]


def test_two_juries_of_one_call_are_kept_apart(run: Run, providers_file: ProvidersFile) -> None:
    found = run.score(jury(rule="worst"), jury(rule="mean"), providers=providers_file())
    means = {r["metric"]: r["estimate"] for r in found.rows if r["rater"] == "jury"}
    assert pytest.approx([0.5 / 3, 0.5]) == sorted(means.values())


def test_an_old_rubric_has_no_voice_in_a_jury(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """The rubric's file was changed between two calls: only scores by the words of today are of the jury."""
    judges = [f"judge(rubric='{tmp_path / 'own.md'}', model=fake/j{k})" for k in (1, 2)]
    run = made(tmp_path, {"A": {"q1": "x"}})
    for worth in (0.0, 1.0):
        judge.worth = lambda sent, worth=worth: [worth]  # type: ignore[misc]
        written(tmp_path, ("You compare", f"Version {worth}: you compare"))
        found = run.score(jury(*judges), providers=providers_file())
    assert 1.0 == row(found, rater="jury")["estimate"]


def test_judges_with_other_scales_make_no_one_mark(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    own = written(tmp_path, ("scale: [0, 1]\n", "scale: [0, 2]\n"))
    run = made(tmp_path, {"A": {"q1": "x"}})
    with pytest.raises(SelectionError, match="its judges do not declare correct alike"):
        run.score(jury(ONE, f"judge(rubric='{own}', model=fake/j2)"), providers=providers_file())
    with pytest.raises(SelectionError, match="its judges have no criterion in common"):
        run.score(jury(ONE, "judge(rubric=medgpt, model=fake/j2)"), providers=providers_file())


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (jury(ONE, ONE), "of names a judge twice"),
        (jury(ONE, "judge(model=fake/j1, rubric=correctness, temperature=0.0)"), "of names a judge twice"),
        (jury(ONE), "of takes two judges or more"),
        (jury(quorum=4), "quorum takes 1 to 3, the number of judges"),
        (jury(rule="mode"), "rule"),
        (jury(ONE, "judge(rubric=correctnes, model=fake/j2)"), "correctness"),
    ],
)
def test_a_jury_that_cannot_be_is_refused(
    spec: str, words: str, run: Run, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    with pytest.raises(VivaError, match=words):
        run.score(spec, providers=providers_file())
    assert [] == judge.sent


def test_the_worst_of_a_scale_where_less_is_better_is_the_highest(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    own = written(tmp_path, ("step: 0.5\n", "step: 0.5\n    direction: lower\n"))
    judge.worth = by_judge({"x": (0.5, 1, 0)})
    run = made(tmp_path, {"A": {"q1": "x"}})
    judges = [f"judge(rubric='{own}', model=fake/j{k})" for k in (1, 2, 3)]
    found = row(run.score(jury(*judges, rule="worst"), providers=providers_file()), rater="jury")
    assert 1.0 == found["estimate"]
