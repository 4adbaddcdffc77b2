"""People's reviews of a run's items, as the study of reviews takes them."""

import polars as pl

from vivavoce.core.records import ItemKey
from vivavoce.people.backgrounds import read_backgrounds
from vivavoce.people.question import REFERENCE
from vivavoce.people.storing.store_reviews import read_adjudicated
from vivavoce.people.tasks.review import SIGNATURE
from vivavoce.store.ballot_scores import item_ratings
from vivavoce.store.view import View
from vivavoce.studies.reviewed_items import RaterBackground, ReviewedItem, Reviews, SecondReview, category_of
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_table import ScoreTable


def read_reviews(view: View, items: "set[ItemKey] | None") -> Reviews:
    """The reviews of a run, of all items or the chosen ones."""
    rows = item_ratings(view.db, SIGNATURE, REFERENCE)
    adjudicated = read_adjudicated(view.db)
    backgrounds = {who: RaterBackground(*entry) for who, entry in read_backgrounds(view.db).items()}
    reviewed: dict[ItemKey, ReviewedItem] = {}
    names: dict[ItemKey, list[str]] = {}
    again: dict[tuple[ItemKey, str], float] = {}
    for row in rows:
        place = row.place
        if items is not None and place not in items:
            continue
        entry = reviewed.setdefault(place, ReviewedItem(place, row.group, row.category, {}, {}))
        if row.pass_no == 1:
            entry._asdict()[row.criterion][row.rater] = row.value
            names.setdefault(place, []).append(row.note)
        elif row.criterion == "correct":
            again[place, row.rater] = row.value
    categorised = [
        entry._replace(category=category_of(names.get(place, ()), entry.category))
        for place, entry in reviewed.items()
    ]
    seconds = [
        SecondReview(place, reviewed[place].group, rater, reviewed[place].correct[rater], value)
        for (place, rater), value in again.items()
        if rater in reviewed[place].correct
    ]
    return Reviews(tuple(categorised), tuple(seconds), adjudicated.disputed, adjudicated.gold, backgrounds)


def without_reviews(table: ScoreTable) -> ScoreTable:
    """The scores of answers: those of items by people are the study's of reviews, and no candidate's."""
    measures = {key: measure for key, measure in table.measures.items() if measure.signature != SIGNATURE}
    of_answers = pl.col("measure_id").is_in(list(measures))
    return table._replace(measures=measures, scores=select_rows(table.scores, of_answers))
