"""Tables of recorded scores are counted row by row, and read again where their rows are stored."""

import json
import tracemalloc
from pathlib import Path

import pytest

from vivavoce import Run
from vivavoce.core.errors import InputError
from vivavoce.core.records import Value
from vivavoce.run.exchange import scores as scores_of
from vivavoce.run.exchange.score_rows import RecordedScore
from vivavoce.run.exchange.score_tally import ScoreTally
from vivavoce.store.write import ScoreRow


def score(n: int = 1, criterion: str = "harm", rater: str = "", **fields: object) -> RecordedScore:
    recorded = ScoreRow(**{"response": 1, "value": Value(2.0)} | fields)
    return RecordedScore(criterion, rater, recorded, f"marks.csv, line {n}", "A, q1, repeat 1")


def tallied(*scores: RecordedScore) -> ScoreTally:
    return ScoreTally.of(lambda: scores)


def test_without_a_score_nothing_is_counted():
    tally = tallied()
    assert ({}, (), 0) == (tally.measures, tally.criteria, tally.rows.height)
    assert [] == list(tally.distinct([]))


def test_a_score_that_repeats_another_is_counted_once():
    silent = Value(None, note="the answer is blank", status="unanswered")
    scores = [score(1), score(2, "tone", value=silent), score(3), score(4, "tone", value=silent)]
    tally = tallied(*scores)
    assert [True, True, False, False] == tally.is_first.tolist()
    assert scores[:2] == list(tally.distinct(scores))
    assert {("harm", ""): 0, ("tone", ""): 1} == tally.measures
    assert ["ok", "unanswered"] == tally.rows["status"].to_list()
    assert [2.0, None] == tally.rows["value"].to_list()


@pytest.mark.parametrize(
    "fields",
    [
        {"value": Value(3.0)},
        {"value": Value(None, status="failed")},
        {"value": Value(2.0, note="because")},
        {"position": 2},
    ],
)
def test_two_scores_that_say_different_things_of_one_answer_are_named(fields: dict[str, object]):
    with pytest.raises(InputError, match=r"line 4: a second score for harm of A, q1, repeat 1; --where"):
        tallied(score(1), score(2, "tone"), score(3), score(4, **fields), score(5, value=Value(5.0)))


def test_other_keys_are_other_scores():
    keys = [{"rater": "anna"}, {"criterion": "tone"}, {"response": 2}, {"pass_no": 2}, {"ballot": "b"}]
    assert tallied(score(), *(score(**key) for key in keys)).is_first.all()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """One question that a candidate answered 900 times."""
    run = Run(tmp_path / "r.viva")
    run.import_answers(
        {"question": ["Why?"] * 900, "reference": ["So."] * 900, "model": ["A"] * 900,
         "id": ["q1"] * 900, "repeat": list(range(1, 901)), "response": ["So."] * 900}
    )  # fmt: skip
    return run


def test_a_file_that_changes_while_it_is_read_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "marks.csv"
    file.write_text("id,candidate,harm\nq1,A,1\n")
    store = scores_of.put_scores

    def appended(db, measure, scores):
        file.write_text("id,candidate,harm\nq1,A,5\n")
        store(db, measure, scores)

    monkeypatch.setattr(scores_of, "put_scores", appended)
    with pytest.raises(InputError, match=r"marks.csv changed while it was read.*Nothing was imported"):
        run.import_scores(file, measure="judge", criteria=["harm"])
    assert not run.scores.height


def test_the_first_fault_of_a_file_is_the_one_that_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "marks.csv"
    file.write_text("id,candidate,repeat,harm,tone\nq1,A,1,3,3\nq1,A,2,3,9\nq1,A,3,8,3\n")
    with pytest.raises(InputError, match=r"tone = 9 lies outside 1 to 5"):
        run.import_scores(file, measure="judge", criteria=["harm", "tone"], range={"*": (1, 5)})


def test_the_notes_of_a_long_file_are_not_in_memory(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peaks at 200 and at 900 notes of 10,000 characters: 7 million lie between, two are allowed."""
    monkeypatch.setattr(scores_of, "_AT_ONCE", 100)
    peaks = []
    for n in (200, 900):
        file = tmp_path / f"{n}.jsonl"
        with file.open("w") as stream:
            for k in range(1, n + 1):
                row = {"id": "q1", "candidate": "A", "repeat": k, "harm": 1, "note": f"{k:010}" * 1_000}
                stream.write(json.dumps(row) + "\n")
        tracemalloc.start()
        assert n == run.import_scores(file, measure=f"judge{n}", criteria=["harm"]).scores
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 2_000_000
