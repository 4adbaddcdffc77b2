"""Metrics: a frozen dataclass with settings, one file each, registered with `@metric(name)`.

A metric declares its `criteria`, the `formats` it marks and what its items must have (`needs`);
`values(rows, lab)` marks a batch of readable answers. It keeps no results. What is blank, refused or
unreadable never reaches it. Where it can, it may say more: `marks(item)`, which items of those formats it
marks; `rater`, the model that marks; `hashed`, files that its signature tells apart. One that sets answers
side by side offers `compare` (`Compares`).
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeGuard, TypeVar, runtime_checkable

from vivavoce import formats
from vivavoce.errors import MetricError
from vivavoce.records import Criterion, Item, Reading, Row, Value

if TYPE_CHECKING:
    from vivavoce.ask import Desk

__all__ = ["Compares", "Lab", "Metric", "marks", "rater", "side_by_side"]

T = TypeVar("T")


class Lab:
    """The tools a metric may use, shared by all metrics of one call so that no text is worked on twice.

    `pass_no` says in which pass over the same answers a model is asked.
    """

    KEPT = 200_000
    """Results kept at most; the oldest half is let go, so memory stays flat however many answers come."""

    def __init__(self, desk: "Desk | None" = None) -> None:
        self._made: dict[tuple[object, str], object] = {}
        self._desk = desk
        self.pass_no = 1

    @property
    def desk(self) -> "Desk":
        """Where models are asked. Raises `MetricError` where none may be."""
        if self._desk is None:
            raise MetricError("this metric asks a model, and here none may be asked: use `viva score`.")
        return self._desk

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


class Compares(Metric, Protocol):
    """A metric that marks answers to one item against each other, on ballots."""

    @property
    def side_by_side(self) -> bool:
        """True; a metric may be of this kind under some of its settings only."""
        ...

    def orders(self, candidates: Sequence[str], place: str) -> Sequence[tuple[str, ...]]:
        """Who stands on a ballot with whom, in the order shown; each set in each order once.

        What is drawn is drawn by `place`, the item and repeat, and the candidates' names: one that joins
        later changes no order among the others.
        """
        ...

    def compare(self, ballots: Sequence[Sequence[Row]], lab: Lab) -> Sequence[Sequence[Mapping[str, Value]]]:
        """For each ballot of two readable answers or more the values of each, in the order shown."""
        ...


def side_by_side(metric: Metric) -> TypeGuard[Compares]:
    """Whether the metric marks ballots, and not answers one by one."""
    return bool(getattr(metric, "side_by_side", False))


def rater(metric: Metric) -> str:
    """The model that marks; '' for a rule."""
    return str(getattr(metric, "rater", ""))


def marks(metric: Metric, item: Item) -> bool:
    """Whether the metric marks answers to this item."""
    own: Callable[[Item], bool] | None = getattr(metric, "marks", None)
    return item.format in metric.formats and (own is None or own(item))
