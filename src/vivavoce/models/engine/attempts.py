"""One attempt at a reply, and what its failure means for the request and for the model."""

from dataclasses import dataclass

from vivavoce.core.errors import ModelError
from vivavoce.core.text import one_line
from vivavoce.models.engine.refusals import FailureKind
from vivavoce.models.requests import Model, RejectedError, Reply, RetryableError, Usage


@dataclass(slots=True)
class Attempt:
    """What came of one attempt; `done` unless another one may succeed.

    `unusable` is the usage of a reply that came and could not be used; null where none came.
    """

    seconds: float
    reply: Reply | None = None
    error: str | None = None
    cost: float | None = None
    refused: bool = False
    fatal: bool = False
    done: bool = True
    retry_after: float | None = None
    kind: FailureKind = "passing"
    unusable: Usage | None = None
    at_once: bool = False


def failed_attempt(model: Model, error: Exception) -> Attempt:
    """The attempt that raised this; `fatal` for a model that answers nobody."""
    if isinstance(error, RetryableError):
        kind: FailureKind = "throttled" if error.throttled else "lasting" if error.lasting else "passing"
        attempt = Attempt(0.0, error=str(error), done=False, retry_after=error.after, kind=kind)
        attempt.at_once = error.at_once
    elif isinstance(error, ModelError):
        attempt = Attempt(0.0, error=str(error).rstrip("."), fatal=True)
    elif isinstance(error, RejectedError):
        # A refusal by a local model is due to the question.
        of_question = error.of_question or getattr(model, "branching", False)
        attempt = Attempt(0.0, error=str(error), refused=True, kind="question" if of_question else "refused")
    else:
        attempt = Attempt(0.0, error=_unexpected(error), kind="refused")
    usage = getattr(error, "usage", None)
    attempt.unusable = usage if isinstance(usage, Usage) else None  # of a plugin it may be anything
    return attempt


def _unexpected(error: Exception) -> str:
    return f"the model raised {type(error).__name__}: {one_line(str(error), 160)}"


class AttemptTotals:
    """The attempts at one request so far: how many, the last, and what all took together.

    `charged` says whether a reply came that could not be used; `unusable` counts the tokens of such replies.
    """

    def __init__(self) -> None:
        self.attempts = 0
        self.last: Attempt | None = None
        self.cost: float | None = None
        self.charged = False
        self.unusable = Usage()

    def add(self, attempt: Attempt) -> None:
        """Count an attempt."""
        self.attempts += 1
        self.last = attempt
        if attempt.cost is not None:
            self.cost = (self.cost or 0.0) + attempt.cost
        if attempt.unusable is not None:
            self.charged = True
            self.unusable = Usage(*map(_sum, self.unusable, attempt.unusable))


def _sum(count: int | None, addend: int | None) -> int | None:
    return addend if count is None else count + (addend or 0)
