"""What exporters read of a run: exams, and a candidate's answers with their scores, one at a time."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Card, Item, ItemKey, ResponseStatus, Role, ScoreStatus, Unit
from vivavoce.run.exchange.tool_files.asked import item_ids
from vivavoce.run.exchange.tool_files.hidden_texts import Hide, hidden_item, hidden_unit, hidden_value
from vivavoce.store import read
from vivavoce.store.candidate_names import match_candidate
from vivavoce.store.schema import STATUSES
from vivavoce.store.stored_values import stored_object

_STORED = ("repeat", "status", "text", "reasoning", "finish_reason", "tokens", "seconds", "cost", "error")
SCORED = ("mean", "clipped_mean", "unit")
"""Pools of the criteria whose scores are of one answer, or of a unit of it."""


class StoredScore(NamedTuple):
    """A score of an answer by the measure of that key, in one pass, perhaps of a unit of it."""

    measure: int
    pass_no: int
    unit: Unit | None
    value: float | None
    status: ScoreStatus
    note: str | None


class Answer(NamedTuple):
    """A candidate's answer in words to an item, with its scores."""

    item: Item
    repeat: int
    status: ResponseStatus
    text: str | None
    reasoning: str | None
    finish_reason: str | None
    tokens: int | None
    seconds: float | None
    cost: float | None
    error: str | None
    meta: Mapping[str, Any]
    input_tokens: int | None
    scores: tuple[StoredScore, ...] = ()


class Exam(NamedTuple):
    """A benchmark of the run with its items under their keys, those that were made in the run left out."""

    key: int
    entry: read.Benchmark
    items: Mapping[int, Item]
    ids: Mapping[tuple[str, str], str]
    """By item and variant the id under which other tools know it."""

    def id_of(self, item: Item) -> str:
        """The id under which other tools know an item."""
        return self.ids[item.item, item.variant]

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return self.entry.benchmark

    @property
    def card(self) -> Card:
        """The benchmark's card."""
        return self.entry.card


