"""Tables of answers are counted row by row, and read again where their rows are needed again."""

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.lengths import length

from vivavoce import Run
from vivavoce.core import tables
from vivavoce.core.errors import InputError
from vivavoce.core.records import Response
from vivavoce.run.exchange import answer_storing as answers_of
from vivavoce.run.exchange import sources
from vivavoce.run.exchange.answer_rows import AnswerRow
from vivavoce.run.exchange.answer_tally import AnswerTally


def row(n: int = 1, **fields: object) -> AnswerRow:
    response = {"benchmark": "exam", "item": "q1", "candidate": "A", "text": "Yes."} | fields
    return AnswerRow(Response(**response), f"answers.csv, line {n}", "Q-1")


def tallied(*rows: AnswerRow) -> AnswerTally:
    return AnswerTally.of(rows)


def test_without_a_row_nothing_is_counted():
    tally = tallied()
    assert ({}, {}, 0, ()) == (tally.items, tally.candidates, tally.rows.height, tally.identical_repeats)
    assert [] == list(tally.distinct([]))


def test_a_row_that_repeats_another_word_for_word_is_counted_once():
    rows = [row(1), row(2, candidate="B", text=None, status="failed"), row(3), row(4, repeat=2, text=" ")]
    tally = AnswerTally.of(rows)
    assert [True, True, False, True] == tally.is_first.tolist()
    assert [rows[k] for k in (0, 1, 3)] == list(tally.distinct(rows))
    assert {"A": 0, "B": 1} == tally.candidates
    assert {("exam", "q1", ""): 0} == tally.items
    assert (1, 1) == (tally.rows["blank"].sum(), tally.rows["failed"].sum())


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "No."},
        {"text": None, "status": "filtered"},
        {"tokens": 3},
        {"seconds": 0.5},
        {"finish_reason": "length"},
        {"meta": {"confidence": 0.5}},
    ],
)
def test_two_rows_that_say_different_things_of_one_answer_are_named(fields: dict[str, object]):
    rows = [row(1, item="q0"), row(2), row(3, candidate="B"), row(4), row(5, **fields), row(6, text="Never.")]
    with pytest.raises(
        InputError, match=r"line 5: a second answer of A to Q-1, repeat 1 \(the first: answers.csv, line 2\)"
    ):
        AnswerTally.of(rows)


def test_other_keys_are_other_answers():
    rows = [row(), row(variant="v"), row(item="q2"), row(candidate="B"), row(repeat=2), row(edit="padded")]
    assert AnswerTally.of(rows).is_first.all()


def test_repeats_are_identical_where_every_answer_of_a_candidate_is():
    def repeats(candidate: str, *texts: str | None, **fields: object) -> list[AnswerRow]:
        return [
            row(candidate=candidate, text=text, repeat=k, status="failed" if text is None else "ok", **fields)
            for k, text in enumerate(texts, 1)
        ]

    rows: Sequence[AnswerRow] = [
        *repeats("same", "Yes.", "Yes."),
        *repeats("differs", "Yes.", "Yes."),
        *repeats("differs", "Yes.", "No.", item="q2"),
        *repeats("once", "Yes."),
        *repeats("fails alike", None, None),
        *repeats("also the same", "No.", None, "No."),
        row(candidate="edited"),
        row(candidate="edited", edit="padded"),
    ]
    assert ("same", "also the same") == AnswerTally.of(rows).identical_repeats


def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("id,question,reference,model,response\nq1,Why?,So.,A,So.\n")
    store = answers_of.put_responses

    def appended(db, responses, **keys):
        with file.open("a") as stream:
            stream.write("q2,When?,Now.,B,Then.\n")
        return store(db, responses, **keys)

    monkeypatch.setattr(answers_of, "put_responses", appended)
    run = Run(tmp_path / "r.viva")
    with pytest.raises(InputError, match=r"answers.csv changed while it was read.*Nothing was imported"):
        run.import_answers(file)
    assert not run.responses.height


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_the_answers_of_a_long_file_are_not_in_memory(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peaks at 200 and at 700 answers of 10,000 characters: 5 million lie between, one is allowed."""
    for module in (tables, sources):
        monkeypatch.setattr(module, "FEW_BYTES", 1_000)
    peaks = []
    for n in (200, length(700, 1_600)):
        file = tmp_path / f"{n}.{ending}"
        rows = [
            {"id": "q1", "question": "Why?", "reference": "So.", "model": "A", "repeat": str(k),
             "response": f"{k:010}" * 1_000} for k in range(1, n + 1)
        ]  # fmt: skip
        texts = [json.dumps(row) for row in rows]
        if ending == "csv":
            texts = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        file.write_text("\n".join(texts))
        del rows, texts
        run = Run(tmp_path / f"{n}-{ending}.viva")
        tracemalloc.start()
        assert n == run.import_answers(file).responses
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 1_000_000
