"""The items that the answers of a log are to: its own exam, or items of a benchmark told by content."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace
from operator import attrgetter
from typing import Any

from vivavoce import formats
from vivavoce.benchmarks import Loaded
from vivavoce.benchmarks.table import Table
from vivavoce.benchmarks.table_rows import inferred_format
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.records import Item, Response
from vivavoce.core.text import one_line
from vivavoce.logprobs.options import refuse_certain_options
from vivavoce.run.exchange.recorded_log import RecordedLog, Sample

_CONTENT = attrgetter(
    *(
        "question",
        "messages",
        "follows",
        "options",
        "answer",
        "references",
        "must",
        "nice",
        "steps",
        "step",
        "false_answer",
        "rubric",
    ),
    "context",
)
_LABELS = ("question:", "q:", "answer:", "a:")


class LogExam(ABC):
    """The items of a log's answers. `unmatched` counts the answers to each question that is none of them."""

    def __init__(self) -> None:
        self.unmatched: Counter[str] = Counter()

    @abstractmethod
    def item_of(self, sample: Sample) -> Item | None:
        """The item that a sample answers; null for none, which is counted."""

    @property
    @abstractmethod
    def loaded(self) -> Loaded:
        """The benchmark with the items."""


class OwnExam(LogExam):
    """The log is the exam: items under the task's name, each its own group unless the log names another."""

    def __init__(self, log: RecordedLog) -> None:
        super().__init__()
        self.task = log.task
        self.items: dict[tuple[str, str], Item] = {}
        self._checked: dict[tuple[str, str, int], Item | str] = {}

    def item_of(self, sample: Sample) -> Item | None:
        """The sample's item, checked by its format. Raises `InputError` where its id has another question."""
        raw = sample.item
        name = raw.item or f"q-{raw.hash[:12]}"
        # The hash of Python is a tenth of the work of the item's own, and every sample is looked up twice.
        key = (name, raw.variant, hash(_CONTENT(raw)))
        if key not in self._checked:
            self._checked[key] = _checked(raw, name)
        item = self._checked[key]
        if isinstance(item, str):
            self.unmatched[f"{name} ({item})"] += 1
            return None
        present = self.items.setdefault((item.item, item.variant), item)
        if present is not item and present.hash != item.hash:
            raise InputError(
                f"{sample.where}: the id {name!r} stands for another question before: a log is one exam, in "
                "which an id is one question. Nothing was imported."
            )
        return present

    @property
    def loaded(self) -> Loaded:
        """The exam of the items so far."""
        return Table(name=self.task).loaded(list(self.items.values()))


def _checked(item: Item, name: str) -> Item | str:
    """The item under this name in the normal form of its format, or why it can be none."""
    if item.options:  # a closed question is asked by its text
        item = replace(item, messages=())
    fields = {
        "options": item.options, "answer": list(item.answer), "references": list(item.references),
        "messages": item.messages,
    }  # fmt: skip
    group = name if item.group == item.item else item.group
    try:
        return formats.check(
            replace(item, item=name, group=group, format=item.format or inferred_format(fields))
        )
    except RowError as error:
        return error.reason
    except InputError as error:
        return one_line(str(error), 80)


class Benchmarked(LogExam):
    """Items of a benchmark, found by id and content, else by content alone, and never by row."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__()
        self._loaded = loaded
        self._by_name: dict[tuple[str, str], Item] = {}
        self._by_question: dict[str, list[Item]] = {}
        for item in loaded.items:
            self._by_name[item.item, item.variant] = item
            if item.alias:
                self._by_name.setdefault((item.alias, ""), item)
            self._by_question.setdefault(_folded(item.question), []).append(item)

    def item_of(self, sample: Sample) -> Item | None:
        """The item with the sample's id, if it asks the same; else the only one that asks it."""
        theirs = sample.item
        by_name = None if sample.row_id else self._by_name.get((theirs.item, theirs.variant))
        if by_name is not None and _asks(theirs, by_name):
            return by_name
        question = _folded(theirs.question)
        for text in (question, _without_labels(question)):
            items = [item for item in self._by_question.get(text, ()) if _asks(theirs, item)]
            if len(items) == 1:
                return items[0]
        name = theirs.item or one_line(theirs.question, 40)
        self.unmatched[f"{name} (asks something else)" if by_name is not None else name] += 1
        return None

    @property
    def loaded(self) -> Loaded:
        """The benchmark."""
        return self._loaded


def exam_of(log: RecordedLog, loaded: Loaded | None) -> LogExam:
    """The items that the answers of a log are to."""
    return OwnExam(log) if loaded is None else Benchmarked(loaded)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _options(item: Item) -> tuple[str, ...]:
    return tuple(sorted(_folded(option) for option in item.options))


def _without_labels(question: str) -> str:
    """A folded question without the labels that prompts put around it."""
    for label in _LABELS:
        question = question.removeprefix(label).removesuffix(label).strip()
    return question


def _asks(theirs: Item, item: Item) -> bool:
    """Whether a logged question, possibly a whole prompt, asks an item: its words, and where both list
    options the same ones.
    """
    if theirs.options and item.options and _options(theirs) != _options(item):
        return False
    return _folded(item.question) in _folded(theirs.question)


def option_record(sample: Sample, item: Item) -> str | None:
    """The record of a sample's log-likelihoods of options in the item's order; null for one in words.

    Raises `ValueError` where several would be certain: whoever wrote them down computed none.
    """
    if not sample.option_logprobs:
        return None
    refuse_certain_options(sample.item.options, sample.option_logprobs)
    worth = dict(zip(map(_folded, sample.item.options), sample.option_logprobs, strict=True))
    values = tuple(worth[_folded(option)] for option in item.options)
    order = {"shift": 0, "put": item.options, "logprob": values, "tokens": [0] * len(values)}
    record: dict[str, Any] = {"orders": [order], "alone": {}, "tokeniser": None, "truncated": 0}
    return json.dumps(record, ensure_ascii=False)


class SamplesMet:
    """What of a log was met: hashes alone, as there may be millions of answers. Some 200 bytes for each."""

    def __init__(self) -> None:
        self.texts: dict[int, int] = {}
        self.marks: set[int] = set()

    def repeats(self, item: Item, response: Response, sample: Sample) -> bool:
        """Whether the answer was met before, with other marks.

        Raises `InputError` where it was another answer, or has no mark that is new.
        """
        place = hash((response.candidate, response.item, response.variant, response.repeat))
        text = hash((response.status, response.text, response.logprobs))
        marks = {hash((place, m.scorer, m.criterion, m.rater, m.unit, m.pass_no)) for m in sample.marks}
        is_repeated = place in self.texts
        if is_repeated and (self.texts[place] != text or not marks or marks & self.marks):
            raise InputError(
                f"{sample.where}: a second sample for {item.name}, repeat {response.repeat}: a log holds "
                "each once. Nothing was imported."
            )
        self.texts[place] = text
        self.marks |= marks
        return is_repeated
