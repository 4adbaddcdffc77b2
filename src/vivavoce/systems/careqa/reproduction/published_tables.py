"""The tables of the paper from a JSON file: a value and its standard error by model, data set and metric."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json_file

FIGURE = "Figure 1"
_FIELDS = ("table", "model", "dataset", "metric", "value", "stderr")

Floats = NDArray[np.float64]
Column = tuple[str, str]
"""A data set and a metric."""


class Cell(NamedTuple):
    """A value as printed, null for a dash; its standard error, null where none is printed, NaN for "nan"."""

    value: float | None
    error: float | None


class PublishedTables(NamedTuple):
    """The cells of the tables by column and model, and the cells of Figure 1."""

    cells: Mapping[Column, Mapping[str, Cell]]
    figure: Mapping[Column, float | None]

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all tables, in alphabetical order."""
        return tuple(sorted({model for column in self.cells.values() for model in column}))

    def values(self, column: Column, models: Sequence[str]) -> Floats | None:
        """The values of these models; null where the column lacks one of them."""
        of_model = self.cells.get(column, {})
        values = [of_model[model].value for model in models if model in of_model]
        return None if len(values) < len(models) or None in values else np.array(values, dtype=float)

    def half_unit(self, column: Column) -> float:
        """Half a unit of the last digit that a column prints."""
        digits = [len(str(cell.value).partition(".")[2]) for cell in self.cells[column].values()]
        return float(0.5 * 10.0 ** -max(digits))


def read_tables(path: Path) -> PublishedTables:
    """The tables of a JSON file: an object whose `rows` have table, model, dataset, metric, value, stderr.

    Raises `InputError` for a file of another form, and for a cell that stands there twice.
    """
    content = read_json_file(path)
    rows = content.get("rows") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise InputError(
            f"{path}: the published tables are an object with a list of rows; this file has none."
        )
    cells: dict[Column, dict[str, Cell]] = {}
    figure: dict[Column, float | None] = {}
    for number, row in enumerate(rows, 1):
        place = f"{path}, row {number}"
        if not isinstance(row, dict) or any(name not in row for name in _FIELDS):
            raise InputError(f"{place}: a row has {', '.join(_FIELDS)}.")
        column = (str(row["dataset"]), str(row["metric"]))
        value = _number(row["value"], f"{place}, value")
        if row["table"] == FIGURE:
            figure[column] = value
            continue
        model = str(row["model"])
        if model in cells.setdefault(column, {}):
            raise InputError(f"{place}: {model} has a second value of {' | '.join(column)}.")
        cells[column][model] = Cell(value, _number(row["stderr"], f"{place}, stderr", nan=True))
    return PublishedTables(cells, figure)


def _number(value: Any, place: str, *, nan: bool = False) -> float | None:
    if value is None:
        return None
    if nan and value == "nan":
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{place}: a number or null is needed, not {str(value)[:40]!r}.")
    return float(value)
