"""A panel at work: what each rater is asked now, what they judged, and how a page's form is stored."""

from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from vivavoce.core.errors import SelectionError, StoreError
from vivavoce.core.records import Item
from vivavoce.core.text import label
from vivavoce.people.key import Key
from vivavoce.people.panels import Panel
from vivavoce.people.question import BlindedAnswer, Seen
from vivavoce.people.rounds import Round, read_round
from vivavoce.people.storing.judgements import (
    Entries,
    Judgement,
    JudgementStored,
    judgement,
    judgements,
    store_judgement,
)
from vivavoce.people.tasks import Task
from vivavoce.run.building.evidence import ItemEvidence, Sources, read_sources
from vivavoce.store.runfile import RunFile

WAIT_S = 5.0
"""Seconds that a page waits for another process that writes to the run."""
QUEUE_S = 15.0
"""Seconds that a judgement waits for those before it."""
Texts = Mapping[str, Mapping[str, str]]
"""Entries as a form holds them: by label and column, '' for none."""


class AnswerOnPage(NamedTuple):
    """An answer under its label, with what was entered about it."""

    label: str
    text: str
    entries: Mapping[str, str]


class QuestionPage(NamedTuple):
    """Question `number` of a rater's `n`, with what is stored or was typed. No candidate is named."""

    number: int
    n: int
    prompt: str
    reference_text: str
    answers: tuple[AnswerOnPage, ...]
    version: str
    item: Item
    evidence: ItemEvidence


class Desk:
    """One panel of a run, for the pages of its raters."""

    def __init__(self, run: RunFile, panel: Panel) -> None:
        self.run = run
        self.panel = panel
        self._done: dict[str, set[int]] = {}
        self._lock = Lock()
        self._saving = Lock()
        self._sources: Sources | None = None

    @property
    def key(self) -> Key:
        """The key of the panel, with texts."""
        return self.panel.key

    @property
    def task(self) -> Task:
        """What raters are asked to do."""
        return self.panel.key.task

    def packet(self, rater: str) -> tuple[Seen, ...]:
        """What a rater is asked in the open round; nothing for a person whom the panel does not name."""
        packet = self.key.packets.get(rater, ())
        if not self.panel.pilot:
            return packet
        with self.run.reading() as db:
            opened = read_round(db, self.key.panel)
        pilot = self.key.first_places(self.panel.pilot)
        return tuple(
            entry for entry in packet if entry.question.place in pilot or self._is_open(entry, opened)
        )

    def _is_open(self, entry: Seen, opened: Round | None) -> bool:
        category = self.panel.items[entry.question.name].category or ""
        return opened is not None and category not in opened.left_out

    def is_done(self, rater: str) -> list[bool]:
        """For each question of a rater whether a judgement is stored, as the run says now."""
        packet = self.packet(rater)
        if not packet:
            return []
        key = self.key._replace(packets={rater: packet})
        with self.run.reading() as db:
            done = [bool(entry.version) for entry in judgements(db, key, rater)]
        with self._lock:
            self._done[rater] = {n for n, stored in enumerate(done, 1) if stored}
        return done

    def n_done(self, rater: str) -> int:
        """How many questions of a rater are judged, by what this server has stored and read."""
        with self._lock:
            is_counted = rater in self._done
        if not is_counted:
            self.is_done(rater)
        return len(self._done.get(rater, ()))

    def next_open(self, rater: str, last: int) -> int | None:
        """The next question without a judgement, after the `last`, from the first on; null for none."""
        self.n_done(rater)
        numbers = [n for n in range(1, len(self.packet(rater)) + 1) if n not in self._done.get(rater, ())]
        return next((n for n in numbers if n > last), numbers[0] if numbers else None)

    def question(self, rater: str, number: int, typed: Texts | None = None) -> QuestionPage:
        """The page of a question, with what is stored, or with what was `typed` and could not be stored.

        Raises `SelectionError` for a number that the rater has not.
        """
        packet = self.packet(rater)
        entry = self._entry(packet, number)
        with self.run.reading() as db:
            stored = judgement(db, self.key, rater, entry)
            texts = entry_texts(stored) if typed is None else typed
            if typed is None and not stored.version:
                texts = {label(0): self.task.proposed(db, entry)}
        item = self.panel.items[entry.question.name]
        return QuestionPage(
            number, len(packet), entry.question.prompt, entry.question.reference_text,
            tuple(self._answer(n, answer, texts) for n, answer in enumerate(entry.answers)),
            stored.version, item, self._evidence(item),
        )  # fmt: skip

    def _evidence(self, item: Item) -> ItemEvidence:
        """What an item was made from; nothing where the task does not show it."""
        if not self.task.shows_sources:
            return ItemEvidence()
        if self._sources is None:
            with self.run.reading() as db:
                self._sources = read_sources(db, self.panel.items.values())
        return self._sources.evidence(item)

    def save(
        self, rater: str, number: int, entries: Entries, *, version: str | None, take_back: bool
    ) -> JudgementStored:
        """Store what a rater entered for a question. Raises as `store_judgement`, and `SelectionError`."""
        entry = self._entry(self.packet(rater), number)
        # SQLite has one writer, and who waits for it by turns waits shorter than by polling.
        if not self._saving.acquire(timeout=QUEUE_S):
            raise StoreError(
                f"{self.run.path} takes no more judgements at the moment: save this one again in a minute."
            )
        try:
            stored = store_judgement(
                self.run, self.key, rater, entry.question.name, entries, version=version,
                pass_no=entry.pass_no, take_back=take_back, page_name=f"Question {number}",
            )  # fmt: skip
        finally:
            self._saving.release()
        self.n_done(rater)
        with self._lock:
            (self._done[rater].add if stored.judgement.version else self._done[rater].discard)(number)
        return stored

    def _answer(self, place: int, answer: BlindedAnswer, texts: Texts) -> AnswerOnPage:
        entries = texts.get(label(place), {})
        columns = {column: entries.get(column, "") for column in self.task.filled}
        return AnswerOnPage(label(place), answer.text, columns)

    def _entry(self, packet: tuple[Seen, ...], number: int) -> Seen:
        if not 1 <= number <= len(packet):
            raise SelectionError("this question is not among yours: go on from your first page.")
        return packet[number - 1]


def entry_texts(stored: Judgement) -> dict[str, dict[str, str]]:
    """What is stored, as a form holds it."""
    return {
        letter: {column: _text(entry) for column, entry in columns.items()}
        for letter, columns in stored.entries.items()
    }


def _text(entry: Any) -> str:
    if isinstance(entry, bool):
        return "x" if entry else ""
    if isinstance(entry, (int, float)):
        return f"{entry:g}"
    return str(entry or "")


def form_entries(fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The entries in the fields of a form, which are named `LABEL:COLUMN`."""
    entries: dict[str, dict[str, str]] = {}
    for name, text in fields.items():
        letter, colon, column = name.partition(":")
        if colon:
            entries.setdefault(letter, {})[column] = text.replace("\r\n", "\n")
    return entries
