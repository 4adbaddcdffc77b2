"""Rows as data frames: Polars for what we return, a plain pandas for whoever works in pandas."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from vivavoce.core.extras import require_extras

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_SEQUENCES = (list, tuple, set, frozenset)


def row_frame(rows: Sequence[Mapping[str, Any]]) -> "pl.DataFrame":
    """A Polars frame of rows: a column for each name in any of them, in the order in which names appear.

    A value that a row does not have is null. Whole numbers stay whole unless a fraction stands beside them;
    a list of values of one kind is a list. What Polars has no one type for stands as text: mappings, lists of
    lists and whole numbers beyond 64 bits as JSON, a column of several kinds with its texts as they are.
    Without rows the frame is empty.
    """
    import polars as pl

    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame({name: _series(str(name), [row.get(name) for row in rows]) for name in names})


def _series(name: str, values: list[Any]) -> "pl.Series":
    import polars as pl

    kind, nested = _column_kind([value for value in values if value is not None])
    if kind is None:
        texts = [None if value is None else _text(value) for value in values]
        return pl.Series(name, texts, dtype=pl.String)
    dtype = getattr(pl, kind)
    return pl.Series(name, [_plain(value) for value in values], dtype=pl.List(dtype) if nested else dtype,
                     strict=False)  # fmt: skip


def _column_kind(values: Sequence[Any]) -> tuple[str | None, bool]:
    """The Polars type of these values, or of what stands in them, and whether they are lists of it."""
    if values and all(isinstance(value, _SEQUENCES) for value in values):
        return _kind(chain.from_iterable(values)), True
    return _kind(values), False


def _kind(values: Iterable[Any]) -> str | None:
    """The Polars type that holds all of these values unchanged; None where there is none."""
    kinds = {_POLARS.get(type(value)) or _kind_of(value) for value in values if value is not None}
    if kinds == {"Int64", "Float64"}:
        return "Float64"
    return None if len(kinds) > 1 or kinds == {None} else next(iter(kinds), "Null")


_POLARS = {bool: "Boolean", float: "Float64", str: "String"}


def _kind_of(value: Any) -> str | None:
    """The Polars type of a whole number, or of a value of a type that derives from a plain one."""
    if isinstance(value, int):
        return "Int64" if -(2**63) <= value < 2**63 else None
    return next((kind for plain, kind in _POLARS.items() if isinstance(value, plain)), None)


def _plain(value: Any) -> Any:
    if isinstance(value, _SEQUENCES):
        entries = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [_plain(entry) for entry in entries]
    return _utf8(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return _utf8(value)
    return _utf8(json.dumps(value, ensure_ascii=False, default=_json_of))


def _json_of(value: Any) -> Any:
    return _plain(value) if isinstance(value, set | frozenset) else str(value)


def _utf8(text: str) -> str:
    """`text` with a question mark for half of a surrogate pair, which no frame can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def to_pandas(frame: "pl.DataFrame") -> "pd.DataFrame":
    """A Polars frame, such as `run.scores`, as a pandas frame; pyarrow is not needed.

    What is null is missing in pandas' way: NaN in a column of fractions, `pd.NA` in one of whole numbers or
    truth values, which stay what they are. Raises `ExtraError` where pandas is not installed.
    """
    require_extras({"pandas": "pandas"}, "a pandas frame")
    import pandas as pd

    columns = {name: _pandas_series(frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, index=pd.RangeIndex(frame.height))


def _pandas_series(series: "pl.Series") -> "pd.Series[Any]":
    import pandas as pd

    values, integer = series.to_list(), series.dtype.is_integer()
    if series.dtype.is_float():
        return pd.Series(values, dtype="float64")
    if integer or str(series.dtype) == "Boolean":
        plain, nullable = ("int64", "Int64") if integer else ("bool", "boolean")
        return pd.Series(values, dtype=nullable if series.null_count() else plain)
    return pd.Series(values) if values else pd.Series(values, dtype="object")
