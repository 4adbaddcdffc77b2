"""Checksums of scores: kept by every write, and checked by every read."""

import hashlib
import random
import re
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing

import pytest

from vivavoce.core.errors import StoreError
from vivavoce.core.records import Criterion, Measure, Unit, Value
from vivavoce.run.run import Run
from vivavoce.store import checksums, read
from vivavoce.store.checksums import delete_scores, stored_sums
from vivavoce.store.score_checks import differences
from vivavoce.store.write import ScoreRow, drop_ballots, drop_scores, put_measures, put_scores

Make = Callable[..., Run]
MEASURES = [
    Measure(metric=name, signature=f"{name}()@1", rater=name, criterion=Criterion(criterion="c", high=None))
    for name in ("odd", "even")
]


@pytest.fixture
def run(make: Make) -> Run:
    """Two candidates, three answers each, scored by two measures: ballots, units, parts and notes."""
    made = make()
    with made.file.writing() as db:
        odd, even = put_measures(db, MEASURES)
        put_scores(db, odd, [ScoreRow(n, Value(n / 7, {"tp": 1.0}, "a note")) for n in range(1, 7)])
        put_scores(
            db,
            even,
            [ScoreRow(n, Value(float(n)), 1, "ballot", n, Unit(unit="u", text=str(n))) for n in range(1, 7)],
        )
    return made


