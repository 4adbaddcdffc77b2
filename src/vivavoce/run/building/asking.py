"""Asking a model for items: a reply that cannot be used is asked for once more, with the reason."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple

from vivavoce.core.prompts import Unreadable
from vivavoce.core.text import one_line
from vivavoce.language.replies import Material, read_object
from vivavoce.models.engine.client import CallResult, T
from vivavoce.models.fencing import texts_shown
from vivavoce.models.requests import Request
from vivavoce.run.building.parts import Part
from vivavoce.run.building.step import Drop, Lab, Step, StepResult

FieldReader = Callable[[Mapping[str, Any]], T]
"""Reads the fields of a reply; raises `Unreadable` for what cannot be used."""


class Reply(NamedTuple, Generic[T]):
    """What a model wrote: a value, or the reason why there is none.

    `failed` where no reply came: the next command asks again. A reply that could not be used twice is a
    result: it is stored, and not asked for again.
    """

    value: T | None
    reason: str = ""
    failed: bool = False

    def drop(self, part: Part, what: str) -> Drop:
        """The part as one that is dropped, as there is no value; `what` is what the model was to do."""
        if self.failed:
            return Drop(part, f"no reply to {what}", one_line(self.reason, 200), failed=True)
        return Drop(part, f"no usable reply to {what}", one_line(self.reason, 200))


class _Refused(NamedTuple):
    """A reply that was read and cannot be used: its text, and why."""

    text: str
    reason: str


def ask_for(
    lab: Lab, model: str, requests: Sequence[Request], parse: FieldReader[T] | Sequence[FieldReader[T]]
) -> list[Reply[T]]:
    """Ask every request for one JSON object and read it; those that cannot be used are asked once more."""
    readers = [parse] * len(requests) if callable(parse) else list(parse)
    parsers = [
        _parser(reader, Material(texts_shown(request.messages)))
        for reader, request in zip(readers, requests, strict=True)
    ]
    first = lab.ask(model, requests, parsers)
    again = [k for k, result in enumerate(first) if isinstance(result.value, _Refused)]
    second = lab.ask(
        model,
        [_second(requests[k], first[k].value) for k in again],
        [parsers[k] for k in again],
    )
    replies = [_reply(result) for result in first]
    for k, result in zip(again, second, strict=True):
        reply: Reply[T] = _reply(result)
        reason = f"{replies[k].reason}; asked again: {reply.reason}" if reply.value is None else ""
        replies[k] = reply._replace(reason=reason)
    return replies


def _parser(reader: FieldReader[Any], material: Material) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return reader(read_object(text, material))
        except Unreadable as error:
            return _Refused(text, str(error))

    return parse


def _second(request: Request, refused: Any) -> Request:
    """The request with the reply to it and what is wrong there."""
    complaint = (
        f"This reply cannot be used: {refused.reason}. Reply again to the same request: one JSON object with "
        "the fields that it names, and nothing else."
    )
    return request.again(refused.text, complaint)


def _reply(result: CallResult[Any]) -> Reply[Any]:
    if isinstance(result.value, _Refused):
        return Reply(None, result.value.reason)
    if result.reason is not None:
        return Reply(None, result.reason, failed=True)
    return Reply(result.value)


@dataclass(frozen=True, kw_only=True)
class ModelStep(Step):
    """A step in which `model` is asked about each part that the step works on; other parts stay."""

    model: str
    task: ClassVar[str]
    """What the model is to do, as a reason says it: "no usable reply to translate it"."""

    @abstractmethod
    def works_on(self, part: Part) -> bool:
        """Whether the model is asked about the part."""

    @abstractmethod
    def request(self, part: Any) -> Request:
        """What the model is asked about it."""

    @abstractmethod
    def parse(self, part: Any, fields: Mapping[str, Any]) -> Any:
        """The value of a reply, not null. Raises `Unreadable` for one that cannot be used."""

    @abstractmethod
    def results(self, part: Any, value: Any) -> Iterable[Part | Drop]:
        """What becomes of the part by this value, in order."""

    def without_value(self, part: Any, reply: Reply[Any]) -> Iterable[Part | Drop]:
        """What becomes of a part about which the model wrote nothing of use."""
        return (reply.drop(part, self.task),)

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """Every part in its order, with what the model made of it."""
        chosen = [part for part in parts if self.works_on(part)]
        readers = [partial(self.parse, part) for part in chosen]
        replies = ask_for(lab, self.model, [self.request(part) for part in chosen], readers)
        by_part = dict(zip(map(id, chosen), replies, strict=True))
        return StepResult.of(outcome for part in parts for outcome in self._outcomes(part, by_part))

    def _outcomes(self, part: Part, replies: Mapping[int, Reply[Any]]) -> Iterable[Part | Drop]:
        reply = replies.get(id(part))
        if reply is None:
            return (part,)
        return self.without_value(part, reply) if reply.value is None else self.results(part, reply.value)
