"""HTTP/1.1 by h11 as uvicorn speaks it, with limits of time, and a sentence for requests that no page sees.

A raw null byte, or an address or header of more than 64 kB, ends here, and so does a request that takes too
long to arrive; what can be read is `guard`'s.
"""

from collections.abc import Callable
from http import HTTPStatus
from math import inf
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from vivavoce.web.guard import HEADERS

HEADERS_S = 10.0
"""Seconds from the first byte of a request, or from the connection, to the end of its headers."""
BODY_S = 30.0
"""Seconds for the form: 512 kB at 17 kB a second."""
IDLE_S = 10.0
"""Seconds that a connection stays open after an answer: uvicorn ends it before if the answer was taken in."""
SEND_S = 30.0
"""Seconds that a visitor has to take in what is sent before more of it follows."""
CLOSING_S = 2.0
"""Seconds that a visitor has to take in a last sentence."""
UNREADABLE = (
    "This request cannot be read: its address or a header is too long, or holds a null byte. Open the first "
    "page anew."
)
TOO_SLOW = "This request took too long to arrive, and nothing was stored: send it again."


class TimedProtocol(H11Protocol):
    """A connection that ends when a request, or what is sent in answer, takes too long.

    `is_waiting` says that no whole request has come, and `waiting_since` for how long by the loop's clock.
    `on_end` is called when the connection has ended.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        on_end: Callable[["TimedProtocol"], None],
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._on_end = on_end
        self._is_idle = self._in_body = self._is_closing = False
        self._has_data = False
        self._sending_until = inf
        self.waiting_since = self.loop.time()
        self._deadline = inf  # the handshake of TLS has a limit of its own
        self.is_waiting = True

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait(HEADERS_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Say that the connection has ended."""
        self._on_end(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; what comes after a last sentence is not read."""
        if self._is_closing:
            return
        if self._is_idle:
            self._is_idle = False
            self._wait(HEADERS_S)
        self._has_data = True
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it has come already."""
        super().on_response_complete()
        self._is_idle = self.cycle is None or self.cycle.response_complete
        if self._is_idle:
            self._has_data = self._in_body = False
            self._wait(IDLE_S)
        else:
            self._follow()

    def pause_writing(self) -> None:
        """The visitor is slower than we are: begin to count."""
        super().pause_writing()
        self._sending_until = self.loop.time() + SEND_S

    def resume_writing(self) -> None:
        """The visitor has caught up."""
        super().resume_writing()
        self._sending_until = inf

    def send_400_response(self, msg: str) -> None:
        """Answer 400 and close, whatever uvicorn would say."""
        self._send_last(HTTPStatus.BAD_REQUEST, UNREADABLE)

    def end_if_overdue(self) -> None:
        """End the connection where its time is over, with a sentence where a request has begun."""
        if self.loop.time() < min(self._deadline, self._sending_until):
            return
        if self._is_closing or not (self.is_waiting and self._has_data):
            self.abort()
            return
        self._send_last(HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
        if self.cycle and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def abort(self) -> None:
        """End the connection now."""
        self._deadline = inf
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        self.is_waiting, self.waiting_since = True, self.loop.time()
        self._deadline = self.waiting_since + seconds

    def _follow(self) -> None:
        """Where the request stands that was begun."""
        if self.cycle is None or self.cycle.response_complete or self._is_closing:
            return
        if not self.cycle.more_body:
            self.is_waiting, self._in_body, self._deadline = False, False, inf
        elif not self._in_body:
            self._in_body = True
            self._deadline = self.loop.time() + BODY_S

    def _send_last(self, status: HTTPStatus, sentence: str) -> None:
        self._is_closing = True
        self._deadline = self.loop.time() + CLOSING_S
        body = sentence.encode()
        headers = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), **HEADERS}
        headers["Connection"] = "close"
        events = (
            h11.Response(status_code=status, headers=list(headers.items()), reason=status.phrase.encode()),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
