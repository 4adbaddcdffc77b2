"""JSON is read piece by piece: the same values as at once, and in little memory."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.core import json_stream
from vivavoce.core.errors import InputError
from vivavoce.core.json_stream import entries, members

SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")  # a NUL is refused
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e9, 1e9)
    | st.text(SIGNS, max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(SIGNS, max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from("abcd"), VALUES), st.integers(1, 9), st.sampled_from([None, 1]))
def test_pieces_are_the_values_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, object], chunk: int, indent: int | None
) -> None:
    path = tmp_path_factory.mktemp("stream") / "x.json"
    path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
    before, json_stream.CHUNK = json_stream.CHUNK, chunk
    try:
        assert value == dict(members(path))
        streamed = [entry for name, entry in members(path, "a") if name == "a"]
    finally:
        json_stream.CHUNK = before
    assert streamed == (
        value["a"] if isinstance(value.get("a"), list) else [value["a"]] if "a" in value else []
    )


@pytest.mark.parametrize("number", ["0.5", "-0.0", "1e-7", "1E+2", "12.5e3", "-1"])
@pytest.mark.parametrize("chunk", range(1, 12))
def test_a_number_may_stand_on_the_edge_of_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str, chunk: int
) -> None:
    path = tmp_path / "x.json"
    path.write_text(f'{{"a": {number}}}')
    monkeypatch.setattr(json_stream, "CHUNK", chunk)
    assert [("a", json.loads(number))] == list(members(path))


def test_a_dot_leads_into_an_object(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": {"b": [1, 2], "c": 3}, "d": NaN}')
    rows = list(members(path, "a.b"))
    assert [("a.b", 1), ("a.b", 2), ("a.c", 3)] == rows[:-1]
    assert rows[-1][1] != rows[-1][1]


@pytest.mark.parametrize("text", ["", "[", "[1,", "[1 2]", '["a', "[1]]"[:2], "{}", "[1e999]", "[" * 200_000])
def test_broken_lists_are_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"x\.json, character [\d,]+: broken JSON \([^\n]+\)\.$"):
        list(entries(path))


def test_memory_holds_a_piece_and_not_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"samples": [{"text": "y" * 1000}] * 20_000}))
    tracemalloc.start()
    assert 20_000 == sum(1 for _ in members(path, "samples"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 5
