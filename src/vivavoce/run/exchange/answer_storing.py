"""Answers of a table into the run, each with the scores that the file gives to it."""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from vivavoce.core.measure_names import OF_FILE, OF_PEOPLE
from vivavoce.core.records import Response
from vivavoce.run.exchange.answer_rows import AnswerRow
from vivavoce.run.exchange.answer_scores import AnswerScores
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
_OTHER_SCORE = (
    "The file's own scores are left out by --criteria none (criteria=[\"none\"]), people's by --raters none."
)


class StoredAnswers(NamedTuple):
    """What became of answers in words, and of figures of options; scores of the file and people by column."""

    responses: Stored
    of_options: Stored
    scores: dict[str, int]
    of_people: dict[str, int]


def put_answers(
    db: sqlite3.Connection,
    rows: Iterable[AnswerRow],
    scores: AnswerScores,
    *,
    items: Mapping[ItemKey, int],
    candidates: Mapping[str, int],
    has_figures: bool = False,
) -> StoredAnswers:
    """Store answers and the scores of them: the file's own under the metric `file`, people's under `people`.

    Where there are no scores, and no figures of options among the rows, each is stored as it is read.

    Raises `InputError` as `put_responses` does, and where the run holds another score of the file.
    """
    if not (scores.scored_columns or has_figures):
        responses = put_responses(db, (row.response for row in rows), items=items, candidates=candidates)
        return StoredAnswers(responses, Stored(0, 0, 0), {}, {})
    measures = _measures(db, scores)
    counts: Counter[MeasureKey] = Counter()
    stored = {False: Stored(0, 0, 0), True: Stored(0, 0, 0)}
    iterator = iter(rows)
    while batch := list(islice(iterator, _BATCH)):
        for of_options, total in stored.items():
            kind = [row.response for row in batch if bool(row.response.probe) == of_options]
            stored[of_options] = _sum(total, put_responses(db, kind, items=items, candidates=candidates))
        marked = [*_marked(batch, measures)]
        left_out = put_marks(db, marked, measures, items, candidates, _OTHER_SCORE)
        counts.update(measure_key(mark) for _, marks in marked for mark in marks)
        counts.subtract(map(measure_key, left_out))
    return StoredAnswers(stored[False], stored[True], *_by_column(+counts, scores))


def _sum(total: Stored, more: Stored) -> Stored:
    return Stored(*map(sum, zip(total, more, strict=True)))


def _by_column(
    counts: Mapping[MeasureKey, int], scores: AnswerScores
) -> tuple[dict[str, int], dict[str, int]]:
    """How many scores of the file and of people there are, by the column that they are from."""
    columns = dict(zip(map(measure_key, scores.declared), scores.scored_columns, strict=True))
    return (
        {columns[key]: n for key, n in counts.items() if not key[2]},
        {columns[key]: n for key, n in counts.items() if key[2]},
    )


def _measures(db: sqlite3.Connection, scores: AnswerScores) -> dict[MeasureKey, int]:
    """The measures of the file, and those of its raters."""
    declared = {measure_key(mark): Declared(mark) for mark in scores.declared}
    of_people = {key: entry for key, entry in declared.items() if key[2]}
    of_file = {key: entry for key, entry in declared.items() if not key[2]}
    return recorded_measures(db, OF_FILE, of_file) | recorded_measures(db, OF_PEOPLE, of_people)


def _marked(
    rows: Iterable[AnswerRow], measures: Collection[MeasureKey]
) -> Iterator[tuple[Response, list[Mark]]]:
    """Answers with their scores by these measures; a column was taken out that holds no scores after all."""
    for row in rows:
        yield row.response, [mark for mark in row.marks if measure_key(mark) in measures]
