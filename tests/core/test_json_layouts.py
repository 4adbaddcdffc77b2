"""An object or an array of JSON is a table too, in the layouts that scripts and notebooks write."""

import json
from pathlib import Path
from typing import Any

import pytest

from vivavoce.core.errors import InputError
from vivavoce.core.tables import open_table

ROWS = [{"question": "Which?", "output": "a"}, {"question": "What?", "output": "b"}]


def rows(folder: Path, value: Any, name: str = "a.json", **options: Any) -> tuple[list[Any], str]:
    path = folder / name
    path.write_text(json.dumps(value, **options))
    table = open_table(path)
    return [line.row for line in table.lines], table.layout


@pytest.mark.parametrize(
    ("value", "layout"),
    [
        (ROWS, ""),
        ({"results": ROWS}, "rows under 'results'"),
        ({"0": ROWS[0], "1": ROWS[1]}, "records by number"),
        ({name: dict(enumerate(row[name] for row in ROWS)) for name in ROWS[0]}, "columns"),
        ({name: [row[name] for row in ROWS] for name in ROWS[0]}, "columns"),
        ({"columns": [*ROWS[0]], "index": [0, 1], "data": [[*row.values()] for row in ROWS]},
         "columns and data"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("indent", [None, 2])
def test_each_layout_gives_the_same_rows(
    tmp_path: Path, value: Any, layout: str, name: str, indent: int | None
) -> None:
    assert (ROWS, layout) == rows(tmp_path, value, name, indent=indent)


def test_keys_are_ids_where_the_records_have_none(tmp_path: Path) -> None:
    by_id = {"101": {"QUESTION": "Which?", "CONTEXTS": ["x"]}, "102": {"QUESTION": "What?", "LABEL": "y"}}
    assert ["101", "102"] == [row["id"] for row in rows(tmp_path, by_id)[0]]
    assert [{"id": "7", "q": "a"}] == rows(tmp_path, {"101": {"id": "7", "q": "a"}})[0]
    assert ([{"id": "101", "answer": "yes"}, {"id": "102", "answer": None}], "texts by id") == rows(
        tmp_path, {"101": "yes", "102": None}
    )


def test_tables_stand_under_models_temperatures_and_repeats(tmp_path: Path) -> None:
    assert {"gpt-4o", "llama-3"} == {row["model"] for row in rows(tmp_path, dict.fromkeys(
        ("gpt-4o", "llama-3"), ROWS))[0]}  # fmt: skip
    assert ["0.0", "0.0", "0.7", "0.7"] == [
        row["temperature"] for row in rows(tmp_path, {"0.0": ROWS, "0.7": ROWS})[0]
    ]
    assert ["1", "1", "2", "2"] == [row["repeat"] for row in rows(tmp_path, {"1": ROWS, "2": ROWS})[0]]
    assert [("m", "q1", "a"), ("m", "q2", "b")] == [
        (row["model"], row["id"], row["answer"]) for row in rows(tmp_path, {"m": {"q1": "a", "q2": "b"}})[0]
    ]


def test_what_is_said_of_all_rows_stands_in_each_unless_the_row_says_it(tmp_path: Path) -> None:
    value = {"model": "m", "accuracy": 0.5, "config": {"t": 0}, "results": [*ROWS, {"model": "n"}]}
    assert [("m", 0.5), ("m", 0.5), ("n", 0.5)] == [
        (row["model"], row["accuracy"]) for row in rows(tmp_path, value)[0]
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"id": "q1", "question": "Which?", "text": "a"},
        {"id": 7, "messages": [{"role": "user", "content": "x"}]},
        {"id": 7, "question": "Which?", "choices": [{"label": "A", "text": "x"}], "answer": "A"},
        {"question": {"id": 7, "text": "Which?"}, "model": {"name": "A"}, "output": {"text": "a"}},
        {"question": "Which?", "options": {"A": "a", "B": "b"}},
    ],
)
def test_a_row_alone_stays_a_row(tmp_path: Path, row: Any) -> None:
    assert ([row], "") == rows(tmp_path, row, "a.jsonl")


def test_nan_is_null_and_infinity_is_refused(tmp_path: Path) -> None:
    assert [{"a": None}, {"a": 1}] == rows(tmp_path, [{"a": float("nan")}, {"a": 1}])[0]
    with pytest.raises(InputError, match=r"broken JSON \(-Infinity is no JSON number"):
        rows(tmp_path, [{"a": float("-inf")}])


def test_broken_lines_are_named_by_line_and_broken_values_too(tmp_path: Path) -> None:
    for name, text, sentence in (
        ("a.jsonl", '{"a": 1}\n{"a": }\n', r"a\.jsonl, line 2: broken JSON"),
        ("b.jsonl", '{"a": 1,}\n{"a": 2}\n', r"b\.jsonl, line 1: broken JSON"),
        ("c.json", '{\n"a": {"b": 1},\n"c": }', r"c\.json, line 3: broken JSON"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=sentence):
            list(open_table(tmp_path / name).lines)
