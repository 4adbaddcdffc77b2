"""A question, an answer with its scores, and the answers to a question, for a reader of single ones."""

import json
import sqlite3
from contextlib import suppress
from dataclasses import fields
from typing import Any, NamedTuple

from vivavoce.core.conversations import Message, as_rows
from vivavoce.core.errors import SelectionError
from vivavoce.core.parts import ESCAPED, LIKE_THINKING, PROMPT_CUT, Ending, final_text, parts_of
from vivavoce.core.records import Item, Response, Score
from vivavoce.core.text import label, looks_like_thinking
from vivavoce.store.damage import DamagedValue, decoding
from vivavoce.store.earlier_turns import EarlierTurns
from vivavoce.store.retirement import counting_measures
from vivavoce.store.stored_values import stored_object

ANSWERS_OF_ITEM = 20
MOST_SCORES = 500
"""Scores that are read of one answer; the rest is counted."""
_LISTS = ("options", "answer", "references", "must", "nice", "steps", "rubric", "messages")


class ItemRecord(NamedTuple):
    """A question with what examiners hold an answer against."""

    item_id: int
    benchmark: str
    item: str
    variant: str
    alias: str | None
    category: str | None
    format: str
    question: str
    context: str | None
    source: str | None
    false_answer: str | None
    follows: str | None
    lists: dict[str, list[Any]]

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.alias or (f"{self.item} [{self.variant}]" if self.variant else self.item)

    @property
    def options(self) -> list[tuple[str, str, bool]]:
        """The options with their labels, and whether each is the key."""
        key = self.lists["answer"]
        return [(label(n), text, text in key) for n, text in enumerate(self.lists["options"])]


