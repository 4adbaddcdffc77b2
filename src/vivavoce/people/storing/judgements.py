"""One judgement at a time: a rater's entries for one question, stored as a ballot of a file is.

What is stored reads back as what was entered, so that a rater can go on where they stopped. Its version says
whether a page was opened before somebody saved something newer.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.records import Value
from vivavoce.core.text import label
from vivavoce.people.key import Key
from vivavoce.people.question import Seen
from vivavoce.people.storing.put_ballot import RewordedItemError, put_ballot, response_keys
from vivavoce.people.storing.read_ballots import Ballot
from vivavoce.people.tasks import Row
from vivavoce.people.tasks.task import quoted
from vivavoce.store.ballot_scores import ballot_scores, rater_measures
from vivavoce.store.runfile import RunFile

Entries = Mapping[str, Mapping[str, Any]]
"""What was entered, by the label of the answer and the column."""


class StaleJudgementError(InputError):
    """A judgement from a page that was opened before a newer one was saved."""


class Judgement(NamedTuple):
    """What the run holds of one rater's judgement; `entries` and `version` are empty where nothing is."""

    question: str
    entries: Mapping[str, Mapping[str, Any]]
    version: str


class JudgementStored(NamedTuple):
    """The effect of a judgement: `outcome` is new, unchanged or replaced; `lacking` names what is open."""

    judgement: Judgement
    outcome: str
    lacking: str


class Progress(NamedTuple):
    """How far a rater is: questions with a judgement, and without."""

    panel: str
    task: str
    rater: str
    n_done: int
    n_left: int


def store_judgement(
    run: RunFile,
    key: Key,
    rater: str,
    question: str,
    entries: Entries,
    *,
    version: str | None = None,
    pass_no: int = 1,
    take_back: bool = True,
    page_name: str | None = None,
) -> JudgementStored:
    """Store what a rater entered for one question: all of it or nothing, in one transaction.

    `entries` are read by the task of the key as the rows of a file are, and give the same scores. The same
    judgement again changes nothing; a changed one takes the place of the earlier, and the run's events hold
    both; one with too little to store takes back what is stored, or is refused without `take_back`. `version`
    is that of the judgement that the page showed, '' for none; with null it is not checked. `page_name` is
    what sentences call the question, by default its name in the key. Raises `InputError` for another rater,
    question, label or column, an entry that cannot be, and a judgement with
    too little to store; `StaleJudgementError` where the run holds another version and these entries say
    otherwise; `StoreError` where the run cannot be written.
    """
    seen_question = _find(key, rater, question, pass_no)
    page_name = question if page_name is None else page_name
    page_question = seen_question._replace(question=seen_question.question._replace(name=page_name))
    filled = key.task.read_rows(page_question, _rows(key, rater, page_question, entries))
    with run.writing() as db:
        stored = _judgement(db, key, rater, seen_question)
        if filled.open and not (stored.version and take_back):
            raise InputError(f"{page_name} lacks {filled.lacking}: there is nothing to store yet.")
        with _without_ids(key, page_name != question):
            effect = put_ballot(db, Ballot(None, key, rater, (filled,), pass_no), replace=True)
        result = _judgement(db, key, rater, seen_question)
        if version not in (None, stored.version) and result.version != stored.version:
            raise StaleJudgementError(
                f"{page_name} was judged in another window since this page was opened: load the page again, "
                "then enter what you changed; nothing was stored."
            )
    outcome = "replaced" if effect.replaced else "new" if effect.new else "unchanged"
    return JudgementStored(result, outcome, filled.lacking)


@contextmanager
def _without_ids(key: Key, hidden: bool) -> Iterator[None]:
    try:
        yield
    except RewordedItemError as error:
        raise RewordedItemError("a question", key.panel) if hidden else error from None


def judgement(db: sqlite3.Connection, key: Key, rater: str, seen_question: Seen) -> Judgement:
    """What the run holds of a rater's judgement of one question; empty where nothing is."""
    return _judgement(db, key, rater, seen_question)


