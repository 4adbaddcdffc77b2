"""A fake endpoint on a real socket, in a process of its own, that misbehaves as it is told.

`python fake_server.py PORT_FILE [--latency S] [--faults SHARE] [--stall S] [--mode NAME]`: PORT_FILE gets the
port. `/seen` tells how often each question arrived. Which fault a request meets follows from its question and
how often it came, so every run is the same. With one of the `MODES` every fault is that one, and every
request meets it unless a share of faults is given. `POST /servers` with the options as JSON starts another
server in the same process and gives its port, `DELETE /servers/PORT` ends it.

Each mode has a fate. The fates, where the endpoint answers so every time:

* `failed`: tried again, then stored as failed; never an answer, never "unanswered"
* `refused`: stored as failed at once, because another attempt would be refused too
* `stopped`: the model is given up, and the call is stored with the cause
* `silent`: an empty answer, which is the candidate's own
* `withheld`: what the provider's filter kept back, which is the candidate's silence
* `answered`: read as an answer
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web

STALL_S = 30.0
FAULTS = (
    *("429", "429 with Retry-After", "500", "503", "reset", "half a body", "invalid JSON", "stall"),
    *("no choices", "wrong model", "slow drip"),
)


def fault_of(question: str, arrival: int, share: float) -> str | None:
    digest = hashlib.sha256(f"{question}|{arrival}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64 / share if share else len(FAULTS)
    return FAULTS[int(place)] if place < len(FAULTS) else None


Body = Callable[[str, str], Any]
"""Makes of a model's name and a text the JSON of a reply, or its bytes."""


class Mode(NamedTuple):
    """One way to answer. `act` is what the server does on the wire instead of sending a whole reply."""

    fate: str
    body: Body | None = None
    status: int = 200
    headers: Mapping[str, str] = {}
    act: str = ""


def good(model: str, text: Any, *, reason: Any = "stop", **message: Any) -> dict:
    """A reply as it should be, but for what is asked otherwise."""
    message = {"role": "assistant", "content": text, **message}
    return {
        "id": "1",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }


def content(value: Any, *, reason: Any = "stop", **message: Any) -> Body:
    return lambda model, text: good(model, value, reason=reason, **message)


def ended(reason: Any) -> Body:
    return lambda model, text: good(model, text, reason=reason)


def changed(**fields: Any) -> Body:
    return lambda model, text: good(model, text) | fields


def choice(**fields: Any) -> Body:
    def body(model: str, text: str) -> dict:
        reply = good(model, text)
        reply["choices"][0] |= fields
        return reply

    return body


def raw(data: bytes) -> Body:
    return lambda model, text: data


def error(message: Any, **fields: Any) -> Body:
    return lambda model, text: {"error": {"message": message, **fields}}


def deep(levels: int, name: str = "extra") -> Body:
    def body(model: str, text: str) -> bytes:
        head = json.dumps(good(model, text)).removesuffix("}")
        return f'{head}, "{name}": {"[" * levels}{"]" * levels}}}'.encode()

    return body


