"""Finished runs that tests start from: built once in a run of the tests, and copied for each test that asks.

    def build(folder: Path, text: str) -> None:
        viva.open(folder / "run.viva").import_answers(...)


    finished_run(tmp_path, build, "Paracetamol")  # writes what `build(tmp_path, "Paracetamol")` would write

A smallest exam costs 100 ms to import and to score, and 4 ms to copy. The workers of pytest-xdist share the
folder of finished runs, which belongs to one run of the tests: sources do not change in it. Paths that a run
remembers are those of that folder. What is patched by `monkeypatch` may change what is built: a test that
asks for it builds its own run. Importing and scoring have tests of their own, which do not come here.
"""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from numpy import ndarray


class Store:
    """Where finished runs are, null before the tests; closed while a test may patch what builds them."""

    folder: Path | None = None
    is_closed = False


def finished_run(folder: Path, build: Callable[..., object], *content: Any) -> None:
    """Let `folder` hold what `build(folder, *content)` writes into an empty folder.

    `build` is a function of a module, `content` all that the files follow from: plain values. If the folder
    has a run already, it is built there and not stored. What `build` raises is raised with the paths of
    `folder`.
    """
    if Store.folder is None or Store.is_closed or any(folder.glob("*.viva")):
        build(folder, *content)
        return
    stored = Store.folder / _key(build, content)
    if not stored.is_dir():
        unfinished = Path(mkdtemp(dir=Store.folder))
        try:
            build(unfinished, *content)
        except Exception:
            shutil.rmtree(unfinished)
            build(folder, *content)
            return
        _close_logs(unfinished)
        try:
            unfinished.rename(stored)
        except OSError:  # another worker was first
            shutil.rmtree(unfinished)
    shutil.copytree(stored, folder, dirs_exist_ok=True)


def _key(build: Callable[..., object], content: Sequence[Any]) -> str:
    if "<" in build.__qualname__:
        raise TypeError(
            f"{build.__qualname__} may hold what its name does not say: use a function of a module"
        )
    text = json.dumps([build.__module__, build.__qualname__, [_plain(part) for part in content]])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _plain(value: Any) -> Any:
    """A value as JSON that no other value shares."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Real | Path):
        return [type(value).__name__, repr(value)]
    if isinstance(value, Mapping):
        return {"mapping": [[_plain(name), _plain(part)] for name, part in value.items()]}
    if isinstance(value, Sequence | ndarray) and not isinstance(value, bytes):
        return {"sequence": [_plain(part) for part in value]}
    raise TypeError(f"a run cannot be known by {value!r}: its text may not say all of it")


def _close_logs(folder: Path) -> None:
    """Move what SQLite keeps in write-ahead logs into the files of the runs."""
    for log in folder.rglob("*-wal"):
        with sqlite3.connect(str(log).removesuffix("-wal")) as run:
            run.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        run.close()
