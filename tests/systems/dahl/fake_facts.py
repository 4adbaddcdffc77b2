"""A fake splitter and a fake checker on a real socket: they look up what they reply, and misbehave.

It can hold back one request, so that a process is killed while that request is on its way.
"""

import asyncio
import html
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web

_MATERIAL = {
    tag: re.compile(rf"\n<{tag}(?: number=\"\d+\")?>\n(.*?)\n</{tag}>", re.DOTALL)
    for tag in ("answer", "statement", "passage")
}
Reply = Callable[[str, list[str], str], tuple[str, str]]
"""Of a text, the passages shown with it and the whole request: the reply and why it ended."""


class Received(NamedTuple):
    """A request: which model it was for, the text that it is about, and the whole prompt."""

    model: str
    text: str
    prompt: str


class FakeFacts:
    """Models `split` and `check`; `received` holds every request, also one that is held back."""

    def __init__(self, split: Reply, check: Reply) -> None:
        self.replies: dict[str, Reply] = {"split": split, "check": check}
        self.received: list[Received] = []
        self.held = threading.Event()
        self.released = asyncio.Event()
        self.holds: Callable[[Received], bool] = lambda received: False
        self.port = 0

    def texts(self, model: str) -> list[str]:
        """The texts that a model was asked about, in the order in which they came."""
        return [received.text for received in self.received if received.model == model]

    def providers(self, folder: Path, **settings: Any) -> Path:
        """The providers file that says where the models are."""
        file = folder / "providers.yaml"
        base_url = f"http://127.0.0.1:{self.port}/v1"
        file.write_text(json.dumps({"fake": {"base_url": base_url, "attempts": 2, **settings}}))
        return file

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.json()
        model = body["model"]
        prompt = "\n".join(turn["content"] for turn in body["messages"])
        text = html.unescape(_MATERIAL["answer" if model == "split" else "statement"].findall(prompt)[-1])
        self.received.append(Received(model, text, prompt))
        if self.holds(self.received[-1]):
            self.held.set()
            await self.released.wait()
        passages = [html.unescape(passage) for passage in _MATERIAL["passage"].findall(prompt)]
        content, reason = self.replies[model](text, passages, prompt)
        choice = {"message": {"role": "assistant", "content": content}, "finish_reason": reason}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return web.json_response({"id": "1", "model": model, "choices": [choice], "usage": usage})


@contextmanager
def listening(fake: FakeFacts) -> Iterator[FakeFacts]:
    """Let it listen in a thread."""
    ready, loop, done = threading.Event(), asyncio.new_event_loop(), asyncio.Event()

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", fake.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        fake.port = runner.addresses[0][1]
        ready.set()
        await done.wait()
        fake.released.set()
        await runner.cleanup()

    def work() -> None:
        loop.run_until_complete(run())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield fake
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(60)
