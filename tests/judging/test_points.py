"""An item's own rubric: points that are met or not, their weights, and the share that they come to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge
from tests.studies.making import SILENT, made, row

from vivavoce.core.errors import InputError
from vivavoce.run.run import Run

ProvidersFile = Callable[..., Path]
HEALTHBENCH = "judge(rubric=healthbench, model=fake/j1)"
POINTS = [("p1", 5), ("p2", 3), ("p3", -4)]
ITEM = {
    "item": "q1",
    "format": "longform",
    "rubric": [{"unit": unit, "text": f"Says {unit}.", "weight": weight} for unit, weight in POINTS],
}


def examined(folder: Path, answers: dict[str, Any], **changed: Any) -> Run:
    return made(folder, {name: {"q1": text} for name, text in answers.items()}, items=[ITEM | changed])


def test_each_point_is_a_call_and_a_row_with_its_weight(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = examined(tmp_path, {"A": "p1 p3"})
    run.score(HEALTHBENCH, providers=providers_file())
    assert [("p1 p3",)] * 3 == [sent.answers for sent in judge.sent]
    assert not any("-4" in sent.text or "weight" in sent.text for sent in judge.sent)
    met = run.scores.filter(run.scores["criterion"] == "met").sort("unit")
    assert [("p1", 1.0), ("p2", 0.0), ("p3", 1.0)] == met.select("unit", "value").rows()
    with run.file.reading() as db:
        assert (
            POINTS == db.execute("SELECT unit, weight FROM units WHERE unit != '' ORDER BY unit").fetchall()
        )


@pytest.mark.parametrize(
    ("answer", "score"),
    [("p1 p2", 1.0), ("p1 p3", 1 / 8), ("p2 p3", 0.0), ("p2", 3 / 8), ("nothing", 0.0), ("p1 p2 p3", 0.5)],
)
def test_the_score_is_the_weights_met_over_those_that_could_be(
    answer: str, score: float, tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """5 and 3 can be had, and 4 be lost; p2 and p3 come to -1 of 8, and the mean over all answers to 0."""
    run = examined(tmp_path, {"A": answer})
    (found,) = run.score(HEALTHBENCH, providers=providers_file()).rows
    assert ("score", pytest.approx(score)) == (found["criterion"], found["estimate"])
    with run.file.reading() as db:
        (parts,) = db.execute("SELECT parts FROM scores WHERE parts IS NOT NULL").fetchone()
    weights = dict(POINTS)
    reached = sum(weights[word] for word in answer.split() if word in weights)
    own = {"score": reached / 8, "answers": 1}
    assert {"reached": reached, "possible": 8, **own} == json.loads(parts)


def test_a_point_that_cannot_be_marked_takes_the_score_with_it(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """And is asked about alone the next time."""
    run = examined(tmp_path, {"A": "p1"})
    judge.manners = {"p1": ("structured", "refusal", "structured", "refusal", "structured")}
    found = run.score(HEALTHBENCH, providers=providers_file(concurrency=1))
    assert (1, None) == (found.rows[0]["n_failed"], found.rows[0]["estimate"])
    told = {(c, u): (s, v) for c, u, s, v in run.scores.select("criterion", "unit", "status", "value").rows()}
    assert ("failed", None) == told["score", ""] == told["met", "p2"] != told["met", "p1"]
    with run.file.reading() as db:
        notes = [note for (note,) in db.execute("SELECT note FROM scores WHERE note IS NOT NULL")]
    assert any(note.startswith("1 of 3 points could not be scored (p2): the judge refused") for note in notes)
    judge.sent.clear()
    found = run.score(HEALTHBENCH, providers=providers_file())
    assert 1 == len(judge.sent)
    assert "Says p2." in judge.sent[0].text
    assert pytest.approx(5 / 8) == found.rows[0]["estimate"]


def test_points_are_no_marks_of_an_answer(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """Points of several weights have no mean: only the score is estimated and compared."""
    run = examined(tmp_path, {"A": "p1", "B": "p2"})
    run.score(HEALTHBENCH, providers=providers_file())
    assert {"score"} == {r["criterion"] for r in run.estimates().rows}
    assert {"score"} == {r["criterion"] for r in run.compare("A", "B", metric=HEALTHBENCH).rows}


def test_silence_meets_no_point_and_asks_nobody(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = examined(tmp_path, {"A": SILENT, "B": "p1"})
    run.score(HEALTHBENCH, providers=providers_file())
    assert 3 == len(judge.sent)
    silent = row(run.estimates(), candidate="A")
    assert (None, True) == (silent["estimate"], silent["reason"].startswith("no result"))
    assert {"unanswered"} == set(run.scores.filter(run.scores["candidate"] == "A")["status"])


def test_an_item_without_points_is_left_out_and_said(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    run = made(tmp_path, {"A": {"q1": "p1", "q2": "p1"}}, items=[ITEM, {"item": "q2", "format": "longform"}])
    found = run.score(HEALTHBENCH, providers=providers_file())
    assert {"q1"} == set(run.scores["item"])
    assert any("does not score 1 of the items (1 longform)" in note for note in found.notes)


def test_points_that_can_only_be_lost_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no point has a weight above 0, so there is nothing to reach"):
        examined(tmp_path, {"A": "p1"}, rubric=ITEM["rubric"][2:])


def test_items_may_weigh_one_point_otherwise(
    tmp_path: Path, judge: FakeJudge, providers_file: ProvidersFile
) -> None:
    """Each item's own weight counts; the table of points then names none."""
    other = ITEM | {"item": "q2", "rubric": [{"unit": "p1", "text": "Says p1.", "weight": 2},
                                             {"unit": "p2", "text": "Says p2.", "weight": 2}]}  # fmt: skip
    run = made(tmp_path, {"A": {"q1": "p1", "q2": "p1"}}, items=[ITEM, other])
    run.score(HEALTHBENCH, providers=providers_file())
    scores = run.scores.filter(criterion="score").sort("item")["value"].to_list()
    assert [5 / 8, 1 / 2] == scores
    with run.file.reading() as db:
        assert [(None,)] == db.execute("SELECT weight FROM units WHERE unit = 'p1'").fetchall()
