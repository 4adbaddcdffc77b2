"""When a model is given up: after equal failures in a row that no reply interrupts, or many of any kind."""

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

MAX_EQUAL = 3
"""Equal failures in a row after which a model cannot work."""
MAX_FAILURES = 20
"""Failures of any kind in a row after which a model is given up."""

FailureKind = Literal["question", "refused", "lasting", "passing", "throttled"]
"""What a failure says of the next request.

`question`: nothing, because this question was refused (too long, filtered). `refused`: until the model's
first reply that others will be refused too, and nothing after it. `lasting`: that others will fail too, such
as a reply by another model. `passing`: trouble that may pass. `throttled`: too many requests at once.
"""

_NUMBERED = re.compile(r"\b(?=[\w-]*\d)[\w-]{6,}\b")


def unnumbered(cause: str) -> str:
    """A cause without numbers of requests, which endpoints put into theirs: equal ones are one cause."""
    return _NUMBERED.sub("#", cause)


@dataclass(slots=True)
class _Streak:
    """What came of a model's requests since its last reply."""

    replied: bool = False
    failures: int = 0
    equal: int = 0
    cause: str = ""


class RefusalCounter:
    """Failures in a row, by model. Two causes are equal if they differ by numbers of requests alone."""

    def __init__(self) -> None:
        self._streaks: defaultdict[str, _Streak] = defaultdict(_Streak)

    def on_reply(self, model: str) -> None:
        """A reply ends the row."""
        self._streaks[model] = _Streak(replied=True)

    def on_failure(self, model: str, cause: str, kind: FailureKind) -> None:
        """Count a request that brought no reply, after all its attempts."""
        streak = self._streaks[model]
        if kind == "question" or (kind == "refused" and streak.replied):
            return
        streak.failures += 1
        equal = unnumbered(cause) == unnumbered(streak.cause)
        # A server that starts says so by 503, and one that answered before may come back: no refusals.
        if kind == "throttled" or (kind == "passing" and streak.replied):
            streak.equal = 0
        else:
            streak.equal = streak.equal + 1 if equal and streak.equal else 1
        streak.cause = cause

    def why_given_up(self, model: str, endpoint: str) -> str | None:
        """Why this model is not to be asked again; null while it may be."""
        streak = self._streaks[model]
        if streak.equal >= MAX_EQUAL:
            return (
                f"{streak.equal} requests in a row to {endpoint} failed for the same reason: {streak.cause}"
            )
        if streak.failures >= MAX_FAILURES:
            return (
                f"the last {streak.failures} requests to {endpoint} all failed; the last one: {streak.cause}"
            )
        return None