def judgements(db: sqlite3.Connection, key: Key, rater: str) -> list[Judgement]:
    """What the run holds of a rater's judgements, in the order of the packet; open ones too.

    Raises `InputError` for a rater that the key does not name.
    """
    _check_rater(key, rater)
    responses = response_keys(db, key, key.questions)
    return [_judgement(db, key, rater, entry, responses) for entry in key.packets[rater]]


def progress(db: sqlite3.Connection, key: Key) -> tuple[Progress, ...]:
    """How far each rater of a key is."""
    responses = response_keys(db, key, key.questions)  # once: they are read from the whole run
    n_done = {
        rater: sum(bool(_judgement(db, key, rater, entry, responses).version) for entry in packet)
        for rater, packet in key.packets.items()
    }
    return tuple(
        Progress(key.panel, key.task.name, rater, n, len(key.packets[rater]) - n)
        for rater, n in n_done.items()
    )


def _check_rater(key: Key, rater: str) -> None:
    if rater not in key.packets:
        raise InputError(
            f"{quoted(rater)} is no rater of panel {key.panel}.{suggest(rater, list(key.packets))}"
        )


def _find(key: Key, rater: str, question: str, pass_no: int) -> Seen:
    _check_rater(key, rater)
    packet = {(entry.question.name, entry.pass_no): entry for entry in key.packets[rater]}
    if (question, pass_no) not in packet:
        raise InputError(f"panel {key.panel} asked {rater} nothing called {quoted(question)}.")
    return packet[question, pass_no]


def _rows(key: Key, rater: str, seen_question: Seen, entries: Entries) -> Sequence[Row]:
    """The entries as rows of a file, in the order of labels."""
    name, labels = seen_question.question.name, [label(n) for n in range(len(seen_question.answers))]
    if foreign := [extra for extra in entries if extra not in labels]:
        raise InputError(f"{name} has no answer {quoted(foreign[0])}.")
    for columns in entries.values():
        if foreign := [extra for extra in columns if extra not in key.task.filled]:
            raise InputError(
                f"{name}: {quoted(foreign[0])} is nothing that raters {key.task.name}: they fill in "
                f"{', '.join(key.task.filled)}."
            )
    return [
        Row(f"panel {key.panel}, {rater}", {"label": row_label, "rater": rater}, entries.get(row_label, {}))
        for row_label in labels
    ]


def _judgement(
    db: sqlite3.Connection,
    key: Key,
    rater: str,
    seen_question: Seen,
    responses: Mapping[str, Mapping[str, int]] | None = None,
) -> Judgement:
    name = seen_question.question.name
    keys = (responses or response_keys(db, key, [seen_question.question]))[name]
    values = _values(db, key, rater, seen_question, list(keys.values()))
    # Candidates with the same answer share its scores; one that was dropped since has none.
    answers = [
        next(
            (values[keys[candidate]] for candidate in answer.candidates if keys.get(candidate) in values), {}
        )
        for answer in seen_question.answers
    ]
    by_answer = key.task.entries(answers)
    if by_answer and (words := key.task.stored_words(db, seen_question, rater)):
        by_answer[0] = {**by_answer[0], **words}
    if not any(map(_any_entered, by_answer)):
        return Judgement(name, {}, "")
    text = json.dumps(by_answer, ensure_ascii=False, sort_keys=True)
    version = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Judgement(name, {label(n): columns for n, columns in enumerate(by_answer)}, version)


def _any_entered(columns: Mapping[str, Any]) -> bool:
    """Whether anything was entered for an answer; a rating of 0 is."""
    return any(not (entry is None or entry is False or entry == "") for entry in columns.values())


def _values(
    db: sqlite3.Connection, key: Key, rater: str, seen_question: Seen, responses: Sequence[int]
) -> dict[int, dict[str, Value]]:
    """The stored values by response and criterion; failed ones bear remarks too."""
    criteria = {
        measure: criterion
        for criterion, measure in rater_measures(db, key.task.signature(key.panel), rater).items()
    }
    ballot = key.task.ballot(key.panel, rater, seen_question.question)
    scores = ballot_scores(db, list(criteria), responses, ballot=ballot, pass_no=seen_question.pass_no)
    values: dict[int, dict[str, Value]] = {}
    for score in scores:
        values.setdefault(score.response, {})[criteria[score.measure]] = Value(
            score.value, note=score.note, status=score.status
        )
    return values
