"""Evidence: stored with its score, found again, merged, protected, and gone with its score."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest
from tests.store.test_checksums import tamper
from tests.store.test_runfile import older

import vivavoce as viva
from vivavoce.core.errors import StoreError
from vivavoce.core.evidence import Evidence
from vivavoce.core.records import Criterion, Measure, Unit, Value
from vivavoce.run.run import Run
from vivavoce.store.checksums import delete_scores, delete_scores_of
from vivavoce.store.evidence import EVIDENCE, evidence_rows
from vivavoce.store.write import ScoreRow, drop_scores, put_measures, put_scores

Make = Callable[..., Run]
LEAFLET = Evidence("leaflets", "9f3a", "a.pdf", 2, 17, "Paracetamol lowers a fever.", "supports")
OTHER = Evidence("leaflets", "9f3a", "b.txt", None, None, "It may not.", "contradicts")
HOSTILE = Evidence(
    "=cmd|'x'!A1",
    "<script>",
    "../../etc/passwd\n\u202e",
    1,
    0,
    "\x00 '; DROP TABLE evidence; -- <img onerror=x> \U0001f600 ¨" + "x" * 100_000,
)
MEASURE = Measure(
    metric="facts", signature="facts()@1", rater="checker", criterion=Criterion(criterion="supported", high=1)
)


def store(run: Run, values: Sequence[Value], *, response: int = 1, pass_no: int = 1) -> int:
    """Score a response by units; each value is of the unit of its place."""
    with run.file.writing() as db:
        (key,) = put_measures(db, [MEASURE])
        rows = [
            ScoreRow(response, value, pass_no, unit=Unit(unit=str(n), text=f"fact {n}"))
            for n, value in enumerate(values, 1)
        ]
        put_scores(db, key, rows)
    return key


def counts(run: Run) -> tuple[int, int]:
    with run.file.reading() as db:
        return (
            db.execute("SELECT count(*) FROM evidence").fetchone()[0],
            db.execute("SELECT count(*) FROM passages").fetchone()[0],
        )


def passages(run: Run) -> list[tuple[object, ...]]:
    return run.evidence.select("candidate", "pass_no", "unit", "quote", "bearing").rows()


def whole(run: Run) -> bool:
    return not any(check.wrong for check in run.verify())


def test_a_passage_comes_back_as_it_was_given(make: Make) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(LEAFLET, OTHER)), Value(0.0, evidence=(HOSTILE,)), Value(1.0)])
    rows = run.evidence
    assert list(EVIDENCE) == rows.columns
    fields = Evidence._fields
    assert [LEAFLET, OTHER, HOSTILE] == [Evidence(*row) for row in rows.select(fields).iter_rows()]
    assert ["1", "1", "2"] == rows["unit"].to_list()
    assert {("exam", "q1", "", "A", 1, "", "facts", "supported", "checker", 1, "")} == set(
        rows.select("benchmark", "item", "variant", "candidate", "repeat", "edit", "metric", "criterion",
                    "rater", "pass_no", "ballot").rows()
    )  # fmt: skip
    assert whole(run)


def test_a_value_of_the_whole_response_may_rest_on_passages(make: Make) -> None:
    run = make()
    with run.file.writing() as db:
        (key,) = put_measures(db, [MEASURE])
        put_scores(db, key, [ScoreRow(1, Value(1.0, evidence=(LEAFLET,)))])
    assert [""] == run.evidence["unit"].to_list()


def test_a_run_without_evidence_has_an_empty_table(make: Make) -> None:
    run = make()
    run.score("token_f1")
    assert (0, list(EVIDENCE)) == (run.evidence.height, run.evidence.columns)
    assert "evidence" not in {check.check for check in run.verify()}


def test_rows_of_chosen_measures_alone_are_read(make: Make) -> None:
    run = make()
    key = store(run, [Value(1.0, evidence=(LEAFLET,))])
    with run.file.reading() as db:
        assert 1 == evidence_rows(db, [key]).height
        assert 0 == evidence_rows(db, []).height
        assert 0 == evidence_rows(db, [key + 1]).height


def test_units_that_rest_on_one_passage_share_it(make: Make) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(HOSTILE, LEAFLET))] * 50)
    store(run, [Value(0.0, evidence=(HOSTILE._replace(bearing="contradicts"),))] * 50, response=2)
    assert (150, 2) == counts(run)
    assert run.file.path.stat().st_size < 600_000


def test_the_same_words_elsewhere_are_another_passage(make: Make) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(LEAFLET, LEAFLET._replace(page=3), LEAFLET._replace(offset=None)))])
    assert (3, 3) == counts(run)


def test_two_passes_keep_their_evidence_apart(make: Make) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(LEAFLET,))])
    store(run, [Value(0.0, evidence=(OTHER,))], pass_no=2)
    assert [("A", 1, "1", LEAFLET.quote, "supports"), ("A", 2, "1", OTHER.quote, "contradicts")] == passages(
        run
    )
    assert whole(run)


# With its score


def test_a_score_that_stays_keeps_its_evidence(make: Make) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(LEAFLET,))])
    store(run, [Value(0.0, evidence=(OTHER,))])
    assert [LEAFLET.quote] == run.evidence["quote"].to_list()
    assert whole(run)


@pytest.mark.parametrize("better", [(OTHER,), ()])
def test_a_failed_score_that_is_replaced_takes_its_evidence_along(
    make: Make, better: tuple[Evidence, ...]
) -> None:
    run = make()
    store(run, [Value(None, note="failed: no reply", status="failed", evidence=(LEAFLET,)), Value(1.0)])
    store(run, [Value(1.0, evidence=better), Value(0.0, evidence=(LEAFLET,))])
    assert [passage.quote for passage in better] == run.evidence["quote"].to_list()
    assert whole(run)


def test_scores_that_are_dropped_take_their_evidence_along(make: Make) -> None:
    run = make()
    key = store(run, [Value(1.0, evidence=(LEAFLET, OTHER))])
    for response in (2, 3, 4):
        store(run, [Value(1.0, evidence=(LEAFLET,))], response=response)
    with run.file.writing() as db:
        drop_scores(db, [key], 1, [1])
        delete_scores_of(db, 2)
        delete_scores(db, "response_id = 3")
    assert (1, 2) == counts(run)
    assert whole(run)
    store(run, [Value(0.0, evidence=(OTHER,))])
    assert [("A", 1, "1", OTHER.quote, "contradicts")] == [row for row in passages(run) if row[0] == "A"]


def test_what_is_not_committed_leaves_neither_score_nor_evidence(make: Make) -> None:
    run = make()
    value = Value(1.0, evidence=(LEAFLET,))
    with pytest.raises(sqlite3.IntegrityError), run.file.writing() as db:
        put_scores(db, *put_measures(db, [MEASURE]), [ScoreRow(1, value), ScoreRow(99, value)])
    assert (0, 0) == counts(run)
    assert 0 == run.scores.height


def test_half_a_character_stores_nothing(make: Make) -> None:
    run = make()
    with pytest.raises(StoreError, match="half of a surrogate pair"):
        store(run, [Value(1.0, evidence=(LEAFLET,)), Value(1.0, evidence=(OTHER._replace(quote="\ud800"),))])
    assert (0, 0) == counts(run)
    assert 0 == run.scores.height


# Merged


def test_merged_runs_share_a_passage(make: Make) -> None:
    one, two = make("one.viva", "A"), make("two.viva", "B")
    store(one, [Value(1.0, evidence=(OTHER, LEAFLET))])
    store(two, [Value(0.0, evidence=(LEAFLET,)), Value(1.0, evidence=(HOSTILE,))])
    one.merge(two.file.path)
    expected = [("A", "1", OTHER), ("A", "1", LEAFLET), ("B", "1", LEAFLET), ("B", "2", HOSTILE)]
    rows = one.evidence.select("candidate", "unit", "quote").rows()
    assert [(*place, passage.quote) for *place, passage in expected] == rows
    assert (4, 3) == counts(one)
    assert whole(one)
    one.merge(two.file.path)
    assert (4, 3) == counts(one)


def test_a_merge_replaces_a_failed_score_with_its_evidence_and_no_other(make: Make) -> None:
    one, two = make("one.viva", "A"), make("two.viva", "A")
    lost = Value(None, status="failed", note="no reply", evidence=(OTHER,))
    store(one, [lost, Value(1.0, evidence=(LEAFLET,)), Value(1.0)])
    store(two, [Value(1.0, evidence=(LEAFLET,)), lost, Value(1.0, evidence=(HOSTILE,))])
    one.merge(two.file.path)
    assert [("1", LEAFLET.quote), ("2", LEAFLET.quote)] == one.evidence.select("unit", "quote").rows()
    assert whole(one)


def test_a_copy_holds_the_evidence(make: Make, tmp_path: Path) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(LEAFLET, HOSTILE))])
    copy = viva.open(run.copy(tmp_path / "copy.viva"))
    assert run.evidence.equals(copy.evidence)
    assert whole(copy)


# Protected


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE passages SET quote = 'It raises it.' WHERE passage_id = 1", "the passage 1 of the evidence"),
        ("UPDATE passages SET page = 7 WHERE passage_id = 2", "the passage 2 of the evidence does not fit"),
        ("UPDATE passages SET hash = hash || '0' WHERE passage_id = 1", "does not fit its hash"),
        ("UPDATE evidence SET bearing = 'contradicts' WHERE place = 1", "parts, notes or evidence were"),
        ("UPDATE evidence SET passage_id = 3 - passage_id", "parts, notes or evidence were changed"),
        ("UPDATE evidence SET place = place + 10", "parts, notes or evidence were changed"),
        ("DELETE FROM evidence WHERE place = 2", "parts, notes or evidence were changed"),
        ("DELETE FROM evidence", "parts, notes or evidence were changed"),
        ("INSERT INTO evidence SELECT measure_id, response_id, unit_id, ballot_id, pass_no, 3, 1, 'shown' "
         "FROM evidence WHERE place = 1", "parts, notes or evidence were changed"),
        ("DELETE FROM passages WHERE passage_id = 1", "belongs to a row of passages that is not there"),
        ("DELETE FROM scores", "a row of evidence belongs to a row of scores that is not there"),
    ],
)  # fmt: skip
def test_every_change_is_found(make: Make, statement: str, sentence: str) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(LEAFLET, OTHER))])
    tamper(run, statement)
    found = " ".join(name for check in run.verify() for name in check.first)
    assert sentence in found
    with run.file.reading() as db, pytest.raises(StoreError, match="changed outside vivavoce"):
        evidence_rows(db, [1])


def test_an_older_run_gets_the_tables(tmp_path: Path) -> None:
    for version in range(1, 10):
        path = tmp_path / f"{version}.viva"
        older(path, version)
        run = viva.open(path)
        assert pl.DataFrame(schema=run.evidence.schema).equals(run.evidence)
        store(run, [Value(1.0, evidence=(LEAFLET,))])
        assert [LEAFLET.quote] == run.evidence["quote"].to_list()
        assert whole(run)


def test_the_view_spells_the_rows_out(make: Make) -> None:
    run = make()
    store(run, [Value(1.0, evidence=(LEAFLET, OTHER))])
    columns = ", ".join(f'"{name}"' for name in EVIDENCE)
    with run.file.reading() as db:
        assert (
            run.evidence.rows()
            == db.execute(f"SELECT {columns} FROM evidence_rows ORDER BY unit, place").fetchall()
        )
