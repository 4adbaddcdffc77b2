"""Metrics: a frozen dataclass with settings, one file each, registered with `@metric(name)`.

A metric declares its `criteria`, the `formats` it marks and what its items must have (`needs`);
`values(rows, lab)` marks a batch of readable answers. It keeps no results. What is blank, refused or
unreadable never reaches it.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from vivavoce import formats
from vivavoce.records import Criterion, Item, Reading, Row, Value

__all__ = ["Lab", "Metric"]

T = TypeVar("T")


class Lab:
    """The tools a metric may use, shared by all metrics of one call so that no text is worked on twice."""

    KEPT = 200_000
    """Results kept at most; the oldest half is let go, so memory stays flat however many answers come."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, str], object] = {}

    def once(self, recipe: Callable[[str], T], text: str) -> T:
        """`recipe(text)`, computed once for each distinct text."""
        key = (recipe, text)
        try:
            return self._made[key]  # type: ignore[return-value]
        except KeyError:
            pass
        if len(self._made) >= self.KEPT:
            for old in list(self._made)[: self.KEPT // 2]:
                del self._made[old]
        made = self._made[key] = recipe(text)
        return made

    def reading(self, item: Item, text: str) -> Reading:
        """`formats.read(item, text)`, once for each distinct answer to the item."""
        return self.once(_Reader((item.benchmark, item.item, item.variant), item), text)

    def rng(self, row: Row, purpose: str) -> random.Random:
        """A generator seeded by the item, the repeat and the purpose, never by position."""
        item, response = row.item, row.response
        return random.Random(f"{item.benchmark}|{item.item}|{item.variant}|{response.repeat}|{purpose}")


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads answers to one item; two readers of the same item are equal."""

    key: tuple[str, str, str]
    item: Item = field(compare=False)

    def __call__(self, text: str) -> Reading:
        return formats.read(self.item, text)


@runtime_checkable
class Metric(Protocol):
    """What a metric offers. Its dataclass fields are its settings."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The columns it gives, with range and direction."""
        ...

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats it marks; items of others get no row."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Item fields that must not be empty, such as `references`."""
        ...

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """For each row, in order, the value of every criterion by name."""
        ...
