"""Indexes of tests lie in a folder of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of this test alone."""
    folder = tmp_path / "user cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "vivavoce"


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder of files: texts and bytes by name."""

    def make(files: dict[str, Any], name: str = "library") -> Path:
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        for file, content in files.items():
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            (path / file).write_bytes(data)
        return path

    return make
