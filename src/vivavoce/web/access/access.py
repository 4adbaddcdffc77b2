"""The access of one server: who a request is from, and handlers that answer signed-in people alone.

    get("/", for_role("rater", first)), post("/save", form_of("rater", save))

A handler gets the request and the `Person`, that of a form also its fields. It is called in a thread.
"""

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from vivavoce.store.runfile import RunFile
from vivavoce.store.sign_in_links import SignInLink, SignInRole, find_link, is_live
from vivavoce.web.access.exposure import Exposure, forwarded_address
from vivavoce.web.access.sessions import Sessions
from vivavoce.web.access.sign_in_limit import SignInLimit
from vivavoce.web.shell import page

SIGN_IN = "You are not signed in here, or your time is over: open the link that you were given."
OTHER_ROLE = "This page is not for you: your link is that of a {role}."
OTHER_PAGE = (
    "This form is from before you signed in, or from another site: load its page again and enter it there."
)
NULL = "A field holds a null byte, which no text has: take it out and send the form again."
MOST_FIELDS = 1_000
"""Fields of one form: ranks, tags and remarks of 26 answers are a tenth of it."""
UNTYPED = ("csrf", "version", "go")
"""Fields that no person fills."""

Form = Mapping[str, str]


class Person(NamedTuple):
    """Who is signed in, with the token that their forms bear."""

    role: SignInRole
    name: str
    csrf: str


class Access:
    """Sessions and limits of one server over a run. `clock` gives seconds."""

    def __init__(self, run: RunFile, exposure: Exposure, clock: Callable[[], float] = time.monotonic) -> None:
        self.exposure = exposure
        self.sessions = Sessions(clock)
        self.limit = SignInLimit(clock)
        # Servers on other ports of this machine share their cookies with this one.
        self.cookie = f"viva_annotate_{secrets.token_hex(4)}"
        self._run = run

    def link(self, token: str) -> SignInLink | None:
        """The live link with a token."""
        with self._run.reading() as db:
            return find_link(db, token)

    def person(self, request: Request) -> Person | None:
        """Who is signed in; null where the session has ended, or its link was renewed or revoked."""
        identity = request.cookies.get(self.cookie, "")
        session = self.sessions.find(identity)
        if session is None:
            return None
        with self._run.reading() as db:
            if is_live(db, session.link):
                return Person(session.link.role, session.link.name, session.csrf)
        self.sessions.end(identity)
        return None

    def address(self, request: Request) -> str:
        """Where a request came from: behind a proxy the last address in its header, which the proxy wrote."""
        if header := self.exposure.address_header:
            forwarded = ",".join(request.headers.getlist(header)).rpartition(",")[2]
            if address := forwarded_address(forwarded):
                return address
        return request.client.host if request.client else ""


def access_of(request: Request) -> Access:
    """The access of the server that got a request."""
    access: Access = request.app.state.access
    return access


Handler = Callable[[Request], Awaitable[Response]]


def for_role(role: SignInRole, handler: Callable[[Request, Person], Response]) -> Handler:
    """A handler for signed-in people of a role; others get 401 or 403 and a sentence."""

    async def answer(request: Request) -> Response:
        person = await run_in_threadpool(access_of(request).person, request)
        if person is None:
            raise HTTPException(401, SIGN_IN)
        _check_role(person, role)
        return await run_in_threadpool(handler, request, person)

    return answer


def form_of(role: SignInRole, handler: Callable[[Request, Person, Form], Response]) -> Handler:
    """A handler of a form: like `for_role`, with the fields; the form must bear the person's token.

    What somebody typed in a form that is refused is on the page that says so.
    """

    async def answer(request: Request) -> Response:
        form = await request.form(max_files=0, max_fields=MOST_FIELDS)  # files are no part of our forms
        fields = {name: text for name, text in form.multi_items() if isinstance(text, str)}
        if any("\0" in part for field in fields.items() for part in field):
            return _not_stored(request, 400, NULL, fields)
        person = await run_in_threadpool(access_of(request).person, request)
        if person is None:
            return _not_stored(request, 401, SIGN_IN, fields)
        _check_role(person, role)
        if not hmac.compare_digest(
            fields.get("csrf", "").encode("utf-8", "surrogatepass"), person.csrf.encode()
        ):
            return _not_stored(request, 403, OTHER_PAGE, fields)
        return await run_in_threadpool(handler, request, person, fields)

    return answer


def _check_role(person: Person, role: SignInRole) -> None:
    if person.role != role:
        raise HTTPException(403, OTHER_ROLE.format(role=person.role))


def _not_stored(request: Request, status: int, sentence: str, fields: Form) -> Response:
    """The page of a form that was refused, with what a person entered by the name of its field in words."""
    typed = {
        name.replace(":", " ").replace("_", " "): text
        for name, text in fields.items()
        if text.strip() and name not in UNTYPED and not name.endswith(":opened")
    }
    title = HTTPStatus(status).phrase
    return page(request, "not-stored.html", status=status, title=title, sentence=sentence, typed=typed)