def tamper(run: Run, *statements: str) -> None:
    """Change the file as any SQLite client can."""
    with closing(sqlite3.connect(run.file.path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def wrong(run: Run) -> list[str]:
    with run.file.reading() as db:
        return [row.sentence for row in differences(db, stored_sums(db))]


CHANGES = {
    "UPDATE scores SET value = value + 1e-12 WHERE measure_id = 1 AND response_id = 2": "values",
    "UPDATE scores SET value = 5 * value WHERE measure_id = 2 AND response_id = 2": "values",
    "UPDATE scores SET value = NULL, status_id = 1 WHERE measure_id = 1 AND response_id = 1": "values",
    "UPDATE scores SET position = 9 WHERE measure_id = 2 AND response_id = 1": "values",
    "UPDATE scores SET position = NULL WHERE measure_id = 2 AND response_id = 1": "values",
    "UPDATE scores SET position = 0 WHERE measure_id = 1 AND response_id = 1": "values",
    "UPDATE scores SET pass_no = 2 WHERE measure_id = 1 AND response_id = 1": "values",
    "UPDATE scores SET unit_id = 0 WHERE measure_id = 2 AND response_id = 1": "values",
    "UPDATE scores SET ballot_id = 0 WHERE measure_id = 2 AND response_id = 1": "values",
    "UPDATE scores SET value = (SELECT value FROM scores s WHERE s.measure_id = 1 AND s.response_id = "
    "3 - scores.response_id) WHERE measure_id = 1 AND response_id IN (1, 2)": "values",
    "UPDATE responses SET edit_id = 7 WHERE response_id = 4": "values",
    "UPDATE responses SET repeat = 2 WHERE response_id = 1": "values",
    "UPDATE scores SET note = 'another' WHERE measure_id = 1 AND response_id = 1": "parts, notes or evidence",
    "UPDATE scores SET note = '' WHERE measure_id = 2 AND response_id = 1": "parts, notes or evidence",
    "UPDATE scores SET parts = NULL WHERE measure_id = 1 AND response_id = 6": "parts, notes or evidence",
    "DELETE FROM scores WHERE measure_id = 1 AND response_id = 3": "2 rows where 3",
    "DELETE FROM scores WHERE measure_id = 1": "0 rows where 3",
    "INSERT INTO scores SELECT measure_id, response_id, unit_id, ballot_id, 7, position, value, status_id, "
    "parts, note FROM scores WHERE measure_id = 1 AND response_id = 3": "4 rows where 3",
    "INSERT INTO scores SELECT 2, response_id, unit_id, ballot_id, 7, position, value, status_id, "
    "parts, note FROM scores WHERE measure_id = 1 AND response_id = 3": "4 rows where 3",
    "UPDATE responses SET candidate_id = 2, repeat = 2 WHERE response_id = 3": "2 rows where 3",
    "UPDATE units SET text = '7' WHERE text = '1'": "values",
    "UPDATE units SET unit = 'v' WHERE text = '6'": "values",
    "UPDATE ballots SET ballot = 'another' WHERE ballot = 'ballot'": "values",
    "UPDATE measures SET direction = 'lower' WHERE measure_id = 1": "declaration",
    "UPDATE measures SET low = -1 WHERE measure_id = 1": "declaration",
    "UPDATE measures SET high = 100 WHERE measure_id = 1": "declaration",
    "UPDATE measures SET if_unanswered = 'correct' WHERE measure_id = 2": "declaration",
    "UPDATE measures SET pool = 'none' WHERE measure_id = 2": "declaration",
    "UPDATE measures SET smallest_difference = 0.5 WHERE measure_id = 2": "declaration",
    "UPDATE measures SET rater = 'another' WHERE measure_id = 2": "declaration",
    "UPDATE measures SET signature = 'odd()@2' WHERE measure_id = 1": "declaration",
    "UPDATE measures SET criterion = 'd' WHERE measure_id = 1": "declaration",
    "UPDATE candidates SET candidate = 'Z' WHERE candidate = 'A'": "declaration",
    "DELETE FROM score_checksums WHERE measure_id = 1 AND candidate_id = 1": "no checksum",
    "UPDATE score_checksums SET rows = rows + 1": "3 rows where 4",
    "UPDATE score_checksums SET scores = scores + 1": "values",
}


@pytest.mark.parametrize("statement", CHANGES)
def test_scores_changed_by_another_program_are_not_read(run: Run, statement: str) -> None:
    tamper(run, statement)
    words = f"exam.viva: the scores of .: .*{CHANGES[statement]}.*changed outside vivavoce"
    with run.file.reading() as db, pytest.raises(StoreError, match=words):
        read.scores(db, details=True)


def test_what_is_not_read_is_not_complained_of(run: Run) -> None:
    tamper(run, "UPDATE scores SET value = 9 WHERE measure_id = 1 AND response_id = 1")  # candidate A
    with run.file.reading() as db:
        assert 6 == read.scores(db, measures=[2]).height
        assert 3 == read.scores(db, measures=[1], candidates=["B"]).height
        with pytest.raises(
            StoreError, match=r"scores of A: values.* \(measure odd, criterion c, rater odd\)"
        ):
            read.scores(db, measures=[1], candidates=["A"])


def test_texts_are_checked_where_they_are_read(run: Run) -> None:
    tamper(run, "UPDATE scores SET note = 'another' WHERE measure_id = 1 AND response_id = 1")
    assert 12 == run.scores.height
    with run.file.reading() as db, pytest.raises(StoreError, match="parts, notes or evidence"):
        read.scores(db, details=True)


def test_a_measure_whose_scores_are_all_gone_is_still_asked_for(run: Run) -> None:
    tamper(run, "DELETE FROM scores WHERE measure_id = 1")
    assert ["odd", "even"] == [measure.metric for measure in run.measures]
    with pytest.raises(StoreError, match="0 rows where 3 were written"):
        run.compare("A", "B", metric="odd")


def test_a_run_without_scores_has_no_checksums(make: Make) -> None:
    run = make()
    assert (0, []) == (run.scores.height, wrong(run))


@pytest.mark.parametrize("value", [-0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, 0.1 + 0.2, 1e18])
def test_a_value_that_is_stored_is_the_value_that_is_read(make: Make, value: float) -> None:
    run = make()
    with run.file.writing() as db:
        (odd,) = put_measures(db, MEASURES[:1])
        put_scores(db, odd, [ScoreRow(1, Value(value), position=2**62)])
    assert [float(value)] == run.scores["value"].to_list()
    assert [] == wrong(run)


def test_a_value_that_fits_no_table_changes_nothing(run: Run) -> None:
    with pytest.raises(OverflowError), run.file.writing() as db:
        put_scores(db, 1, [ScoreRow(1, Value(1.0), pass_no=9, position=2**64)])
    assert (12, []) == (run.scores.height, wrong(run))


def test_two_rows_of_one_key_count_once(run: Run) -> None:
    with run.file.writing() as db:
        values = (Value(None, {}, "lost", "failed"), Value(0.5), Value(0.7))
        put_scores(db, 1, [ScoreRow(1, value, pass_no=5) for value in values])
    assert [0.5] == run.scores.filter(pass_no=5)["value"].to_list()
    assert [] == wrong(run)


@pytest.mark.parametrize("seed", range(8))
def test_checksums_that_are_kept_are_those_of_the_rows(make: Make, seed: int) -> None:
    """Any order of writes, replacements and deletes ends in the sums of the rows that are there."""
    run, rng = make(), random.Random(seed)
    statuses = ("ok", "ok", "failed", "unreadable")
    for _ in range(15):
        with run.file.writing() as db:
            keys = put_measures(db, MEASURES)
            rows = []
            for _ in range(rng.randrange(8)):
                status = rng.choice(statuses)
                value = Value(
                    rng.choice((0.0, 0.5, 1.0)) if status == "ok" else None,
                    {"n": 1.0} if rng.random() < 0.5 else {},
                    rng.choice((None, "", "why")),
                    status,
                )
                unit = Unit(unit="u", text="t") if rng.random() < 0.3 else None
                rows.append(ScoreRow(rng.randint(1, 6), value, rng.randint(1, 2), rng.choice(("", "x", "y")),
                                     rng.choice((None, 1, 2)), unit))  # fmt: skip
            put_scores(db, rng.choice(keys), rows)
            if rng.random() < 0.3:
                drop_scores(db, keys[:1], rng.randint(1, 2), rng.sample(range(1, 7), 3))
            if rng.random() < 0.2:
                drop_ballots(db, keys, 1, ["x"])
            if rng.random() < 0.1:
                delete_scores(db, "measure_id = ?", keys[:1])
        assert [] == wrong(run)
    assert run.scores.height == sum(
        n for (n,) in sqlite3.connect(run.file.path).execute("SELECT rows FROM score_checksums")
    )


def test_the_order_and_the_chunks_of_rows_do_not_matter(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with run.file.reading() as db:
        whole = stored_sums(db)
        monkeypatch.setattr(checksums, "CHUNK", 2)
        assert whole == stored_sums(db)
        assert whole == stored_sums(db, "true ORDER BY value DESC")


def test_an_abandoned_write_leaves_the_checksums(run: Run) -> None:
    rows = [ScoreRow(n, Value(0.0), pass_no=3) for n in (1, 99)]  # there is no response 99
    with pytest.raises(sqlite3.IntegrityError), run.file.writing() as db:
        put_scores(db, 1, rows)
    assert [] == wrong(run)


def test_scores_have_one_door(root) -> None:
    """Whoever inserts, changes or deletes scores elsewhere leaves the checksums behind."""
    doors = re.compile(r"(INSERT INTO|DELETE FROM|UPDATE|REPLACE INTO)\s+(main\.)?scores\b", re.IGNORECASE)
    found = [
        path.name
        for path in sorted((root / "src").rglob("*.py"))
        if doors.search(path.read_text(encoding="utf-8"))
    ]
    # A merge renews the checksums of what it touched, and a redacted run those of all.
    assert {"checksums.py", "merge.py", "forgetting.py", "rewriting.py"} == set(found)


def test_the_checksum_of_a_row_is_that_of_the_written_rule(run: Run) -> None:
    """Worked out in whole numbers, apart from the arrays."""
    mask = 2**64 - 1

    def factor(name: str) -> int:
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") | 1

    def mixed(x: int) -> int:
        x ^= x >> 33
        x = x * 0xFF51AFD7ED558CCD & mask
        x ^= x >> 33
        x = x * 0xC4CEB9FE1A85EC53 & mask
        return x ^ x >> 33

    def named(text: str) -> int:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")

    total = 0
    with run.file.reading() as db:
        rows = db.execute(
            "SELECT measure_id, response_id, unit, u.text, ballot, pass_no, position, value, status_id, "
            "item_id, repeat, edit_id FROM scores JOIN responses USING (response_id) "
            "JOIN units u USING (unit_id) JOIN ballots USING (ballot_id) "
            "WHERE (measure_id, candidate_id) = (2, 2)"
        ).fetchall()
        assert 3 == len(rows)
        for measure, response, unit, text, ballot, pass_no, position, value, status, *place in rows:
            item, repeat, edit = place
            (bits,) = struct.unpack("<Q", struct.pack("<d", value))
            fields = {
                "measure_id": measure, "response_id": response, "unit_id": named(f"1:{unit}:{text}"),
                "ballot_id": named(f"6:{ballot}"),
                "pass_no": pass_no, "position": position, "value": bits ^ bits >> 32,
                "status_id": 2 * status + 1, "item_id": item, "repeat": repeat, "edit_id": edit,
            }  # fmt: skip
            total += mixed(sum(factor(name) * field for name, field in fields.items()) & mask)
        assert total & mask == stored_sums(db)[2, 2].scores
