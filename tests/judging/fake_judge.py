"""A fake judge on a real socket: it scores what answers say they are worth, and misbehaves as it is told.

An answer 'worth 0.5' gets 0.5 by every criterion, any other 1; of two the one worth more wins; a point 'Says
p1' is met by an answer with the word p1. `manners` says of a piece of an answer how the judge behaves when it
comes, request by request, the last for ever; `sent` keeps every request.
"""

import asyncio
import html
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aiohttp import web

TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100}
_TEXTS = {tag: re.compile(rf"\n<{tag}(?: label=\"\w+\")?>\n(.*?)\n</{tag}>\n", re.DOTALL)
          for tag in ("answer", "point")}  # fmt: skip


class Sent(NamedTuple):
    """A request as it came over the wire."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and content of each turn."""
        return [(turn["role"], turn["content"]) for turn in self.body["messages"]]

    @property
    def text(self) -> str:
        """All that the judge was shown."""
        return "\n".join(content for _, content in self.messages)

    @property
    def answers(self) -> tuple[str, ...]:
        """The candidates' answers, in the order shown."""
        return tuple(map(html.unescape, _TEXTS["answer"].findall(self.text)))

    @property
    def again(self) -> bool:
        """Whether an earlier reply is shown: the one re-ask."""
        return "assistant" in dict(self.messages)

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that the reply was to follow."""
        return self.body.get("response_format", {}).get("json_schema", {}).get("schema")

    @property
    def keys(self) -> tuple[str, ...]:
        """The entries of the form that are scores."""
        form = self.messages[-1][1]
        return tuple(key for key in re.findall(r'^- "(\w+)":', form, re.MULTILINE) if key != "reason")


def worth(sent: Sent) -> list[float]:
    """What each answer is worth by its own account."""
    said = [re.search(r"worth (\d+(?:\.\d+)?)", answer) for answer in sent.answers]
    return [float(found[1]) if found else 1.0 for found in said]


@dataclass
class FakeJudge:
    """What it was asked, and how it is to behave."""

    worth: Callable[[Sent], list[float]] = worth
    manners: dict[str, Sequence[str]] = field(default_factory=dict)
    takes_schema: bool = True
    sent: list[Sent] = field(default_factory=list)
    port: int = 0
    released: bool = False
    arrivals: Counter[str] = field(default_factory=Counter)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def about(self, piece: str) -> list[Sent]:
        """The requests about answers that hold this piece."""
        return [one for one in self.sent if any(piece in answer for answer in one.answers)]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        sent = Sent(await request.json(), dict(request.headers))
        self.sent.append(sent)
        if sent.schema and not self.takes_schema:
            why = "response_format is not supported by this model"
            return web.json_response({"error": {"message": why}}, status=400)
        manner = "structured"
        for piece, manners in self.manners.items():
            if any(piece in answer for answer in sent.answers):
                manner = manners[min(self.arrivals[piece], len(manners) - 1)]
                self.arrivals[piece] += 1
        return await MANNERS[manner](self, sent)

    def marks(self, sent: Sent) -> dict[str, Any]:
        """The entries of a reply that is as it should be."""
        values = self.worth(sent)
        if sent.keys == ("winner",):
            return {"winner": "tie" if values[0] == values[1] else "AB"[values[0] < values[1]]}
        if sent.keys == ("ranking",):
            tiers = [[label for label, v in zip("ABCDE", values, strict=False) if v == one]
                     for one in sorted(set(values), reverse=True)]  # fmt: skip
            return {"ranking": tiers}
        if sent.keys == ("met",):
            (point,) = map(html.unescape, _TEXTS["point"].findall(sent.text))
            return {"met": point.split()[-1].strip(".") in sent.answers[0].split()}
        return dict.fromkeys(sent.keys, values[0])


Manner = Callable[[FakeJudge, Sent], Any]


def completion(sent: Sent, text: str | None, **changed: Any) -> web.Response:
    """A chat completion that says this."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = {"id": "1", "model": sent.body["model"], "choices": [choice | changed.pop("choice", {})]}
    return web.json_response(body | {"usage": TOKENS} | changed)


def saying(made: Callable[[dict[str, Any]], str]) -> Manner:
    """A manner that writes its scores like this; it may change them first."""

    async def say(judge: FakeJudge, sent: Sent) -> web.Response:
        return completion(sent, made(judge.marks(sent)))

    return say


def failing(status: int, why: str) -> Manner:
    async def fail(judge: FakeJudge, sent: Sent) -> web.Response:
        return web.json_response({"error": {"message": why}}, status=status)

    return fail


