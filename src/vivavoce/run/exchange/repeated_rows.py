"""Which rows of a table repeat the key of an earlier one, and which of these say something else than it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl


class Contradiction(NamedTuple):
    """The numbers of two rows that have one key and say different things, from 0."""

    first: int
    second: int


def first_of_key(rows: pl.DataFrame, key: Sequence[str]) -> np.ndarray:
    """For each row whether no earlier one has its key, of columns without nulls."""
    order = np.lexsort([rows[name].to_numpy() for name in reversed(key)])  # stable: the first stands first
    same = np.ones(max(len(order) - 1, 0), bool)
    for name in key:
        values = rows[name].to_numpy()[order]
        same &= values[1:] == values[:-1]
    is_first = np.ones(len(order), bool)
    is_first[order[1:][same]] = False
    return is_first


def first_contradiction(
    rows: pl.DataFrame, key: Sequence[str], content: Sequence[str]
) -> Contradiction | None:
    """The first row whose columns `content` differ from those of the first with its key; null without one."""
    numbered = rows.select(*key, *content).with_row_index("second")
    first = numbered.unique(key, keep="first").rename({"second": "first"})
    pairs = numbered.join(first, on=key, maintain_order="left")
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_right")) for name in content)
    different = pairs.filter(differs).select("first", "second").head(1)
    return Contradiction(*different.row(0)) if different.height else None
