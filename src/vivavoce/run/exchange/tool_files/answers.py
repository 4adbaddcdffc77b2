"""One engine for the files of other tools: it reads a run, and counts what has no place in them."""

import json
import sqlite3
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.records import Card, Item, ItemKey, ResponseStatus, Role
from vivavoce.run.estimates import estimate_metric
from vivavoce.run.exchange.exporters import Exporter
from vivavoce.run.exchange.tool_files.asked import item_ids
from vivavoce.run.exchange.tool_files.files import HIDDEN, ExportedFiles, FileWritten, exported_files
from vivavoce.run.exchange.tool_files.hidden_texts import Hide, hidden_item, hidden_unit, hidden_value, hider
from vivavoce.run.tables.load import select_items
from vivavoce.run.tables.run_tables import RunTables
from vivavoce.store import read
from vivavoce.store.candidate_names import match_candidate
from vivavoce.store.exam_answers import (
    AnswerScore,
    answer_hashes,
    answer_scores,
    answer_times,
    candidate_checksums,
    exam_answers,
    exam_candidates,
)
from vivavoce.store.forgotten import NOTE, is_forgotten
from vivavoce.store.integrity import refuse_damaged
from vivavoce.store.name_keys import benchmark_keys, edit_keys
from vivavoce.store.read import provenance_times
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.stored_values import stored_object
from vivavoce.store.view import View, view_of

_FIELDS = ("repeat", "status", "text", "reasoning", "finish_reason", "tokens", "seconds", "cost", "error")
SCORED = ("mean", "clipped_mean", "unit")
"""Pools of the criteria whose scores are of one answer, or of a unit of it."""


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
    scores: tuple[AnswerScore, ...] = ()


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
        self._edits_of_words = set(edit_keys(db).values())

    def exams(self) -> list[Exam]:
        """The benchmarks with chosen items. Raises `SelectionError` for a run without any."""
        stored = read.items_by_id(self._db)
        if not stored:
            raise SelectionError("this run holds no questions: `viva collect` or `viva import` brings some.")
        keys = benchmark_keys(self._db)
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
        elif is_forgotten(item.meta):
            self.left_out[f"questions: {NOTE}"] += 1
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
        candidates = exam_candidates(self._db, exam.key)
        return {label: entry for label, entry in candidates.items() if name in (None, label)}

    def named(self, candidate: str | None) -> str | None:
        """The label of the candidate that a user names. Raises `SelectionError` for none, or several."""
        if candidate is None:
            return None
        labels = [entry.candidate for entry in read.candidates(self._db)]
        return match_candidate(candidate, labels)

    def answers(self, exam: Exam, candidate: int) -> Iterator[Answer]:
        """A candidate's answers by item and repeat; what is no answer in words is counted."""
        for row in exam_answers(self._db, exam.key, candidate):
            if row.item not in exam.items:
                continue
            if row.edit:
                in_words = row.edit in self._edits_of_words
                what = "made by `viva vary`" if in_words else "log-likelihoods, which are no text"
                self.left_out[f"answers: {what}"] += 1
                continue
            meta = stored_object(row.meta, "what stands beside an answer")
            if is_forgotten(meta):
                self.left_out[f"answers: {NOTE}"] += 1
                continue
            answer = Answer(
                item=exam.items[row.item],
                meta=meta,
                input_tokens=row.input_tokens,
                scores=self._scores(row.key),
                **{name: getattr(row, name) for name in _FIELDS},
            )
            yield answer if self._hide is None else _hidden_answer(answer, self._hide)

    def _scores(self, response: int) -> tuple[AnswerScore, ...]:
        """The scores of one answer; those on ballots, pooled over answers, or retired, are counted."""
        scores = []
        for score in answer_scores(self._db, response):
            if score.measure not in self.measures and score.measure not in self.pooled:
                self.left_out["scores: by retired measures"] += 1
                continue
            if score.on_ballot or score.measure in self.pooled:
                reason = "on ballots of several answers" if score.on_ballot else "pooled over all answers"
                self.left_out[f"scores: {reason}"] += 1
                continue
            scores.append(score)
        return tuple(scores)

    def answered_at(self, exam: Exam, candidate: int) -> tuple[str, str]:
        """When a candidate's answers came, first and last, in UTC; of imported ones when the run had them."""
        first, last = answer_times(self._db, exam.key, candidate)
        if first is None or last is None:
            return provenance_times(self._db)
        return first, last

    def state(self, exam: Exam, candidate: int) -> str:
        """What tells a candidate's answers and scores from other ones: their hashes and checksums."""
        parts: list[Any] = [exam.entry.signature, sorted(item.hash for item in exam.items.values())]
        parts += [[digest] for digest in answer_hashes(self._db, exam.key, candidate)]
        parts += candidate_checksums(self._db, candidate)
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


EstimateKey = tuple[str, ...]
"""Benchmark, candidate, signature, criterion, rater."""
_KEY = ("benchmark", "candidate", "signature", "criterion", "rater")


def mean_estimates(view: View, items: str | None) -> dict[EstimateKey, Mapping[str, Any]]:
    """The rows of the run's means and pooled figures on these items; none where nothing is scored."""
    with suppress(SelectionError):
        rows = estimate_metric(view, items=items).rows
        return {tuple(row[name] for name in _KEY): row for row in rows if row["view"] in ("mean", "pooled")}
    return {}


@dataclass(frozen=True, kw_only=True)
class ToolExport(Exporter):
    """Files of another tool. A subclass says what they are, and writes them exam by exam.

    `readme` stands in README.txt. `texts` is what the files are that cannot do without texts, '' where marks
    may stand in their place. `no_file` says of a run that it gives no file.
    """

    items: str | None = None
    redact: bool = False
    skips_credentialed: ClassVar[bool] = True
    name: ClassVar[str]
    readme: ClassVar[str]
    texts: ClassVar[str] = ""
    no_file: ClassVar[str]

    def write(self, run: RunTables, to: Path) -> tuple[FileWritten, ...]:
        """Write the files. Raises `InputError` where needed texts are hidden, `SelectionError` for none."""
        if self.redact and self.texts:
            raise InputError(f"{self.texts}, and --redact hides them: export {self.name} without it.")
        readme = f"{self.readme}{HIDDEN}\n" if self.redact else self.readme
        with view_of(run.file) as view, exported_files(to, run.file, readme) as files:
            chosen = select_items(view, self.items)
            if self.texts:
                refuse_redacted(view.db, self.texts)
            refuse_damaged(view.db, "Nothing was exported.")
            source = ExportSource(view.db, chosen, hider() if self.redact else None)
            self.write_exams(view, source, files)
            files.left_out.update(source.left_out)
            if files.is_empty:
                raise SelectionError(f"{run.file.path}{self.no_file}")
        return files.written

    @abstractmethod
    def write_exams(self, view: View, source: ExportSource, files: ExportedFiles) -> None:
        """Write the files of all exams."""
