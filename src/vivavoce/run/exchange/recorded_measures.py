"""The measures that the scores of a log are of, as far as the scores declare them."""

import sqlite3
from collections.abc import Iterator, Mapping
from shlex import quote

from vivavoce.core.records import Criterion, Measure
from vivavoce.core.specs import RECORDED, parse
from vivavoce.run.exchange.recorded_log import Mark
from vivavoce.store.read import retired_measures
from vivavoce.store.write import put_measures

MeasureKey = tuple[str, str, str]
"""Scorer, criterion, rater."""


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
        spec = parse(f"{tool}.{scorer}")
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