async def _filtered(judge: FakeJudge, sent: Sent) -> web.Response:
    return completion(sent, None, choice={"finish_reason": "content_filter"})


async def _cut(judge: FakeJudge, sent: Sent) -> web.Response:
    text = json.dumps({"reason": "It", **judge.marks(sent)})[:-4]
    return completion(sent, text, choice={"finish_reason": "length"})


async def _someone_else(judge: FakeJudge, sent: Sent) -> web.Response:
    return completion(sent, json.dumps(judge.marks(sent)), model="another-model")


async def _stalled(judge: FakeJudge, sent: Sent) -> web.Response:
    await asyncio.sleep(60)
    return web.Response()


async def _held(judge: FakeJudge, sent: Sent) -> web.Response:
    while not judge.released:
        await asyncio.sleep(0.02)
    return await _structured(judge, sent)


async def _slow(judge: FakeJudge, sent: Sent) -> web.Response:
    await asyncio.sleep(1.0)
    return await _structured(judge, sent)


async def _loud(judge: FakeJudge, sent: Sent) -> web.Response:
    """A reply, and an error of the endpoint, that repeat the key they came with."""
    return completion(sent, f"I was sent {sent.headers['Authorization']}")


async def _indiscreet(judge: FakeJudge, sent: Sent) -> web.Response:
    return web.json_response({"error": {"message": sent.headers["Authorization"]}}, status=500)


async def _echo(judge: FakeJudge, sent: Sent) -> web.Response:
    return completion(sent, sent.answers[0])


def _good(judge: FakeJudge, sent: Sent) -> str:
    marks = judge.marks(sent)
    return json.dumps({"reason": "So it is.", **marks}) if marks else f"So. [RESULT] {judge.worth(sent)[0]:g}"


async def _structured(judge: FakeJudge, sent: Sent) -> web.Response:
    return completion(sent, _good(judge, sent))


def _lines(value: str) -> Callable[[dict[str, Any]], str]:
    return lambda marks: "\n".join(f"{key}: {value.format(mark)}" for key, mark in marks.items())


def _changed(**new: Any) -> Callable[[dict[str, Any]], str]:
    """The scores as JSON, the first of them changed."""
    return lambda marks: json.dumps(marks | dict.fromkeys(list(marks)[:1], new["value"]))


MANNERS: dict[str, Manner] = {
    "structured": _structured,
    "echo": _echo,
    "plain JSON": saying(json.dumps),
    "fenced JSON": saying(lambda marks: f"Here:\n```json\n{json.dumps(marks, indent=1)}\n```"),
    "of five": saying(_lines("{:g}/5")),
    "bold": saying(_lines("**{:g}**")),
    "trailing prose": saying(lambda marks: f"{json.dumps(marks)}\nI hope this helps with item 3 of 7."),
    "half a character": saying(lambda marks: json.dumps({"reason": "\ud83d"} | marks, ensure_ascii=False)),
    "a span": saying(_lines("2-3")),
    "out of range": saying(_changed(value=7)),
    "one missing": saying(lambda marks: json.dumps(dict(list(marks.items())[1:]))),
    "refusal": saying(lambda marks: "I'm sorry, but I cannot evaluate medical content."),
    "empty": saying(lambda marks: ""),
    "no number": saying(_changed(value=float("nan"))),
    "wrong types": saying(_changed(value=[4])),
    "two values": saying(lambda marks: f'{json.dumps(marks)[:-1]}, "{next(iter(marks))}": 2}}'),
    "hostile": saying(lambda marks: f"{next(iter(marks))}: 4 <script>alert(1)</script>"),
    "cut": _cut,
    "filtered": _filtered,
    "someone else": _someone_else,
    "stalled": _stalled,
    "held": _held,
    "slow": _slow,
    "loud": _loud,
    "indiscreet": _indiscreet,
    "500": failing(500, "oops"),
    "429": failing(429, "slow down"),
    "400": failing(400, "this prompt is not for me"),
}


def serve(judge: FakeJudge) -> Callable[[], None]:
    """Let it listen in a thread; returns what ends it."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    done = asyncio.Event()

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", judge.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        judge.port = runner.addresses[0][1]
        ready.set()
        await done.wait()
        await runner.cleanup()

    def work() -> None:
        loop.run_until_complete(run())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(60)

    def end() -> None:
        loop.call_soon_threadsafe(done.set)
        thread.join(60)

    return end
