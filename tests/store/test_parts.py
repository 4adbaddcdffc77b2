"""The parts of an answer in a run: stored once with it, and made on reading in runs that are older."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import write_lines

import vivavoce as viva
from vivavoce.core.errors import InputError
from vivavoce.store.hashes import rehash_responses

OPTIONS = ["Metformin", "Empagliflozin"]
TEXTS = {
    "q1": "<think>The answer is A? No.</think>Answer: B",
    "q2": "[THINK]A is a choice, or B, and",
    "q3": "B",
}


def exam(folder: Path) -> str:
    rows = [{"id": name, "format": "mcq", "question": f"{name}?", "options": OPTIONS, "answer": "B"}
            for name in TEXTS]  # fmt: skip
    return f"jsonl(path='{write_lines(folder / 'exam.jsonl', rows)}')"


def imported(folder: Path, texts: dict[str, str] = TEXTS, name: str = "run.viva", **options: Any) -> Any:
    run = viva.open(folder / name)
    rows = [{"item": item, "candidate": "A", "text": text} for item, text in texts.items()]
    run.import_answers(rows, benchmark=exam(folder), **options)
    return run


def stored(run: Any, *columns: str) -> list[Any]:
    with closing(sqlite3.connect(run.file.path)) as db:
        return db.execute(f"SELECT {', '.join(columns)} FROM responses ORDER BY response_id").fetchall()


def without_parts(run: Any) -> None:
    """The run as a version stored it that knew no parts."""
    from vivavoce.store.hashes import rehash_responses

    with closing(sqlite3.connect(run.file.path)) as db, db:
        db.execute("UPDATE responses SET final = NULL, ending = NULL")
        rehash_responses(db, [1, 2, 3])
        rehash_responses(db)


def test_the_raw_text_stays_and_its_parts_stand_beside_it(tmp_path: Path) -> None:
    run = imported(tmp_path)
    assert list(TEXTS.values()) == [text for (text,) in stored(run, "text")]
    assert [("Answer: B", None), ("", "thinking"), (None, None)] == stored(run, "final", "ending")
    assert ["Answer: B", "", "B"] == run.responses["final"].to_list()
    assert [None, "thinking", None] == run.responses["ending"].to_list()


def test_a_run_of_an_older_version_has_the_same_parts_and_scores(tmp_path: Path) -> None:
    run, older = imported(tmp_path), imported(tmp_path, name="older.viva")
    without_parts(older)
    assert run.responses.equals(older.responses)
    for each in (run, older):
        each.score("accuracy")
    assert run.scores.equals(older.scores)
    assert [1.0, None, 1.0] == run.scores["value"].to_list()


def test_parts_that_were_changed_in_the_file_are_found(tmp_path: Path) -> None:
    run = imported(tmp_path)
    with closing(sqlite3.connect(run.file.path)) as db, db:
        db.execute("UPDATE responses SET final = 'Answer: A' WHERE response_id = 1")
    with pytest.raises(viva.VivaError, match="does not fit its hash"):
        run.score("accuracy")


def test_a_model_of_no_known_family_has_marks_of_its_own(tmp_path: Path) -> None:
    texts = {"q1": "«The answer is A? No.»Answer: B", "q2": "«A, or", "q3": "B"}
    run = imported(tmp_path, texts, reasoning_marks=["«", "»"])
    assert [("Answer: B", None), ("", "thinking"), (None, None)] == stored(run, "final", "ending")
    assert [["«", "»"]] * 3 == [json.loads(meta)["reasoning_marks"] for (meta,) in stored(run, "meta")]
    with pytest.raises(InputError, match=r"q1 \(repeat 1\): stored with the marks of thinking"):
        imported(tmp_path, texts)
    assert "unchanged=3" in repr(imported_again(tmp_path, texts))


def imported_again(folder: Path, texts: dict[str, str]) -> Any:
    run = viva.open(folder / "run.viva")
    rows = [{"item": item, "candidate": "A", "text": text} for item, text in texts.items()]
    return run.import_answers(rows, benchmark=exam(folder), reasoning_marks=["«", "»"])


def test_runs_whose_marks_of_thinking_differ_are_not_merged(tmp_path: Path) -> None:
    texts = {"q1": "«A?»B"}
    plain = imported(tmp_path, texts, "plain.viva")
    marked = imported(tmp_path, texts, "marked.viva", reasoning_marks=["«", "»"])
    with pytest.raises(InputError, match="has another answer to q1"):
        plain.merge(marked.file.path)


def test_a_redacted_copy_holds_no_final_part(tmp_path: Path) -> None:
    run = imported(tmp_path)
    run.export(tmp_path / "copy.viva", format="run", redact=True)
    with closing(sqlite3.connect(tmp_path / "copy.viva")) as db:
        parts = db.execute("SELECT final, ending FROM responses ORDER BY response_id").fetchall()
    assert [True, False, False] == [bool(final) for final, _ in parts]
    assert "Answer" not in str(parts)
    assert [None, "thinking", None] == [ending for _, ending in parts]


def test_a_redacted_copy_of_an_older_run_keeps_how_its_answers_ended(tmp_path: Path) -> None:
    run = imported(tmp_path)
    with closing(sqlite3.connect(run.file.path)) as db, db:
        db.execute("UPDATE responses SET final = NULL, ending = NULL")
        rehash_responses(db, [1, 2, 3])
    viva.open(tmp_path / "run.viva").export(tmp_path / "copy.viva", format="run", redact=True)
    endings_of_copy = stored(viva.open(tmp_path / "copy.viva"), "ending")
    assert [(None,), ("thinking",), (None,)] == endings_of_copy


def cut_at(length: int, n: int = 20) -> dict[str, str]:
    """Answers of different words that somebody kept so many characters of."""
    words = ("renal", "heart", "the patient", "with", "was treated", "years", "chronic")
    return {
        f"q{i}": ("B. Reason: " + " ".join(random.Random(i).choices(words, k=60)) + ".")[:length]
        for i in range(n)
    }


def endings(folder: Path, texts: dict[str, str]) -> set[Any]:
    rows = [{"id": name, "format": "longform", "question": f"{name}?", "references": ["x"]} for name in texts]
    spec = f"jsonl(path='{write_lines(folder / 'open.jsonl', rows)}')"
    run = viva.open(folder / "open.viva")
    run.import_answers([{"item": i, "candidate": "A", "text": t} for i, t in texts.items()], benchmark=spec)
    assert not run.status().rows[0].get("wrong")
    return {ending for (ending,) in stored(run, "ending")}


def test_answers_that_stop_in_mid_sentence_at_one_length_are_cut(tmp_path: Path) -> None:
    assert {"cut"} == endings(tmp_path, cut_at(200))


@pytest.mark.parametrize(
    "texts",
    [
        {f"q{i}": "The answer to this question of the exam, as far as I can tell, is B" for i in range(20)},
        {f"q{i}": f"{'word ' * 14}{i % 10}." for i in range(20)},
        {name: text for name, text in cut_at(200, 4).items()},
        cut_at(30),
        cut_at(10_000),
    ],
    ids=["a template", "whole sentences", "few answers", "short ones", "of several lengths"],
)  # fmt: skip
def test_answers_of_one_length_are_not_cut_for_that_alone(tmp_path: Path, texts: dict[str, str]) -> None:
    assert {None} == endings(tmp_path, texts)
