"""Calls to models, their outcomes, and the counters of a run of calls."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vivavoce.core.net import Traffic
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


class Waiting(NamedTuple):
    """An endpoint from which nothing has come for some seconds: requests sent, and the longest wait."""

    endpoint: str
    requests: int
    longest_s: float

    def __str__(self) -> str:
        requests = f"{self.requests} request{'s' * (self.requests != 1)}"
        return f"{self.endpoint} ({requests}, longest {self.longest_s:.0f} s)"


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
    return Usage(*(None if count is None else count + (more or 0) for count, more in pairs))


@dataclass
class UsageCounter:
    """Counts of one `ask`. `stopped` gives for a model the reason why it was not asked everything.

    `shared` counts replies that were recalled instead of requested; tokens and cost are of requests only.
    `guessed` is the possible cost of replies without token counts: part of a limit, and of no total.
    `remaining` counts calls that are still to be made, `cut` prompts that were shortened to fit the model's
    context. `waiting` names the endpoints from which nothing has come for some seconds.
    """

    answered: int = 0
    failed: int = 0
    shared: int = 0
    remaining: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    guessed: float = 0.0
    unpriced: int = 0
    cut: int = 0
    interrupted: bool = False
    stopped: dict[str, str] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    traffic: Traffic = field(default_factory=Traffic)
    waiting: tuple[Waiting, ...] = ()

    @property
    def done(self) -> int:
        """Calls with an outcome."""
        return self.answered + self.failed
