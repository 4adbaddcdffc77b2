"""Store reviews of items as scores of the reference answer, and what raters wrote as events of the run."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.records import Item, ItemKey, Measure, Value
from vivavoce.core.tables import open_table
from vivavoce.people.storing.references import put_references
from vivavoce.people.tasks import ReviewTask
from vivavoce.people.tasks.review import Review, read_review
from vivavoce.people.tasks.task import quoted
from vivavoce.store import read
from vivavoce.store.ballot_scores import ballot_scores
from vivavoce.store.forgotten import is_forgotten
from vivavoce.store.rater_texts import WORD_EVENTS, ItemByRater, word_events
from vivavoce.store.retirement import refuse_retired_scores, retired_raters
from vivavoce.store.runfile import RunFile
from vivavoce.store.same_scores import Import, refusing_same_scores
from vivavoce.store.write import (
    ScoreRow,
    put_event,
    put_measures,
    put_provenance,
    put_scores,
)

DISPUTE, ADJUDICATION = WORD_EVENTS["dispute"], "review adjudication"
"""The kinds of events by which an item is held out, and taken back in."""


class ReviewsStored(NamedTuple):
    """The effect of reading one file of reviews; `new` and `unchanged` count reviews, `events` new texts.

    `row_counts` adds up to the rows of the file.
    """

    file: str
    task: str
    metric: str
    items: int
    raters: int
    new: int
    unchanged: int
    events: int
    row_counts: Mapping[str, int] = {}


class _ItemReview(NamedTuple):
    """A review, the place where it stands, and the item it is about under its key in the run."""

    place: str
    number: int
    item: Item
    review: Review


def import_reviews(
    run: RunFile, file: Path, *, task: ReviewTask | None = None, same_allowed: bool = False
) -> ReviewsStored:
    """Store the reviews of a table with a row each; all of them or none. `task` is that of reviews.

    Columns: `item`, `category`, `rater`, those of the task's questions (`correct`, yes or no, and
    `relevance`, 1 to 5), and where there are any `comment`, `dispute`, `proposed_edit` and `difficulty`. The
    same file again changes nothing. Reviews of forgotten questions are left out. Raises `InputError`, with
    the line, for an item that the run lacks or that two of its benchmarks hold, that the task is not about,
    two reviews of an item by one rater, an entry that is none, a review that says otherwise than the run
    does, a rater whose reviews are retired, and unless `same_allowed` for reviews that the run holds by
    another rater.
    """
    task = task or ReviewTask()
    rows = _rows(file, task)
    data = Import(str(file), (file_hash(file),))
    with run.writing() as db, refusing_same_scores(db, data, allowed=same_allowed):
        by_id = _items_by_name(db)
        matched = [_matched(place, row, by_id, task) for place, row in rows]
        _refuse_twice(matched)
        reviews = [entry for entry in matched if not is_forgotten(entry.item.meta)]
        return _put(db, file, task, reviews, len(matched) - len(reviews))


def _rows(file: Path, task: ReviewTask) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The rows of a table with their places. Raises `InputError` where a column is missing."""
    columns = task.table_columns()
    rows = [(line.where, line.row) for line in open_table(file).lines]
    absent = [column for column in columns if not any(column in row for _, row in rows)]
    if absent:
        raise InputError(f"{file}: no column {absent[0]!r}; {task.name}s have {', '.join(columns)}.")
    return rows


def _items_by_name(db: sqlite3.Connection) -> dict[str, list[tuple[int, Item]]]:
    """The items of the exams with their keys, by id: those of several benchmarks, and variants, share one."""
    by_id: dict[str, list[tuple[int, Item]]] = {}
    for number, item in read.items_by_id(db).items():
        if item.origin is None:
            by_id.setdefault(item.item, []).append((number, item))
    return by_id


def _matched(
    place: str, row: Mapping[str, Any], by_id: Mapping[str, Sequence[tuple[int, Item]]], task: ReviewTask
) -> _ItemReview:
    """The review of a row with the one item of the run that it names."""
    name = str("" if row.get("item") is None else row["item"]).strip()
    if name not in by_id:
        raise InputError(f"{place}: the run has no item {quoted(name)}.{suggest(name, list(by_id))}")
    named = by_id[name]
    if len(benchmarks := sorted({item.benchmark for _, item in named})) > 1:
        raise InputError(
            f"{place}: {quoted(name)} is an item of {' and of '.join(benchmarks)}: which one was reviewed "
            "cannot be told; copy one benchmark into a run of its own."
        )
    base = [entry for entry in named if not entry[1].variant] or list(named)
    if len(base) > 1:
        raise InputError(f"{place}: {quoted(name)} has {len(base)} variants and no base item to review.")
    ((number, item),) = base
    if not task.applies_to(item):
        raise InputError(f"{place}: {quoted(name)} names no other item that it was made from.")
    return _ItemReview(place, number, item, read_review(row, place, task.questions))


def _refuse_twice(reviews: Iterable[_ItemReview]) -> None:
    first: dict[tuple[int, str], str] = {}
    for entry in reviews:
        identity = entry.number, entry.review.rater
        if identity in first:
            raise InputError(
                f"{entry.place}: {entry.review.rater} reviewed {quoted(entry.item.item)} before, at "
                f"{first[identity]}: leave the one that counts."
            )
        first[identity] = entry.place


