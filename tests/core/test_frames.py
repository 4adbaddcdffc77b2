"""Data in memory as rows with plain values: pandas, Polars, dicts, data sets; even and uneven."""

import datetime
import decimal
import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cases import each_case
from tests.lazy import lazy_module

from vivavoce.core.errors import InputError
from vivavoce.core.frames import data_lines

datasets, pd, pa = lazy_module("datasets"), lazy_module("pandas"), lazy_module("pyarrow")


def rows(data: Any) -> list[dict[str, Any]]:
    return [line.row for line in data_lines(data)]


ROWS = [
    {"id": 1, "text": "a", "options": ["x", "y"], "right": True},
    {"id": 2, "text": None, "options": ["x", "z"], "right": False},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


@each_case(
    "make_data",
    [
        lambda: pd.DataFrame(ROWS),
        lambda: pd.DataFrame(ROWS).set_index("id"),
        lambda: pl.DataFrame(ROWS),
        lambda: pl.LazyFrame(ROWS),
        lambda: pa.table(COLUMNS),
        lambda: datasets.Dataset.from_list(ROWS),
        lambda: ROWS,
        lambda: tuple(ROWS),
        lambda: iter(ROWS),
        lambda: COLUMNS,
        lambda: {name: np.array(column, dtype=object) for name, column in COLUMNS.items()},
    ],
)
def test_every_kind_of_table_gives_the_same_rows(make_data: Callable[[], Any]):
    assert [{name: row[name] for name in ROWS[0]} for row in rows(make_data())] == ROWS


def test_a_row_says_where_it_stands():
    assert [line.where for line in data_lines(ROWS)] == ["data, row 1", "data, row 2"]


def test_every_way_to_say_nothing_is_null():
    nulls = [None, float("nan"), np.nan, pd.NA, pd.NaT, decimal.Decimal("NaN")]
    as_rows = [rows([{"text": "a"}, {"text": null}]) for null in nulls]
    in_frames = [rows(pd.DataFrame({"text": ["a", null]}, dtype=object)) for null in nulls]
    assert [[{"text": "a"}, {"text": None}]] * 12 == as_rows + in_frames


def test_whole_numbers_that_pandas_made_floats_are_whole_again():
    frame = pd.DataFrame({"id": [7, 8], "n": [1, None], "x": [0.5, None]})

    assert rows(frame) == [{"id": 7, "n": 1, "x": 0.5}, {"id": 8, "n": None, "x": None}]
    assert all(type(row["n"]) is int for row in rows(frame)[:1])


def test_floats_too_large_to_tell_ids_apart_stay_floats():
    (first, second) = rows(pd.DataFrame({"id": [10**18 + 1, None]}))
    assert (type(first["id"]), second["id"]) == (float, None)
    assert rows([{"id": 10**30}]) == [{"id": 10**30}]  # Python's own hold every digit


def test_values_are_plain():
    row = {
        "a": np.int64(3), "b": np.float32(0.5), "c": np.bool_(True), "d": np.str_("x"),
        "e": np.array(["p", "q"]),
        "f": ("p", None), "g": decimal.Decimal("2.50"), "h": datetime.date(2024, 2, 29),
        "i": pd.Timestamp("2024-02-29 12:00"), "j": uuid.UUID(int=1), "k": {"A": np.int8(1)},
    }  # fmt: skip

    assert rows([row]) == [
        {
            "a": 3, "b": 0.5, "c": True, "d": "x", "e": ["p", "q"], "f": ["p", None], "g": 2.5,
            "h": "2024-02-29", "i": "2024-02-29T12:00:00", "j": "00000000-0000-0000-0000-000000000001",
            "k": {"A": 1},
        }
    ]  # fmt: skip
    assert {type(value) for value in rows([row])[0].values()} == {int, float, bool, str, list, dict}


def test_categories_and_dates_of_frames_are_texts():
    frame = pd.DataFrame({"c": pd.Categorical(["x", None]), "d": pd.to_datetime(["2024-01-02", None])})
    assert rows(frame) == [{"c": "x", "d": "2024-01-02T00:00:00"}, {"c": None, "d": None}]
    polars = pl.DataFrame({"c": pl.Series(["x", None], dtype=pl.Categorical), "s": [{"A": 1}, {"A": 2}]})
    assert rows(polars) == [{"c": "x", "s": {"A": 1}}, {"c": None, "s": {"A": 2}}]


def test_a_data_sets_class_labels_come_by_name():
    features = datasets.Features({"answer": datasets.ClassLabel(names=["no", "yes"])})
    data = datasets.Dataset.from_dict({"answer": [1, 0]}, features=features)
    assert rows(data) == [{"answer": "yes"}, {"answer": "no"}]


def test_rows_need_not_be_even():
    assert rows([{"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]


@each_case(
    ("make_data", "words"),
    [
        (lambda: [], "the data are empty: they hold no rows."),
        (lambda: pd.DataFrame(), "the data are empty"),
        (lambda: pl.DataFrame({"a": []}), "the data are empty"),
        (lambda: {}, "the data are empty"),
        (
            lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
            "the data have the column 'a' twice: rename one.",
        ),
        (lambda: {"a": [1], "b": [1, 2]}, "the columns of the dict are of different lengths: a 1, b 2."),
        (
            lambda: {"question": "Which?"},
            "holds a list for every column, and 'question' holds a str: for rows, give",
        ),
        (lambda: ["a"], "data, row 1: a dict is needed, not a str: a."),
        (lambda: 7, "no rows can be read from a int: give a path, a Polars or pandas frame"),
        (lambda: pl.Series([1]), "data, row 1: a dict is needed, not a int: 1."),
        (
            lambda: datasets.DatasetDict({"train": datasets.Dataset.from_list(ROWS)}),
            "the data have the splits train: give one of them, as data['train'].",
        ),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(make_data: Callable[[], Any], words: str):
    with pytest.raises(InputError) as error:
        data_lines(make_data())
    assert words in str(error.value)


def test_a_plain_pandas_needs_no_arrow():
    script = """
import sys
sys.modules["pyarrow"] = None
import json, pandas as pd
from vivavoce.core.frames import data_lines
frame = pd.DataFrame({"id": [1, None], "text": ["a", None], "c": pd.Categorical(["x", "y"])})
print(json.dumps([line.row for line in data_lines(frame)]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [{"id": 1, "text": "a", "c": "x"}, {"id": None, "text": None, "c": "y"}]
