"""How a table with questions is laid out: the one place that decides what its columns mean."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import columns_of, match_answers, spread_options
from vivavoce.benchmarks.table_options import gathered
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line, Lines, cell, rename

_EXACT = 2**53
"""From here on a float no longer holds every whole number."""


class TableLayout(NamedTuple):
    """Which of a table's columns is which of our fields.

    `map` and `set` are what the user says of it, `spread` the columns that hold one option each, by label.
    """

    columns: tuple[str, ...]
    fields: Mapping[str, str]
    spread: Mapping[str, str]
    map: Mapping[str, str]
    set: Mapping[str, Any]

    @property
    def matched(self) -> dict[str, str]:
        """The column of each field, with options in columns of their own under one name."""
        return {**self.fields, **({"options": ", ".join(self.spread.values())} if self.spread else {})}

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are no field of ours."""
        used = {*self.fields.values(), *self.spread.values(), "id"}
        used |= {name.partition(".")[0] for name in self.fields.values()}
        return tuple(column for column in self.columns if column not in used)

    def rows(self, lines: Iterable[Line]) -> Lines:
        """The rows of the table under our names, read as often as asked for."""
        return Lines(partial(self._rows, lines))

    def _rows(self, lines: Iterable[Line]) -> Iterator[Line]:
        return renamed(gathered(lines, self.spread), self.fields, self.map, self.set)


def layout_of(
    lines: Iterable[Line],
    *,
    map: Mapping[str, str] = {},
    set: Mapping[str, Any] = {},
    with_questions: bool = True,
    needed: Collection[str] = ("question",),
) -> TableLayout:
    """The layout of a table, found by the names and the values of its columns.

    Columns hold one option each only where the fields `needed` are there. Raises `InputError` where a column
    may be two fields, or two columns one.
    """
    columns = columns_of(lines)
    fields = match_answers(columns, map=map, set=set, with_questions=with_questions)
    spread = spread_options(lines, {*set, *fields}, fields, needed=needed)
    return TableLayout(tuple(columns), fields, spread, map, set)


def renamed(
    lines: Iterable[Line], matched: Mapping[str, str], map: Mapping[str, str], set: Mapping[str, Any]
) -> Iterator[Line]:
    """Rows under our names: each field from its `matched` column, or as it is `set` for all rows.

    Raises `InputError` for a row without a column that the user's `map` names; another may be absent.
    """
    for line in lines:
        present = {
            ours: theirs
            for ours, theirs in matched.items()
            if ours in map or (theirs != ours and _has_cell(line.row, theirs))
        }
        row = {**rename(line, present), **set}
        item = row.get("item")
        if isinstance(item, float) and abs(item) >= _EXACT:
            raise InputError(
                f"{line.where}: the id {item:g} is a number so large that two ids may have become one: have "
                "the column of ids read as text."
            )
        yield Line(line.where, row)


def _has_cell(row: Mapping[str, Any], name: str) -> bool:
    try:
        cell(row, name)
    except KeyError:
        return False
    return True
