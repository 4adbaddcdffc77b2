"""Rounds: what is to be asked of some models at once, what is known of it, and where each outcome goes."""

from collections.abc import Callable
from typing import NamedTuple

from vivavoce.ask import Answer, Job, Work
from vivavoce.models import Model
from vivavoce.models.named import Named

__all__ = ["Asked", "Round"]


class Asked(NamedTuple):
    """A candidate, and the model behind it."""

    candidate: Named
    model: Model


class Round(NamedTuple):
    """Work that may be done side by side; `keep` and `recall` are as in `ask`."""

    works: list[Work]
    keep: Callable[[Model, Job, Answer], None]
    recall: Callable[[Model, Job], Answer | None]
