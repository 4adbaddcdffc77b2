"""An endpoint on a raw socket that misbehaves in one of many modes, and what each of them may come to."""

import asyncio
import gzip
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

KEY = "sk-soak-0123456789abcdefghij"
VERDICT = 0.5
"""The score of every answer where the endpoint is a judge and its reply is one."""
STALL_S = 30.0
PATIENCE_S = 0.5
"""The client's patience with modes that stall; for all others it has plenty."""


@dataclass(frozen=True)
class Ask:
    """A request as it came, and the reply that would be right."""

    authorization: str
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What a good model would say; a judge gives its verdict."""
        content = str(self.body["messages"][-1]["content"])
        if '"correct"' in content:
            return json.dumps({"reason": "So it is.", "correct": VERDICT})
        return f"answer to {content}"

    def reply(self, *, message: Any = None, choice: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """A good reply, with these parts of it changed."""
        said = {"role": "assistant", "content": self.text} if message is None else message
        first = {"index": 0, "message": said, "finish_reason": "stop"} | dict(choice or {})
        usage = {"prompt_tokens": 5, "completion_tokens": 3}
        return {"id": "1", "model": self.body["model"], "choices": [first], "usage": usage} | more


Send = Callable[[Ask, asyncio.StreamWriter], Awaitable[None]]
Fate = Literal["answered", "failed"]


@dataclass(frozen=True)
class Mode:
    """A way to misbehave. What never came has `failed`, for a cause in which this word stands.

    `text` is what an answer is then, where it is not the good one.
    """

    send: Send
    fate: Fate = "failed"
    cause: str = ""
    text: Callable[[str], str] = lambda good: good
    stalls: bool = False
    judge: Fate | None = None


def http(body: bytes, status: int = 200, *headers: str, length: int | None = None) -> bytes:
    """A whole response; `length` is what it says of its length."""
    lines = [f"HTTP/1.1 {status} So", "Content-Type: application/json", "Connection: close", *headers]
    if length != -1:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def sends(raw: Callable[[Ask], bytes]) -> Send:
    """All of it at once."""

    async def send(ask: Ask, out: asyncio.StreamWriter) -> None:
        out.write(raw(ask))
        await out.drain()

    return send


def says(made: Callable[[Ask], Any]) -> Send:
    """A JSON body with status 200."""
    return sends(lambda ask: http(json.dumps(made(ask)).encode()))


def status(code: int, *headers: str, body: bytes = b'{"error": {"message": "not now"}}') -> Send:
    return sends(lambda ask: http(body, code, *headers))


def good(ask: Ask) -> bytes:
    return json.dumps(ask.reply()).encode()


def content(value: Any) -> Send:
    """A message whose content is this."""
    return says(lambda ask: ask.reply(message={"role": "assistant", "content": value}))


async def reset(ask: Ask, out: asyncio.StreamWriter) -> None:
    out.transport.abort()


async def silence(ask: Ask, out: asyncio.StreamWriter) -> None:
    await asyncio.sleep(STALL_S)


def aborted_after(share: float) -> Send:
    """A part of a good response, then a reset."""

    async def send(ask: Ask, out: asyncio.StreamWriter) -> None:
        raw = http(good(ask))
        out.write(raw[: int(len(raw) * share)])
        await out.drain()
        await asyncio.sleep(0.02)
        out.transport.abort()

    return send


def dripped(start: int, pause: float) -> Send:
    """So many bytes at once, and then one after the other."""

    async def send(ask: Ask, out: asyncio.StreamWriter) -> None:
        raw = http(good(ask))
        out.write(raw[:start])
        for byte in raw[start:]:
            out.write(bytes([byte]))
            await out.drain()
            await asyncio.sleep(pause)

    return send


async def late(ask: Ask, out: asyncio.StreamWriter) -> None:
    raw = http(good(ask))
    for at in range(0, 60, 20):
        out.write(raw[at : at + 20])
        await out.drain()
        await asyncio.sleep(0.05)
    out.write(raw[60:])


async def endless_headers(ask: Ask, out: asyncio.StreamWriter) -> None:
    out.write(b"HTTP/1.1 200 So\r\n")
    for number in range(200_000):
        out.write(b"X-%d: %s\r\n" % (number, b"x" * 100))
        await out.drain()


def bomb(ask: Ask) -> bytes:
    return http(gzip.compress(b" " * (80 << 20), 6), 200, "Content-Encoding: gzip")


def nested(depth: int) -> bytes:
    return b'{"choices": ' + b"[" * depth + b"]" * depth + b"}"


def doubled(ask: Ask) -> bytes:
    """A reply in which everything of the message stands twice, the same."""
    said = json.dumps(ask.text)
    message = f'{{"role": "assistant", "content": {said}, "content": {said}}}'
    return http(f'{{"model": "m", "choices": [{{"message": {message}, "finish_reason": "stop"}}]}}'.encode())


ELSEWHERE = "Location: http://127.0.0.1:9/v1/chat/completions"
ANSI = "\x1b[2J\x1b]0;owned\x07\x1b[31mred\u202e"

MODES: dict[str, Mode] = {
    # statuses
    **{f"HTTP {code}": Mode(status(code), cause=word) for code, word in {
        401: "refuses the key", 402: "no credit", 403: "refuses the key", 404: "no such model",
        405: "no such model"}.items()},
    **{f"HTTP {code}": Mode(status(code), cause=f"HTTP {code}")
       for code in (400, 408, 409, 413, 418, 422, 425, 429, 451, 500, 501, 502, 503, 504, 529)},
    **{f"redirect {code}": Mode(status(code, ELSEWHERE), cause="redirects are not followed")
       for code in (301, 302, 303, 307, 308)},
    "HTTP 204": Mode(sends(lambda ask: http(b"", 204, length=-1)), cause="empty"),
    "HTTP 500, a page": Mode(status(500, body=b"<html><h1>oops</h1></html>"), cause="HTTP 500"),
    **{f"Retry-After: {word}": Mode(status(429, f"Retry-After: {word}"), cause="HTTP 429")
       for word in ("soon", "-5", "1e999", "nan", "Thu, 01 Jan 1970 00:00:00 GMT", "9" * 400)},
    # connections
    "reset at once": Mode(reset, cause="connection"),
    "closed without a word": Mode(sends(lambda ask: b""), cause="connection"),
    "reset in the headers": Mode(aborted_after(0.1), cause="connection"),
    "reset in the body": Mode(aborted_after(0.8), cause="connection"),
    "reset before the last byte": Mode(aborted_after(0.999), cause="connection"),
    "a length that is too long": Mode(sends(lambda ask: http(good(ask), length=10**6)), cause="connection"),
    "a length that is too short": Mode(sends(lambda ask: http(good(ask), length=9)), cause="connection"),
    "a length that is none": Mode(sends(lambda ask: http(good(ask), 200, "Content-Length: many", length=-1)),
                                  cause="connection"),
    "no length": Mode(sends(lambda ask: http(good(ask), length=-1)), "answered"),
    "chunks that break": Mode(sends(lambda ask: http(b"zz\r\n" + good(ask), 200, "Transfer-Encoding: chunked",
                                                     length=-1)), cause="connection"),
    "chunks without an end": Mode(sends(lambda ask: http(b"9\r\n" + good(ask)[:9] + b"\r\n", 200,
                                                         "Transfer-Encoding: chunked", length=-1)),
                                  cause="connection"),
    "no HTTP": Mode(sends(lambda ask: b"SSH-2.0-OpenSSH_9.6\r\n"), cause="connection"),
    "a body and no headers": Mode(sends(good), cause="connection"),
    "endless headers": Mode(endless_headers, cause="connection"),
    "never answers": Mode(silence, cause="no answer within", stalls=True),
    "drips its headers": Mode(dripped(0, 0.1), cause="no answer within", stalls=True),
    "drips its body": Mode(dripped(200, 0.1), cause="no answer within", stalls=True),
    "slow headers": Mode(late, "answered"),
    # encodings
    "a gzip bomb": Mode(sends(bomb), cause="longer than"),
    "no gzip": Mode(sends(lambda ask: http(good(ask), 200, "Content-Encoding: gzip")), cause="connection"),
    "half a gzip": Mode(sends(lambda ask: http(gzip.compress(good(ask))[:-20], 200,
                                               "Content-Encoding: gzip"))),
    "another content type": Mode(sends(lambda ask: http(good(ask)).replace(b"application/json",
                                                                            b"text/html")), "answered"),
    "a byte order mark": Mode(sends(lambda ask: http(b"\xef\xbb\xbf" + good(ask))), "answered"),
    "UTF-16": Mode(sends(lambda ask: http(json.dumps(ask.reply()).encode("utf-16"))), "answered"),
    "no UTF-8": Mode(sends(lambda ask: http(good(ask).replace(b"answer to", b"\xff\xfe\xc3"))),
                     judge="answered"),
    "half a surrogate": Mode(content("half \ud83d of it"), "answered", text=lambda _: "half \ufffd of it",
                             judge="failed"),
    "ANSI in the text": Mode(content(ANSI), "answered", text=lambda _: ANSI, judge="failed"),
    "NULs in the text": Mode(content("a\x00b"), "answered", text=lambda _: "a\x00b", judge="failed"),
    "a cookie": Mode(sends(lambda ask: http(good(ask), 200, f"Set-Cookie: a={ask.authorization}; Path=/")),
                     "answered"),
    # bodies
    "an empty body": Mode(sends(lambda ask: http(b"")), cause="empty"),
    "a blank body": Mode(sends(lambda ask: http(b" \n ")), cause="empty"),
    "an HTML page": Mode(sends(lambda ask: http(b"<html><script>alert(1)</script></html>")), cause="JSON"),
    "a stream of events": Mode(sends(lambda ask: http(b"data: " + good(ask) + b"\n\ndata: [DONE]\n\n")),
                               cause="JSON"),
    "half a JSON": Mode(sends(lambda ask: http(good(ask)[:-9])), cause="JSON"),
    "JSON twice": Mode(sends(lambda ask: http(good(ask) * 2)), cause="JSON"),
    **{f"the body {word}": Mode(sends(lambda ask, word=word: http(word.encode())), cause="JSON object")
       for word in ("null", "[]", '"text"', "7", "NaN")},
    "deep JSON": Mode(sends(lambda ask: http(nested(100_000)))),
    "a number of 5,000 digits": Mode(sends(lambda ask: http(good(ask)[:-1] + b', "x": '
                                                            + b"9" * 5000 + b"}")), cause="JSON"),
    "keys twice": Mode(sends(doubled), cause="JSON object"),
    # messages
    "choices missing": Mode(says(lambda ask: {"model": "m"})),
    **{f"choices {json.dumps(value)}": Mode(says(lambda ask, value=value: ask.reply(choices=value)))
       for value in ([], {}, "x", [None], [[]], 7)},
    **{f"message {json.dumps(value)}": Mode(says(
        lambda ask, value=value: ask.reply(choice={"message": value})))
       for value in (None, "text", [], 7)},
    **{f"content {json.dumps(value)}": Mode(content(value))
       for value in (7, True, 0.5, {"text": "x"}, [1, 2], [[]])},
    "content null": Mode(content(None), "answered", text=lambda _: "", judge="failed"),
    "an image": Mode(content([{"type": "image"}])),
    "content in parts": Mode(says(lambda ask: ask.reply(
        message={"content": [{"type": "text", "text": ask.text}]})), "answered"),
    "finish reason error": Mode(says(lambda ask: ask.reply(choice={"finish_reason": "error"}))),
    "finish reason 7": Mode(says(lambda ask: ask.reply(choice={"finish_reason": 7})), "answered"),
    "another model": Mode(says(lambda ask: ask.reply(model="other/model")), cause="in place of"),
    "no model": Mode(says(lambda ask: ask.reply(model=None)), "answered"),
    "a second choice": Mode(says(lambda ask: ask.reply(
        choices=[*ask.reply()["choices"], {"message": {"content": "another"}}])), "answered"),
    **{f"usage {json.dumps(value)[:40]}": Mode(says(
        lambda ask, value=value: ask.reply(usage=value)), "answered")
       for value in (None, "x", {"prompt_tokens": -5, "completion_tokens": -1},
                     {"prompt_tokens": "5", "completion_tokens": 1e300}, {"prompt_tokens": 10**400})},
    "infinite log-probabilities": Mode(says(lambda ask: ask.reply(
        choice={"logprobs": {"content": [{"token": "a", "logprob": float("-inf")}]}})), cause=""),
    "an error in a reply": Mode(says(lambda ask: ask.reply(error={"message": "overloaded", "code": 503})),
                                cause="overloaded"),
    "an error as a word": Mode(says(lambda ask: {"error": "it broke"}), cause="it broke"),
    # keys
    "the key in an error": Mode(sends(lambda ask: http(
        json.dumps({"error": {"message": f"bad {ask.authorization}", "code": KEY}}).encode(), 400)),
        cause="HTTP 400"),
    "the key in a page": Mode(sends(lambda ask: http(f"<p>{ask.authorization}</p>".encode(), 500)),
                              cause="HTTP 500"),
    "the key in the text": Mode(content(f"You sent {KEY}."), "answered",
                                text=lambda _: "You sent [key].", judge="failed"),
}  # fmt: skip


class BadEndpoint:
    """Listens in a thread, in one mode after the other; `asked` counts requests."""

    def __init__(self) -> None:
        self.mode = Mode(silence)
        self.port = self.asked = 0
        self.loop = asyncio.new_event_loop()
        self.ready, self.end = threading.Event(), asyncio.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "BadEndpoint":
        self.thread.start()
        assert self.ready.wait(60)
        return self

    def __exit__(self, *error: object) -> None:
        self.loop.call_soon_threadsafe(self.end.set)
        self.thread.join(60)

    def _work(self) -> None:
        self.loop.run_until_complete(self._serve())
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0.01))
        self.loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await self.end.wait()
        server.close()

    async def _meet(self, inward: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        try:
            head = (await inward.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = dict(line.partition(": ")[::2] for line in head.split("\r\n")[1:] if line)
            lowered = {name.lower(): value for name, value in fields.items()}
            raw = await inward.readexactly(int(lowered.get("content-length", 0)))
            self.asked += 1
            await self.mode.send(Ask(lowered.get("authorization", ""), json.loads(raw)), out)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has had enough
        finally:
            out.close()
