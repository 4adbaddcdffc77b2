"""A run that holds an exam, a question made in a line, and a fake model that replies as it is told."""

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from tests.models.conftest import fake

from vivavoce.core import registry
from vivavoce.core.records import Card, Item
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import put_benchmark

__all__ = ["fake"]

registry.entries("variation")  # before a test borrows the registry: what is loaded inside is forgotten

CARD = Card(
    name="exam", description="d", source="s", revision_note="none", licence="l", access="own", citation="c"
)


@pytest.fixture
def question() -> Callable[..., Item]:
    """`question(id, text, …)` is an item of the benchmark exam: short, unless told otherwise."""

    def made(item: str = "q", text: str = "What is it?", **fields: Any) -> Item:
        fields = {"format": "short", "references": ("the key",)} | fields
        if fields["format"] in ("mcq", "list", "true_false"):
            fields["references"] = ()
        return Item(benchmark="exam", item=item, question=text, **fields)

    return made


@pytest.fixture
def holding(tmp_path) -> Callable[..., RunFile]:
    """`holding(items)` is a run that holds them."""

    def made(items: list[Item], name: str = "run.viva", **how: Any) -> RunFile:
        run = RunFile(tmp_path / name)
        with run.writing() as db:
            put_benchmark(db, CARD, items, spec="exam", signature="exam()@1", **how)
        return run

    return made


class Nobody:
    """A desk at which nobody may be asked."""

    def ask(self, *words: Any, **named: Any) -> Any:
        raise AssertionError("a model was asked")


@pytest.fixture
def nobody() -> Any:
    return Nobody()


@pytest.fixture
def model(fake, monkeypatch) -> Callable[..., Any]:
    """`model(reply)` starts a fake server; `reply(prompt, arrival)` is the text it answers with."""

    def started(reply: Callable[[str, int], str]) -> Any:
        async def answer(request: web.Request) -> dict[str, Any]:
            asked = await request.json()
            prompt = asked["messages"][-1]["content"]
            arrival = sum(body["messages"][-1]["content"] == prompt for _, _, body in server.received)
            message = {"role": "assistant", "content": reply(prompt, arrival)}
            return {"model": asked["model"], "choices": [{"message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 5, "completion_tokens": 5}}  # fmt: skip

        server = fake(answer)
        monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
        return server

    return started
