"""The reference answers of items as responses of the reserved candidate `reference`, a ceiling."""

import sqlite3
from collections.abc import Mapping

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, Response
from vivavoce.people.question import REFERENCE
from vivavoce.store import read
from vivavoce.store.by_place import responses_at
from vivavoce.store.write import put_candidates, put_responses


def put_references(
    db: sqlite3.Connection, items: Mapping[int, Item], *, origin: str, same_text: bool
) -> dict[int, int]:
    """The response keys of the reference answers by item; those that the run lacks are stored.

    With `same_text` a stored one must be the key itself, as raters saw it. Raises `InputError` for one that
    is another text, and where a candidate is called as the reference answer is.
    """
    if any(c.candidate == REFERENCE and c.role != "ceiling" for c in read.candidates(db)):
        raise InputError(
            f"a candidate of this run is called {REFERENCE!r}, which is what the reference answer is called: "
            "import its answers under another name."
        )
    places = {number: (item.benchmark, item.item, item.variant) for number, item in items.items()}
    stored = responses_at(db, places.values())
    for number, item in items.items():
        present = stored.get((*places[number], REFERENCE, 1))
        # A ceiling that was collected says the key without the labels of the prompt.
        if present is None or (same_text and present.text != formats.key(item)):
            _put_reference(db, number, item, origin)
    stored = responses_at(db, places.values())
    return {number: stored[*place, REFERENCE, 1].key for number, place in places.items()}


def _put_reference(db: sqlite3.Connection, number: int, item: Item, origin: str) -> None:
    response = Response(benchmark=item.benchmark, item=item.item, variant=item.variant, candidate=REFERENCE,
                        text=formats.labelled_key(item), meta={"origin": origin})  # fmt: skip
    people = put_candidates(db, {REFERENCE: "ceiling"})
    put_responses(db, [response], items={(item.item, item.variant): number}, candidates=people)
