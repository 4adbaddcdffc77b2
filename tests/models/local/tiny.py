"""The tiny trained model, made once on a machine for each recipe and script, and kept in pytest's cache.

    from tests.models.local.tiny import tiny  # noqa: F401

`tools/train_tiny.py` makes it, here with a recipe of a few seconds: a working instrument, not a good model.
"""

import hashlib
import importlib.util
import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.absent import absent

SOURCE = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))
SHORT: dict[str, Any] = {"steps": 60, "batch": 8, "length": 64, "width": 96, "layers": 2}
"""About 3 seconds of one core."""

PATIENCE = 180.0
"""Seconds after which whoever said that it is training is taken to be gone."""


@cache
def tool() -> Any:
    """The script as a module."""
    path = Path(__file__).resolve().parents[3] / "tools" / "train_tiny.py"
    spec = importlib.util.spec_from_file_location("tool_train_tiny", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def corpus() -> list[str]:
    """WordNet's glosses; the test ends here where there are none."""
    if not (SOURCE / "data.noun").is_file():
        absent(f"no WordNet in {SOURCE}: install wordnet-base, or set WNSEARCHDIR")
    found: list[str] = tool().lines(SOURCE)
    return found


def made_once(folder: Path, lines: list[str], recipe: Any) -> Path:
    """The model in `folder`; of several processes that want it one trains and the others wait for it.

    The lock only saves work: a folder appears whole, and one that is left behind by a process that died holds
    nobody up for longer than `PATIENCE`.
    """
    lock = folder.with_suffix(".lock")
    folder.parent.mkdir(parents=True, exist_ok=True)
    while not folder.exists():
        try:
            lock.mkdir()
        except FileExistsError:
            try:
                if time.time() - lock.stat().st_mtime < PATIENCE:
                    time.sleep(0.1)
                    continue
            except FileNotFoundError:
                continue
        try:
            tool().make(folder, lines, recipe)
        finally:
            with suppress(FileNotFoundError):  # another took us to be gone
                lock.rmdir()
    return folder


@pytest.fixture(scope="session")
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny model: `AutoModelForCausalLM` and `AutoTokenizer` load it."""
    recipe = tool().recipe(corpus(), **SHORT)
    kept = getattr(request.config, "cache", None)  # none under -p no:cacheprovider
    where = kept.mkdir("tiny") if kept else tmp_path_factory.getbasetemp().parent
    script = hashlib.sha256(Path(tool().__file__).read_bytes()).hexdigest()[:8]
    return made_once(Path(where) / f"tiny-{recipe.key}-{script}", corpus(), recipe)