def _put(
    db: sqlite3.Connection, file: Path, task: ReviewTask, reviews: Sequence[_ItemReview], n_forgotten: int
) -> ReviewsStored:
    """Store matched reviews in an open transaction; so many were of forgotten questions."""
    items = {entry.number: entry.item for entry in reviews}
    responses = put_references(db, items, origin=task.name, same_text=False)
    by_rater: dict[str, list[_ItemReview]] = {}
    for entry in reviews:
        by_rater.setdefault(entry.review.rater, []).append(entry)
    new = sum(_put_of_rater(db, task, rater, entries, responses) for rater, entries in by_rater.items())
    events = _put_words(db, task, reviews)
    if new or events:
        settings = {
            "file": file.name,
            "file_hash": file_hash(file),
            "metric": task.name,
            "reviews": len(reviews),
        }
        put_provenance(db, "import", settings, changed=new + events)
    return ReviewsStored(
        str(file), task.name, task.name, len(responses), len(by_rater), new, len(reviews) - new, events,
        {"rows": len(reviews) + n_forgotten, "reviews": len(reviews)}
        | ({"forgotten": n_forgotten} if n_forgotten else {}),
    )  # fmt: skip


def _put_of_rater(
    db: sqlite3.Connection,
    task: ReviewTask,
    rater: str,
    entries: Sequence[_ItemReview],
    responses: Mapping[int, int],
) -> int:
    """Store the scores of one rater; how many reviews were new."""
    signature = task.signature("")
    of_rater = [
        Measure(metric=task.name, signature=signature, rater=rater, criterion=c) for c in task.criteria
    ]
    refuse_retired_scores(db, of_rater)
    names = [c.criterion for c in task.criteria]
    measures = dict(zip(names, put_measures(db, of_rater), strict=True))
    return sum(_put_review(db, entry, responses[entry.number], measures) for entry in entries)


def _put_review(
    db: sqlite3.Connection, entry: _ItemReview, response: int, measures: Mapping[str, int]
) -> bool:
    """Store the scores of one review; whether any was new. Raises `InputError` for one that is otherwise."""
    note = entry.review.category or None
    new = False
    scores = {s.measure: (s.value, s.note) for s in ballot_scores(db, list(measures.values()), [response])}
    for criterion, measure in measures.items():
        value = entry.review.scores[criterion]
        stored = scores.get(measure)
        if stored is not None and stored != (value, note):
            old, new_value = (f"{v} in {n or 'no category'}" for v, n in (stored, (value, note)))
            raise InputError(
                f"{entry.place}: {entry.review.rater} said otherwise of {quoted(entry.item.item)} before "
                f"({criterion}: {old}, now {new_value}); nothing was stored."
            )
        if stored is None and value is not None:
            put_scores(db, measure, [ScoreRow(response, Value(value, note=note))])
            new = True
    return new


def _put_words(db: sqlite3.Connection, task: ReviewTask, reviews: Sequence[_ItemReview]) -> int:
    """Store what raters wrote as events, each once; how many were new."""
    kinds = sorted({kind for entry in reviews for kind in entry.review.words})
    present = {kind: {_identity(event) for event in read.events(db, kind)} for kind in kinds}
    fresh = 0
    for entry in reviews:
        place = entry.item.benchmark, entry.item.item, entry.item.variant
        look = ItemByRater(place, entry.review.rater, task.name)
        for kind, text in entry.review.words.items():
            body = look.event(text)
            if _identity(body) not in present[kind]:
                put_event(db, kind, body)
                fresh += 1
    return fresh


def _identity(event: Mapping[str, Any]) -> str:
    """What an event says, without the time at which it was noted."""
    return json.dumps({name: value for name, value in event.items() if name != "made_at"}, sort_keys=True)


def put_adjudication(
    db: sqlite3.Connection, place: ItemKey, *, rater: str, correct: bool, reason: str = ""
) -> None:
    """Settle an item: its gold is `correct` whatever raters said, and its disputes so far are closed."""
    benchmark, item, variant = place
    # Clocks differ, and a merge numbers events anew: an adjudication names the disputes that it closes.
    disputes = [dispute.identity for dispute in _disputes(db) if dispute.place == place]
    body = {"benchmark": benchmark, "item": item, "variant": variant, "rater": rater, "correct": correct,
            "reason": reason, "closes": disputes}  # fmt: skip
    put_event(db, ADJUDICATION, body)


class Dispute(NamedTuple):
    """What a rater says is wrong with an item in a task; `identity` is how an adjudication names it."""

    place: ItemKey
    rater: str
    task: str
    text: str
    identity: str


class Adjudicated(NamedTuple):
    """Open disputes, and the gold of the items that were settled (last adjudication wins)."""

    disputes: tuple[Dispute, ...]
    gold: Mapping[ItemKey, float]

    @property
    def disputed(self) -> dict[ItemKey, set[str]]:
        """The items with an open dispute, and the tasks in which there is one."""
        tasks: dict[ItemKey, set[str]] = {}
        for dispute in self.disputes:
            tasks.setdefault(dispute.place, set()).add(dispute.task)
        return tasks


def read_adjudicated(db: sqlite3.Connection) -> Adjudicated:
    """What disputes are open in a run, and what adjudications settled; a retired rater disputes nothing."""
    gold: dict[ItemKey, float] = {}
    closed: set[str] = set()
    for event in read.events(db, ADJUDICATION):
        gold[event["benchmark"], event["item"], event["variant"]] = float(event["correct"])
        closed |= set(event["closes"])
    retired = retired_raters(db)
    disputes = tuple(
        dispute
        for dispute in _disputes(db)
        if dispute.identity not in closed and (dispute.task, dispute.rater) not in retired
    )
    return Adjudicated(disputes, gold)


def _disputes(db: sqlite3.Connection) -> list[Dispute]:
    """Of each rater, item, task and pass the newest dispute, unless it was taken back."""
    return [
        Dispute(look.place, look.rater, look.task, event["text"], _identity(event))
        for (look, kind), event in word_events(db).items()
        if kind == DISPUTE and event["text"]
    ]
