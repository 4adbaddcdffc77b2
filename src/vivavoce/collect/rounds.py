"""Rounds: what is to be asked of some models at once, what is known of it, and where each outcome goes."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from vivavoce.ask import Answer, Job, Work
from vivavoce.models import Model
from vivavoce.models.named import Named

__all__ = ["Asked", "Outcome", "Round"]


@dataclass
class Outcome:
    """What came of questions that take several calls: how many were told, and why others were not.

    `names` are the questions that failed, `cut` counts those of which a part was left out to fit a context.
    """

    told: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    names: list[str] = field(default_factory=list)
    cut: int = 0


class Asked(NamedTuple):
    """A candidate, and the model behind it."""

    candidate: Named
    model: Model


class Round(NamedTuple):
    """Work that may be done side by side; `keep` and `recall` are as in `ask`."""

    works: list[Work]
    keep: Callable[[Model, Job, Answer], None]
    recall: Callable[[Model, Job], Answer | None]
