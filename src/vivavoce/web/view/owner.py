"""The viewer is its owner's alone: other people of a shared machine reach the same port."""

import hmac
import secrets
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse

from vivavoce.web.guard import App, Receive, Scope, Send

SENTENCE = "This run is its owner's: open the address that `viva view` printed, which has a key."


class OwnerOnly:
    """An app that answers only browsers which opened an address with its key."""

    def __init__(self, app: App, refuse: App, key: str) -> None:
        self._app, self._refuse, self._key = app, refuse, key
        # Servers on other ports of this machine share their cookies with this one.
        self._cookie = f"viva_view_{secrets.token_hex(4)}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the owner; with the key in the address, keep it in the browser and take it out of there."""
        request = Request(scope)
        sent = parse_qs(scope["query_string"].decode("latin-1")).get("key", [""])[0]
        if self._fits(sent):
            answer = RedirectResponse(f"/{request.url.path.lstrip('/')}", 303)
            answer.set_cookie(self._cookie, self._key, httponly=True, samesite="lax", path="/")
            await answer(scope, receive, send)
        elif self._fits(request.cookies.get(self._cookie, "")) or scope["path"].startswith("/static/"):
            await self._app(scope, receive, send)
        else:
            await self._refuse(scope, receive, send)

    def _fits(self, sent: str) -> bool:
        return hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), self._key.encode())
