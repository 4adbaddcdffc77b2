"""Calls to models, and their outcomes."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from vivavoce.models.rate_limit import Limits
from vivavoce.models.requests import Model, Reply, Request, Usage
from vivavoce.store.calls import CallRecord


class Call(NamedTuple):
    """A request to make, and the caller's `tag`. Calls of a model with equal request and repeat are one."""

    request: Request
    repeat: int
    tag: Any


class Queue(NamedTuple):
    """The calls of one model. `price` is per million tokens, (input, output); null if it is not known.

    Models of one endpoint share the limits of the first.
    """

    model: Model
    calls: Iterable[Call]
    limits: Limits = Limits()
    price: tuple[float, float] | None = None


class CallOutcome(NamedTuple):
    """What came of a call: a reply, or `error` says why there is none.

    `seconds` is the last attempt's; `cost`, of all attempts that brought a reply, is null without a price or
    token counts, and 0 where an equal request had been made already. `unusable` counts the tokens of replies
    that came and could not be used, because these are paid too. `refused`: the endpoint would never answer
    this request. `fatal`: it would answer none, so the call is stored and what it asked remains to be asked.
    `shared`: the reply is that of an equal request of the same command.
    """

    reply: Reply | None
    error: str | None
    attempts: int
    seconds: float
    cost: float | None
    refused: bool = False
    fatal: bool = False
    shared: bool = False
    unusable: Usage = Usage()


class CompletedCall(NamedTuple):
    """A call of a model and what came of it."""

    model: Model
    call: Call
    outcome: CallOutcome


def call_record(
    model: Model,
    call: Call,
    outcome: CallOutcome,
    *,
    purpose: str,
    status: str,
    error: str | None,
    reply: str | None = None,
) -> CallRecord:
    """The row of `calls` for an outcome; what an equal request took stands in the row of that one alone."""
    usage = _usage_of_attempts(outcome)
    return CallRecord(
        key=call.request.key,
        model=model.name,
        endpoint=model.endpoint,
        repeat=call.repeat,
        kind=call.request.kind,
        purpose=purpose,
        status=status,
        attempts=0 if outcome.shared else outcome.attempts,
        seconds=outcome.seconds,
        input_tokens=usage.input,
        output_tokens=usage.output,
        cost=outcome.cost,
        error=error,
        reply=reply,
    )


def _usage_of_attempts(outcome: CallOutcome) -> Usage:
    """The tokens of all attempts; null where the reply has no counts, or none came that has."""
    if outcome.shared:
        return Usage()
    if outcome.reply is None:
        return outcome.unusable
    pairs = zip(outcome.reply.usage, outcome.unusable, strict=True)
    return Usage(*(None if count is None else count + (addend or 0) for count, addend in pairs))
