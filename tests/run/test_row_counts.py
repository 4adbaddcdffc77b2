"""Nothing vanishes: what an import says of rows adds up to the rows of the file, in text and in JSON."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import vivavoce as viva
from vivavoce.cli import app

EXAM = [{"id": f"q{k}", "format": "short", "question": f"Which {k}?", "answer": "x"} for k in range(3)]
NAMES = st.sampled_from(["q0", "q1", "q2", "q8"])
ANSWERS = st.lists(
    st.fixed_dictionaries({"id": NAMES, "model": st.sampled_from(["A", "B"]), "repeat": st.integers(1, 2)}),
    min_size=1, max_size=12,
)  # fmt: skip
QUESTIONS = st.lists(
    st.fixed_dictionaries(
        {"question": st.sampled_from(["Which?", "What?"]), "answer": st.sampled_from(["x", "y"]),
         "model": st.sampled_from(["A", "B", ""])}
    ),
    min_size=1, max_size=12,
)  # fmt: skip


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    return path


def adds_up(counts: Mapping[str, int], n_rows: int) -> bool:
    return n_rows == counts["rows"] == sum(n for name, n in counts.items() if name != "rows")


@settings(max_examples=15, deadline=None)
@given(rows=ANSWERS, suffix=st.sampled_from([".csv", ".jsonl"]))
def test_answers_of_an_exam_and_their_scores_add_up(rows: list[dict[str, Any]], suffix: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        exam = f"jsonl(path='{write(folder / 'exam.jsonl', EXAM)}')"
        rows = [*rows, {"id": "q0", "model": "A", "repeat": 1}]
        answered = [{**row, "response": f"{row['id']} {row['repeat']}"} for row in rows]
        run = viva.open(folder / "r.viva")
        imported = run.import_answers(write(folder / f"a{suffix}", answered), benchmark=exam)
        assert adds_up(imported.row_counts, len(rows))
        assert imported.responses == imported.row_counts["answers"]
        marks = [{**row, "value": 0.5} for row in rows]
        scored = run.import_scores(write(folder / f"s{suffix}", marks), measure="expert")
        assert adds_up(scored.row_counts, len(rows))


@settings(max_examples=15, deadline=None)
@given(rows=QUESTIONS, suffix=st.sampled_from([".csv", ".jsonl"]))
def test_rows_without_ids_add_up_and_none_is_lost(rows: list[dict[str, Any]], suffix: str) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = [*rows, {"question": "Which?", "answer": "x", "model": "A"}]
        key_of = {row["question"]: row["answer"] for row in rows}
        answered = [
            {**row, "answer": key_of[row["question"]], "response": "x" * bool(row["model"])} for row in rows
        ]
        imported = viva.open(folder / "r.viva").import_answers(write(folder / f"a{suffix}", answered))
        assert adds_up(imported.row_counts, len(rows))
        assert sum(bool(row["model"]) for row in rows) == imported.responses


def test_the_command_says_what_each_row_is(tmp_path: Path) -> None:
    row = {"id": "q1", "question": "Which?", "answer": "x", "model": "A", "response": "x"}
    table = write(tmp_path / "a.csv", [row, row, row | {"id": "q2", "model": "", "response": ""}])
    printed = CliRunner().invoke(app, ["import", str(tmp_path / "r.viva"), str(table)]).output
    assert "Of 3 rows 1 is an answer, 1 is the same as an earlier one and 1 is a question alone." in printed
    again = CliRunner().invoke(app, ["import", str(tmp_path / "s.viva"), str(table), "--json"]).output
    assert {"rows": 3, "answers": 1, "same": 1, "questions": 1} == json.loads(again)["rows"][0]["row_counts"]


def test_equal_rows_are_questions_of_their_own_or_repeats(tmp_path: Path) -> None:
    row = {"question": "Which?", "answer": "x", "model": "A", "response": "x"}
    other = row | {"question": "What?"}
    uneven = viva.open(tmp_path / "u.viva").import_answers([row, row, other])
    assert (3, 3) == (uneven.responses, uneven.items)
    assert "1 row has no id and asks what an earlier row asks: each is a question" in uneven.notes[0]
    even = viva.open(tmp_path / "e.viva").import_answers([row, row | {"response": "y"}, other, other])
    assert (4, 2) == (even.responses, even.items)
    assert "they are repeats of its answer" in even.notes[0]
    marks = [row | {"rater": name} for name in ("one", "two")]
    marked = viva.open(tmp_path / "m.viva").import_answers([*marks, other | {"rater": "one"}])
    assert (2, 2) == (marked.responses, marked.items)
    assert {"rows": 3, "answers": 2, "same": 1} == marked.row_counts
