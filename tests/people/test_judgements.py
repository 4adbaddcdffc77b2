"""Judgements that come one at a time are the ballots of files: the same rows, once each, none lost."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.people.raters import by_word, drawn, examined, filled, lines

from vivavoce.core.errors import InputError, StoreError
from vivavoce.people.key import Key
from vivavoce.people.packets import write_packets
from vivavoce.people.question import plain
from vivavoce.people.stored_keys import read_keys
from vivavoce.people.storing.judgements import (
    StaleJudgementError,
    judgements,
    progress,
    store_judgement,
)
from vivavoce.people.storing.store_ballots import store_ballots
from vivavoce.run.run import Run

RANKED = by_word("five milligrams", "some milligrams")


def rating(item: str, answer: str) -> Mapping[str, Any]:
    if "five" in answer:
        return {"correct": 1, "remark": "clear"}
    return {"correct": 0 if "some" in answer else "cannot tell", "remark": ""}


SETTINGS: dict[str, dict[str, Any]] = {
    "rank": {"task": "rank"},
    "rate": {"task": "rate", "rubric": "correctness"},
}
OPINIONS = {"rank": RANKED, "rate": rating}


def panel(folder: Path, task: str) -> tuple[Run, Key]:
    folder.mkdir()
    run = drawn(examined(folder, 5, silent=["Poor q03"]))
    write_packets(run.file, ["anna", "ben"], folder / "out", **SETTINGS[task])
    with run.file.reading() as db:
        (key,) = read_keys(db).values()
    return run, key


def entered(sheet: Path, task: str) -> dict[str, dict[str, dict[str, Any]]]:
    """By question what a rater enters for each label."""
    entries: dict[str, dict[str, dict[str, Any]]] = {}
    for row in lines(sheet):
        item = plain(row["item"])
        entries.setdefault(item, {})[row["label"]] = dict(OPINIONS[task](item, plain(row["answer"])))
    return entries


def score_rows(run: Run) -> list[tuple[object, ...]]:
    with run.file.reading() as db:
        return sorted(
            db.execute(
                "SELECT measures.signature, criterion, rater, benchmark, item, candidate, repeat, ballot, "
                "pass_no, position, value, scores.status_id, scores.note FROM scores "
                "JOIN measures USING (measure_id) JOIN ballots USING (ballot_id) "
                "JOIN responses USING (response_id) JOIN items USING (item_id) "
                "JOIN benchmarks USING (benchmark_id) JOIN candidates USING (candidate_id)"
            ).fetchall(),
            key=str,
        )


def events(run: Run) -> list[str]:
    with run.file.reading() as db:
        return [body for (body,) in db.execute("SELECT body FROM events WHERE kind LIKE '%replaced'")]


@pytest.mark.parametrize("task", ["rank", "rate"])
def test_ballots_as_files_and_one_by_one_give_identical_score_rows(tmp_path: Path, task: str) -> None:
    by_file, _ = panel(tmp_path / "file", task)
    by_page, key = panel(tmp_path / "page", task)
    for who in ("anna", "ben"):
        sheet = tmp_path / "file" / "out" / f"{who}.csv"
        for question, entries in entered(sheet, task).items():
            assert store_judgement(by_page.file, key, who, question, entries).outcome == "new"
        store_ballots(by_file.file, [filled(sheet, OPINIONS[task])])
    assert score_rows(by_file)
    assert score_rows(by_file) == score_rows(by_page)


@pytest.mark.parametrize("task", ["rank", "rate"])
def test_what_is_stored_reads_back_as_it_was_entered_and_changes_nothing(tmp_path: Path, task: str) -> None:
    run, key = panel(tmp_path / "run", task)
    store_ballots(run.file, [filled(tmp_path / "run" / "out" / "anna.csv", OPINIONS[task])])
    before = score_rows(run)
    with run.file.reading() as db:
        stored = {entry.question: entry for entry in judgements(db, key, "anna")}
        assert [entry.question.name for entry in key.packets["anna"]] == list(stored)
        assert [(who.rater, who.n_done, who.n_left) for who in progress(db, key)] == [
            ("anna", 5, 0),
            ("ben", 0, 5),
        ]
    for name, judgement in stored.items():
        again = store_judgement(run.file, key, "anna", name, judgement.entries)
        assert ("unchanged", judgement) == (again.outcome, again.judgement)
    assert before == score_rows(run)
    assert events(run) == []


def test_the_status_of_a_run_counts_judgements_by_rater(tmp_path: Path) -> None:
    run, key = panel(tmp_path / "run", "rate")
    store_judgement(run.file, key, "ben", "q01", {"A": {"correct": 0}})
    rows = [row for row in run.status().rows if row["about"] == "judgements"]
    assert [("anna", 0, 5), ("ben", 1, 4)] == [(row["rater"], row["done"], row["left"]) for row in rows]


def test_ties_wrong_answers_missing_tags_and_equal_texts_read_back_to_the_same_scores(tmp_path: Path) -> None:
    run = examined(tmp_path, 2, answers={"Same": {"q00": "five milligrams for q00"}})
    write_packets(run.file, ["anna"], tmp_path / "out")
    with run.file.reading() as db:
        (key,) = read_keys(db).values()
    tied: dict[str, dict[str, Any]] = {
        "A": {"rank": "2,0", "tag": "good", "remark": "so"},
        "B": {"rank": 2},
        "C": {"clearly_wrong": "x"},
        "D": {"rank": 1, "tag": "ok"},
    }
    stored = store_judgement(run.file, key, "anna", "q00", tied)
    entries = stored.judgement.entries
    assert [2, 2, None, 1] == [entries[answer]["rank"] for answer in "ABCD"]
    assert ["good", None, "bad", "okay"] == [entries[answer]["tag"] for answer in "ABCD"]
    assert "the tag of B" in stored.lacking
    before = score_rows(run)
    again = store_judgement(run.file, key, "anna", "q00", entries)
    assert ("unchanged", stored.judgement) == (again.outcome, again.judgement)
    assert before == score_rows(run)


def test_a_changed_judgement_replaces_and_the_events_hold_both(tmp_path: Path) -> None:
    run, key = panel(tmp_path / "run", "rate")
    store_judgement(run.file, key, "anna", "q01", {"A": {"correct": 0}, "B": {"correct": 1}})
    changed = store_judgement(run.file, key, "anna", "q01", {"A": {"correct": 1}})
    assert changed.outcome == "replaced"
    assert "correct of B" in changed.lacking
    assert changed.judgement.entries["A"]["correct"] == 1
    (event,) = events(run)
    assert '"before": 0.0' in event
    assert '"after": 1.0' in event


def test_a_rating_of_nothing_is_a_judgement(tmp_path: Path) -> None:
    run, key = panel(tmp_path / "run", "rate")
    stored = store_judgement(run.file, key, "anna", "q01", {"A": {"correct": 0}})
    assert stored.judgement.version


def test_a_page_that_was_opened_before_a_newer_save_is_refused_and_stores_nothing(tmp_path: Path) -> None:
    run, key = panel(tmp_path / "run", "rate")
    zero, best = {"A": {"correct": 0}}, {"A": {"correct": 1}}
    store_judgement(run.file, key, "anna", "q01", zero, version="")
    before = score_rows(run)
    with pytest.raises(StaleJudgementError, match="another window"):
        store_judgement(run.file, key, "anna", "q01", best, version="")
    assert before == score_rows(run)
    same = store_judgement(run.file, key, "anna", "q01", zero, version="")
    assert same.outcome == "unchanged"  # sent twice: the network, not another window
    assert store_judgement(run.file, key, "anna", "q01", best, version=same.judgement.version)


def test_an_empty_judgement_takes_back_what_is_stored_and_else_is_refused(tmp_path: Path) -> None:
    run, key = panel(tmp_path / "run", "rank")
    with pytest.raises(InputError, match="lacks everything"):
        store_judgement(run.file, key, "anna", "q01", {})
    with run.file.reading() as db:
        shown = next(entry for entry in key.packets["anna"] if entry.question.name == "q01")
    ranks = {chr(65 + n): {"rank": n + 1, "tag": "okay"} for n in range(len(shown.answers))}
    store_judgement(run.file, key, "anna", "q01", ranks)
    assert store_judgement(run.file, key, "anna", "q01", {}).judgement.version == ""
    with run.file.reading() as db:
        assert progress(db, key)[0].n_done == 0


@pytest.mark.parametrize(
    ("rater", "question", "entries", "sentence"),
    [
        ("carla", "q01", {}, "no rater"),
        ("anna", "q99", {}, "nothing called"),
        ("anna", "q01", {"Z": {"correct": 1}}, "no answer 'Z'"),
        ("anna", "q01", {"A": {"rank": 1}}, "'rank' is nothing"),
        ("anna", "q01", {"A": {"correct": 7}}, "not '7'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence_and_stores_nothing(
    tmp_path: Path, rater: str, question: str, entries: dict[str, dict[str, Any]], sentence: str
) -> None:
    run, key = panel(tmp_path / "run", "rate")
    with pytest.raises(InputError, match=sentence):
        store_judgement(run.file, key, rater, question, entries)
    assert score_rows(run) == []


def test_a_full_disk_is_a_store_error_and_leaves_the_earlier_judgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, key = panel(tmp_path / "run", "rate")
    store_judgement(run.file, key, "anna", "q01", {"A": {"correct": 0}})
    before = score_rows(run)

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("vivavoce.people.storing.put_ballot.put_provenance", full)
    with pytest.raises(StoreError):
        store_judgement(run.file, key, "anna", "q01", {"A": {"correct": 1}})
    assert before == score_rows(run)
    assert events(run) == []
