"""How a table with questions is laid out: the one place that decides what its columns mean."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.benchmarks.column_names import (
    columns_of,
    folded,
    group_levels,
    match_answers,
    match_columns,
    spread_options,
)
from vivavoce.benchmarks.table_options import KEY_COLUMN, OTHER_KEYS, RIGHT_COLUMN, gathered
from vivavoce.benchmarks.table_rows import format_named, list_of
from vivavoce.core.errors import InputError
from vivavoce.core.tables import ITEMS, Line, Lines, cell, rename

_EXACT = 2**53
"""From here on a float no longer holds every whole number."""


class TableLayout(NamedTuple):
    """Which of a table's columns is which of our fields.

    `map` and `set` are what the user says of it, `spread` the columns that hold one option each, by label,
    and `levels` those of the levels of `group`, outermost first, where these are several. `other_keys` are
    further columns that name the right option, as `answer_idx` beside `answer`.
    """

    columns: tuple[str, ...]
    fields: Mapping[str, str]
    spread: Mapping[str, str]
    map: Mapping[str, str]
    set: Mapping[str, Any]
    levels: tuple[str, ...] = ()
    other_keys: tuple[str, ...] = ()

    def asking(self) -> "TableLayout":
        """The layout with the column of the question too, where answers name their questions by words."""
        fields = match_columns(self.columns, ["question"], map=dict(self.fields), set=self.set)
        return self._replace(fields=fields)

    @property
    def matched(self) -> dict[str, str]:
        """The column of each field, with options in columns of their own under one name."""
        return {**self.fields, **({"options": ", ".join(self.spread.values())} if self.spread else {})}

    @property
    def unused(self) -> tuple[str, ...]:
        """The columns that say nothing of a question or an answer: no field of ours under any name."""
        return tuple(column for column in self.unmatched if column not in ITEMS)

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The columns that are no field of ours."""
        used = {*self.fields.values(), *self.spread.values(), *self.levels, "id"}
        used |= {name.partition(".")[0] for name in self.fields.values()}
        return tuple(column for column in self.columns if column not in used)

    def rows(self, lines: Iterable[Line]) -> Lines:
        """The rows of the table under our names, read as often as asked for."""
        return Lines(partial(self._rows, lines))

    def _rows(self, lines: Iterable[Line]) -> Iterator[Line]:
        further = {*self.levels}.difference(ITEMS)  # they say no more than the groups
        if self.spread or self.levels:
            lines = gathered(lines, self.spread, self.levels)
        for line in renamed(lines, self.fields, self.map, self.set):
            if self.other_keys:
                keys = {column: line.row.get(column) for column in self.other_keys}
                line = Line(line.where, {**line.row, OTHER_KEYS: keys})
            if further:
                line = Line(line.where, {k: value for k, value in line.row.items() if k not in further})
            yield line


def layout_of(
    lines: Iterable[Line],
    *,
    map: Mapping[str, str] = {},
    set: Mapping[str, Any] = {},
    with_questions: bool = True,
    needed: Collection[str] = ("question",),
    reserved: Collection[str] = (),
) -> TableLayout:
    """The layout of a table, found by the names and the values of its columns.

    A column under another name than ours whose values do not fit the field is taken for another one
    (`_INSTEAD`), or for none. Columns hold one option each only where the fields `needed` are there.
    `reserved` columns are no field. Raises `InputError` where a column may be two fields, or two columns one.
    """
    lines = in_memory(lines)
    columns = columns_of(lines)
    levels, map = group_levels(columns, map)
    match = partial(match_answers, map=map, set=set, with_questions=with_questions, reserved=reserved)
    fields = match(columns)
    if misfits := _misfits(fields, map, lines):
        remaining = [column for column in columns if column not in misfits.values()]
        fields = match(remaining)
        for field, column in misfits.items():
            free = [name for name in _INSTEAD[field] if name not in {*fields, *set}]
            fields |= {name: column for name in free[:1]}
    spread = spread_options(lines, {*set, *fields}, fields, needed=needed)
    layout = TableLayout(tuple(columns), fields, spread, map, set, levels)
    return layout._replace(other_keys=_other_keys(layout))


def _other_keys(layout: TableLayout) -> tuple[str, ...]:
    """The columns of further keys, where nobody said which column is the key.

    Beside answers of models `answer_letter` may be what a model chose.
    """
    if "answer" not in {*layout.fields, *layout.columns} or "answer" in layout.map:
        return ()
    has_answers = {"candidate", "text"} & {*layout.fields, *layout.set, *layout.columns}
    names = RIGHT_COLUMN if has_answers else KEY_COLUMN
    return tuple(column for column in layout.unmatched if names.fullmatch(folded(column)))


_INSTEAD = {"format": ("category",), "messages": ("question", "context"), "group": ("context",)}
"""What a column is whose values do not fit a field: the first of these that the table has not."""
_CASE_WORDS = 12
"""Words of a text that tells of a case; what names one is shorter."""


