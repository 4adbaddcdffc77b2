"""Ballots: what raters say becomes scores; what was not sent, or not filled in, is told in a sentence."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.people.raters import ballot, by_word, examined, filled, lines, with_packets, write
from tests.studies.making import made

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.people.packets import write_packets
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.run.run import Run
from vivavoce.store import read
from vivavoce.studies.score_table import counted_value

ORDER = by_word("key", "five", "some", "spoonful")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return with_packets(tmp_path, 3, ["anna", "ben"])


def marks(run: Run, criterion: str, item: str = "q00") -> dict[str, Any]:
    rows = run.scores.filter((pl.col("criterion") == criterion) & (pl.col("item") == item))
    return dict(rows.select("candidate", "value").iter_rows())


def test_ranks_become_marks_of_every_candidate(run: Run, tmp_path: Path) -> None:
    (done,) = store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", ORDER)])
    assert (3, 0, 0) == (done.new, done.unchanged, done.replaced)
    assert {"reference": 1, "Able": 2, "Fair": 3, "Poor": 4} == marks(run, "rank")
    assert pytest.approx({"reference": 1, "Able": 2 / 3, "Fair": 1 / 3, "Poor": 0}) == marks(run, "ahead")
    assert {"reference": 1, "Able": 0, "Fair": 0, "Poor": 0} == marks(run, "good")
    assert {"reference": 0, "Able": 0, "Fair": 1, "Poor": 1} == marks(run, "bad")
    scores = run.scores
    assert {"anna"} == set(scores["rater"])
    assert 3 == scores["ballot"].n_unique()
    assert {1, 2, 3, 4} == set(scores["position"])
    assert {"ceiling"} == set(scores.filter(pl.col("candidate") == "reference")["role"])


def test_the_page_and_the_sheet_say_the_same(run: Run, tmp_path: Path) -> None:
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", ORDER)])
    (again,) = store_ballots(run.file, [ballot(tmp_path / "out" / "anna.csv", ORDER, tmp_path / "b.json")])
    assert (0, 3, 0) == (again.new, again.unchanged, again.replaced)


def test_reading_twice_changes_nothing(run: Run, tmp_path: Path) -> None:
    file = filled(tmp_path / "out" / "anna.csv", ORDER)
    store_ballots(run.file, [file])
    before = (run.scores, run.responses)
    store_ballots(run.file, [file])
    assert before[0].equals(run.scores)
    assert before[1].equals(run.responses)
    with run.file.reading() as db:
        (n,) = db.execute("SELECT count(*) FROM provenance WHERE verb = 'panel read'").fetchone()
    assert 1 == n


def test_ties_share_a_mid_rank(run: Run, tmp_path: Path) -> None:
    def opinion(item: str, answer: str) -> dict[str, Any]:
        return {"rank": 3 if "key" in answer or "five" in answer else "3,5", "tag": "ok"}

    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", opinion)])
    assert {"reference": 1.5, "Able": 1.5, "Fair": 3.5, "Poor": 3.5} == marks(run, "rank")
    assert pytest.approx({"reference": 5 / 6, "Able": 5 / 6, "Fair": 1 / 6, "Poor": 1 / 6}) == marks(
        run, "ahead"
    )


def test_what_is_clearly_wrong_ranks_last_whatever_its_number(run: Run, tmp_path: Path) -> None:
    def opinion(item: str, answer: str) -> dict[str, Any]:
        wrong = {"rank": 1, "clearly_wrong": "X"} if "five" in answer else {"clearly_wrong": "yes"}
        return wrong if "five" in answer or "some" in answer else {"rank": 2, "tag": "good"}

    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", opinion)])
    assert {"reference": 1.5, "Poor": 1.5, "Able": 3.5, "Fair": 3.5} == marks(run, "rank")
    assert {"reference": 0, "Poor": 0, "Able": 1, "Fair": 1} == marks(run, "clearly_wrong")
    assert {"reference": 0, "Poor": 0, "Able": 1, "Fair": 1} == marks(run, "bad")


def test_the_silent_lose_to_all_and_equals_share(tmp_path: Path) -> None:
    answers = {"Twin": {"q00": "five milligrams for q00"}, "Lost": {"q00": None}}
    run = examined(tmp_path, 1, silent=["Poor q00"], answers=answers)
    write_packets(run.file, ["anna"], tmp_path / "out")
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", ORDER)])
    assert {"reference": 1, "Able": 2.5, "Twin": 2.5, "Fair": 4, "Poor": None, "Lost": None} == marks(
        run, "rank"
    )
    assert pytest.approx({"reference": 1, "Able": 2.5 / 4, "Twin": 2.5 / 4, "Fair": 1 / 4}) == {
        k: v for k, v in marks(run, "ahead").items() if v is not None
    }
    status = dict(run.scores.filter(pl.col("criterion") == "rank").select("candidate", "status").iter_rows())
    assert ("unanswered", "failed") == (status["Poor"], status["Lost"])


def test_a_remark_goes_with_its_ballot(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    first = rows[0]["item"]
    rows[1]["remark"] = "'=check the dose"
    store_ballots(run.file, [write(tmp_path / "a.csv", rows)])
    with run.file.reading() as db:
        found = {n for (n,) in db.execute("SELECT DISTINCT note FROM scores WHERE note IS NOT NULL")}
    assert {"=check the dose"} == found
    assert first in set(run.scores["item"])


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_sheet_saved_with_another_sign_is_read(run: Run, tmp_path: Path, delimiter: str) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    store_ballots(run.file, [write(tmp_path / "a.csv", rows, delimiter=delimiter)])
    assert 1 == marks(run, "rank")["reference"]


def test_rows_may_be_sorted_and_line_ends_changed(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    mixed = [{k: v.replace("\n", "\r\n") for k, v in row.items()} for row in reversed(rows)]
    store_ballots(run.file, [write(tmp_path / "a.csv", mixed)])
    assert 4 == marks(run, "rank")["Poor"]


def test_a_tampered_answer_is_told_with_its_question(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    victim = next(row for row in rows if "five" in row["answer"] and row["item"] == "q01")
    victim["answer"] = victim["answer"].replace("five", "fifty")
    with pytest.raises(InputError, match="not what anna was sent, at q01: a question, an answer or a seal"):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])
    assert 0 == run.scores.height


def test_answers_that_changed_places_are_told(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    rows[0]["answer"], rows[1]["answer"] = rows[1]["answer"], rows[0]["answer"]
    with pytest.raises(InputError, match=f"not what anna was sent, at {rows[0]['item']}"):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])


def test_a_tampered_page_is_told(run: Run, tmp_path: Path) -> None:
    path = ballot(tmp_path / "out" / "anna.csv", ORDER, tmp_path / "b.json")
    body = json.loads(path.read_text())
    body["items"][1]["question"] += " Really?"
    path.write_text(json.dumps(body))
    with pytest.raises(InputError, match=f"at {body['items'][1]['item']}"):
        store_ballots(run.file, [path])


def test_one_raters_packet_is_not_anothers(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    for row in rows:
        row["rater"] = "ben"
    with pytest.raises(InputError, match="is not what ben was sent"):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])


def test_a_foreign_packet_is_told(run: Run, tmp_path: Path) -> None:
    other = examined(tmp_path / "other", 4)
    done = write_packets(other.file, ["anna"], tmp_path / "other" / "out")
    with pytest.raises(InputError, match=rf"panel '{done.panel}', which was not made from .*run\.viva"):
        store_ballots(run.file, [filled(tmp_path / "other" / "out" / "anna.csv", ORDER)])


def test_a_run_without_panels_says_so(run: Run, tmp_path: Path) -> None:
    plain = examined(tmp_path / "plain", 2)
    with pytest.raises(InputError, match="no panel was made from it"):
        store_ballots(plain.file, [filled(tmp_path / "out" / "anna.csv", ORDER)])


def test_a_half_filled_packet_is_told_and_taken_in_part(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    next(row for row in rows if row["item"] == "q02" and row["label"] == "B")["rank"] = ""
    for row in rows:
        if row["item"] == "q00":
            row["tag"] = ""
    file = write(tmp_path / "a.csv", rows)
    with pytest.raises(InputError, match="1 of 3 questions are complete") as told:
        store_ballots(run.file, [file])
    assert "q02 lacks the rank of B" in str(told.value)
    assert "q00 lacks the tag of A, B, C, D" in str(told.value)
    assert 0 == run.scores.height
    (done,) = store_ballots(run.file, [file], partial=True)
    assert (2, 1) == (done.new, done.skipped)
    assert {} == marks(run, "rank", "q02")
    assert {None} == set(marks(run, "good", "q00").values())
    assert {"failed"} == set(
        run.scores.filter((pl.col("criterion") == "good") & (pl.col("item") == "q00"))["status"]
    )


def test_what_was_left_open_is_filled_later_without_replacing(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    for row in rows:
        row["tag"] = ""
    store_ballots(run.file, [write(tmp_path / "a.csv", rows)], partial=True)
    (done,) = store_ballots(run.file, [tmp_path / "out" / "anna.csv"])
    assert (3, 0, 0) == (done.new, done.unchanged, done.replaced)
    assert 1 == marks(run, "good")["reference"]


def test_questions_left_out_altogether_are_gaps(run: Run, tmp_path: Path) -> None:
    rows = [r for r in lines(filled(tmp_path / "out" / "anna.csv", ORDER)) if r["item"] != "q01"]
    with pytest.raises(InputError, match="q01 lacks everything"):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])


def test_a_mind_changed_is_refused_and_then_taken_with_both_noted(run: Run, tmp_path: Path) -> None:
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", ORDER)])
    later = filled(
        tmp_path / "out" / "anna.csv", by_word("five", "key", "some", "spoonful"), tmp_path / "b.csv"
    )
    with pytest.raises(InputError, match=r"anna said otherwise before of q0.*--replace"):
        store_ballots(run.file, [later])
    assert 2 == marks(run, "rank")["Able"]
    (done,) = store_ballots(run.file, [later], replace=True)
    assert (0, 0, 3) == (done.new, done.unchanged, done.replaced)
    assert 1 == marks(run, "rank")["Able"]
    with run.file.reading() as db:
        sql = "SELECT body FROM events WHERE kind = 'panel ballots replaced'"
        (body,) = (json.loads(text) for (text,) in db.execute(sql))
    moves = {(one["before"], one["after"]) for one in body["changes"] if one["criterion"] == "rank"}
    assert {(1.0, 2.0), (2.0, 1.0)} == moves


def changes(run: Run) -> list[dict[str, Any]]:
    with run.file.reading() as db:
        sql = "SELECT body FROM events WHERE kind = 'panel ballots replaced'"
        return [one for (text,) in db.execute(sql) for one in json.loads(text)["changes"]]


def test_a_tag_taken_back_is_refused_and_then_leaves_the_run(run: Run, tmp_path: Path) -> None:
    file = filled(tmp_path / "out" / "anna.csv", ORDER)
    store_ballots(run.file, [file])
    later = write(tmp_path / "b.csv", [row | {"tag": ""} for row in lines(file)])
    with pytest.raises(
        InputError, match=r"said otherwise before of q0\d \(good of answer A: .*, now nothing\)"
    ):
        store_ballots(run.file, [later], partial=True)
    assert 1 == marks(run, "good")["reference"]
    (done,) = store_ballots(run.file, [later], partial=True, replace=True)
    assert (0, 0, 3) == (done.new, done.unchanged, done.replaced)
    assert {None} == set(marks(run, "good").values()) == set(marks(run, "bad").values())
    assert {"reference": 1, "Able": 2, "Fair": 3, "Poor": 4} == marks(run, "rank")
    logged = [(one["criterion"], one["before"], one["after"]) for one in changes(run)]
    assert (2 * 3 * 4, 3) == (len(logged), logged.count(("good", 1.0, None)))
    (again,) = store_ballots(run.file, [later], partial=True, replace=True)
    assert (0, 3, 0) == (again.new, again.unchanged, again.replaced)


def test_a_rank_taken_back_is_refused_and_then_takes_its_question_out(run: Run, tmp_path: Path) -> None:
    file = filled(tmp_path / "out" / "anna.csv", ORDER)
    store_ballots(run.file, [file, filled(tmp_path / "out" / "ben.csv", ORDER)])
    rows = lines(file)
    next(row for row in rows if row["item"] == "q01" and row["label"] == "B")["rank"] = ""
    later = write(tmp_path / "b.csv", rows)
    with pytest.raises(
        InputError, match=r"before of q01 \(rank of answer A: \d\.0, now nothing\). --replace"
    ):
        store_ballots(run.file, [later], partial=True)
    assert 24 * 5 == run.scores.height
    (done,) = store_ballots(run.file, [later], partial=True, replace=True)
    assert (0, 2, 1, 1) == (done.new, done.unchanged, done.replaced, done.skipped)
    left = run.scores.filter(pl.col("item") == "q01")
    assert ({"ben"}, 20 * 5) == (set(left["rater"]), run.scores.height)
    ranks = [one for one in changes(run) if one["criterion"] == "rank"]
    assert {("q01", n, None) for n in (1, 2, 3, 4)} == {(c["item"], c["before"], c["after"]) for c in ranks}
    (back,) = store_ballots(run.file, [file])
    assert (1, 2, 0) == (back.new, back.unchanged, back.replaced)


def test_silence_beside_silence_counts_nothing(tmp_path: Path) -> None:
    """Two are silent: neither has a score of its own, and neither gets half of the tie where scores count."""
    run = examined(tmp_path, 1, silent=["Poor q00", "Fair q00"])
    write_packets(run.file, ["anna"], tmp_path / "out")
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", ORDER)])
    assert pytest.approx({"reference": 1, "Able": 2 / 3}) == {
        who: value for who, value in marks(run, "ahead").items() if value is not None
    }
    with run.file.reading() as db:
        (ahead,) = (m for m in read.measures(db) if m.measure.criterion.criterion == "ahead")
        rows = read.scores(db, details=True).filter(pl.col("measure_id") == ahead.key)
    silent = rows.filter(pl.col("value").is_null()).with_columns(
        counted=counted_value(ahead.measure.criterion)
    )
    assert {"Fair": 0, "Poor": 0} == dict(silent.select("candidate", "counted").iter_rows())


def test_the_reference_is_stored_as_it_was_shown(tmp_path: Path) -> None:
    items = [{"item": "q", "format": "multi_hop", "question": "What?", "references": ["insulin"],
              "steps": ["Step 1: one", "Step 2: other"]}]  # fmt: skip
    run = made(tmp_path, {"A": {"q": "Final Answer: x"}, "B": {"q": "Final Answer: y"}}, items=items)
    write_packets(run.file, ["anna"], tmp_path / "out")
    store_ballots(run.file, [filled(tmp_path / "out" / "anna.csv", by_word("insulin", "x", "y"))])
    (text,) = run.responses.filter(pl.col("candidate") == "reference")["text"]
    assert "Final Answer: insulin\nReasoning:\n1. one\n2. other" == text
    assert text in [row["answer"] for row in lines(tmp_path / "out" / "anna.csv")]


def test_a_ceiling_that_was_collected_is_the_reference(tmp_path: Path) -> None:
    """It holds the same key under other labels; a reference that says something else is refused."""
    items = [{"item": "q", "format": "multi_hop", "question": "What?", "references": ["insulin"],
              "steps": ["one"]}]  # fmt: skip
    for name, text in (("same", "Final answer: insulin\nReasoning: one"), ("other", "Final answer: z")):
        answers = {"A": {"q": "Final Answer: x"}, "B": {"q": "Final Answer: y"}, "reference": {"q": text}}
        run = made(tmp_path / name, answers, items=items, role={"reference": "ceiling"})
        write_packets(run.file, ["anna"], tmp_path / name / "out")
        file = filled(tmp_path / name / "out" / "anna.csv", by_word("insulin", "x", "y"))
        if name == "same":
            store_ballots(run.file, [file])
            assert 1 == marks(run, "rank", "q")["reference"]
        else:
            with pytest.raises(InputError, match="reference has another answer to q"):
                store_ballots(run.file, [file])


def test_one_bad_file_stores_none(run: Run, tmp_path: Path) -> None:
    good = filled(tmp_path / "out" / "anna.csv", ORDER)
    with pytest.raises(InputError, match=r"ben\.csv is half filled"):
        store_ballots(run.file, [good, tmp_path / "out" / "ben.csv"])
    assert 0 == run.scores.height


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("rank", "first", "a rank is a number from 1, the best, to 4, the number of answers, not 'first'"),
        ("rank", "0", "a rank is a number from 1"),
        ("rank", "5", "to 4, the number of answers, not '5'"),
        ("rank", "inf", "a rank is a number from 1"),
        ("rank", "9" * 400, "a rank is a number from 1"),
        ("rank", "nan", "a rank is a number from 1"),
        ("rank", "1_0", "a rank is a number from 1"),
        ("tag", "fine", "its tag is good, okay or bad, not 'fine'"),
        ("clearly_wrong", "maybe", "clearly_wrong is x or empty, not 'maybe'"),
        ("label", "B", "stands there twice"),
        ("item", "q77", "asked anna nothing called 'q77'"),
        ("rater", "dora", "mixes the packets of 'anna', 'dora'"),
        ("panel", "p0", "mixes 2 panels"),
        ("seal", "0" * 16, "not what anna was sent"),
    ],
)
def test_a_wrong_cell_is_told(run: Run, tmp_path: Path, column: str, value: str, said: str) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    rows[0][column] = value
    if column == "label":
        rows[1]["label"] = value
    with pytest.raises(InputError, match=said):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])
    assert 0 == run.scores.height


def test_clearly_wrong_and_good_is_a_slip(run: Run, tmp_path: Path) -> None:
    file = filled(tmp_path / "out" / "anna.csv", lambda *_: {"clearly_wrong": "x", "tag": "good"})
    with pytest.raises(InputError, match="clearly wrong, and good as well"):
        store_ballots(run.file, [file])


def test_an_unknown_rater_is_told(run: Run, tmp_path: Path) -> None:
    rows = lines(filled(tmp_path / "out" / "anna.csv", ORDER))
    for row in rows:
        row["rater"] = "anne"
    with pytest.raises(InputError, match=r"'anne' is no rater of panel .* Did you mean 'anna'"):
        store_ballots(run.file, [write(tmp_path / "a.csv", rows)])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("anna.html", b"<html>", "is the packet and not the ballot"),
        ("anna.xlsx", b"PK", "is no ballot"),
        ("anna.json", b"{", "broken JSON"),
        ("anna.json", b"[]", "is no ballot: it lacks the line"),
        ("anna.json", b'{"schema": "viva.panel.ballot/1", "panel": "p"}', "changed by hand or cut short"),
        ("anna.csv", b"a,b\n1,2\n", "is no packet's sheet"),
        ("anna.csv", b"panel,rater\np,anna\n", "the column 'item' is gone"),
        ("anna.csv", "panel,é".encode("latin-1"), "is not UTF-8; save it again as CSV UTF-8"),
    ],
)
def test_another_file_is_told(run: Run, tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        store_ballots(run.file, [path])


def test_no_file_is_told(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file at"):
        store_ballots(run.file, [tmp_path / "none.csv"])
    with pytest.raises(SelectionError, match="name the ballots"):
        store_ballots(run.file, [])


def test_an_item_worded_otherwise_since_is_told(tmp_path: Path) -> None:
    run = examined(tmp_path, 2)
    write_packets(run.file, ["anna"], tmp_path / "out")
    file = filled(tmp_path / "out" / "anna.csv", ORDER)
    items = [{"item": f"q0{k}", "question": "Now what?"} for k in range(2)]
    spec = made(tmp_path / "b", {"New": {"q00": "x", "q01": "y"}}, items=items)
    run.import_answers(
        tmp_path / "b" / "answers-exam.jsonl",
        benchmark=f"jsonl(path='{spec.file.path.parent / 'exam.jsonl'}')",
        new_version=True,
    )
    with pytest.raises(InputError, match="is worded otherwise in this run since panel"):
        store_ballots(run.file, [file])
