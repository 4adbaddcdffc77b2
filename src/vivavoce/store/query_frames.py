"""The rows of a query as Polars frames, part by part."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.store.damage import decoding

if TYPE_CHECKING:
    import polars as pl

CHUNK = 50_000
"""Rows that stand in memory as Python objects at once."""


def frame_parts(
    db: sqlite3.Connection, sql: str, columns: "pl.Schema", values: Sequence[Any] = ()
) -> "Iterator[pl.DataFrame]":
    """A query's rows as frames of at most `CHUNK` rows; none where there are no rows."""
    import polars as pl

    cursor = db.execute(sql, values)
    while rows := cursor.fetchmany(CHUNK):
        with decoding("a row of another type"):
            part = pl.DataFrame(rows, schema=columns, orient="row")
        yield part


def rows_frame(
    db: sqlite3.Connection, sql: str, columns: "pl.Schema", values: Sequence[Any] = ()
) -> "pl.DataFrame":
    """A query's rows, in chunks: Python objects of a million rows never stand beside the frame."""
    import polars as pl

    parts = [*frame_parts(db, sql, columns, values)] or [pl.DataFrame(schema=columns)]
    return pl.concat(parts) if len(parts) > 1 else parts[0]
