"""A chat endpoint on this machine that gives the same answer after a fixed time, in a process of its own.

It stands on bare sockets and reads no JSON, so that what is measured is the client. `GET /seen` tells how
many questions came, how many were on the wire at most, and the CPU seconds they cost here.
Usage: python bench/mock_server.py [seconds [answer]]; the first line printed is the port.
"""

import asyncio
import json
import sys
import time

MODEL = "mock"
ANSWER = (
    "Aspirin and a P2Y12 inhibitor, unless there is a contraindication such as active bleeding; "
    "check renal function before contrast, and repeat the troponin after three hours."
)
LARGEST = 1 << 20


def response(body: dict, status: str = "200 OK") -> bytes:
    raw = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
    return head.encode() + raw


def completion(answer: str) -> bytes:
    """A chat completion that says this."""
    return response({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": MODEL,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 24, "completion_tokens": 34, "total_tokens": 58},
    })  # fmt: skip


class Counts:
    """What has come so far."""

    def __init__(self) -> None:
        self.requests = self.flying = self.most = 0
        self.began = time.process_time()

    def told(self) -> bytes:
        """What came so far, as an answer."""
        cpu = time.process_time() - self.began
        return response({"requests": self.requests, "most": self.most, "cpu": cpu})


class Connection(asyncio.Protocol):
    """One connection, kept alive; requests on it are answered in the order in which they come."""

    def __init__(self, counts: Counts, latency: float, good: bytes) -> None:
        self.counts, self.latency, self.good = counts, latency, good
        self.loop = asyncio.get_running_loop()
        self.read = bytearray()
        self.gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody came."""
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """They went."""
        self.gone = True

    def data_received(self, data: bytes) -> None:
        """Take whole requests out of what has come so far."""
        self.read += data
        while (end := self.read.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.read[:end]).lower()
            _, known, rest = head.partition(b"\r\ncontent-length:")
            size = int(rest.partition(b"\r\n")[0]) if known else 0
            if b"\r\ntransfer-encoding:" in head or size > LARGEST:
                self.transport.write(response({"error": "send a Content-Length"}, "411 Length Required"))
                self.transport.close()
                return
            if len(self.read) < end + 4 + size:
                return
            del self.read[: end + 4 + size]
            self.asked(head)

    def asked(self, head: bytes) -> None:
        """One request."""
        if head.startswith(b"get /seen "):
            self.transport.write(self.counts.told())
        elif head.startswith(b"post /v1/chat/completions "):
            self.counts.requests += 1
            self.counts.flying += 1
            self.counts.most = max(self.counts.most, self.counts.flying)
            if self.latency:
                self.loop.call_later(self.latency, self.answer)
            else:
                self.answer()
        else:
            self.transport.write(response({"error": "no such path"}, "404 Not Found"))

    def answer(self) -> None:
        """Answer the oldest question that waits."""
        self.counts.flying -= 1
        if not self.gone:
            self.transport.write(self.good)


async def serve(latency: float, answer: str) -> None:
    counts, good = Counts(), completion(answer)
    loop = asyncio.get_running_loop()
    # a client that opens hundreds of connections at once must not wait for a full backlog
    server = await loop.create_server(lambda: Connection(counts, latency, good), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float((sys.argv[1:] or ["0.05"])[0]), (sys.argv[2:] or [ANSWER])[0]))
