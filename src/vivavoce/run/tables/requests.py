"""What was expected of candidates, and of people who scored some of the answers."""

from collections.abc import Mapping

import polars as pl

from vivavoce.core.records import ItemKey, Measure
from vivavoce.core.tables import restrict_to_items
from vivavoce.store.forgotten import unaskable
from vivavoce.store.name_places import current_items
from vivavoce.store.requests import request_counts
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import View, with_view
from vivavoce.studies.coverage import Requests
from vivavoce.studies.rater_scores import is_people
from vivavoce.studies.score_table import ITEM_KEY


def load_requests(view: View, items: set[ItemKey] | None = None) -> Requests:
    """What was expected of each candidate on the chosen items, without those made in the run.

    Nothing more than is there is expected of questions that can be asked no more.
    """
    names = restrict_to_items(current_items(view.db, generated=False), items)
    return Requests.of_counts(view.fetch(request_counts), names).without_gaps(view.fetch(unaskable))


def request_gaps(file: RunFile) -> tuple[int, int]:
    """How many responses were never asked for, and how many of them a collect was to ask for."""
    requests = with_view(file, load_requests)
    return requests.never_asked, requests.unfinished


def labelled_items(rows: pl.DataFrame, measures: Mapping[int, Measure]) -> dict[int, frozenset[ItemKey]]:
    """By measure of people the items that they scored: what they were not given to score is no gap."""
    of_people = [key for key, measure in measures.items() if is_people(measure)]
    if not of_people:
        return {}
    labelled = (
        rows.lazy().filter(pl.col("measure_id").is_in(of_people)).select("measure_id", *ITEM_KEY).unique()
    )
    items: dict[int, set[ItemKey]] = {key: set() for key in of_people}
    for key, *place in labelled.select("measure_id", *ITEM_KEY).unique().collect().iter_rows():
        items[key].add(tuple(place))
    return {key: frozenset(places) for key, places in items.items()}
