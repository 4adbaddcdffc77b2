"""What people said of answers in an annotation tool, as marks: ratings as they are, choices as shares."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    category_in,
    item_of,
    name_or_empty,
    text_or_null,
    texts,
)
from vivavoce.run.exchange.logs.mapping import MappedLog
from vivavoce.run.exchange.recorded_log import LeftOut, Mark, RecordedLog, Sample, safe_name

_QUESTIONS = ("question", "prompt", "instruction", "input", "text")
ANSWERS = ("answer", "response", "output", "completion")
_MODELS = ("candidate", "model")
DATA_NAMES = (
    *("item", "item_id", *_QUESTIONS, *ANSWERS, *_MODELS),
    *("category", "reference", "references", "context", "key", "data", "meta", "metadata"),
)
"""Columns that say what a task shows, and no judgement."""


class Judgement(NamedTuple):
    """What a rater said under one question: a number, or words of a list; `note` is a comment."""

    name: str
    rater: str
    number: float | None = None
    words: tuple[str, ...] = ()
    note: str | None = None


Choices = Mapping[str, Iterable[str]]
"""The words that a file has under each question."""


class AnnotatedLog(MappedLog):
    """Tasks that show an answer, and what people said of it; the words of a choice are those of the file."""

    numbers_repeats: ClassVar[bool] = False
    """Whether several rows for one answer are one repeat; else each is one more."""

    @abstractmethod
    def judging(self, path: Path) -> Callable[[Line], Iterable[Judgement]]:
        """What finds the judgements in a row of this file."""

    def task(self, line: Line) -> Mapping[str, Any]:
        """The fields that a task shows."""
        return line.row

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file, which is read once for the words of its choices."""
        choices: dict[str, dict[str, None]] = defaultdict(dict)
        judgements = self.judging(path)
        for line in self.rows(path):
            for judgement in judgements(line):
                choices[judgement.name] |= dict.fromkeys(judgement.words)

        def samples() -> Iterator[Sample | LeftOut]:
            return (self._sample(line, judgements(line), choices) for line in self.rows(path))

        yield replace(self.head(path), task=self.tool, samples=samples)

    def _sample(self, line: Line, judgements: Iterable[Judgement], choices: Choices) -> Sample | LeftOut:
        """The answer of a task with its scores, by the usual names of its fields."""
        fields = self.task(line)
        for field, names in (("question", _QUESTIONS), ("answer", ANSWERS)):
            if not fields.keys() & names:
                return LeftOut(line.where, f"no {field} under {', '.join(names[:-1])} or {names[-1]}")
        text = text_or_null(first_of(fields, ANSWERS), line.where)
        item = first_of(fields, ("item", "item_id"))
        return Sample(
            where=line.where,
            item=item_of(
                self.tool,
                name_or_empty(item) or name_or_empty(line.row.get("id")),
                str(first_of(fields, _QUESTIONS) or ""),
                references=texts(first_of(fields, ("reference", "references"))),
                category=category_in(fields),
            ),
            candidate=name_or_empty(first_of(fields, _MODELS)),
            repeat=1 if self.numbers_repeats else None,
            **answer_fields(text, "the task shows no answer"),
            marks=tuple(marks_of(judgements, choices)),
        )


def first_of(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of these fields that is there; null for none."""
    return next((fields[name] for name in names if name in fields), None)


def marks_of(judgements: Iterable[Judgement], choices: Choices) -> Iterator[Mark]:
    """A number is a score as it is. A choice gives one for each word of the file: 1 if chosen, else 0.

    Words have no order that a file tells, so no number is made of them. `choices` are the words by question.
    """
    for name, rater, number, words, note in judgements:
        if number is not None:
            yield Mark(scorer=safe_name(name), value=number, rater=rater, note=note)
        for word in choices.get(name, ()) if words else ():
            chosen = float(word in words)
            yield Mark(
                scorer=safe_name(name),
                criterion=word,
                value=chosen,
                low=0.0,
                high=1.0,
                rater=rater,
                note=note,
            )
