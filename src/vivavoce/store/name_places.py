"""Places of names: what rows are joined, filtered and sorted by before they are given names."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.store.query_frames import rows_frame

if TYPE_CHECKING:
    import polars as pl

ITEM_NAMES = ("benchmark", "item", "variant", "alias", "group", "category", "format")


def keyed_names(
    db: sqlite3.Connection,
    sql: str,
    key: str,
    *columns: str,
    numbers: Sequence[str] = (),
    values: Sequence[Any] = (),
) -> "pl.DataFrame":
    """A query's rows: a key, columns of text, and further ones of numbers."""
    import polars as pl

    kinds = {key: pl.Int64(), **dict.fromkeys(columns, pl.String()), **dict.fromkeys(numbers, pl.Float64())}
    return rows_frame(db, sql, pl.Schema(kinds), values)


def current_items(db: sqlite3.Connection, *, generated: bool, weight: bool = False) -> "pl.DataFrame":
    """The current items' names in their order, `group` as declared; without `generated`, the exam's."""
    names = keyed_names(
        db,
        'SELECT item_id, benchmark, item, variant, alias, "group", category, format'
        f"{', weight' if weight else ''} FROM items JOIN benchmarks USING (benchmark_id) "
        f"WHERE current = 1{'' if generated else ' AND origin IS NULL'}",
        "item_id",
        *ITEM_NAMES,
        numbers=("weight",) if weight else (),
    )
    return in_order(names, "benchmark", "item", "variant")


def in_order(names: "pl.DataFrame", *columns: str) -> "pl.DataFrame":
    """The names in the order of these columns, with their place there as `number`."""
    return (names.sort(*columns, maintain_order=True) if len(names) > 1 else names).with_row_index("number")


class Places(NamedTuple):
    """By key, ascending, the place among names in order. The last of both stands there once more."""

    key: str
    keys: "pl.Series"
    numbers: "pl.Series"

    @classmethod
    def from_names(cls, names: "pl.DataFrame", key: str) -> "Places":
        """The places of names that `in_order` gave, under this key of theirs."""
        order = names[key].arg_sort()
        order = order.append(order.tail(1))  # for keys above all others, which are searched for at the end
        return cls(key, names[key][order], names["number"][order])

    def series(self, name: str, rows: "pl.DataFrame") -> "pl.Series":
        """The places of the rows' keys, null where a key has no name."""
        import polars as pl

        if not len(self.keys):
            return pl.Series(name, [None] * rows.height, dtype=pl.UInt32)
        keys = rows[self.key]
        position = self.keys[:-1].search_sorted(keys)
        places, matches = self.numbers[position].alias(name), self.keys[position] == keys
        return places if matches.all(ignore_nulls=False) else places.set(~matches.fill_null(False), None)


Named = tuple["pl.Series", "pl.Series"]
"""Names in order, and in each row the place of its name."""


class ColumnParts:
    """The parts of a frame with these columns; one with a single value in all parts is held once.

    The first column has a value for every row.
    """

    def __init__(self, schema: "pl.Schema") -> None:
        self._schema = schema
        self._constant: dict[str, Any] = {}
        self._parts: list[pl.DataFrame] = []

    def add(self, part: "pl.DataFrame") -> None:
        """Add a part, whose columns are those of the schema."""
        if not part.height:
            return
        if not self._parts:
            self._constant = {name: part[name][0] for name in part.columns[1:]}
        varied = [name for name, value in self._constant.items() if not _is_always(part[name], value)]
        values = {name: self._literal(name, self._constant.pop(name)) for name in varied}
        if values:
            self._parts = [earlier.with_columns(**values) for earlier in self._parts]
        self._parts.append(part.drop(*self._constant))

    def frame(self) -> "pl.DataFrame":
        """The rows of all parts; those of none where there was no part."""
        import polars as pl

        if not self._parts:
            return pl.DataFrame(schema=self._schema)
        constant = {name: self._literal(name, value) for name, value in self._constant.items()}
        varied = [name for name in self._schema if name not in constant]
        rows = pl.concat([part.select(varied) for part in self._parts], rechunk=True)
        self._parts = []
        return rows.with_columns(**constant).select(self._schema.names())

    def _literal(self, name: str, value: Any) -> "pl.Expr":
        import polars as pl

        return pl.lit(value, self._schema[name])


def _is_always(column: "pl.Series", value: Any) -> bool:
    """Whether a column has this value, or null, in all rows."""
    return _is_constant(column) and bool(column[0] == value)


def frame_of(columns: "Iterable[tuple[str, pl.Series]]", named: "Mapping[str, Named]") -> "pl.DataFrame":
    """A frame of these columns, the first of any values, and of the names at these places.

    A column that is the same in all rows is held once and not once a row: so most are in most runs. The
    columns are taken one by one.
    """
    import polars as pl

    constant: dict[str, pl.Expr] = {}
    varied: dict[str, pl.Series] = {}
    for name, column in columns:
        if varied and _is_constant(column):
            constant[name] = pl.lit(column[0], column.dtype)
        else:
            varied[name] = column
    for name, (names, places) in named.items():
        if len(places) and (places.min() == places.max() or names.n_unique() == 1):
            constant[name] = pl.lit(names[places[0]], names.dtype)
        else:
            varied[name] = names.gather(places)
    return pl.DataFrame(varied).with_columns(**constant)


def _is_constant(column: "pl.Series") -> bool:
    """Whether a column has rows, and one value or null in all of them; floats are not looked at."""
    if not len(column) or (column.dtype.is_float() and column.null_count() < len(column)):
        return False
    return bool(column[0] == column[-1]) and column.n_unique() == 1
