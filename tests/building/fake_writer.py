"""A fake model on a loopback socket that writes what the prompts of `viva build` ask for, and misbehaves.

It is asked like any endpoint, keeps every request, and answers by rules: `manners` maps a piece of a request
to the replies that it gets, one after the other, the last for ever. A reply may be a text, or a number: the
status of an error.
"""

import html
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = str | int | Mapping[str, Any]
Rule = Callable[[str], Reply | None]


def part(text: str, tag: str) -> str:
    """What stands between a tag and its end, our escapes undone; '' without one."""
    match = re.search(rf"<{tag}[^>]*>\n(.*?)\n</{tag}>", text, re.DOTALL)
    return html.unescape(match[1]) if match else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # connections that come at once would otherwise wait for a second and more


class FakeWriter:
    """The server; `rules` are tried in their order, the first that has a reply gives it."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules, self.manners = list(rules), {}  # type: ignore[var-annotated]
        self.seen: Counter[str] = Counter()
        self._met: Counter[str] = Counter()
        self._lock = threading.Lock()
        writer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, reply = writer.answer(body)
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *words: Any) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        turns = [turn["content"] for turn in body["messages"]]
        text = "\n".join(turns)
        with self._lock:
            self.seen[text] += 1
            reply = self._mannered(turns[0])
        if reply is None:
            reply = next((r for rule in self.rules if (r := rule(turns[0])) is not None), None)
        assert reply is not None, f"no rule for: {text[:300]}"
        if isinstance(reply, int):
            return reply, {"error": {"message": "out of order"}}
        content = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        message = {"role": "assistant", "content": content}
        return 200, {
            "id": "1",
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20},
        }

    def _mannered(self, text: str) -> Reply | None:
        for piece, replies in self.manners.items():
            if piece in text:
                place = min(self._met[piece], len(replies) - 1)
                self._met[piece] += 1
                return replies[place]  # type: ignore[no-any-return]
        return None
