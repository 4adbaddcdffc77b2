"""A rubric as people rate by it: criteria, each with its question and the values that can be chosen."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item
from vivavoce.judging.criterion import Reasoning, RubricCriterion
from vivavoce.judging.loading import load
from vivavoce.judging.rubric import derived_values
from vivavoce.models.fencing import reference_texts

MOST_VALUES = 21
"""Buttons in a row; a scale from 0 to 10 in halves has so many."""


@dataclass(frozen=True)
class Scales:
    """The part of a rubric that raters see, whatever its prompt for a judge is.

    `reference` says whether the reference answer is shown, `reasoning` whether what a candidate thought is.
    """

    name: str
    reference: bool
    reasoning: Reasoning
    criteria: tuple[RubricCriterion, ...]

    @property
    def rated(self) -> tuple[RubricCriterion, ...]:
        """The criteria that are asked for; the others are computed from them."""
        return tuple(c for c in self.criteria if c.of is None)

    @property
    def columns(self) -> tuple[Criterion, ...]:
        """All criteria as scores are stored by them."""
        return tuple(c.criterion for c in self.criteria)

    @cached_property
    def hash(self) -> str:
        """First 8 hex digits of SHA-256 over all of it: another wording of an anchor is another rubric."""
        # Field by field: a field that records get later makes no other rubric of it.
        criteria = [
            [c.name, c.ask, c.criterion.low, c.criterion.high, c.criterion.direction,
             c.criterion.if_unanswered, c.step, sorted(c.levels.items()), c.of]
            for c in self.criteria
        ]  # fmt: skip
        text = json.dumps([self.reference, self.reasoning, criteria], ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]

    @property
    def body(self) -> dict[str, Any]:
        """The rubric as JSON."""
        criteria = [
            asdict(c) | {"levels": [[value, text] for value, text in sorted(c.levels.items())]}
            for c in self.criteria
        ]
        return {
            "name": self.name,
            "reference": self.reference,
            "reasoning": self.reasoning,
            "criteria": criteria,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> "Scales":
        """The rubric that was kept as JSON."""
        criteria = tuple(
            RubricCriterion(
                **{**c, "criterion": Criterion(**c["criterion"]), "levels": {v: t for v, t in c["levels"]}}
            )
            for c in body["criteria"]
        )
        return cls(body["name"], body["reference"], body["reasoning"], criteria)

    def applies_to(self, item: Item) -> bool:
        """Whether the item has the reference that the rubric measures by."""
        return bool(reference_texts(item)) or not self.reference

    def with_derived(self, values: Mapping[str, float]) -> dict[str, float]:
        """Values by criterion, with those that are computed from them."""
        return {**values, **derived_values(self.criteria, values)}


def load_scales(name_or_path: str) -> Scales:
    """The scales of a shipped rubric, or of the file at a path that ends in `.md`.

    Raises `InputError` as `load` does, for a rubric that scores no single answers on a common scale, and for
    a scale of too many values.
    """
    rubric = load(name_or_path)
    if rubric.kind == "points":
        raise InputError(
            f"the rubric {rubric.name!r} asks for each item's own points, which have no common scale: take "
            "one with criteria that hold for every answer, such as medgpt."
        )
    if rubric.kind != "mark":
        raise InputError(
            f"the rubric {rubric.name!r} compares answers, and raters are to rate each by itself: take one "
            "that scores single answers, such as medgpt, or let them compare with --task rank."
        )
    scales = Scales(rubric.name, rubric.reference, rubric.reasoning, rubric.criteria)
    for c in scales.rated:
        if (n := len(scale_values(c))) > MOST_VALUES:
            raise InputError(
                f"{name_or_path}: the scale of {c.name} has {n} values, more than the {MOST_VALUES} buttons "
                "that a rater is shown: give it a larger step."
            )
    return scales


def scale_values(criterion: RubricCriterion) -> tuple[float, ...]:
    """The values that a rater can choose: the steps; without them whole numbers, the ends and the levels."""
    if criterion.steps:
        return criterion.steps
    low, high = criterion.criterion.low, criterion.criterion.high
    ends = [end for end in (low, high) if end is not None]
    integers = range(-int(-ends[0] // 1), int(ends[-1] // 1) + 1)
    return tuple(sorted({*ends, *map(float, integers), *criterion.levels}))


def range_text(criterion: RubricCriterion) -> str:
    """The ends of a scale, and which of them is good."""
    low, high = criterion.criterion.low, criterion.criterion.high
    better = "the highest is best" if criterion.criterion.direction == "higher" else "the lowest is best"
    return f"{low:g} to {high:g}, {better}"


def in_words(values: Sequence[float]) -> str:
    """Values as a list: 0, 1 or 2."""
    *first, last = (f"{value:g}" for value in values)
    return f"{', '.join(first)} or {last}" if first else last
