import asyncio
import atexit
import contextlib
import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from aiohttp import web


class Endpoint:
    """A fake server that runs: where it is, and what it saw."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._told = f"http://127.0.0.1:{port}/seen"

    def told(self) -> dict:
        with urllib.request.urlopen(self._told) as answer:
            return json.load(answer)

    @property
    def seen(self) -> dict[str, int]:
        return self.told()["seen"]


@cache
def servers() -> str:
    """Where the process listens that runs the fake servers of all tests: it ends with this one."""
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder)
    port_file = folder / "port"
    words = [sys.executable, Path(__file__).with_name("fake_server.py"), port_file, "--until-input-ends"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE)  # closed with this process, even if it is killed
    atexit.register(process.wait)
    atexit.register(process.kill)
    for _ in range(600):
        if port_file.exists():
            return f"http://127.0.0.1:{port_file.read_text()}/servers"
        time.sleep(0.05)
    raise RuntimeError("the fake server did not start")


def tell(address: str, method: str, options: dict[str, Any] | None = None) -> dict:
    """What the process of the fake servers answers."""
    body = None if options is None else json.dumps(options).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body, method=method)) as answer:
        return json.load(answer)


@pytest.fixture
def serving():
    """Start a fake server with these options; all end with the test."""
    with contextlib.ExitStack() as stack:

        def start(**options: float | str) -> Endpoint:
            port = tell(servers(), "POST", options)["port"]
            stack.callback(tell, f"{servers()}/{port}", "DELETE")
            return Endpoint(port)

        yield start


class Fake:
    """A server in a thread that answers what it is told to, and what it received: path, headers, body."""

    def __init__(self) -> None:
        self.received: list[tuple[str, dict[str, str], dict]] = []
        self.answers: list = []
        self.times: list[float] = []
        self.context = self.loop = None
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"{'https' if self.context else 'http'}://localhost:{self.port}/v1"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.times.append(time.monotonic())
        self.received.append((request.path_qs, dict(request.headers), await request.json()))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = await answer(request)
        if isinstance(answer, dict):
            return web.json_response(answer)
        return answer

    @property
    def body(self) -> dict:
        return self.received[-1][2]


@pytest.fixture
def fake():
    """Start a fake that gives these answers in turn, the last for ever; a function makes its own."""
    with fakes() as start:
        yield start


@contextlib.contextmanager
def fakes():
    """As `fake`, until the block ends."""
    ends = []

    def start(*answers, context=None) -> Fake:
        one = Fake()
        one.answers, one.context = list(answers), context
        ready, loop = threading.Event(), asyncio.new_event_loop()
        one.loop, done = loop, asyncio.Event()

        async def serve() -> None:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", one.handle)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
            one.port = runner.addresses[0][1]
            ready.set()
            await done.wait()
            await runner.cleanup()

        def run() -> None:
            loop.run_until_complete(serve())
            loop.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        assert ready.wait(60)
        ends.append((loop, done, thread))
        return one

    yield start
    for loop, done, thread in ends:
        loop.call_soon_threadsafe(done.set)
        thread.join(60)
