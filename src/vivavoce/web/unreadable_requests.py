"""Requests that no page sees, as they are no HTTP: uvicorn's protocol, with a sentence and our headers.

A raw null byte, or an address or header of more than 64 kB, ends here; what can be read is `guard`'s.
"""

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from vivavoce.web.guard import HEADERS

UNREADABLE = (
    "This request cannot be read: its address or a header is too long, or holds a null byte. Open the first "
    "page anew."
)


class SentenceProtocol(H11Protocol):
    """HTTP/1.1 by h11 that answers an unreadable request in a sentence."""

    def send_400_response(self, msg: str) -> None:
        """Answer 400 and close, whatever uvicorn would say."""
        body = UNREADABLE.encode()
        headers = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), **HEADERS}
        headers["Connection"] = "close"
        events = (
            h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
