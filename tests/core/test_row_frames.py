"""Rows as frames: nothing is invented, nothing is lost, and pandas works without pyarrow."""

import json
import math
import subprocess
import sys

import polars as pl
import pytest
from tests.cases import each_case
from tests.lazy import lazy_module

import vivavoce as viva
from vivavoce.core.errors import ExtraError
from vivavoce.core.records import Finding
from vivavoce.core.row_frames import row_frame, to_pandas

pd = lazy_module("pandas")


def column(*values):
    frame = row_frame([{"x": value} for value in values])
    return frame["x"].dtype, frame["x"].to_list()


@each_case(
    ("values", "dtype", "cells"),
    [
        ((1, None, 3), pl.Int64, [1, None, 3]),
        ((1, 0.5, None), pl.Float64, [1.0, 0.5, None]),
        ((True, None), pl.Boolean, [True, None]),
        (("a", None, "ü"), pl.String, ["a", None, "ü"]),
        ((None, None), pl.Null, [None, None]),
        (((1, 2), None, []), pl.List(pl.Int64), [[1, 2], None, []]),
        ((("a", None), ["b"]), pl.List(pl.String), [["a", None], ["b"]]),
        ((("a", 1),), pl.String, ['["a", 1]']),
        (({"a": 1}, {"b": None}), pl.String, ['{"a": 1}', '{"b": null}']),
        (([[1], [2]],), pl.String, ["[[1], [2]]"]),
        (("one", 1, True, {"a": ["é"]}), pl.String, ["one", "1", "true", '{"a": ["é"]}']),
        ((True, 1), pl.String, ["true", "1"]),
        ((2**70, 1), pl.String, [str(2**70), "1"]),
        (({"b", "a", "c"},), pl.List(pl.String), [["a", "b", "c"]]),
        (({"k": {"b", "a"}},), pl.String, ['{"k": ["a", "b"]}']),
    ],
)
def test_a_column_has_the_type_that_holds_its_values_unchanged(values, dtype, cells):
    assert (dtype, cells) == column(*values)


def test_a_column_that_a_row_does_not_have_is_null_there_and_order_is_that_of_appearance():
    frame = row_frame([{"b": 1}, {"a": "x", "b": 2}, {}])
    assert ["b", "a"] == frame.columns
    assert [(1, None), (2, "x"), (None, None)] == frame.rows()


def test_what_is_missing_is_null_and_neither_nan_nor_zero():
    frame = row_frame([{"value": 0.5}, {"value": None}])
    assert 0.5 == frame["value"].mean()
    assert [False, None] == frame["value"].is_nan().to_list()


def test_infinity_that_stands_there_stays_and_none_is_made():
    assert [math.inf, 1.0] == column(math.inf, 1)[1]


@pytest.mark.parametrize("rows", [(), ({},)])
def test_without_rows_the_frame_is_empty(rows):
    finding = Finding(study="ranking", rows=rows)
    assert (0, 0) == finding.table.shape
    assert finding.to_pandas().shape == (len(rows) * 0, 0)


def test_half_a_character_makes_no_error():
    assert ["a?b"] == column("a\ud800b")[1]
    assert ['{"a?b": 1}'] == column({"a\ud800b": 1})[1]


def test_the_frame_of_a_frames_rows_is_that_frame():
    frame = pl.DataFrame({"a": [1, None], "b": [0.5, None], "c": ["x", None], "d": [[1.5], None]})
    assert frame.equals(row_frame(frame.to_dicts()))


def test_whole_numbers_and_truth_stay_what_they_are_in_pandas_beside_missing_ones():
    rows = [{"n": 2**60 + 1, "ok": True, "x": 0.5, "s": "a"}, dict.fromkeys(("n", "ok", "x", "s"))]
    frame = Finding(study="s", rows=tuple(rows)).to_pandas()
    assert ["Int64", "boolean", "float64"] == [str(frame[name].dtype) for name in ("n", "ok", "x")]
    assert 2**60 + 1 == frame["n"][0]
    assert frame.isna().loc[1].all()
    whole = to_pandas(pl.DataFrame({"n": [1], "ok": [True]}))
    assert ["int64", "bool"] == [str(dtype) for dtype in whole.dtypes]


def test_lists_and_empty_columns_come_to_pandas_too():
    frame = viva.to_pandas(pl.DataFrame({"a": [["x"], None]}))
    assert ["x"] == frame["a"][0]
    empty = viva.to_pandas(pl.DataFrame(schema={"a": pl.String, "n": pl.Int64, "x": pl.Float64}))
    assert (["a", "n", "x"], 0) == (list(empty.columns), len(empty))
    assert "float64" == str(empty["x"].dtype)


def test_a_plain_pandas_without_pyarrow_does():
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from vivavoce import Finding\n"
        "rows = ({'a': 1, 'b': [1], 'c': 'x', 'd': None, 'e': {'k': 1}}, {'a': None, 'b': None})\n"
        "print(Finding(study='s', rows=rows).to_pandas().to_json(orient='records'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"a": 1, "b": [1], "c": "x", "d": None, "e": '{"k": 1}'} == json.loads(done.stdout)[0]


def test_without_pandas_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ExtraError, match=r'a pandas frame needs pandas: pip install "vivavoce\[pandas\]"'):
        Finding(study="s", rows=({"a": 1},)).to_pandas()


def test_a_finding_and_its_pandas_frame_hold_the_same_numbers():
    rows = tuple({"candidate": f"c{n}", "estimate": n / 7, "n_items": n} for n in range(5))
    finding = Finding(study="estimates", rows=rows)
    assert list(rows) == finding.table.to_dicts() == finding.to_pandas().to_dict("records")
    assert isinstance(finding.to_pandas(), pd.DataFrame)
