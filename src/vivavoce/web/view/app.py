"""The viewer's pages: the list, a question, an answer, and two answers side by side."""

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from vivavoce.core.errors import SelectionError
from vivavoce.run.tables.credentialed import credentialed_benchmarks
from vivavoce.run.tables.stored_headline import stored_headline
from vivavoce.store.answer_pages import answer_page, filter_choices, run_size
from vivavoce.store.answer_records import (
    ANSWERS_OF_ITEM,
    MOST_SCORES,
    AnswerRecord,
    answer_record,
    answers_to_item,
    item_record,
    neighbour_answers,
    next_pair,
    score_records,
    with_earlier_turns,
)
from vivavoce.store.redacted import redaction
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.web.guard import App, Guard
from vivavoce.web.shell import create_app, get, page
from vivavoce.web.view.differences import differing_words
from vivavoce.web.view.filters import is_key, read_filters
from vivavoce.web.view.owner import SENTENCE, OwnerOnly

PAGES = Path(__file__).parent / "page"
LONGEST_TEXT = 20_000
"""Characters of one text on a page; the whole of an answer is one link away."""


def draw_key() -> str:
    """The key of one server: who opens its address with it may look."""
    return secrets.token_urlsafe(24)


def view_app(path: Path, key: str) -> Guard:
    """The viewer over a run, for browsers that open an address with the key. It writes nothing."""
    run = RunFile(path)
    with run.reading() as db:
        redacted = redaction(db) is not None
    notes = {"redacted": redacted, "credentialed": with_view(run, credentialed_benchmarks)}

    def gate(app: App, refuse: Callable[[int, str], App]) -> App:
        return OwnerOnly(app, refuse(403, SENTENCE), key)

    return create_app(
        [
            get("/", _list_page),
            get("/size", _size),
            get("/item/{number}", _item_page),
            get("/answer/{number}", _answer_page),
            get("/compare", _compare_page),
        ],
        folders=[PAGES],
        values={
            **notes,
            "run_name": path.name,
            "longest": LONGEST_TEXT,
            "most_scores": MOST_SCORES,
            "address": _address,
            "figure": _figure,
            "head": _head,
        },
        state={"run": run},
        gate=gate,
    )


def _address(path: str, query: dict[str, Any]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _figure(value: float | None) -> str:
    """A score's value as the run has it, to four digits."""
    return "" if value is None else f"{value:.4g}"


def _head(text: str, limit: int) -> str:
    """The first characters of a text, and how many more there are."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


@contextmanager
def _opened(request: Request) -> Iterator[sqlite3.Connection]:
    with request.app.state.run.reading() as db:
        yield db


def _list_page(request: Request) -> Response:
    """Answers that pass the filters of the address, one page of them."""
    filters = read_filters(request.query_params)
    with _opened(request) as db:
        choices = filter_choices(db)
        answers = answer_page(db, filters)
        size, headline = run_size(db), stored_headline(db)
    return page(
        request, "list.html", filters=filters, choices=choices, answers=answers, size=size, headline=headline
    )


def _size(request: Request) -> Response:
    """How much the run holds now, for a page that is open."""
    with _opened(request) as db:
        return JSONResponse(run_size(db)._asdict())


def _item_page(request: Request) -> Response:
    """A question with its answers and their scores, some candidates a page."""
    number = _number(request.path_params["number"])
    start = _start(request.query_params.get("after", ""))
    with _opened(request) as db:
        item = item_record(db, number)
        answers = [
            (answer, score_records(db, answer.response_id)) for answer in answers_to_item(db, number, start)
        ]
        size = run_size(db)
    last = answers[-1][0] if len(answers) == ANSWERS_OF_ITEM else None
    next_start = last and f"{last.candidate_id}-{last.repeat}-{last.edit_id}"
    return page(request, "item.html", item=item, answers=answers, next_start=next_start, size=size)


def _answer_page(request: Request) -> Response:
    """One answer as it is stored, with every score, and what it answers."""
    with _opened(request) as db:
        answer = answer_record(db, _number(request.path_params["number"]))
        item = with_earlier_turns(db, item_record(db, answer.item_id), answer)
        scores = score_records(db, answer.response_id)
        previous, following = neighbour_answers(db, answer)
        answers = answers_to_item(db, answer.item_id)
        size = run_size(db)
    limit = None if request.query_params.get("whole") else LONGEST_TEXT
    return page(
        request, "answer.html", answer=answer, item=item, scores=scores,
        previous=previous, following=following,
        alternatives=[a for a in answers if a.response_id != answer.response_id], limit=limit, size=size,
    )  # fmt: skip


def _compare_page(request: Request) -> Response:
    """Two answers to one question, with the words that differ."""
    with _opened(request) as db:
        pair = _pair(db, request)
        item = item_record(db, pair[0].item_id)
        scores = [score_records(db, answer.response_id) for answer in pair]
        previous, following = next_pair(db, pair, backwards=True), next_pair(db, pair, backwards=False)
        size = run_size(db)
    texts = [answer.final_text[:LONGEST_TEXT] for answer in pair]
    sides = list(zip(pair, differing_words(texts[0], texts[1]), scores, strict=True))
    return page(
        request, "compare.html", item=item, sides=sides, previous=previous, following=following, size=size
    )


def _pair(db: sqlite3.Connection, request: Request) -> tuple[AnswerRecord, AnswerRecord]:
    """The two answers that the address names. Raises `SelectionError` unless they are to one question."""
    first, second = (answer_record(db, _number(request.query_params.get(side, ""))) for side in "ab")
    if first.item_id != second.item_id:
        raise SelectionError("these are answers to different questions: choose two on a question's page.")
    return first, second


def _number(text: str) -> int:
    if not is_key(text):
        raise SelectionError("there is no such page in this run: start from the first page.")
    return int(text)


def _start(text: str) -> tuple[int, int, int]:
    """Behind which answer to a question a page begins: three numbers, or nothing for the first."""
    if not text:
        return (-1, -1, -1)
    parts = [_number(part) for part in text.split("-")]
    if len(parts) != 3:
        raise SelectionError("there is no such page in this run: start from the first page.")
    return parts[0], parts[1], parts[2]