MODES: dict[str, Mode] = {
    # Content that is none.
    "content is a number": Mode("failed", content(6)),
    "content is true": Mode("failed", content(True)),
    "content is an object": Mode("failed", content({"text": "6"})),
    "content is a list of numbers": Mode("failed", content([6, 7])),
    "content is a list of texts": Mode("failed", content(["6"])),
    "content is a list of lists": Mode("failed", content([["6"]])),
    "the text of a part is a number": Mode("failed", content([{"type": "text", "text": 6}])),
    "the text of a part is an object": Mode("failed", content([{"type": "text", "text": {"value": "6"}}])),
    "a part has no text": Mode("failed", content([{"type": "text"}])),
    "a part is an empty object": Mode("failed", content([{}])),
    "one part of two has no text": Mode("failed", content([{"text": "6"}, {"type": "text", "text": None}])),
    "no content and no reason": Mode("failed", content(None, reason=None)),
    "an empty text and no reason": Mode("failed", content("", reason=None)),
    # Replies without a message.
    "the message is null": Mode("failed", choice(message=None)),
    "the message is a text": Mode("failed", choice(message="6")),
    "a piece of a stream": Mode("failed", lambda m, t: {"model": m, "choices": [{"delta": {"content": t}}]}),
    "no choices": Mode("failed", changed(choices=[])),
    "choices are null": Mode("failed", changed(choices=None)),
    "choices are an object": Mode("failed", changed(choices={"0": {}})),
    "a choice is a text": Mode("failed", changed(choices=["6"])),
    "an empty object": Mode("failed", lambda m, t: {}),
    # Replies that the endpoint broke off.
    "it ended by error": Mode("failed", ended("error")),
    "it ended by ERROR": Mode("failed", ended("ERROR")),
    "it ended by network_error": Mode("failed", ended("network_error")),
    "it ended by abort": Mode("failed", ended("abort")),
    "it ended for want of resources": Mode("failed", ended("insufficient_system_resource")),
    "it ended before the model was loaded": Mode("failed", content("", reason="load")),
    "an error in the choice": Mode("failed", choice(error={"code": 502, "message": "upstream"})),
    # Bodies that are none.
    "an empty body": Mode("failed", raw(b"")),
    "no JSON": Mode("failed", raw(b"<html>It works!</html>")),
    "half of the JSON": Mode("failed", lambda m, t: json.dumps(good(m, t)).encode()[:-9]),
    "a list": Mode("failed", raw(b"[1]")),
    "a number": Mode("failed", raw(b"6")),
    "no UTF-8": Mode("failed", raw(b'{"choices": "\xff\xfe"}')),
    "JSON without end": Mode("failed", raw(b"[" * 100_000)),
    "a stream of events": Mode("failed", raw(b'data: {"choices": []}\n\ndata: [DONE]\n\n')),
    "no gzip": Mode("failed", raw(b"not packed"), headers={"Content-Encoding": "gzip"}),
    # Trouble that may pass.
    "408": Mode("failed", error("too slow"), 408),
    "429": Mode("failed", error("slow down"), 429),
    "429 with Retry-After": Mode("failed", error("wait"), 429, {"Retry-After": "0.2"}),
    "500": Mode("failed", raw(b"<html>oops</html>"), 500),
    "502": Mode("failed", raw(b""), 502),
    "503": Mode("failed", lambda m, t: {"error": "overloaded"}, 503),
    "529": Mode("failed", error("Overloaded", type="overloaded_error"), 529),
    "an error inside HTTP 200": Mode("failed", error("the engine is overloaded")),
    "reset": Mode("failed", act="reset"),
    "half a body": Mode("failed", act="half a body"),
    "stall": Mode("failed", act="stall"),
    "slow drip": Mode("failed", act="slow drip"),
    "another model": Mode("failed", lambda m, t: good("another-model", t)),
    # Refusals that another attempt does not heal.
    "400": Mode("refused", error("temperature is not supported"), 400),
    "422": Mode("refused", lambda m, t: {"detail": [{"loc": ["body"], "msg": "bad"}]}, 422),
    "too long": Mode("refused", error("maximum context length is 8192 tokens"), 400),
    "413": Mode("refused", raw(b"too big"), 413),
    # An endpoint that answers no question.
    "401": Mode("stopped", error("invalid key"), 401),
    "402": Mode("stopped", error("pay"), 402),
    "403": Mode("stopped", error("no access"), 403),
    "404": Mode("stopped", error("no such model"), 404),
    "405": Mode("stopped", raw(b""), 405),
    "redirect": Mode("stopped", raw(b""), 307, {"Location": "http://192.0.2.1/"}),
    "no credit": Mode("stopped", error("You exceeded your quota", code="insufficient_quota"), 429),
    # What is the candidate's.
    "an empty text": Mode("silent", content("")),
    "null and stop": Mode("silent", content(None)),
    "null and length": Mode("silent", content(None, reason="length", reasoning_content="3 and 3")),
    "a list without parts": Mode("silent", content([])),
    "a picture": Mode("failed", content([{"type": "image_url", "image_url": {"url": "x"}}])),
    "a tool that nobody offered": Mode("silent", content(None, reason="tool_calls", tool_calls=[{}])),
    "withheld": Mode("withheld", content(None, reason="content_filter")),
    "flagged": Mode("withheld", error("your input was flagged"), 403),
    # Odd, and read all the same.
    "parts": Mode("answered", content([{"type": "text", "text": "6 "}, {"type": "text", "text": "apples"}])),
    "a text and no reason": Mode("answered", ended(None)),
    "a reason that is a list": Mode("answered", ended(["stop"])),
    "usage that counts nothing": Mode("answered", changed(usage=[{"prompt_tokens": "many"}])),
    "citations of NaN": Mode("answered", raw(b'{"choices": [{"message": {"content": "6"}, "finish_reason": '
                                             b'"stop"}], "citations": [NaN, 1e999, Infinity]}')),
    "half characters": Mode("answered", raw(b'{"choices": [{"message": {"content": "a\\ud800b"}, '
                                            b'"finish_reason": "stop"}]}')),
    "a deep object": Mode("answered", deep(500)),
    "an object too deep to be read": Mode("failed", deep(5000)),
    "citations that are deep": Mode("answered", deep(900, "citations")),
}  # fmt: skip

