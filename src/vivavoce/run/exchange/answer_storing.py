"""Answers of a table into the run, each with the scores that the file gives to it."""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from vivavoce.core.measure_names import OF_FILE
from vivavoce.run.exchange.answer_rows import AnswerRow
from vivavoce.run.exchange.file_scores import FileScores, file_mark
from vivavoce.run.exchange.recorded_log import Mark
from vivavoce.run.exchange.recorded_measures import (
    Declared,
    MeasureKey,
    measure_key,
    put_marks,
    recorded_measures,
)
from vivavoce.store.item_rows import ItemKey
from vivavoce.store.write import Stored, put_responses

_BATCH = 2000
"""Answers with scores that are in memory at a time."""
_OTHER_SCORE = 'The file\'s own scores are left out by --criteria none (criteria=["none"]).'


class StoredAnswers(NamedTuple):
    """What became of the answers, and how many scores came with them by column."""

    responses: Stored
    scores: dict[str, int]


def put_answers(
    db: sqlite3.Connection,
    rows: Iterable[AnswerRow],
    scores: FileScores,
    *,
    items: Mapping[ItemKey, int],
    candidates: Mapping[str, int],
) -> StoredAnswers:
    """Store answers and the file's own scores of them, under the metric `file`.

    Raises `InputError` as `put_responses` does, and where the run holds another score of the file.
    """
    rows = iter(rows)
    if not scores.columns:
        responses = (row.response for row in rows)
        return StoredAnswers(put_responses(db, responses, items=items, candidates=candidates), {})
    declared = {measure_key(mark): Declared(mark) for mark in map(file_mark, scores.columns)}
    measures = recorded_measures(db, OF_FILE, declared)
    counts: Counter[str] = Counter()
    stored = Stored(0, 0, 0)
    while batch := list(islice(rows, _BATCH)):
        more = put_responses(db, [row.response for row in batch], items=items, candidates=candidates)
        stored = Stored(*map(sum, zip(stored, more, strict=True)))
        marked = [(row.response, _marks_of(row, measures)) for row in batch]
        put_marks(db, marked, measures, items, candidates, _OTHER_SCORE)
        counts.update(mark.criterion for _, marks in marked for mark in marks)
    return StoredAnswers(stored, dict(counts))


def _marks_of(row: AnswerRow, measures: Collection[MeasureKey]) -> list[Mark]:
    """The scores of a row by these measures; a column was taken out that holds no scores after all."""
    return [mark for mark in row.marks if measure_key(mark) in measures]