def _misfits(fields: Mapping[str, str], map: Mapping[str, str], lines: Iterable[Line]) -> dict[str, str]:
    """The columns under other names than ours whose values do not fit their field."""
    likely = {f: column for f, column in fields.items() if f in _INSTEAD and f not in map}
    return {f: c for f, c in likely.items() if folded(c) != f and not _fits(f, c, lines)}


def _fits(field: str, column: str, lines: Iterable[Line]) -> bool:
    """Whether the values of a column can be those of a field: formats, lists of messages, names of cases."""
    values = [value for line in lines if (value := _cell(line.row, column)) not in (None, "")]
    if field == "format":
        return all(format_named(value) in formats.FORMATS for value in values)
    if field == "messages":
        return all(isinstance(list_of(value), list) for value in values)
    return all(len(str(value).split()) <= _CASE_WORDS for value in values)


_MOST_IN_MEMORY = 100
"""Rows of a small table; answers may be long."""


def in_memory(lines: Iterable[Line]) -> Iterable[Line]:
    """The rows of a small table in memory, so that they are read once; those of a large one as they were."""
    first = list(islice(lines, _MOST_IN_MEMORY + 1))
    return first if len(first) <= _MOST_IN_MEMORY else lines


def own_layout(lines: Iterable[Line], *, map: Mapping[str, str], default: str | None) -> TableLayout | None:
    """The layout of an exam in our own: a column each for id, question and format, or one format for all.

    Its other columns are what our names say, as they always were; of a closed format also options and key
    under other names. Null for an exam in another layout.
    """
    columns = columns_of(lines)
    levels, map = group_levels(columns, map)
    names = {*columns, *map}
    asks = {"question", "messages"} & names
    states = {"format", "messages", "turns", "follows"} & names or default
    if not ({"item", "id"} & names and asks and states):
        return None
    is_open = {"options", "answer"} <= names or _is_open(lines, default)
    unfilled = [name for name in ("options", "answer") if name not in names and not is_open]
    fields = dict(map) if {"item"} & names else {"item": "id", **map}
    fields |= match_columns(columns, unfilled, map=map)
    spread = spread_options(lines, fields, fields, needed=()) if "options" in unfilled else {}
    layout = TableLayout(tuple(columns), fields, spread, map, {}, levels)
    return layout._replace(other_keys=_other_keys(layout))


def _is_open(lines: Iterable[Line], default: str | None) -> bool:
    """Whether no row has a closed format."""
    named = {str(line.row.get("format") or default) for line in lines}
    return all(getattr(formats.FORMATS.get(format_named(name)), "open_text", True) for name in named)


def renamed(
    lines: Iterable[Line], matched: Mapping[str, str], map: Mapping[str, str], set: Mapping[str, Any]
) -> Iterator[Line]:
    """Rows under our names: each field from its `matched` column, or as it is `set` for all rows.

    Raises `InputError` for a row without a column that the user's `map` names; another may be absent.
    """
    columns_for = lru_cache(_MOST_SHAPES)(partial(_columns_for, matched, map))
    for line in lines:
        columns = columns_for(tuple(line.row))
        if columns is None:
            row = rename(line, _present(line.row, matched, map))
        else:
            row = {field: line.row[column] for field, column in columns.items()}
        row.update(set)
        item = row.get("item")
        if isinstance(item, float) and abs(item) >= _EXACT:
            raise InputError(
                f"{line.where}: the id {item:g} is a number so large that two ids may have become one: have "
                "the column of ids read as text."
            )
        yield Line(line.where, row)


_MOST_SHAPES = 100
"""Shapes of rows, each a set of columns, whose columns are remembered: most tables have one."""


def _columns_for(
    matched: Mapping[str, str], map: Mapping[str, str], present: Collection[str]
) -> Mapping[str, str] | None:
    """The column of each name of a renamed row, the same for all rows with the columns `present`.

    Null where the row itself must be looked at: a dotted name may lead into a cell, and a column that `map`
    names may be absent.
    """
    renaming = _renaming(matched, map)
    if any(column not in present and (field in map or "." in column) for field, column in renaming.items()):
        return None
    fields = {field: column for field, column in renaming.items() if column in present}
    taken = {*fields.values()}
    return {name: name for name in present if name not in taken} | fields


def _renaming(matched: Mapping[str, str], map: Mapping[str, str]) -> dict[str, str]:
    """The matched columns without those that have our names already, unless `map` names them."""
    return {field: column for field, column in matched.items() if field in map or column != field}


def _present(row: Mapping[str, Any], matched: Mapping[str, str], map: Mapping[str, str]) -> dict[str, str]:
    """The matched columns that are to be renamed in a row: those that it has, and those that `map` names."""
    renaming = _renaming(matched, map).items()
    return {field: column for field, column in renaming if field in map or _has_cell(row, column)}


def _has_cell(row: Mapping[str, Any], name: str) -> bool:
    return _cell(row, name, absent=_ABSENT) is not _ABSENT


_ABSENT = object()


def _cell(row: Mapping[str, Any], name: str, absent: Any = None) -> Any:
    try:
        return cell(row, name)
    except KeyError:
        return absent
