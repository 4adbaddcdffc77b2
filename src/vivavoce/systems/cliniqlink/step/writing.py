"""Questions of seven formats from passages, each with its quote, and the check of what is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from vivavoce.core.prompts import load
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.core.text import one_line
from vivavoce.formats import key
from vivavoce.language.replies import boolean_of, text_of
from vivavoce.models.fencing import fenced, question_text
from vivavoce.models.requests import Request, json_request
from vivavoce.run.building.asking import Reply, ask_for
from vivavoce.run.building.parts import PASSAGE, QUOTE, Part, Passage, written_by
from vivavoce.run.building.step import Drop, Lab, Step, StepResult
from vivavoce.systems.cliniqlink.step.written_forms import FORMS, find_quote


@step("seven_formats")
class SevenFormats(Step):
    """A question in each of the `formats` from each passage, by `model`, with the quote that supports it.

    The quote has to stand in the passage word for word. Passages stay, for the check.
    """

    model: str
    formats: tuple[str, ...] = tuple(FORMS)
    prompts = ("cliniqlink_write", *(f"cliniqlink_{name}" for name in FORMS))

    def __post_init__(self) -> None:
        unknown = [name for name in self.formats if name not in FORMS]
        if unknown or len(set(self.formats)) < max(1, len(self.formats)):
            raise ValueError(f"formats={unknown}: some of {', '.join(FORMS)} are written")

    @property
    def writer(self) -> str:
        """The model that writes."""
        return self.model

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The passages, and behind them their questions."""
        passages = [part for part in parts if isinstance(part, Passage)]
        pairs = [(passage, name) for passage in passages for name in self.formats]
        replies = ask_for(
            lab, self.model, [_request(*pair) for pair in pairs], [partial(_item, *pair) for pair in pairs]
        )
        written = (self._outcome(*pair, reply) for pair, reply in zip(pairs, replies, strict=True))
        return StepResult.of([*parts, *written])

    def _outcome(self, passage: Passage, name: str, reply: Reply[Item]) -> Item | Drop:
        """The question, or a draft of it as one that is dropped."""
        if reply.value is not None:
            return written_by(reply.value, self.model)
        draft = replace(passage, passage=f"{passage.passage}-{name}")
        return reply.drop(draft, f"write a question ({name})")


def _request(passage: Passage, name: str) -> Request:
    return json_request(
        load("cliniqlink_write"),
        FORMS[name].fields,
        exact=True,
        form=load(f"cliniqlink_{name}").text,
        passage=fenced("passage", passage.text),
    )


def _item(passage: Passage, name: str, fields: Mapping[str, Any]) -> Item:
    quote = text_of(fields, QUOTE)
    start, end = find_quote(quote, passage.text)
    return Item(
        benchmark="",
        item=f"{passage.passage}-{name}",
        group=passage.group,
        category=passage.category,
        format=name,
        question=text_of(fields, "question"),
        source=f"{passage.source}; quote at {start} to {end} there",
        meta={QUOTE: passage.text[start:end], PASSAGE: passage.passage},
        **FORMS[name].parse(fields),
    )


class _Verdict(NamedTuple):
    supported: bool
    wrong: bool
    reason: str


@step("wrong_parts")
class WrongParts(Step):
    """Questions whose key the passage supports, and whose wrong options, answers and steps are wrong.

    By `model`, which sees the passage. Passages are used up here.
    """

    model: str
    prompts = ("cliniqlink_check",)

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The questions that stand the check."""
        passages = {part.passage: part for part in parts if isinstance(part, Passage)}
        items = [part for part in parts if isinstance(part, Item)]
        requests = [self._request(item, passages[item.meta[PASSAGE]]) for item in items]
        replies = ask_for(lab, self.model, requests, _read_verdict)
        return StepResult.of(map(self._outcome, items, replies))

    @staticmethod
    def _outcome(item: Item, reply: Reply[_Verdict]) -> Item | Drop:
        """The question, or why it does not stand the check."""
        if reply.value is None:
            return reply.drop(item, "check its key")
        if not reply.value.supported:
            return Drop(item, "the passage does not support its key", reply.value.reason)
        if not reply.value.wrong:
            return Drop(item, "what is to be wrong could be right", reply.value.reason)
        return item

    def _request(self, item: Item, passage: Passage) -> Request:
        return json_request(
            load("cliniqlink_check"),
            {"reason": "string", "supported": "boolean", "wrong": "boolean"},
            exact=True,
            passage=fenced("passage", passage.text),
            question=fenced("question", question_text(item)),
            right_answer=fenced("right_answer", key(item)),
            wrong=fenced("wrong", "\n".join(_wrong_parts(item)) or "nothing"),
        )


def _wrong_parts(item: Item) -> Iterator[str]:
    """What is to be wrong in an item: options beside the key, a false answer, a step."""
    yield from (option for option in item.options if option not in item.answer)
    if item.false_answer:
        yield item.false_answer
    if item.step is not None:
        yield f"Step {item.step}: {item.steps[item.step - 1]}"


def _read_verdict(fields: Mapping[str, Any]) -> _Verdict:
    reason = fields.get("reason")
    why = one_line(reason, 200) if isinstance(reason, str) else ""
    return _Verdict(boolean_of(fields, "supported"), boolean_of(fields, "wrong"), why)
