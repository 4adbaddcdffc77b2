"""What is asked and what comes of it: jobs and the work of a model, answers, and the tally of them all."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vivavoce.models import Model, Reply, Request
from vivavoce.models.gate import Limits
from vivavoce.net import Traffic
from vivavoce.store.calls import Call

__all__ = ["Answer", "Job", "Tally", "Work", "called"]


class Job(NamedTuple):
    """One thing to ask, and the caller's `tag`. Jobs of a model with the same request and repeat are one."""

    request: Request
    repeat: int
    tag: Any


class Work(NamedTuple):
    """What one model is to be asked. `price` is per million tokens, in and out; null if it is not known.

    Models of one endpoint share the limits of the first.
    """

    model: Model
    jobs: Iterable[Job]
    limits: Limits = Limits()
    price: tuple[float, float] | None = None


class Answer(NamedTuple):
    """What came of a job: a reply, or `error` says why there is none.

    `seconds` is the last attempt's; `cost` is null without a price or token counts, and 0 where an equal
    request had been asked already. `refused`: the endpoint would never answer this request.
    """

    reply: Reply | None
    error: str | None
    attempts: int
    seconds: float
    cost: float | None
    refused: bool = False


def called(
    model: Model,
    job: Job,
    answer: Answer,
    *,
    purpose: str,
    status: str,
    error: str | None,
    reply: str | None = None,
) -> Call:
    """The row of `calls` for what came of a job."""
    used = answer.reply.usage if answer.reply else None
    return Call(
        key=job.request.key,
        model=model.name,
        endpoint=model.endpoint,
        repeat=job.repeat,
        kind=job.request.kind,
        purpose=purpose,
        status=status,
        attempts=answer.attempts,
        seconds=answer.seconds,
        input_tokens=used.input if used else None,
        output_tokens=used.output if used else None,
        cost=answer.cost,
        error=error,
        reply=reply,
    )


@dataclass
class Tally:
    """What an `ask` did so far. `stopped` gives for a model why it was not asked everything.

    `shared` counts the answers that were had without asking; tokens and cost are of what was asked. `guessed`
    is what replies may have cost that did not say their tokens: it counts towards a limit, and in no total.
    `cut` counts questions of which a part was left out to fit the model's context.
    """

    answered: int = 0
    failed: int = 0
    shared: int = 0
    left: int = 0
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

    @property
    def done(self) -> int:
        """Jobs with an outcome."""
        return self.answered + self.failed
