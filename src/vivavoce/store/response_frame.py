"""The responses of a run as a frame: read in parts, ordered by the places of names, named at the end."""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vivavoce.core.tables import RESPONSES, schema
from vivavoce.store.cases import with_cases
from vivavoce.store.damage import decoding
from vivavoce.store.name_places import (
    ITEM_NAMES,
    ColumnParts,
    Places,
    current_items,
    frame_of,
    in_order,
    keyed_names,
)
from vivavoce.store.query_frames import frame_parts
from vivavoce.store.score_checks import refuse_nulls

if TYPE_CHECKING:
    import polars as pl

_KEYS = ("item_id", "candidate_id", "edit_id")
_PLACES = ("of_item", "of_candidate", "of_edit")
_OF_EDIT, _OF_CANDIDATE = ("edit", "probe"), ("candidate", "role")


def responses(
    db: sqlite3.Connection, *, probed: bool | None = None, generated: bool = True
) -> "pl.DataFrame":
    """The responses to current items, raw, in the columns of `RESPONSES`; `group` is the label of the case.

    With `probed` the records of log-likelihoods alone, with False the answers in words. Without `generated`,
    items that were made in the run are left out. Ordered by benchmark, item, variant, candidate, repeat
    and edit.
    """
    import polars as pl

    items = current_items(db, generated=generated)
    people = in_order(
        keyed_names(
            db, "SELECT candidate_id, candidate, role FROM candidates", "candidate_id", *_OF_CANDIDATE
        ),
        "candidate",
    )
    edits = in_order(
        keyed_names(
            db, "SELECT edit_id, iif(probe = '', edit, '') AS edit, probe FROM edits", "edit_id", *_OF_EDIT
        ),
        "edit",
    )
    rows = _numbered_rows(db, (items, people, edits), probed=probed)
    items = with_cases(db, items)
    with decoding("an answer"):
        order = rows.select(pl.arg_sort_by("of_item", "of_candidate", "repeat", "of_edit")).to_series()
        in_place = order.is_sorted()

        def column(name: str) -> pl.Series:
            values = rows.drop_in_place(name)
            return values if in_place else values.gather(order)

        places = [column(name) for name in _PLACES]
        sources = ((items, ITEM_NAMES), (people, _OF_CANDIDATE), (edits, _OF_EDIT))
        named = {
            name: (frame[name], place)
            for place, (frame, names) in zip(places, sources, strict=True)
            for name in names
        }
        # One by one, so that the rows do not stand in memory twice.
        return frame_of(((name, column(name)) for name in rows.columns), named).select(RESPONSES)


def _numbered_rows(
    db: sqlite3.Connection, names: "Sequence[pl.DataFrame]", *, probed: bool | None
) -> "pl.DataFrame":
    """The responses with the places of items, candidates and edits for their keys."""
    import polars as pl

    kinds = schema(RESPONSES)
    fields = [name for name in RESPONSES if name not in (*ITEM_NAMES, *_OF_CANDIDATE, *_OF_EDIT)]
    columns = ["iif(logprobs IS NULL, text, NULL) AS text" if name == "text" else name for name in fields]
    condition = "" if probed is None else (
        f" WHERE edit_id IN (SELECT edit_id FROM edits WHERE probe {'!=' if probed else '='} '')"
    )  # fmt: skip
    parts = frame_parts(
        db,
        f"SELECT {', '.join((*_KEYS, *columns))} FROM responses{condition} ORDER BY response_id",
        pl.Schema(dict.fromkeys(_KEYS, pl.Int64()) | {name: kinds[name] for name in fields}),
    )
    places = [Places.of(frame, key) for frame, key in zip(names, _KEYS, strict=True)]
    empty = pl.Schema(dict.fromkeys(_PLACES, pl.UInt32()) | {name: kinds[name] for name in fields})
    numbered = ColumnParts(empty)
    for part in parts:
        refuse_nulls(part, *_KEYS)
        of_names = (place.series(name, part) for name, place in zip(_PLACES, places, strict=True))
        numbered.add(part.select(*of_names, *fields).drop_nulls(list(_PLACES)))
    return numbered.frame()
