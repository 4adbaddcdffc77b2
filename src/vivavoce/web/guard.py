"""What stands before every page: headers that keep browsers strict, our own name, and limits of size."""

import logging
import os
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException

from vivavoce.core.text import printable
from vivavoce.web.hosts import host_error, origin_error

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY_BYTES = 512 * 1024
"""Three texts of 10,000 characters, each character as nine: so forms write the letters of most scripts."""
MOST_ADDRESS_BYTES = 8 * 1024
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""On every answer, errors and static files too."""
TOO_LARGE = f"A form may hold at most {MOST_BODY_BYTES // 1024} kB: shorten the text and send it again."

log = logging.getLogger("vivavoce.web")


class Guard:
    """An app behind its guard: every answer has `HEADERS`, and a request that is none of ours ends here.

    `names` are the hosts under which the app answers. A fault of ours ends as the app's page for it, and as
    one line in the log; with VIVA_TRACEBACK=1 the log has where it happened.
    """

    def __init__(self, app: App, refuse: Callable[[int, str], App], *, names: Collection[str]) -> None:
        self._app, self._refuse, self._names = app, refuse, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; anything but HTTP is closed unanswered."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        app = self._app if refusal is None else self._refuse(*refusal)
        try:
            await app(scope, _limited(receive), send_with_headers)
        except Exception as error:  # the app has answered with its page for faults
            traceback = bool(os.environ.get("VIVA_TRACEBACK"))
            log.error(printable(f"{type(error).__name__}: {error}"[:300]), exc_info=traceback)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and sentence for a request that no page shall see."""
        if error := host_error(scope["headers"], self._names):
            return 403, error
        if scope["method"] == "POST" and (error := origin_error(scope["headers"], self._names)):
            return 403, error
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_ADDRESS_BYTES:
            return 414, "This address is too long: start from the first page."
        if printable(scope["path"]) != scope["path"] or b"%00" in scope["query_string"]:
            return 400, "This address holds control characters: start from the first page."
        if _declares_too_much(scope["headers"]):
            return 413, TOO_LARGE
        return None


def _declares_too_much(headers: Collection[tuple[bytes, bytes]]) -> bool:
    """Whether the length that a request declares is beyond the limit, or is no number."""
    lengths = [value for name, value in headers if name == b"content-length"]
    return any(not value.isdigit() or int(value[:12]) > MOST_BODY_BYTES for value in lengths)


def _limited(receive: Receive) -> Receive:
    """Like `receive`, but a body that is longer than it said raises an error of status 413."""
    n_bytes = 0

    async def limited() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > MOST_BODY_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message

    return limited
