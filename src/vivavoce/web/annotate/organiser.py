"""The organiser's pages: how far raters are, whether they agree, what is in dispute, rounds, and files.

How far raters agree is hidden while judgements are still to come: who looks and then stops, stops too early.
"""

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from vivavoce.core.errors import VivaError
from vivavoce.people.backgrounds import read_backgrounds
from vivavoce.people.ballot_export import ballot_file, fact_lines, review_lines
from vivavoce.people.rounds import open_round, read_round
from vivavoce.people.storing.store_reviews import put_adjudication, read_adjudicated
from vivavoce.people.tasks import REVIEW_TASKS, VerifyTask
from vivavoce.run.people.annotate import agreement_rows
from vivavoce.web.access.access import Form, Person, for_role, form_of
from vivavoce.web.annotate.desk import Desk
from vivavoce.web.annotate.rating import desk_of
from vivavoce.web.shell import get, page, post, sentence_of, status_of

MOST_REASON = 1_000


def organiser_routes() -> list[Route]:
    """The pages that only the organiser opens."""
    return [
        get("/organise", for_role("organiser", _overview)),
        post("/organise/round", form_of("organiser", _open_round)),
        post("/organise/settle", form_of("organiser", _settle)),
        get("/organise/reviews.jsonl", for_role("organiser", _reviews)),
        get("/organise/facts.jsonl", for_role("organiser", _facts)),
        get("/organise/ballot/{number}", for_role("organiser", _ballot)),
    ]


def _overview(request: Request, person: Person) -> Response:
    return _show(request, person)


def _show(
    request: Request, person: Person, *, status: int = 200, sentence: str = "", form: Form | None = None
) -> Response:
    """How far everybody is, and what there is to decide."""
    desk = desk_of(request)
    done = {rater: desk.is_done(rater) for rater in desk.key.packets}
    n_left = max(0, desk.panel.n_labels - sum(map(sum, done.values())))
    with desk.run.reading() as db:
        backgrounds = read_backgrounds(db)
        disputes = read_adjudicated(db).disputes if desk.task.name in REVIEW_TASKS else ()
        opened = read_round(db, desk.key.panel)
    return page(
        request, "organise.html", status=status, person=person, sentence=sentence, form=form or {},
        task=desk.task, is_review=desk.task.name in REVIEW_TASKS, done=done, n_left=n_left,
        backgrounds=backgrounds, agreement=() if n_left else agreement_rows(desk.run, desk.key),
        disputes=_with_items(desk, disputes), pilot=desk.panel.pilot, opened=opened,
        categories=_categories(desk),
    )  # fmt: skip


def _with_items(desk: Desk, disputes: Any) -> list[tuple[Any, Any]]:
    """Each dispute with the question it is about, as far as the panel asks it."""
    questions = {question.place: question for question in desk.key.questions}
    return [(entry, questions[entry.place]) for entry in disputes if entry.place in questions]


def _categories(desk: Desk) -> list[str]:
    return sorted({item.category or "" for item in desk.panel.items.values()})


def _open_round(request: Request, person: Person, form: Form) -> Response:
    """Open what follows the pilot; a category with a reason is left out."""
    desk = desk_of(request)
    left_out = {
        category: form[f"reason:{place}"].strip()
        for place, category in enumerate(_categories(desk))
        if form.get(f"out:{place}")
    }
    try:
        with desk.run.writing() as db:
            open_round(db, desk.key.panel, left_out)
    except VivaError as error:
        return _show(
            request, person, status=status_of(error), sentence=sentence_of(request, error), form=form
        )
    return RedirectResponse("/organise", 303)


def _settle(request: Request, person: Person, form: Form) -> Response:
    """Settle an item: its gold is what the organiser says, and its disputes are closed."""
    desk = desk_of(request)
    places = {question.name: question.place for question in desk.key.questions}
    name, verdict, reason = form.get("question", ""), form.get("correct", ""), form.get("reason", "").strip()
    if name not in places:
        raise HTTPException(404, "this question is not of this panel: load the page again.")
    if verdict not in ("yes", "no") or not 1 <= len(reason) <= MOST_REASON:
        sentence = (
            f"Say yes or no, and why, in 1 to {MOST_REASON:,} characters: the reason is kept in the run."
        )
        return _show(request, person, status=400, sentence=sentence, form=form)
    try:
        with desk.run.writing() as db:
            put_adjudication(db, places[name], rater=person.name, correct=verdict == "yes", reason=reason)
    except VivaError as error:
        return _show(
            request, person, status=status_of(error), sentence=sentence_of(request, error), form=form
        )
    return RedirectResponse("/organise", 303)


def _reviews(request: Request, person: Person) -> Response:
    """The reviews as a file for another run."""
    desk = desk_of(request)
    if desk.task.name not in REVIEW_TASKS:
        raise HTTPException(404, "this panel holds no reviews: take each rater's ballot.")
    with desk.run.reading() as db:
        text = "".join(review_lines(db, desk.key))
    return _download(text, "reviews.jsonl")


def _facts(request: Request, person: Person) -> Response:
    """The verified facts as a file that `atomic_facts(checker=recorded(file=…))` reads."""
    desk = desk_of(request)
    if desk.task.name != VerifyTask.name:
        raise HTTPException(404, "this panel verifies no facts: take each rater's ballot.")
    with desk.run.reading() as db:
        text = "".join(fact_lines(db, desk.key))
    return _download(text, "facts.jsonl")


def _ballot(request: Request, person: Person) -> Response:
    """A rater's ballot as a file for another run with the same panel."""
    desk = desk_of(request)
    raters: Mapping[str, str] = {str(n): rater for n, rater in enumerate(desk.key.packets)}
    rater = raters.get(request.path_params["number"])
    if rater is None or desk.task.name in REVIEW_TASKS:
        raise HTTPException(404)
    with desk.run.reading() as db:
        text = ballot_file(db, desk.key, rater)
    return _download(text, f"ballot-{request.path_params['number']}.json")


def _download(text: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(text.encode("utf-8", "replace"), headers=headers, media_type="application/json")
