"""A criterion of a rubric, and a request to a judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from vivavoce.core.records import Criterion
from vivavoce.models.requests import Message

Kind = Literal["mark", "pairwise", "listwise", "points"]
Call = Literal["joint", "each"]
Reasoning = Literal["strip", "keep"]
Result = Literal["json", "tag"]
Delimiters = Literal["tags", "none"]
"""Whether question, reference and answer stand between tags, or bare as a model was trained to read them."""
Clip = Literal["each", "mean"]
"""Where the score of points is cut to 0 to 1."""


class LengthAdjustment(NamedTuple):
    """What a score loses for each 500 characters of a response above `center`, and gains below it."""

    center: float
    penalty_per_500: float

    def adjusted(self, score: float, response: str) -> float:
        """The score of a response, adjusted for its length in characters."""
        return score - self.penalty_per_500 * (len(response) - self.center) / 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricCriterion:
    """A criterion as a judge is asked for it.

    `ask` is its question, `key` the name under which the judge answers, `levels` the meaning of values. With
    a `step` only low, low + step and so on are scores; without one every number in the range is. `of` names
    the criterion that a derived one is rescaled from; a judge is never asked for a derived one.
    """

    criterion: Criterion
    ask: str = ""
    key: str = ""
    levels: Mapping[float, str] = field(default_factory=dict)
    step: float | None = None
    of: str | None = None

    @property
    def name(self) -> str:
        """The criterion's name."""
        return self.criterion.criterion

    @property
    def steps(self) -> tuple[float, ...]:
        """The values that are scores, in order; empty if every number in the range is."""
        low, high = self.criterion.low, self.criterion.high
        if self.step is None or low is None or high is None:
            return ()
        return tuple(low + k * self.step for k in range(round((high - low) / self.step) + 1))

    @property
    def value_form(self) -> str:
        """The form of a score: 'a number from 0 to 5', 'a whole number from 1 to 5', '0, 0.5 or 1'."""
        low, high = self.criterion.low, self.criterion.high
        if self.step == 1 and len(self.steps) > 2:
            return f"a whole number from {low:g} to {high:g}"
        if self.steps:
            *first, last = (f"{value:g}" for value in self.steps)
            return f"{', '.join(first)} or {last}"
        return f"a number from {low:g} to {high:g}"


class Ask(NamedTuple):
    """One question to a judge.

    `schema` describes the object it is to answer with, null where it answers in another form. `criteria` are
    the criteria it is asked for, `unit` the item's rubric point, `labels` those of the answers in the order
    shown, where several compete. `material` are the texts of others that the messages show.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    criteria: tuple[str, ...]
    unit: str | None = None
    labels: tuple[str, ...] = ()
    material: tuple[str, ...] = ()
