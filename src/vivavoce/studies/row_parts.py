"""Rows in parts: what is worked out for each row stands in memory for one part at a time."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import polars as pl

_ITEM = ("benchmark", "item", "variant")
PART = 500_000
"""Rows of a part: what is worked out for each row stands in memory for one part at a time."""


def are_few(rows: pl.DataFrame) -> bool:
    """Whether rows are hashed, sorted or copied sooner than compared."""
    return rows.height <= 1_000


def distinct(rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The different values of these columns, in the order in which they first stand.

    Most rows repeat the row before: where there are many, they are dropped before anything is hashed.
    """
    if are_few(rows):
        return rows.select(columns).unique(maintain_order=True)
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in columns)
    begins = differs | (pl.int_range(pl.len()) == 0)
    parts = (part.filter(begins) for part in rows.select(columns).iter_slices(PART))
    return pl.concat([rows.select(columns).clear(), *parts]).unique(maintain_order=True)


def parts_by_item(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """The rows in parts of about `PART`, all those of an item in one; one part unless they stand by item."""
    if rows.height <= PART + 1:
        return [rows]
    starts = [0]
    for start in range(0, rows.height - 1, PART):
        # One row more: the first of a part is compared with the last of the part before.
        steps = beside_previous(rows.slice(start, PART + 1), _ITEM)
        if steps["in_order"].null_count() or not steps["in_order"].all():
            return [rows]
        begins = (~steps["equal"]).arg_true()
        if start and len(begins):
            starts.append(start + 1 + begins[0])
    ends = [*starts[1:], rows.height]
    return [rows.slice(start, end - start) for start, end in zip(starts, ends, strict=True)]


def select_rows(rows: pl.DataFrame, condition: pl.Expr) -> pl.DataFrame:
    """The rows that meet a condition; where all do, they are not copied, unless they are few."""
    if are_few(rows):
        return rows.filter(condition)
    chosen = rows.select(condition.fill_null(False)).to_series()
    return rows if chosen.all() else rows.filter(chosen)


def parts_by(
    rows: pl.DataFrame, *columns: str, without: Collection[tuple[Any, ...]] = ()
) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    """The rows of each combination of these columns, in the order in which they come; one part at a time.

    Those `without` are passed over.
    """
    for values in distinct(rows, *columns).iter_rows():
        if values not in without:
            of_part = [pl.col(name).eq_missing(value) for name, value in zip(columns, values, strict=True)]
            yield values, select_rows(rows, pl.all_horizontal(of_part))


def by_benchmark(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each benchmark, in the order in which these come; those of a single one are not copied."""
    for (benchmark,), part in parts_by(rows, "benchmark"):
        yield str(benchmark), part


def by_candidate(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each candidate, by name; one candidate's copy stands in memory at a time."""
    for candidate in distinct(rows, "candidate")["candidate"].sort():
        yield str(candidate), select_rows(rows, pl.col("candidate") == candidate)


def coded(rows: pl.DataFrame, *columns: str) -> dict[str, pl.Enum]:
    """The types of these columns as codes of the names in these rows, which stand in the order of the names.

    A name takes 16 bytes a row, a code at most four.
    """
    return {name: pl.Enum(distinct(rows, name)[name].drop_nulls().sort()) for name in columns}


def stacked(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of all parts, at least one; a column of texts with one value in all of them is held once."""
    parts = [part for part in parts if part.height] or parts[:1]  # all rows of a part may have been left out
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    texts = [name for name in first.columns if first.schema[name] == pl.String]
    values = {name: first.select(pl.col(name).first()).item() for name in texts}
    same = {
        name: value for name, value in values.items() if all(_is_all(part, name, value) for part in parts)
    }
    rows = pl.concat([part.drop(*same) for part in parts], rechunk=True)
    constant = {name: pl.lit(value, pl.String) for name, value in same.items()}
    return rows.with_columns(**constant).select(first.columns)


def _is_all(rows: pl.DataFrame, name: str, value: str | None) -> bool:
    """Whether a column of texts has this value, or null, in all rows."""
    # `rows[name]` would give a column that is held once a value for every row, for as long as the rows live.
    return bool(rows.select(pl.col(name).eq_missing(pl.lit(value, pl.String)).all()).item())


def beside_previous(rows: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    """Whether each row but the first is `in_order` beside the row before it, and whether both are `equal`."""
    comparisons: dict[str, pl.Expr] = {}  # a step of their own: in one with the rest they are made repeatedly
    in_order, equal = pl.lit(True), pl.lit(True)
    for name in reversed(order):
        column, previous = pl.col(name), pl.col(name).shift(1)
        comparisons |= {f"{name} >": column > previous, f"{name} =": column == previous}
        in_order = pl.col(f"{name} >") | (pl.col(f"{name} =") & in_order)
        equal = pl.col(f"{name} =") & equal
    return rows.select(**comparisons).slice(1).select(in_order=in_order, equal=equal)
