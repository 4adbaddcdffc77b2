"""A file that holds no run is none for any verb, and stays as it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.studies.making import made

from vivavoce.core.errors import RunNotFound, StoreError
from vivavoce.run.run import Run, open_run

Viva = Callable[..., Any]

READING = (
    "status RUN", "status RUN --verify", "compare RUN", "study RUN ranking", "interim RUN", "report RUN",
    "export RUN out --format csv", "export RUN out.viva --format run", "copy RUN copy.viva",
    "score RUN accuracy", "merge WHOLE RUN",
    "vary RUN bias:type=recency", "diff RUN accuracy accuracy", "view RUN", "retire RUN accuracy",
)  # fmt: skip
BYTES = {
    "cut in its header": lambda content: content[:60],
    "cut in half": lambda content: content[: len(content) // 2],
    "another kind": lambda _: b"id,question\n" * 500,
    "SQLite, and no run": lambda content: content[:68] + bytes(4) + content[72:],
    "zeros": lambda content: bytes(len(content)),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return made(tmp_path, {"A": {"q1": "yes", "q2": "no"}})


@each_case("words", READING)
def test_an_empty_file_is_no_run_for_any_verb(viva: Viva, tmp_path: Path, run: Run, words: str) -> None:
    path = tmp_path / "killed.viva"
    path.write_bytes(b"")
    places = {"RUN": path, "WHOLE": run.file.path}
    files = set(tmp_path.iterdir())
    with pytest.raises(RunNotFound, match=r"no run at .*killed\.viva"):
        viva(*(places.get(word, word) for word in words.split()))
    assert b"" == path.read_bytes()
    assert files == set(tmp_path.iterdir())


def test_an_empty_file_says_that_it_is_and_a_run_is_made_there(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "killed.viva"
    path.write_bytes(b"")
    with pytest.raises(RunNotFound, match="the file is empty: what was to write it ended too early"):
        open_run(path).status()
    open_run(path).merge(run.file.path)
    assert 2 == len(open_run(path).responses)


def test_a_copy_onto_an_empty_file_says_what_to_do(tmp_path: Path, run: Run) -> None:
    target = tmp_path / "copy.viva"
    target.write_bytes(b"")
    with pytest.raises(StoreError, match="It is an empty file: remove it and copy again"):
        run.copy(target)
    target.unlink()
    assert 2 == len(run.copy(target) and open_run(target).responses)


@each_case("kind", BYTES)
@each_case("words", READING)
def test_what_is_damaged_or_no_run_is_refused_and_stays_as_it_is(
    viva: Viva, tmp_path: Path, run: Run, words: str, kind: str
) -> None:
    path = tmp_path / "other.viva"
    path.write_bytes(BYTES[kind](run.file.path.read_bytes()))
    content = path.read_bytes()
    places = {"RUN": path, "WHOLE": run.file.path}
    if words.startswith(("view", "diff")):  # a server, and what asks for measures first
        return
    with pytest.raises(StoreError, match=r"other\.viva"):
        viva(*(places.get(word, word) for word in words.split()))
    assert content == path.read_bytes()
    assert [] == [name for name in ("out", "out.viva", "copy.viva") if (tmp_path / name).exists()]
