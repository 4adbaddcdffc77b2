"""Scores that came with answers, of a log or a table: their measures, and how they are stored."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from shlex import quote

from vivavoce.core.records import Criterion, Measure, Response, Value
from vivavoce.core.specs import RECORDED, parse
from vivavoce.run.exchange.recorded_log import Mark
from vivavoce.store.by_place import response_at
from vivavoce.store.forgotten import gone_keys
from vivavoce.store.name_keys import edit_keys, probe_keys
from vivavoce.store.read import retired_measures
from vivavoce.store.write import ANOTHER_PASS, ScoreRow, put_measures, put_scores, refuse_other_scores

MeasureKey = tuple[str, str, str]
"""Scorer, criterion, rater."""


def measure_key(mark: Mark) -> MeasureKey:
    """What tells the measures of one tool or file apart."""
    return mark.scorer, mark.criterion, mark.rater


class Declared:
    """What the scores of a measure declare: a limit holds only where each of them declares and keeps it."""

    def __init__(self, mark: Mark) -> None:
        self.low, self.high, self.direction = mark.low, mark.high, mark.direction
        self.of_units = False
        self.if_unanswered = mark.if_unanswered

    def add(self, mark: Mark) -> None:
        """One more score; one that failed says nothing of limits."""
        self.of_units |= mark.of_units or mark.unit is not None
        if mark.value is None:
            return
        if self.low is not None and (mark.low is None or mark.value < self.low):
            self.low = None
        if self.high is not None and (mark.high is None or mark.value > self.high):
            self.high = None


def recorded_measures(
    db: sqlite3.Connection, tool: str, declared: Mapping[MeasureKey, Declared]
) -> dict[MeasureKey, int]:
    """The key of each measure, recorded under the tool's name and never merged with ours."""
    measures = []
    for (scorer, name, rater), d in declared.items():
        spec = parse(f"{tool}.{scorer}" if scorer else tool)
        criterion = Criterion(
            criterion=name,
            low=d.low,
            high=d.high,
            direction=d.direction,
            if_unanswered=d.if_unanswered,
            pool="unit" if d.of_units else "mean",
        )
        text = str(spec) if spec.settings else f"{spec.name}()"
        measures.append(
            Measure(metric=str(spec), signature=f"{text}@{RECORDED}", rater=rater, criterion=criterion)
        )
    return dict(zip(declared, put_measures(db, measures), strict=True))


def put_marks(
    db: sqlite3.Connection,
    answers: Iterable[tuple[Response, Iterable[Mark]]],
    measures: Mapping[MeasureKey, int],
    items: Mapping[tuple[str, str], int],
    candidates: Mapping[str, int],
    advice: str = ANOTHER_PASS,
) -> list[Mark]:
    """Store the scores of a batch of answers, each at the answer as the run holds it.

    Those of what is forgotten are left out, and returned. Raises `InputError` where the run holds another
    score, with the `advice` what to do.
    """
    probes, edits, gone = probe_keys(db), edit_keys(db), gone_keys(db)
    by_measure: dict[int, list[ScoreRow]] = {}
    left_out: list[Mark] = []
    for response, marks in answers:
        if not (marks := tuple(marks)):
            continue
        place = items[response.item, response.variant], candidates[response.candidate], response.repeat
        edit = edits[response.edit] if response.edit else probes[response.probe]
        stored = response_at(db, *place, edit)
        if place[0] in gone.items or (stored and stored.key in gone.responses):
            left_out += marks
            continue
        if stored is None:
            raise LookupError(f"{response} is not stored")
        for mark in marks:
            value = Value(mark.value, note=mark.note, status=mark.outcome)
            rows = by_measure.setdefault(measures[measure_key(mark)], [])
            rows.append(ScoreRow(stored.key, value, pass_no=mark.pass_no, unit=mark.unit))
    for measure, rows in by_measure.items():
        refuse_other_scores(db, measure, rows, advice)
        put_scores(db, measure, rows)
    return left_out


def retired_notes(
    db: sqlite3.Connection, tool: str, declared: Mapping[MeasureKey, Declared]
) -> Iterator[str]:
    """A sentence for each measure of a log that is retired in the run, in whole or by a rater."""
    retired = dict.fromkeys(entry.measure.metric for entry in retired_measures(db))
    names = {str(parse(f"{tool}.{scorer}")) for scorer, *_ in declared}
    for name in sorted(retired.keys() & names):
        yield (
            f"{name} is retired in this run: its scores are stored and count nowhere; "
            f"`viva retire RUN {quote(name)} --undo` lets them count."
        )
