"""A fake judge that listens, and the file that says where."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.judging.fake_judge import FakeJudge, serve

from vivavoce.run.run import Run


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    """A judge that behaves until it is told otherwise."""
    judge = FakeJudge()
    end = serve(judge)
    yield judge
    end()


@pytest.fixture
def providers_file(tmp_path: Path, judge: FakeJudge) -> Callable[..., Path]:
    """`providers_file(attempts=2)` writes a file that says where `fake/…` is, and so much more of it."""

    def made(**settings: Any) -> Path:
        file = tmp_path / "providers.yaml"
        file.write_text(json.dumps({"fake": {"base_url": judge.base_url, "attempts": 1, **settings}}))
        return file

    return made


@pytest.fixture
def calls() -> Callable[[Run], list[dict[str, Any]]]:
    """The calls of a run, in the order they came, replies as objects."""

    def told(run: Run) -> list[dict[str, Any]]:
        with run.file.reading() as db:
            found = db.execute("SELECT purpose, model, repeat, status, attempts, error, reply FROM calls")
            names = [name for name, *_ in found.description]
            rows = [dict(zip(names, row, strict=True)) for row in found]
        return [row | {"reply": row["reply"] and json.loads(row["reply"])} for row in rows]

    return told
