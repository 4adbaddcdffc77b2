"""A fake endpoint on a real socket, in a process of its own, that misbehaves as it is told.

`python fake_server.py PORT_FILE [--latency S] [--faults SHARE] [--stall S]`: PORT_FILE gets the port.
`/seen` tells how often each question arrived. Which fault a request meets follows from its question and how
often it came, so every run is the same.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
from collections import Counter
from pathlib import Path

from aiohttp import web

FAULTS = (
    *("429", "429 with Retry-After", "500", "503", "reset", "half a body", "invalid JSON", "stall"),
    *("no choices", "wrong model", "slow drip"),
)


def fault_of(question: str, arrival: int, share: float) -> str | None:
    digest = hashlib.sha256(f"{question}|{arrival}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64 / share if share else len(FAULTS)
    return FAULTS[int(place)] if place < len(FAULTS) else None


def good(model: str, text: str) -> dict:
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3},
    }


class Server:
    def __init__(self, latency: float, share: float, stall: float) -> None:
        self.latency, self.share, self.stall = latency, share, stall
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
        match fault_of(question, self.seen[question], self.share):
            case None:
                return web.json_response(body)
            case "429":
                return web.json_response({"error": {"message": "slow down"}}, status=429)
            case "429 with Retry-After":
                wait = {"Retry-After": "0.2"}
                return web.json_response({"error": {"message": "wait"}}, status=429, headers=wait)
            case "500":
                return web.Response(text="<html>oops</html>", status=500)
            case "503":
                return web.json_response({"error": "overloaded"}, status=503)
            case "reset":
                request.transport.abort()
                return web.Response()
            case "half a body":
                raw = json.dumps(body).encode()
                answer = web.StreamResponse(headers={"Content-Length": str(len(raw))})
                await answer.prepare(request)
                await answer.write(raw[: len(raw) // 2])
                request.transport.abort()
                return answer
            case "invalid JSON":
                return web.Response(text=json.dumps(body)[:-9], content_type="application/json")
            case "stall":
                await asyncio.sleep(self.stall)
                return web.json_response(body)
            case "no choices":
                return web.json_response(body | {"choices": []})
            case "wrong model":
                return web.json_response(good("another-model", "not mine"))
            case _:
                answer = web.StreamResponse()
                await answer.prepare(request)
                with contextlib.suppress(ConnectionResetError):  # the client has had enough
                    for byte in json.dumps(body).encode():
                        await answer.write(bytes([byte]))
                        await asyncio.sleep(self.stall / 10)
                return answer

    async def told(self, request: web.Request) -> web.Response:
        return web.json_response({"seen": self.seen, "most": self.most})


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("port_file", type=Path)
    for name, default in (("latency", 0.0), ("faults", 0.0), ("stall", 30.0)):
        reader.add_argument(f"--{name}", type=float, default=default)
    asked = reader.parse_args()
    server = Server(asked.latency, asked.faults, asked.stall)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.chat)
    app.router.add_get("/seen", server.told)

    async def serve() -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        draft = asked.port_file.with_suffix(".draft")
        draft.write_text(str(runner.addresses[0][1]))
        draft.replace(asked.port_file)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
