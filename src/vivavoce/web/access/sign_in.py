"""Signing in by link. Opening it shows a button: mail programs that load links sign nobody in."""

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vivavoce.store.sign_in_links import SignInLink
from vivavoce.web.access.access import Access, access_of, form_of
from vivavoce.web.shell import get, page, post

PAGES = Path(__file__).parent / "page"
UNKNOWN = "This link signs nobody in: it was renewed or revoked, or is not whole. Ask for a new one."
TOO_OFTEN = "Too many tries from this address: wait {seconds} seconds, then open the link again."
FIRST_PAGE = {"rater": "/", "organiser": "/organise"}


def sign_in_routes() -> list[Route]:
    """The pages under which people sign in and out."""
    return [
        get("/in/{token}", _ask),
        post("/in/{token}", _sign_in),
        post("/out", form_of("rater", _sign_out)),
        post("/organise/out", form_of("organiser", _sign_out)),
    ]


async def _ask(request: Request) -> Response:
    """Whom the link signs in, and a button."""
    access = access_of(request)
    return page(request, "sign-in.html", link=await _link(access, request))


async def _sign_in(request: Request) -> Response:
    """A new session. The form has no token: `guard` refuses what another site's page sends."""
    access = access_of(request)
    link = await _link(access, request)
    access.sessions.end(request.cookies.get(access.cookie, ""))
    answer = RedirectResponse(FIRST_PAGE[link.role], 303)
    answer.set_cookie(
        access.cookie, access.sessions.begin(link), path="/", httponly=True, samesite="lax",
        secure=access.exposure.encrypted,
    )  # fmt: skip
    return answer


def _sign_out(request: Request, *_: object) -> Response:
    access = access_of(request)
    access.sessions.end(request.cookies.get(access.cookie, ""))
    sentence = "You are signed out. Your link signs you in again."
    answer = page(request, "not-stored.html", title="Signed out", sentence=sentence, typed={})
    answer.delete_cookie(access.cookie, path="/")
    return answer


async def _link(access: Access, request: Request) -> SignInLink:
    """The link in the address. One that is not known costs a try, and after ten none is looked up."""
    address = access.address(request)
    if seconds := access.limit.wait_s(address):
        raise HTTPException(429, TOO_OFTEN.format(seconds=seconds), headers={"Retry-After": str(seconds)})
    link = await run_in_threadpool(access.link, request.path_params["token"])
    if link is None:
        access.limit.count_failure(address)
        raise HTTPException(401, UNKNOWN)
    return link
