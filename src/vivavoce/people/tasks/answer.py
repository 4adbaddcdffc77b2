"""Answering: people take the exam, some questions with the help of a candidate's answer.

What a rater answers is a response of the candidate `person/NAME`. Its `meta` holds the confidence, a
probability, the seconds from opening the page to the last change, and `assist`, the candidate whose answer
was shown first, null for none. Who does not know says so: that is an answer without a text, and counts as
every candidate's silence does.
"""

import math
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, Response, Value
from vivavoce.core.text import printable
from vivavoce.people.case_draw import DrawnItems
from vivavoce.people.question import BlindedAnswer, Seen
from vivavoce.people.tasks.review import MOST_CHARACTERS
from vivavoce.people.tasks.task import FilledItem, PlainTask, Row, Tally, entered, quoted
from vivavoce.store.by_place import items_at
from vivavoce.store.person_answers import (
    ORIGIN,
    PersonAnswer,
    drop_person_answer,
    person_answer,
    put_person_answer,
)
from vivavoce.store.write import ScoreRow

PERSON = "person/"
_UNAIDED = BlindedAnswer("", ())
_LONGEST_S = 86_400
"""A page that was open for longer than a day says nothing about the time that an answer took."""


class GivenAnswer(NamedTuple):
    """What a rater answered; `confidence` from 0 to 1 and `seconds` are null where they are not known."""

    text: str
    confidence: float | None
    seconds: float | None


class AnswerTask(PlainTask):
    """Raters answer the questions themselves; with `assist` half of them after reading that candidate's."""

    name = "answer"
    schema = "viva.panel.answers/1"
    default_n = 1_000_000
    asks_closed = True
    one_answer_each = True

    def __init__(self, assist: str | None = None) -> None:
        self.criterion = "What is your answer?"
        self.assist = assist
        self.shows_candidates = assist is not None
        self.least_answers = int(self.shows_candidates)

    @property
    def body(self) -> dict[str, Any]:
        """The task, and the candidate who helps."""
        return super().body | ({"assist": self.assist} if self.assist is not None else {})

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> "AnswerTask":
        """The task that a blinding key holds."""
        return cls(body.get("assist"))

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        return f"{self.assist or 'this run'} has no question that people could answer"

    def arrange(self, sample: DrawnItems, seed: int) -> DrawnItems:
        """Each question can be shown without help, and with it."""
        items = tuple(item._replace(answers=(_UNAIDED, *item.answers)) for item in sample.items)
        return sample._replace(items=items)

    @property
    def filled(self) -> tuple[str, ...]:
        """The answer or that there is none, how sure the rater is in percent, when the page was opened."""
        return ("response", "no_answer", "confidence", "opened")

    def instructions(self) -> Sequence[str]:
        """How the columns are to be filled."""
        return (
            "response: your answer, as the question asks for it. no_answer: x if you do not know. "
            "confidence: 0 to 100, in percent.",
        )

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        help_line = "Above some questions stands an answer by somebody else, which may be right or wrong."
        return (
            "Answer each question by yourself, without looking it up, and say how sure you are.",
            *((help_line,) if self.assist is not None else ()),
            "The time from opening a page to your last change is kept; there is no limit.",
        )

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """The answer; a blank one is open."""
        name = seen_question.question.name
        entries = rows[0].entries if rows else {}
        text = _text(entries, name)
        confidence = _confidence(entries.get("confidence"), name)
        if text is None:
            return FilledItem(seen_question, (), "", "an answer", True)
        answer = GivenAnswer(text, confidence, _seconds(entries.get("opened")))
        lacking = "" if confidence is not None else "how sure you are"
        return FilledItem(seen_question, (answer,), "", lacking, False)

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """The answers."""
        return Tally(labels=len(filled))

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """None: an answer is scored as every candidate's is."""
        return ()

    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """None."""
        return {}

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """Nothing: the answer is a response."""
        return [{} for _ in answers]

    def put_words(self, db: sqlite3.Connection, filled: FilledItem, rater: str) -> bool:
        """Store the response where it changed. Raises `InputError` for one that cannot be read."""
        entry = filled.seen_question
        place = entry.question.place
        if not filled.ratings:
            return drop_person_answer(db, place, PERSON + rater, entry.pass_no)
        answer: GivenAnswer = filled.ratings[0]
        number, item = items_at(db, [place])[place]
        _refuse_unreadable(item, answer.text, entry.question.name)
        helped = bool(entry.answers[0].candidates)
        meta = {"origin": ORIGIN, "assist": self.assist if helped else None, "seconds": answer.seconds}
        if answer.confidence is not None:
            meta["confidence"] = answer.confidence
        benchmark, name, variant = place
        response = Response(benchmark=benchmark, item=name, variant=variant, candidate=PERSON + rater,
                            repeat=entry.pass_no, text=answer.text, meta=meta)  # fmt: skip
        return put_person_answer(db, number, response)

    def stored_words(self, db: sqlite3.Connection, seen_question: Seen, rater: str) -> Mapping[str, str]:
        """The stored response, and its confidence in percent."""
        stored: PersonAnswer | None = person_answer(
            db, seen_question.question.place, PERSON + rater, seen_question.pass_no
        )
        if stored is None:
            return {}
        sure = "" if stored.confidence is None else f"{100 * stored.confidence:.10g}"
        return {"response": stored.text, "no_answer": "" if stored.text else "x", "confidence": sure}


def _text(entries: Mapping[str, Any], name: str) -> str | None:
    """The answer, '' for one who does not know, null where nothing was entered."""
    text = printable(str(entries.get("response") or "")).strip()
    silent = entered(entries.get("no_answer")).casefold() in ("x", "yes", "true", "1")
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"{name}: the answer has {len(text):,} characters; {MOST_CHARACTERS:,} is the most.")
    if text and silent:
        raise InputError(f"{name} has an answer, and that you do not know as well: one is a slip.")
    return text if text or silent else None


def _refuse_unreadable(item: Item, text: str, name: str) -> None:
    reading = formats.read_response(item, text)
    if reading.status == "unreadable":
        raise InputError(
            f"{name}: the answer cannot be read ({reading.reason}): answer as the question asks."
        )


def _confidence(entry: Any, place: str) -> float | None:
    text = entered(entry).removesuffix("%").strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 100:
        raise InputError(f"{place}: how sure you are is a number from 0 to 100, not {quoted(entry)}.")
    return number / 100


def _seconds(opened: Any) -> float | None:
    text = str(opened or "")
    if not (text.isascii() and text.isdigit()) or len(text) > 11:
        return None
    seconds = time.time() - int(text)
    return round(seconds, 1) if 0 <= seconds <= _LONGEST_S else None
