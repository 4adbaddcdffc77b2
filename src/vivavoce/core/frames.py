"""Data in memory as rows: frames of any library, lists of dicts, dicts of columns, data sets of a hub.

Polars, pandas, PyArrow and what else narwhals knows need no code here, and none of them is imported.
"""

import datetime
import decimal
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line

KINDS = "a path, a Polars or pandas frame, a list of dicts, a dict of columns or a datasets.Dataset"
_EXACT = 2**53
"""From here on a float no longer holds every whole number: two ids may have become one."""


def data_lines(data: Any) -> list[Line]:
    """The rows of data in memory, with plain Python values, each with where it stands: 'data, row 3'.

    None, NaN, NA and NaT are null. A column whose numbers are all whole holds whole numbers, whatever else it
    holds: pandas makes floats of them where a row has none, and 1, 1.0 and "1" are one id. Arrays and tuples
    are lists, dates are texts as ISO 8601 writes them; the names of a pandas index are columns too.

    Raises `InputError` with a sentence for what holds no rows, what has a column twice, and what is no table.
    """
    columns = _columns(data)
    if columns is None:
        lines = [Line(f"data, row {n}", _plain(row)) for n, row in enumerate(_rows(data), 1)]
    else:
        names = list(columns)
        rows = zip(*([_plain(value) for value in column] for column in columns.values()), strict=True)
        lines = [Line(f"data, row {n}", dict(zip(names, row, strict=True))) for n, row in enumerate(rows, 1)]
    if not lines:
        raise InputError("the data are empty: they hold no rows.")
    _make_whole([line.row for line in lines])
    return lines


def _columns(data: Any) -> dict[str, Sequence[Any]] | None:
    """The columns of a frame or of a dict of columns; null for what comes in rows."""
    if isinstance(data, Mapping):
        return _of_mapping(data)
    if isinstance(data, list | tuple) or hasattr(data, "features"):
        return None
    import narwhals as nw

    frame = nw.from_native(_with_index(data), pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    return {str(name): frame[name].to_list() for name in frame.columns}


def _with_index(data: Any) -> Any:
    """A pandas frame with the names of its index as columns, as `set_index("id")` took them away.

    Raises `InputError` for a column that stands there twice, which narwhals would refuse in other words.
    """
    if not (hasattr(data, "reset_index") and hasattr(data, "columns")):  # asking a lazy frame for these warns
        return data
    names = list(map(str, data.columns))
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"the data have the column {repeated[0]!r} twice: rename one.")
    if levels := [name for name in data.index.names if str(name) not in ("None", *names)]:
        data = data.reset_index(level=levels)
    return data.set_axis(list(map(str, data.columns)), axis="columns")


def _of_mapping(data: Mapping[Any, Any]) -> dict[str, Sequence[Any]]:
    """The columns of a dict of columns. Raises `InputError` for splits, for scalars and uneven lengths."""
    if data and all(hasattr(part, "features") for part in data.values()):
        splits = [str(name) for name in data]
        raise InputError(
            f"the data have the splits {', '.join(splits)}: give one of them, as data[{splits[0]!r}]."
        )
    columns = {str(name): _column(name, column) for name, column in data.items()}
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column):,}" for name, column in columns.items())
        raise InputError(f"the columns of the dict are of different lengths: {lengths}.")
    return columns


def _column(name: Any, column: Any) -> Sequence[Any]:
    if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
        raise InputError(
            f"a dict holds a list for every column, and {name!r} holds {_kind(column)}: for rows, give a "
            "list of dicts."
        )
    return list(column)


def _rows(data: Any) -> Iterator[Mapping[Any, Any]]:
    """What comes in rows, one after the other; a data set's class labels by their names."""
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InputError(f"no rows can be read from {_kind(data)}: give {KINDS}.")
    features = getattr(data, "features", None) or {}
    labels = {name: feature.int2str for name, feature in features.items() if hasattr(feature, "int2str")}
    for number, row in enumerate(data, 1):
        if not isinstance(row, Mapping):
            excerpt = one_line(str(row), 40)
            raise InputError(f"data, row {number}: a dict is needed, not {_kind(row)}: {excerpt}.")
        yield {**row, **{k: name(row[k]) for k, name in labels.items() if row[k] not in (None, -1)}}


def _kind(value: Any) -> str:
    """What a value is, in words: 'a pandas.Series'."""
    module = type(value).__module__.partition(".")[0]
    return (
        f"a {type(value).__qualname__}" if module == "builtins" else f"a {module}.{type(value).__qualname__}"
    )


def _plain(value: Any) -> Any:
    """The value with Python's own types; null for every way to say that there is none."""
    if value is None or type(value) in (str, bool, int):
        return value
    if _says_nothing(value):
        return None
    for kinds, plain in _PLAIN:
        if isinstance(value, kinds):
            return plain(value)
    # NumPy's scalars and arrays; a Series in a cell
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def _says_nothing(value: Any) -> bool:
    """Whether a value is NaN, NA or NaT."""
    if isinstance(value, float | decimal.Decimal):
        return value != value
    return type(value).__name__ in ("NAType", "NaTType")


def _number(value: decimal.Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


_PLAIN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, str),
    (float, float),
    (Mapping, lambda value: {str(key): _plain(entry) for key, entry in value.items()}),
    ((list, tuple), lambda value: [_plain(entry) for entry in value]),
    (decimal.Decimal, _number),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (uuid.UUID, str),
)
"""By type, what makes a plain value of it: NumPy's texts are of Python's class and not of its type."""


def _make_whole(rows: Sequence[dict[str, Any]]) -> None:
    """Make whole numbers of the floats of each column all of whose floats are whole.

    Floats so large that they no longer tell one whole number from the next stay floats.
    """
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    whole_columns = [name for name, column in columns.items() if _is_whole(column)]
    for row in rows:
        row.update({name: int(row[name]) for name in whole_columns if isinstance(row.get(name), float)})


def _is_whole(column: Iterable[Any]) -> bool:
    floats = [value for value in column if isinstance(value, float)]
    return bool(floats) and all(v.is_integer() and abs(v) < _EXACT for v in floats)
