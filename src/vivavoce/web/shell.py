"""The shell of both apps: routes, templates, error pages and static files, behind the guard.

    app = create_app([get("/", first), post("/save", save)], folders=[FOLDER])

A page is `page(request, "item.html", item=…)`: templates escape all that is printed, show control characters
as a sign of their own, and fail for a name without a value.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from vivavoce.core.errors import (
    InputError,
    RunNotFound,
    SelectionError,
    SpecError,
    StoreError,
    VivaError,
)
from vivavoce.core.text import printable, xml_text
from vivavoce.store.damage import DamagedRun
from vivavoce.web.guard import App, Guard, Receive, Scope, Send
from vivavoce.web.hosts import LOOPBACK

PAGES = Path(__file__).parent / "page"
"""The templates, styles and scripts that both apps share."""
MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
SENTENCES = {
    403: "This page is not for you.",
    404: "There is no such page: start from the first page.",
    405: "This address does not take such a request: open it from its page.",
    500: "This is a fault of vivavoce, not yours. What was stored is safe; reload the page.",
}
DAMAGED = "The run is damaged, and nothing was stored: tell whoever gave you the link."
STATUSES: tuple[tuple[type[VivaError], int], ...] = (
    (SelectionError, 404), (RunNotFound, 503), (StoreError, 503), (InputError, 400), (SpecError, 400),
)  # fmt: skip
"""The status of an error of ours, by the first type that fits."""


def create_app(
    routes: Sequence[BaseRoute],
    *,
    folders: Sequence[Path] = (),
    names: Collection[str] = LOOPBACK,
    values: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
    gate: Callable[[App, Callable[[int, str], App]], App] | None = None,
) -> Guard:
    """An app of these routes.

    `folders` hold its own templates, and styles and scripts that are served under `/static/`; they come
    before those of the shell. `names` are the hosts under which it answers. `values` are known to all
    templates, and `state` to handlers as `request.app.state`. `gate` may put an app of its own before this
    one: it gets this one, and what answers with a status and a sentence.
    """
    places = [*folders, PAGES]
    static = _static_files(places)

    def static_file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in static:
            raise HTTPException(404)
        return Response(static[name], media_type=MEDIA_TYPES[Path(name).suffix])

    app = Starlette(
        routes=[
            *routes,
            get("/static/{name}", static_file),
            get("/favicon.ico", lambda request: Response(status_code=204)),
        ],
        exception_handlers={
            HTTPException: _http_error_page,
            VivaError: _own_error_page,
            Exception: _fault_page,
        },
    )
    app.state.templates = _environment(places)
    app.state.templates.globals.update(values or {})
    for key, value in (state or {}).items():
        setattr(app.state, key, value)

    def refuse(status: int, sentence: str) -> App:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await error_page(Request({**scope, "app": app}), status, sentence)(scope, receive, send)

        return answer

    return Guard(gate(app, refuse) if gate else app, refuse, names=names)


def get(path: str, handler: Callable[..., Any]) -> Route:
    """A page that is only read: it answers GET and HEAD, and its handler must write nothing."""
    return Route(path, handler, methods=["GET"])


def post(path: str, handler: Callable[..., Any]) -> Route:
    """A form's target, the only kind of address that may write: it answers POST alone."""
    return Route(path, handler, methods=["POST"])


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page from a template of the app, which also knows `request`."""
    text = request.app.state.templates.get_template(template).render(request=request, **values)
    return HTMLResponse(text, status)


def error_page(request: Request, status: int, sentence: str) -> HTMLResponse:
    """A page with one sentence on what went wrong and what to do."""
    title = HTTPStatus(status).phrase
    return page(request, "error.html", status=status, code=status, title=title, sentence=sentence)


def _http_error_page(request: Request, error: Exception) -> Response:
    """The page of an `HTTPException`: its own sentence, or the common one of its status."""
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    sentence = SENTENCES.get(error.status_code, phrase) if error.detail == phrase else error.detail
    answer = error_page(request, error.status_code, sentence)
    answer.headers.update(error.headers or {})
    return answer


def _own_error_page(request: Request, error: Exception) -> Response:
    """The page of a `VivaError`, with its sentence."""
    assert isinstance(error, VivaError)
    return error_page(request, status_of(error), sentence_of(request, error))


def status_of(error: VivaError) -> int:
    """The HTTP status of an error of ours."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 400)


def sentence_of(request: Request, error: VivaError) -> str:
    """What an error says, with the name of the run in place of its path where the app hides that.

    There it says of damage neither which item nor which candidate it is about.
    """
    path: Path | None = getattr(request.app.state, "hidden_path", None)
    if path is not None and isinstance(error, DamagedRun):
        return DAMAGED
    text = printable(str(error))
    return text if path is None else text.replace(str(path), path.name)


def _fault_page(request: Request, error: Exception) -> Response:
    """The page of a fault of ours: it says nothing of its cause."""
    return error_page(request, 500, SENTENCES[500])


def _environment(places: Sequence[Path]) -> Environment:
    return Environment(
        loader=FileSystemLoader(places),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def plain(value: Any) -> Any:
    """Text as a page may hold it: what would act unseen, such as a mark of direction, is a sign instead."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return xml_text(value.replace("\r\n", "\n"))


def _static_files(places: Sequence[Path]) -> dict[str, bytes]:
    """By name the styles and scripts, read once: no request names a path."""
    return {
        path.name: path.read_bytes()
        for place in reversed(places)
        for path in sorted(place.iterdir())
        if path.suffix in MEDIA_TYPES
    }
