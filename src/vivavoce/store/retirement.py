"""Which measures are retired: taken out of all that a run says, until that is undone. Nothing is deleted.

A retirement is an event of the run, and so is its end, which names the retirements that it ends: a merge and
a copy carry both, whatever the clocks and the order in which events arrive.
"""

import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.measure_names import measure_name
from vivavoce.core.records import Measure
from vivavoce.core.specs import signed
from vivavoce.core.text import one_line
from vivavoce.store.damage import decoding
from vivavoce.store.stored_values import stored_object
from vivavoce.store.write import put_event

RETIRED, RESTORED = "measure retired", "measure restored"
"""The kinds of events by which a measure is taken out, and counts again."""


class MeasureName(NamedTuple):
    """What tells a measure from all others of a run, in every copy of it; `rater` is '' for none."""

    signature: str
    criterion: str
    rater: str


def name_of(measure: Measure) -> MeasureName:
    """The name of a measure."""
    return MeasureName(measure.signature, measure.criterion.criterion, measure.rater)


class Retirement(NamedTuple):
    """One retirement of a measure that no event has ended: its own id, and when it was made (UTC)."""

    id: str
    made_at: str


def retirements(db: sqlite3.Connection) -> dict[MeasureName, tuple[Retirement, ...]]:
    """The measures that are retired, each with its retirements, the earliest first.

    A merge can bring a second one of the same measure: it counts again when all are ended.
    """
    by_measure: dict[MeasureName, list[Retirement]] = {}
    for made_at, body in _events(db, RETIRED):
        with decoding("the retirement of a measure"):
            retirement = Retirement(_text(body["id"]), made_at)
            by_measure.setdefault(_name(body), []).append(retirement)
    if not by_measure:
        return {}
    ended: set[tuple[MeasureName, str]] = set()
    for _, body in _events(db, RESTORED):
        with decoding("the end of a retirement"):
            ended |= {(_name(body), _text(retirement)) for retirement in body["ends"]}
    open_by_measure = {
        name: tuple(retirement for retirement in entries if (name, retirement.id) not in ended)
        for name, entries in by_measure.items()
    }
    return {name: entries for name, entries in open_by_measure.items() if entries}


def retired_keys(db: sqlite3.Connection) -> frozenset[int]:
    """The keys of the measures of the run that are retired."""
    names = retirements(db)
    if not names:
        return frozenset()
    rows = db.execute("SELECT measure_id, signature, criterion, rater FROM measures")
    return frozenset(key for key, *name in rows if MeasureName(*name) in names)


def retired_raters(db: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    """The metrics and raters of which measures are retired, and no other one has a score: nothing counts."""
    retired = retired_keys(db)
    if not retired:
        return frozenset()
    rows = db.execute(
        "SELECT measure_id, metric, rater FROM measures m WHERE EXISTS "
        "(SELECT 1 FROM scores s WHERE s.measure_id = m.measure_id)"
    ).fetchall()
    counting = {(metric, rater) for key, metric, rater in rows if key not in retired}
    return frozenset((metric, rater) for _, metric, rater in rows) - counting


def counting_measures(db: sqlite3.Connection) -> str:
    """A query for the keys of the measures that count, those that are not retired."""
    keys = retired_keys(db)
    condition = f" WHERE measure_id NOT IN ({', '.join(map(str, sorted(keys)))})" if keys else ""
    return f"SELECT measure_id FROM measures{condition}"


def put_retirements(db: sqlite3.Connection, measures: Iterable[Measure]) -> None:
    """Retire measures, in a transaction that the caller holds; one that is retired already stays so."""
    names = retirements(db)
    for measure in measures:
        if name_of(measure) not in names:
            put_event(db, RETIRED, {"id": secrets.token_hex(8), **_body(measure)})


def put_restorations(db: sqlite3.Connection, measures: Iterable[Measure]) -> None:
    """End the retirements of measures, in a transaction that the caller holds."""
    names = retirements(db)
    for measure in measures:
        if entries := names.get(name_of(measure)):
            put_event(db, RESTORED, {**_body(measure), "ends": [entry.id for entry in entries]})


def refuse_retired_scores(db: sqlite3.Connection, measures: Sequence[Measure]) -> None:
    """Raise `InputError` if measures are all retired: scores by them would come in and count nowhere."""
    retired = retirements(db)
    if measures and all(name_of(measure) in retired for measure in measures):
        first = measures[0]
        command = f"viva retire RUN {quote(first.metric)} --rater {quote(first.rater)} --undo"
        raise InputError(
            f"{measure_words(first)} is retired in this run, and more scores by it would count nowhere: name "
            f"another measure or rater, or undo it with `{command}`. Nothing was stored."
        )


def measure_words(measure: Measure) -> str:
    """A measure as a sentence names it: `rating(rubric=safety): harm by anna`, `labels without a rater`."""
    criterion = "" if measure.criterion.criterion == "value" else measure.criterion.criterion
    words = one_line(measure_name(measure.metric, criterion, measure.rater), 120)
    is_of_nobody = not measure.rater and signed(measure.signature).recorded
    return f"{words} without a rater" if is_of_nobody else words


def _body(measure: Measure) -> dict[str, Any]:
    return {"metric": measure.metric, **name_of(measure)._asdict()}


def _events(db: sqlite3.Connection, kind: str) -> list[tuple[str, dict[str, Any]]]:
    rows = db.execute("SELECT made_at, body FROM events WHERE kind = ? ORDER BY made_at, event_id", (kind,))
    return [(made_at, stored_object(body, f"the event {kind!r}")) for made_at, body in rows]


def _name(body: dict[str, Any]) -> MeasureName:
    return MeasureName(*(_text(body[field]) for field in MeasureName._fields))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("names are text")
    return value