class ExportSource:
    """A run that is read for an export. What has no place in it is counted in `left_out`, by reason.

    Texts of credentialed benchmarks are left out, or with `hide` hidden as all others.
    """

    def __init__(self, db: sqlite3.Connection, chosen: set[ItemKey] | None, hide: Hide | None = None) -> None:
        self._db, self._chosen, self._hide = db, chosen, hide
        self.left_out: Counter[str] = Counter()
        keyed = read.measures(db)
        self.measures = {
            entry.key: entry.measure for entry in keyed if entry.measure.criterion.pool in SCORED
        }
        self.pooled = {entry.key: entry.measure for entry in keyed if entry.key not in self.measures}
        self._edits = dict(db.execute("SELECT edit_id, probe FROM edits"))

    def exams(self) -> list[Exam]:
        """The benchmarks with chosen items. Raises `SelectionError` for a run without any."""
        stored = read.items_by_id(self._db)
        if not stored:
            raise SelectionError("this run holds no questions: `viva collect` or `viva import` brings some.")
        keys = dict(self._db.execute("SELECT benchmark, benchmark_id FROM benchmarks"))
        chosen = {key: item for key, item in stored.items() if self._is_chosen(item)}
        exams = (self._exam(keys[entry.benchmark], entry, chosen) for entry in read.benchmarks(self._db))
        return [exam for exam in exams if exam.items]

    def _exam(self, key: int, entry: read.Benchmark, chosen: Mapping[int, Item]) -> Exam:
        """A benchmark with those of its items that may go out; the others are counted."""
        items = {n: item for n, item in chosen.items() if item.benchmark == entry.benchmark}
        if entry.card.access == "credentialed" and self._hide is None:
            self.left_out["questions: of a credentialed benchmark"] += len(items)
            items = {}
        originals = {n: self._hidden(item) for n, item in items.items() if self._is_original(item)}
        return Exam(key, entry, originals, item_ids(originals.values()))

    def _is_original(self, item: Item) -> bool:
        """Whether an item is a question of the exam that stands by itself; another one is counted."""
        if item.origin is not None:
            self.left_out["questions: made by `viva vary`"] += 1
        elif item.follows is not None:
            self.left_out["questions: later turns, asked behind a candidate's own answers"] += 1
        else:
            return True
        return False

    def _is_chosen(self, item: Item) -> bool:
        return self._chosen is None or (item.benchmark, item.item, item.variant) in self._chosen

    def _hidden(self, item: Item) -> Item:
        return item if self._hide is None else hidden_item(item, self._hide)

    def candidates(self, exam: Exam, name: str | None = None) -> dict[str, tuple[int, Role]]:
        """Who answered an exam: the key and role of each, or of the one named."""
        rows = self._db.execute(
            "SELECT DISTINCT candidate, candidate_id, role FROM responses "
            "JOIN candidates USING (candidate_id) JOIN items USING (item_id) "
            "WHERE benchmark_id = ? AND current = 1 ORDER BY candidate_id",
            (exam.key,),
        )
        return {candidate: (key, role) for candidate, key, role in rows if name in (None, candidate)}

    def named(self, candidate: str | None) -> str | None:
        """The label of the candidate that a user names. Raises `SelectionError` for none, or several."""
        if candidate is None:
            return None
        labels = [entry.candidate for entry in read.candidates(self._db)]
        return match_candidate(candidate, labels)

    def answers(self, exam: Exam, candidate: int) -> Iterator[Answer]:
        """A candidate's answers by item and repeat; what is no answer in words is counted."""
        rows = self._db.execute(
            f"SELECT response_id, item_id, edit_id, {', '.join(f'r.{name}' for name in _STORED)}, r.meta, "
            "sent.tokens_in FROM responses r JOIN items i USING (item_id) "
            "LEFT JOIN (SELECT response_id, max(input_tokens) AS tokens_in FROM calls "
            "WHERE response_id IS NOT NULL GROUP BY response_id) sent USING (response_id) "
            "WHERE benchmark_id = ? AND current = 1 AND candidate_id = ? "
            "ORDER BY item, variant, repeat, edit_id",
            (exam.key, candidate),
        )
        for response, item, edit, *values, meta, sent in rows:
            if item not in exam.items:
                continue
            if edit:
                what = "log-likelihoods, which are no text" if self._edits[edit] else "made by `viva vary`"
                self.left_out[f"answers: {what}"] += 1
                continue
            facts = stored_object(meta, "what stands beside an answer")
            named = dict(zip(_STORED, values, strict=True))
            answer = Answer(
                item=exam.items[item], meta=facts, input_tokens=sent, scores=self._scores(response), **named
            )
            yield answer if self._hide is None else _hidden_answer(answer, self._hide)

    def _scores(self, response: int) -> tuple[StoredScore, ...]:
        """The scores of one answer; those on ballots, or pooled over answers, are counted."""
        rows = self._db.execute(
            "SELECT measure_id, pass_no, unit_id, unit, text, weight, ballot_id, value, status_id, note "
            "FROM scores JOIN units USING (unit_id) "
            "WHERE measure_id IN (SELECT measure_id FROM measures) AND response_id = ? "
            "ORDER BY measure_id, pass_no, length(unit), unit, text",
            (response,),
        )
        scores = []
        for measure, pass_no, unit, name, text, weight, ballot, value, status, note in rows:
            if ballot or measure in self.pooled:
                why = "on ballots of several answers" if ballot else "pooled over all answers"
                self.left_out[f"scores: {why}"] += 1
                continue
            piece = Unit(unit=name, text=text, weight=weight) if unit else None
            word: Any = STATUSES[status]
            scores.append(StoredScore(measure, pass_no, piece, value, word, note))
        return tuple(scores)

    def answered_at(self, exam: Exam, candidate: int) -> tuple[str, str]:
        """When a candidate's answers came, first and last, in UTC; of imported ones when the run had them."""
        first, last = self._db.execute(
            "SELECT min(made_at), max(made_at) FROM calls JOIN responses USING (response_id) "
            "JOIN items USING (item_id) WHERE benchmark_id = ? AND candidate_id = ?",
            (exam.key, candidate),
        ).fetchone()
        if first is None:
            first, last = self._db.execute("SELECT min(made_at), max(made_at) FROM provenance").fetchone()
        return first, last

    def state(self, exam: Exam, candidate: int) -> str:
        """What tells a candidate's answers and scores from other ones: their hashes and checksums."""
        parts: list[Any] = [exam.entry.signature, sorted(item.hash for item in exam.items.values())]
        parts += self._db.execute(
            "SELECT r.hash FROM responses r JOIN items i USING (item_id) WHERE benchmark_id = ? "
            "AND current = 1 AND candidate_id = ? ORDER BY item, variant, repeat, edit_id",
            (exam.key, candidate),
        ).fetchall()
        parts += self._db.execute(
            "SELECT signature, criterion, rater, c.rows, scores, details FROM score_checksums c "
            "JOIN measures USING (measure_id) WHERE candidate_id = ? ORDER BY 1, 2, 3",
            (candidate,),
        ).fetchall()
        return json.dumps(parts)


def _hidden_answer(answer: Answer, hide: Hide) -> Answer:
    def optional(text: str | None) -> str | None:
        return None if text is None else hide(text)

    scores = tuple(
        score._replace(note=optional(score.note), unit=score.unit and hidden_unit(score.unit, hide))
        for score in answer.scores
    )
    return answer._replace(
        text=optional(answer.text),
        reasoning=optional(answer.reasoning),
        error=optional(answer.error),
        meta=hidden_value(dict(answer.meta), hide),
        scores=scores,
    )
