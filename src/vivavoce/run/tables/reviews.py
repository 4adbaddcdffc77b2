"""People's reviews of a run's items, as the study of reviews takes them."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from vivavoce.core.records import ItemKey
from vivavoce.people.backgrounds import read_backgrounds
from vivavoce.people.question import REFERENCE
from vivavoce.people.storing.store_reviews import DISPUTE, read_adjudicated
from vivavoce.people.tasks import REVIEW_TASKS
from vivavoce.store.ballot_scores import ItemRating, item_ratings
from vivavoce.store.rater_texts import WORD_EVENTS, written_words
from vivavoce.store.view import View
from vivavoce.studies.reviewed_items import (
    Notes,
    RaterBackground,
    ReviewedItem,
    Reviews,
    SecondReview,
    category_of,
)
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_table import ScoreTable

SIGNATURES = {name: task().signature("") for name, task in REVIEW_TASKS.items()}
"""The signature under which the scores of each task of reviews stand."""
_NOTES = tuple(WORD_EVENTS[kind] for kind in ("comment", "proposed_edit"))


def read_reviews(view: View, items: "set[ItemKey] | None") -> Reviews:
    """The reviews of a run, of all items or the chosen ones, by task."""
    reviewed: list[ReviewedItem] = []
    seconds: list[SecondReview] = []
    for task, signature in SIGNATURES.items():
        rows = item_ratings(view.db, signature, REFERENCE)
        chosen = [row for row in rows if items is None or row.place in items]
        of_task = _reviewed(task, chosen)
        reviewed += of_task.values()
        seconds += _seconds(of_task, chosen)
    adjudicated = read_adjudicated(view.db)
    backgrounds = {who: RaterBackground(*entry) for who, entry in read_backgrounds(view.db).items()}
    notes, difficulty = _written(view)
    return Reviews(
        tuple(reviewed), tuple(seconds), adjudicated.disputed, adjudicated.gold, backgrounds, notes,
        difficulty,
    )  # fmt: skip


def _reviewed(task: str, rows: Sequence[ItemRating]) -> dict[ItemKey, ReviewedItem]:
    """The items of a task with what raters said in their first pass."""
    reviewed: dict[ItemKey, ReviewedItem] = {}
    values: dict[ItemKey, dict[str, dict[str, float]]] = {}
    names: dict[ItemKey, dict[str, str]] = {}
    for row in rows:
        entry = ReviewedItem(row.place, row.group, row.category, {}, {}, task, row.format)
        reviewed.setdefault(row.place, entry)
        if row.pass_no == 1:
            values.setdefault(row.place, {}).setdefault(row.criterion, {})[row.rater] = row.value
            if row.note:
                names.setdefault(row.place, {}).setdefault(row.rater, row.note)
    for place, entry in reviewed.items():
        further = values.get(place, {})
        reviewed[place] = entry._replace(
            correct=further.pop("correct", {}),
            relevance=further.pop("relevance", {}),
            further=further,
            category=category_of(names.get(place, {}).values(), entry.category),
            categories=names.get(place, {}),
        )
    return reviewed


def _seconds(reviewed: Mapping[ItemKey, ReviewedItem], rows: Sequence[ItemRating]) -> list[SecondReview]:
    """What raters said of items that were put to them again, beside what they said first."""
    again = {(r.place, r.rater): r.value for r in rows if r.pass_no > 1 and r.criterion == "correct"}
    return [
        SecondReview(place, entry.group, rater, entry.correct[rater], value, entry.task)
        for (place, rater), value in again.items()
        if rater in (entry := reviewed[place]).correct
    ]


def _written(view: View) -> tuple[dict[tuple[ItemKey, str], Notes], dict[ItemKey, str]]:
    """How many raters wrote notes and disputes of an item in a task, and the difficulty that most name."""
    writers: dict[tuple[ItemKey, str], tuple[set[str], set[str]]] = {}
    difficulties: dict[ItemKey, set[tuple[str, str]]] = {}
    for look, words in written_words(view.db).items():
        comments, disputes = writers.setdefault((look.place, look.task), (set(), set()))
        comments |= {look.rater for kind in _NOTES if kind in words}
        disputes |= {look.rater for kind in words if kind == DISPUTE}
        if look.pass_no == 1 and (name := words.get(WORD_EVENTS["difficulty"])):
            difficulties.setdefault(look.place, set()).add((look.rater, name))
    notes = {key: Notes(*map(len, of_task)) for key, of_task in writers.items()}
    return notes, {place: _most_named(votes) for place, votes in difficulties.items()}


def _most_named(votes: Iterable[tuple[str, str]]) -> str:
    """The name that most raters give; `votes` are raters with a name each."""
    return category_of((name for _, name in votes), "")


def without_reviews(table: ScoreTable) -> ScoreTable:
    """The scores of answers: those of items by people are the study's of reviews, and no candidate's."""
    of_items = set(SIGNATURES.values())
    measures = {key: measure for key, measure in table.measures.items() if measure.signature not in of_items}
    of_answers = pl.col("measure_id").is_in(list(measures))
    return table._replace(measures=measures, scores=select_rows(table.scores, of_answers))
