"""What people said of answers in an annotation tool, as marks: ratings as they are, choices as shares."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from vivavoce.core.records import Item
from vivavoce.run.exchange.logs.fields import item_of, name_or_empty, texts
from vivavoce.run.exchange.recorded_log import Mark, safe_name

_QUESTIONS = ("question", "prompt", "instruction", "input", "text")
_ANSWERS = ("answer", "response", "output", "completion")
_MODELS = ("candidate", "model")


class Judgement(NamedTuple):
    """What a rater said under one question: a number, or words of a list; `note` is a comment."""

    name: str
    rater: str
    number: float | None = None
    words: tuple[str, ...] = ()
    note: str | None = None


def first_of(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first of these fields that is there; null for none."""
    return next((fields[name] for name in names if name in fields), None)


def task_item(task: str, fields: Mapping[str, Any], identity: str) -> Item:
    """The item of a task, by the usual names of its fields."""
    category = fields.get("category")
    return item_of(
        task,
        name_or_empty(first_of(fields, ("item", "item_id"))) or identity,
        str(first_of(fields, _QUESTIONS) or ""),
        references=texts(first_of(fields, ("reference", "references"))),
        category=category if isinstance(category, str) else None,
    )


def answer_in(fields: Mapping[str, Any]) -> Any:
    """The answer that was judged; null where the task shows none."""
    return first_of(fields, _ANSWERS)


def candidate_in(fields: Mapping[str, Any]) -> str:
    """The model that answered; '' where the task does not say."""
    return name_or_empty(first_of(fields, _MODELS))


def marks_of(judgements: Iterable[Judgement], choices: Mapping[str, Iterable[str]]) -> Iterator[Mark]:
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
