"""An exam of questions, a run, and an endpoint on a real socket that counts what it was asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.models.conftest import fake, serving

__all__ = ["fake", "serving"]


@pytest.fixture
def exam(tmp_path: Path) -> Callable[..., str]:
    """`exam(n)` writes n short questions and returns the benchmark's spec; `change(k)` adds fields."""

    def made(n: int, *, name: str = "exam", change: Callable[[int], dict[str, Any]] = lambda k: {}) -> str:
        file = tmp_path / f"{name}.jsonl"
        rows = (
            {"id": f"q{k}", "question": f"Question {k}?", "format": "short", "answer": f"answer {k}"}
            | change(k)
            for k in range(n)
        )
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"jsonl(path={file})"

    return made


@pytest.fixture
def endpoint(serving: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Start a fake server and let the provider vllm be there."""

    def start(**options: float) -> Any:
        server = serving(**options)
        monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
        return server

    return start


@pytest.fixture
def limits(tmp_path: Path) -> Callable[..., Path]:
    """`limits(concurrency=8)` writes a file of providers that says so of vllm."""

    def made(**settings: Any) -> Path:
        file = tmp_path / "providers.yaml"
        file.write_text(json.dumps({"vllm": settings}))
        return file

    return made