class AnswerRecord(NamedTuple):
    """One answer as it is stored; `text` is null for a record of log-likelihoods and where none came."""

    response_id: int
    item_id: int
    candidate_id: int
    candidate: str
    role: str
    repeat: int
    edit_id: int
    edit: str
    status: str
    text: str | None
    final: str | None
    ending: Ending | None
    reasoning: str | None
    finish_reason: str | None
    tokens: int | None
    seconds: float | None
    cost: float | None
    error: str | None
    logprobs: str | None
    stored_meta: str

    @property
    def meta(self) -> dict[str, Any]:
        """What else came with it; empty where that cannot be read, as its text still can."""
        with suppress(DamagedValue):
            return stored_object(self.stored_meta, "the details of a response")
        return {}

    @property
    def final_text(self) -> str:
        """What it says in the end: the text without thinking and marks of a chat; empty without a text."""
        return final_text(self.text, self.final)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on what of it is not whole, as `viva status` counts it."""
        meta, parts = self.meta, parts_of(self)
        remarks = {
            _ENDED.get(parts.ending or ""): True,
            "It looks like thinking that was not told apart from the answer.": (
                meta.get(LIKE_THINKING) is True or looks_like_thinking(self.final_text)
            ),
            "The server cut the prompt it was asked with.": PROMPT_CUT in meta,
            "Its line ends stood escaped in its file, and are read as line ends.": ESCAPED in meta,
        }
        return tuple(remark for remark, is_true in remarks.items() if remark and is_true)


_ENDED = {
    "cut": "It was cut at a limit.",
    "thinking": "It was cut while thinking.",
    "filtered": "A content filter ended it.",
}


class ScoreRecord(NamedTuple):
    """One score of an answer, with the piece that it is about and what the rater wrote."""

    metric: str
    criterion: str
    rater: str
    low: float | None
    high: float | None
    direction: str
    pass_no: int
    unit: str
    unit_text: str
    ballot: str
    position: int | None
    value: float | None
    status: str
    parts: str | None
    note: str | None
    evidence: tuple[tuple[str, str, str], ...]


_ANSWER = """SELECT r.response_id, r.item_id, r.candidate_id, c.candidate, c.role, r.repeat, r.edit_id,
    iif(e.probe = '', e.edit, e.probe), r.status, iif(r.logprobs IS NULL, r.text, NULL), r.final, r.ending,
    r.reasoning, r.finish_reason, r.tokens, r.seconds, r.cost, r.error, r.logprobs, r.meta
    FROM responses r JOIN candidates c USING (candidate_id) JOIN edits e USING (edit_id)"""


def item_record(db: sqlite3.Connection, item_id: int) -> ItemRecord:
    """A question. Raises `SelectionError` where the run has none of this number."""
    lists = ", ".join(f'i."{name}"' for name in _LISTS)
    row = db.execute(
        f"""SELECT i.item_id, benchmark, item, variant, alias, category, format, question, context, source,
        false_answer, follows, {lists} FROM items i JOIN benchmarks USING (benchmark_id) WHERE item_id = ?""",
        (item_id,),
    ).fetchone()
    if row is None:
        raise SelectionError(f"no question {item_id} in this run: start from the first page.")
    with decoding("a list of an item"):
        texts = dict(zip(_LISTS, map(json.loads, row[-len(_LISTS) :]), strict=True))
    return ItemRecord._make([*row[: -len(_LISTS)], texts])


def with_earlier_turns(db: sqlite3.Connection, item: ItemRecord, answer: "AnswerRecord") -> ItemRecord:
    """The question as this candidate was asked it: a later turn behind the conversation so far."""
    if item.follows is None:
        return item
    turn = Item(
        benchmark=item.benchmark, item=item.item, variant=item.variant, format=item.format,
        question=item.question, follows=item.follows,
        messages=tuple(Message(**message) for message in item.lists["messages"]),
    )  # fmt: skip
    with_turns = EarlierTurns(db).as_asked(turn, answer.candidate, answer.repeat) or turn
    return item._replace(lists={**item.lists, "messages": as_rows(with_turns.messages)})


def answer_record(db: sqlite3.Connection, response_id: int) -> AnswerRecord:
    """An answer. Raises `SelectionError` where the run has none of this number."""
    row = db.execute(f"{_ANSWER} WHERE r.response_id = ?", (response_id,)).fetchone()
    if row is None:
        raise SelectionError(f"no answer {response_id} in this run: start from the first page.")
    return AnswerRecord(*row)


def answers_to_item(
    db: sqlite3.Connection, item_id: int, start: tuple[int, int, int] = (-1, -1, -1)
) -> list[AnswerRecord]:
    """The next `ANSWERS_OF_ITEM` answers to a question; `start` is candidate, repeat and edit of the last.

    They come in the order of these three numbers.
    """
    rows = db.execute(
        f"{_ANSWER} WHERE r.item_id = ? AND (r.candidate_id, r.repeat, r.edit_id) > (?, ?, ?) "
        "ORDER BY r.candidate_id, r.repeat, r.edit_id LIMIT ?",
        (item_id, *start, ANSWERS_OF_ITEM),
    )
    return [AnswerRecord(*row) for row in rows]


def neighbour_answers(db: sqlite3.Connection, answer: AnswerRecord) -> tuple[int | None, int | None]:
    """The keys of the answers before and after this one, in the order they came; null at an end."""
    previous = db.execute("SELECT max(response_id) FROM responses WHERE response_id < ?", answer[:1])
    following = db.execute("SELECT min(response_id) FROM responses WHERE response_id > ?", answer[:1])
    return previous.fetchone()[0], following.fetchone()[0]


def next_pair(
    db: sqlite3.Connection, pair: tuple[AnswerRecord, AnswerRecord], *, backwards: bool
) -> tuple[int, int] | None:
    """The keys of the answers by the same candidates, repeats and edits to the next question that has both.

    With `backwards` to the question before; null at an end.
    """
    sign, order = ("<", "DESC") if backwards else (">", "ASC")
    first, second = ((a.candidate_id, a.repeat, a.edit_id) for a in pair)
    pairs = db.execute(
        f"""SELECT a.response_id, b.response_id FROM responses a JOIN responses b USING (item_id)
        WHERE a.item_id {sign} ? AND (a.candidate_id, a.repeat, a.edit_id) = (?, ?, ?)
        AND (b.candidate_id, b.repeat, b.edit_id) = (?, ?, ?) ORDER BY a.item_id {order} LIMIT 1""",
        (pair[0].item_id, *first, *second),
    ).fetchone()
    return pairs and (int(pairs[0]), int(pairs[1]))


def score_records(db: sqlite3.Connection, response_id: int) -> list[ScoreRecord]:
    """The scores of an answer, by measure, piece, ballot and pass; `MOST_SCORES` at most, and one more.

    Scores of retired measures are left out.
    """
    rows = db.execute(
        f"""SELECT m.metric, m.criterion, m.rater, m.low, m.high, m.direction, s.pass_no, u.unit, u.text,
        l.ballot, s.position, s.value, t.status, s.parts, s.note,
        s.measure_id, s.unit_id, s.ballot_id
        FROM measures m CROSS JOIN scores s USING (measure_id) JOIN units u USING (unit_id)
        JOIN ballots l USING (ballot_id) JOIN statuses t USING (status_id) WHERE s.response_id = ?
        AND m.measure_id IN ({counting_measures(db)})
        ORDER BY s.measure_id, s.unit_id, s.ballot_id, s.pass_no LIMIT ?""",
        (response_id, MOST_SCORES + 1),
    ).fetchall()
    evidence = _passages_by_score(db, response_id)
    return [ScoreRecord._make([*row[:15], tuple(evidence.get((*row[15:], row[6]), ()))]) for row in rows]


def _passages_by_score(
    db: sqlite3.Connection, response_id: int
) -> dict[tuple[int, int, int, int], list[tuple[str, str, str]]]:
    """By measure, unit, ballot and pass the passages of an answer's scores: bearing, source and quote."""
    passages: dict[tuple[int, int, int, int], list[tuple[str, str, str]]] = {}
    for *key, bearing, source, quote in db.execute(
        """SELECT v.measure_id, v.unit_id, v.ballot_id, v.pass_no, v.bearing, p.source, p.quote
        FROM measures m CROSS JOIN evidence v USING (measure_id) JOIN passages p USING (passage_id)
        WHERE v.response_id = ? ORDER BY v.place LIMIT ?""",
        (response_id, MOST_SCORES),
    ):
        passages.setdefault(tuple(key), []).append((bearing, source, quote))
    return passages


