"""The responses of a run as a frame: read in parts, ordered by the places of names, named at the end."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
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
    db: sqlite3.Connection,
    *,
    probed: bool | None = None,
    generated: bool = True,
    edited: bool | None = None,
    items: "pl.DataFrame | None" = None,
    columns: Sequence[str] = RESPONSES,
    derived: "Mapping[str, pl.Expr] | None" = None,
) -> "pl.DataFrame":
    """The responses to current items, raw, in these columns of `RESPONSES`; `group` is the label of the case.

    `final` and `ending` are made of the text where an older version stored none.

    With `probed` the records of log-likelihoods alone, with False the answers in words; with `edited` edits
    alone, with False none. Without `generated`, items that were made in the run are left out. `items` are the
    benchmarks, items and variants to read. Ordered by benchmark, item, variant, candidate, repeat and edit.
    `derived` are further columns made of the fields of a response row by row: what they are made of, such as
    long texts, stands in memory for one part at a time unless it is among the columns.
    """
    import polars as pl

    derived = dict(derived or {})
    named_items = current_items(db, generated=generated)
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
    chosen = None if items is None else _keys_of(named_items, items)
    condition = _condition(probed, edited, chosen)
    rows = _numbered_rows(db, (named_items, people, edits), columns, derived, condition)
    if "group" in columns:
        named_items = with_cases(db, named_items)
    with decoding("an answer"):
        order = rows.select(pl.arg_sort_by("of_item", "of_candidate", "repeat", "of_edit")).to_series()
        in_place = order.is_sorted()

        def column(name: str) -> pl.Series:
            values = rows.drop_in_place(name)
            return values if in_place else values.gather(order)

        places = [column(name) for name in _PLACES]
        sources = ((named_items, ITEM_NAMES), (people, _OF_CANDIDATE), (edits, _OF_EDIT))
        named = {
            name: (frame[name], place)
            for place, (frame, names) in zip(places, sources, strict=True)
            for name in names
            if name in columns
        }
        # One by one, so that the rows do not stand in memory twice.
        return frame_of(((name, column(name)) for name in rows.columns), named).select(*columns, *derived)


def _keys_of(named_items: "pl.DataFrame", items: "pl.DataFrame") -> list[int]:
    keys = named_items.join(items, on=["benchmark", "item", "variant"], how="semi", maintain_order="left")
    return keys["item_id"].to_list()


def _condition(
    probed: bool | None, edited: bool | None, items: Sequence[int] | None
) -> tuple[str, list[str]]:
    """The condition in SQL that selects these responses, with its values."""
    conditions, values = [], []
    for chosen, column in ((probed, "probe"), (edited, "iif(probe = '', edit, '')")):
        if chosen is not None:
            comparison = "!=" if chosen else "="
            conditions.append(f"edit_id IN (SELECT edit_id FROM edits WHERE {column} {comparison} '')")
    if items is not None:
        conditions.append("item_id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(items))
    return f" WHERE {' AND '.join(conditions)}" if conditions else "", values


def _visible(columns: Sequence[str], derived: "Mapping[str, pl.Expr]") -> set[str]:
    """The fields that these columns are, and that these expressions are made of."""
    return {*columns, *(name for expr in derived.values() for name in expr.meta.root_names())}


def _fields(columns: Sequence[str], derived: "Mapping[str, pl.Expr]") -> list[str]:
    """The fields of a response that these columns and expressions are made of; all are ordered by repeat."""
    from vivavoce.core.part_columns import HELPFUL, NEEDED

    needed = {"repeat", *_visible(columns, derived)}
    needed |= {name for part, names in NEEDED.items() if part in needed for name in names}
    needed |= {*HELPFUL} if "ending" in needed else set()
    named = {*ITEM_NAMES, *_OF_CANDIDATE, *_OF_EDIT}
    return [name for name in RESPONSES if name in needed and name not in named]


def _selected(name: str, *, is_visible: bool) -> str:
    """SQL for a field; long reasoning is read of older answers alone, where only their ending needs it."""
    if name == "text":
        return "iif(logprobs IS NULL, text, NULL) AS text"
    if name == "reasoning" and not is_visible:
        return "iif(ending IS NULL AND finish_reason IS NOT NULL, reasoning, NULL) AS reasoning"
    return name


def _numbered_rows(
    db: sqlite3.Connection,
    names: "Sequence[pl.DataFrame]",
    columns: Sequence[str],
    derived: "Mapping[str, pl.Expr]",
    selection: tuple[str, list[str]],
) -> "pl.DataFrame":
    """The responses with the places of items, candidates and edits for their keys."""
    import polars as pl

    from vivavoce.core.part_columns import with_parts

    kinds, fields, (condition, values) = schema(RESPONSES), _fields(columns, derived), selection
    visible = _visible(columns, derived)
    selected = [_selected(name, is_visible=name in visible) for name in fields]
    parts = frame_parts(
        db,
        f"SELECT {', '.join((*_KEYS, *selected))} FROM responses{condition} ORDER BY response_id",
        pl.Schema(dict.fromkeys(_KEYS, pl.Int64()) | {name: kinds[name] for name in fields}),
        values,
    )
    places = [Places.from_names(frame, key) for frame, key in zip(names, _KEYS, strict=True)]
    # What an expression is made of is dropped with its part, unless it was asked for itself.
    remaining = [name for name in fields if name == "repeat" or name in columns]
    numbers = dict.fromkeys(_PLACES, pl.UInt32()) | {name: kinds[name] for name in remaining}
    of_derived = pl.DataFrame(schema={name: kinds[name] for name in fields}).select(**derived).schema
    numbered = ColumnParts(pl.Schema({**numbers, **of_derived}))
    for part in parts:
        refuse_nulls(part, *_KEYS)
        part = with_parts(part, fields)
        of_names = (place.series(name, part) for name, place in zip(_PLACES, places, strict=True))
        numbered.add(part.select(*of_names, *remaining, **derived).drop_nulls(list(_PLACES)))
    return numbered.frame()
