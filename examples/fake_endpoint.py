"""A fake model on this machine, to try `viva collect` without a key: it always takes the longest option.

Without options it says the longest sentence of the question again. A model with `short` in its name takes
the shortest.

Usage: python examples/fake_endpoint.py [PORT], then VLLM_BASE_URL=http://127.0.0.1:PORT/v1 viva collect …
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Endpoint(BaseHTTPRequestHandler):
    """OpenAI's chat completions, as far as an exam needs them."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """One answer."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = asked["messages"][-1]["content"]
        options = re.findall(r"^[A-Z]\. (.+)$", question, re.MULTILINE)
        if not options:
            sentences = re.split(r"(?<=[.?!])\s+", question.strip())
            options = ["True"] if "true or false" in question.lower() else sentences
        choose = min if "short" in asked["model"] else max
        message = {"role": "assistant", "content": f"Answer: {choose(options, key=len)}"}
        body = json.dumps(
            {
                "model": asked["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": len(question) // 4, "completion_tokens": 8},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the run keeps the account."""


class Server(ThreadingHTTPServer):
    """The standard library's, with room for many who knock at once."""

    request_queue_size = 256


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8642), Endpoint).serve_forever()