def named_items(
    db: sqlite3.Connection, name: str, benchmark: str | None, variant: str
) -> list[tuple[int, str]]:
    """The key and benchmark of each current item with this id or alias, of one benchmark or of all."""
    return db.execute(
        "SELECT item_id, benchmark FROM items JOIN benchmarks USING (benchmark_id) "
        "WHERE current = 1 AND (item = ?1 OR alias = ?1) AND variant = ?2 AND (?3 IS NULL OR benchmark = ?3)",
        (name, variant, benchmark),
    ).fetchall()


def item_ids(db: sqlite3.Connection, limit: int = 2000) -> list[str]:
    """Ids of current items, `limit` at most."""
    rows = db.execute("SELECT DISTINCT item FROM items WHERE current = 1 LIMIT ?", (limit,))
    return [item for (item,) in rows]


def response_keys(db: sqlite3.Connection, item: Item, repeat: int, edit: str) -> dict[str, int]:
    """The keys of the responses in words to a current item, by candidate in the order they came."""
    return dict(
        db.execute(
            "SELECT candidate, response_id FROM responses JOIN items USING (item_id) "
            "JOIN benchmarks USING (benchmark_id) JOIN candidates USING (candidate_id) "
            "JOIN edits USING (edit_id) WHERE current = 1 AND probe = '' AND benchmark = ? AND item = ? "
            "AND variant = ? AND repeat = ? AND edit = ? ORDER BY candidate_id",
            (item.benchmark, item.item, item.variant, repeat, edit),
        )
    )


_OF_RESPONSE = ("benchmark", "item", "variant", "candidate", "repeat", "edit")
"""What the scores of a response have in common with it."""


def response_record(db: sqlite3.Connection, key: int) -> Response:
    """The response in words of this key. Raises `LookupError` where there is none."""
    names = [field.name for field in fields(Response)]
    columns = ["r.meta" if name == "meta" else name for name in names]  # an item has a `meta` too
    row = db.execute(
        f"SELECT {', '.join(columns)} FROM responses r JOIN items USING (item_id) "
        "JOIN benchmarks USING (benchmark_id) JOIN candidates USING (candidate_id) "
        "JOIN edits USING (edit_id) WHERE response_id = ?",
        (key,),
    ).fetchone()
    if row is None:
        raise LookupError(f"no response of the key {key}")
    values = dict(zip(names, row, strict=True))
    with decoding("the details of a response"):
        return Response(**values | {"meta": json.loads(values["meta"])})


def scores_of_response(db: sqlite3.Connection, key: int, response: Response) -> tuple[Score, ...]:
    """The scores of the response of this key by measures that are not retired.

    They come by measure, pass, unit and ballot.
    """
    shared = {name: getattr(response, name) for name in _OF_RESPONSE}
    names = [field.name for field in fields(Score) if field.name not in shared]
    rows = db.execute(
        f"SELECT {', '.join(names)} FROM measures m JOIN scores s USING (measure_id) "
        "JOIN units USING (unit_id) JOIN ballots USING (ballot_id) JOIN statuses USING (status_id) "
        f"WHERE response_id = ? AND measure_id IN ({counting_measures(db)}) "
        "ORDER BY measure_id, pass_no, unit_id, ballot_id",
        (key,),
    )
    scores = []
    for row in rows:
        values = dict(zip(names, row, strict=True))
        with decoding("the parts of a score"):
            parts = None if values["parts"] is None else json.loads(values["parts"])
        scores.append(Score(**shared, **values | {"parts": parts}))
    return tuple(scores)
