"""Scores on a ballot: those of the measures, responses, ballot and pass asked for, found by their key."""

from tests.store.statements import recorded
from tests.studies.making import marked

from vivavoce.core.records import Criterion, Measure, Value
from vivavoce.store.ballot_scores import BallotScore, ballot_scores, rater_measures
from vivavoce.store.write import ScoreRow, put_measures, put_scores


def test_a_ballot_has_its_own_scores_and_no_scan_finds_them(tmp_path):
    run = marked(tmp_path, {"A": {"q1": 1, "q2": 0.5}})
    criterion = Criterion(criterion="c", low=0, high=1)
    measure = Measure(metric="m", signature="m@1", rater="anna", criterion=criterion)
    with run.file.writing() as db:
        (key,) = put_measures(db, [measure])
        put_scores(
            db,
            key,
            [
                ScoreRow(1, Value(1.0, note="a remark")),
                ScoreRow(2, Value(None, note="lost", status="failed")),
                ScoreRow(1, Value(0.0), pass_no=2),
                ScoreRow(1, Value(0.5), ballot="x"),
            ],
        )
    with recorded() as record, run.file.reading() as db:
        keys = rater_measures(db, "m@1", "anna")
        assert {"c": key} == keys
        assert {} == rater_measures(db, "m@1", "ben")
        first = BallotScore(key, 1, 1.0, "ok", "a remark")
        assert [first, BallotScore(key, 2, None, "failed", "lost")] == ballot_scores(db, [key], [1, 2])
        assert [first] == ballot_scores(db, [key], [1])
        assert [0.0] == [score.value for score in ballot_scores(db, [key], [1, 2], pass_no=2)]
        assert [0.5] == [score.value for score in ballot_scores(db, [key], [1, 2], ballot="x")]
        assert [] == ballot_scores(db, [], [1, 2]) == ballot_scores(db, [key], [])
    plans = [line for s in record.statements if "FROM scores JOIN ballots" in s.sql for *_, line in s.plan]
    assert [] == [line for line in plans if line.startswith("SCAN scores")]
    assert any(line.startswith("SEARCH scores USING PRIMARY KEY") for line in plans)