_NAMES = {"invalid JSON": "half of the JSON", "wrong model": "another model"}


def sent(mode: Mode, model: str, text: str) -> web.Response:
    body = mode.body(model, text)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return web.Response(
        body=data, status=mode.status, headers={"Content-Type": "application/json", **mode.headers}
    )


class Server:
    def __init__(self, latency: float, share: float, stall: float, mode: str | None) -> None:
        self.latency, self.share, self.stall, self.mode = latency, share, stall, mode
        self.seen: Counter[str] = Counter()
        self.flying = self.most = 0

    async def chat(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        question = asked["messages"][-1]["content"]
        self.seen[question] += 1
        self.flying += 1
        self.most = max(self.most, self.flying)
        try:
            await asyncio.sleep(self.latency)
            return await self.answered(request, asked["model"], question)
        finally:
            self.flying -= 1

    async def answered(self, request: web.Request, model: str, question: str) -> web.StreamResponse:
        body = good(model, f"answer to {question}")
        fault = fault_of(question, self.seen[question], self.share)
        if fault is None:
            return web.json_response(body)
        mode = MODES[self.mode or _NAMES.get(fault, fault)]
        if mode.act:
            return await self.acted(request, mode.act, json.dumps(body).encode())
        return sent(mode, model, f"answer to {question}")

    async def acted(self, request: web.Request, act: str, raw: bytes) -> web.StreamResponse:
        if act == "reset":
            request.transport.abort()
            return web.Response()
        if act == "stall":
            await asyncio.sleep(self.stall)
            return web.Response(body=raw, content_type="application/json")
        if act == "half a body":
            answer = web.StreamResponse(headers={"Content-Length": str(len(raw))})
            await answer.prepare(request)
            await answer.write(raw[: len(raw) // 2])
            request.transport.abort()
            return answer
        answer = web.StreamResponse()
        await answer.prepare(request)
        with contextlib.suppress(ConnectionResetError):  # the client has had enough
            for byte in raw:
                await answer.write(bytes([byte]))
                await asyncio.sleep(self.stall / 10)
        return answer

    async def told(self, request: web.Request) -> web.Response:
        return web.json_response({"seen": self.seen, "most": self.most})


class Servers:
    """The servers of this process, each at a port of its own."""

    def __init__(self) -> None:
        self._runners: dict[int, web.AppRunner] = {}

    async def start(self, options: Mapping[str, Any]) -> int:
        """Start a server with the options of the command line, and return its port."""
        mode = options.get("mode")
        share = options.get("faults") or float(mode is not None)
        server = Server(options.get("latency", 0.0), share, options.get("stall", STALL_S), mode)
        app = web.Application()
        app.router.add_post("/v1/chat/completions", server.chat)
        app.router.add_get("/seen", server.told)
        app.router.add_post("/servers", self.add)
        app.router.add_delete("/servers/{port}", self.remove)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port: int = runner.addresses[0][1]
        self._runners[port] = runner
        return port

    async def add(self, request: web.Request) -> web.Response:
        return web.json_response({"port": await self.start(await request.json())})

    async def remove(self, request: web.Request) -> web.Response:
        await self._runners.pop(int(request.match_info["port"])).cleanup()
        return web.json_response({})


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("port_file", type=Path)
    for name, default in (("latency", 0.0), ("faults", 0.0), ("stall", STALL_S)):
        reader.add_argument(f"--{name}", type=float, default=default)
    reader.add_argument("--mode", choices=list(MODES))
    reader.add_argument(
        "--until-input-ends", action="store_true", help="end with the process that started it"
    )
    options = vars(reader.parse_args())
    port_file: Path = options.pop("port_file")
    has_parent = options.pop("until_input_ends")

    async def serve() -> None:
        port = await Servers().start(options)
        draft = port_file.with_suffix(".draft")
        draft.write_text(str(port))
        draft.replace(port_file)
        await (asyncio.to_thread(sys.stdin.read) if has_parent else asyncio.Event().wait())

    asyncio.run(serve())


if __name__ == "__main__":
    main()
