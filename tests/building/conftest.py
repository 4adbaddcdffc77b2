"""A fake model under the provider vllm, and the sources that the tests build from."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.building.careqa_writer import RULES
from tests.building.fake_writer import FakeWriter
from tests.building.papers import KEY, SPANISH, write_paper

import vivavoce as viva
from vivavoce.run.run import Run
from vivavoce.store.build_steps import build_parts, build_steps
from vivavoce.systems.careqa.step import exam_paper
from vivavoce.systems.careqa.step.exam_paper import read_pages

PAGES: dict[bytes, tuple[tuple[str, ...], str]] = {}
"""The pages of papers by the content of their files."""


def read_once(paper: Path) -> tuple[tuple[str, ...], str]:
    """`read_pages`, of each content once in a process of the tests: it starts a process of its own."""
    content = paper.read_bytes() if paper.is_file() else b""
    if content not in PAGES:
        PAGES[content] = read_pages(paper)
    return PAGES[content]


@pytest.fixture(autouse=True)
def _pages() -> Iterator[None]:
    """Steps read papers by `read_once`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exam_paper, "read_pages", read_once)
        yield


@pytest.fixture(scope="session")
def spanish(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The content of the Spanish paper."""
    return write_paper(tmp_path_factory.mktemp("spanish") / "exam.pdf", SPANISH).read_bytes()


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWriter]:
    """The fake model, which knows CareQA's prompts; `rules` and `manners` may be changed."""
    fake = FakeWriter(RULES)
    monkeypatch.setenv("VLLM_BASE_URL", fake.base_url)
    yield fake
    fake.close()


@pytest.fixture
def paper(tmp_path: Path, spanish: bytes) -> tuple[Path, Path]:
    """A Spanish paper of two pages with two columns, and its key."""
    key, file = tmp_path / "key.csv", tmp_path / "exam.pdf"
    key.write_text(KEY)
    file.write_bytes(spanish)
    return file, key


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run that is not there yet."""
    return viva.open(tmp_path / "b.viva")


def counts(rows: Sequence[Mapping[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """The step and these numbers of each row."""
    return [(row["step"], *(row[name] for name in names)) for row in rows]


def dropped(run: Run) -> list[tuple[str, str, str, str]]:
    """What the steps of a run dropped: step, id, reason and detail."""
    rows = []
    with run.file.reading() as db:
        for step in build_steps(db):
            for body, _, reason, detail in build_parts(db, step.key, "dropped", "failed"):
                part = json.loads(body)
                rows.append((step.step, part.get("item") or part["passage"], reason, detail))
    return rows


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A file with a row a line."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


Sums = Callable[[Sequence[Mapping[str, Any]]], None]


def check_sums(rows: Sequence[Mapping[str, Any]], run: Run) -> None:
    """What went in and was written came out, was dropped or was used up; each drop has its reason."""
    for row in rows:
        assert row["n_in"] + row["n_written"] == row["n_out"] + row["dropped"] + row["n_used"], row
        assert sum(row["reasons"].values()) == row["dropped"] >= row["failed"]
    assert [before["n_out"] for before in rows[:-1]] == [after["n_in"] for after in rows[1:]]
    assert sum(row["dropped"] for row in rows) == len(dropped(run))
