"""The pages of a rater: all questions, one question, what they say of themselves."""

import time

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from vivavoce.core.errors import SelectionError, VivaError
from vivavoce.people.backgrounds import Background, put_background, read_background, read_backgrounds
from vivavoce.people.storing.judgements import StaleJudgementError
from vivavoce.people.tasks.review import MOST_CHARACTERS
from vivavoce.web.access.access import Form, Person, for_role, form_of
from vivavoce.web.annotate.desk import Desk, form_entries
from vivavoce.web.shell import get, page, post, sentence_of, status_of


def rating_routes() -> list[Route]:
    """The pages that only raters open."""
    return [
        get("/", for_role("rater", _first_page)),
        get("/question/{number}", for_role("rater", _question_page)),
        post("/question/{number}", form_of("rater", _save)),
        get("/about-you", for_role("rater", _background_page)),
        post("/about-you", form_of("rater", _save_background)),
    ]


def desk_of(request: Request) -> Desk:
    """The desk of the server that got a request."""
    desk: Desk = request.app.state.desk
    return desk


def _first_page(request: Request, person: Person) -> Response:
    """What is asked, how far the rater is, and the way on."""
    desk = desk_of(request)
    done = desk.is_done(person.name)
    return page(
        request, "first.html", person=person, task=desk.task, done=done, n_done=sum(done),
        next_number=desk.next_open(person.name, 0), pilot=desk.panel.pilot,
    )  # fmt: skip


def _question_page(request: Request, person: Person) -> Response:
    return _show(request, person, _number(request))


def _show(
    request: Request,
    person: Person,
    number: int,
    *,
    status: int = 200,
    sentence: str = "",
    form: Form | None = None,
) -> Response:
    """A question with what is stored; after an error with what was typed, and beside it what is stored."""
    desk = desk_of(request)
    typed = None if form is None else form_entries(form)
    question = desk.question(person.name, number, typed)
    stored = desk.question(person.name, number) if status == 409 else None
    return page(
        request, "question.html", status=status, person=person, task=desk.task, question=question,
        stored=stored, sentence=sentence, n_done=desk.n_done(person.name), most=MOST_CHARACTERS,
        now=int(time.time()),
    )  # fmt: skip


def _save(request: Request, person: Person, form: Form) -> Response:
    """Store a form. What could not be stored stays in the page, with the reason."""
    desk, number = desk_of(request), _number(request)
    in_background = "application/json" in request.headers.get("accept", "")
    take_back = form.get("go") == "take back"
    try:
        entries = {} if take_back else form_entries(form)
        stored = desk.save(person.name, number, entries, version=form.get("version"), take_back=take_back)
    except SelectionError:
        raise
    except VivaError as error:
        status = 409 if isinstance(error, StaleJudgementError) else status_of(error)
        sentence = sentence_of(request, error)
        if in_background:
            return JSONResponse({"sentence": sentence}, status)
        return _show(request, person, number, status=status, sentence=sentence, form=form)
    if in_background:
        return JSONResponse(
            {
                "version": stored.judgement.version,
                "lacking": stored.lacking,
                "n_done": desk.n_done(person.name),
            }
        )
    following = desk.next_open(person.name, number) if form.get("go") == "next" else number
    return RedirectResponse(f"/question/{following}" if following else "/", 303)


def _background_page(request: Request, person: Person) -> Response:
    with desk_of(request).run.reading() as db:
        background = read_backgrounds(db).get(person.name, Background())
    return page(request, "about-you.html", person=person, background=background, sentence="", saved=False)


def _save_background(request: Request, person: Person, form: Form) -> Response:
    try:
        background = read_background(form)
        with desk_of(request).run.writing() as db:
            put_background(db, person.name, background)
    except VivaError as error:
        typed = {name: form.get(name, "") for name in Background._fields}
        return page(
            request, "about-you.html", status=status_of(error), person=person,
            sentence=sentence_of(request, error), saved=False, background=typed,
        )  # fmt: skip
    return page(request, "about-you.html", person=person, background=background, sentence="", saved=True)


def _number(request: Request) -> int:
    text = request.path_params["number"]
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise SelectionError("this question is not among yours: go on from your first page.")
    return int(text)
