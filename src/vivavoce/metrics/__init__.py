"""Metrics: a frozen dataclass with settings, one file each, registered with `@metric(name)`.

A metric declares its `criteria`, the `formats` it marks and what its items must have (`needs`);
`values(rows, lab)` marks a batch of readable answers. It keeps no results. What is blank, refused or
unreadable never reaches it. Where it can, it may say more: `marks(item)`, which items of those formats it
marks; `rater`, the model that marks; `hashed`, files that its signature tells apart; `bound(items)`, itself
for a run of these items, where its marks hang on all of them; `probe`, what must have been asked of the
model's probabilities, for one that marks those and no answers in words; `per_token`, its criteria that
compare only candidates of one tokeniser. One that sets answers side by side offers `compare` (`Compares`).
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeGuard, TypeVar, runtime_checkable

from vivavoce import formats
from vivavoce.errors import MetricError
from vivavoce.records import Criterion, Item, Reading, Row, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vivavoce.ask import Desk
    from vivavoce.probes import Probe

    Vectors = NDArray[np.float32]

__all__ = ["Compares", "Lab", "Metric", "bound_to", "marks", "probe_of", "rater", "side_by_side"]

T = TypeVar("T")


class Lab:
    """The tools a metric may use, shared by all metrics of one call so that no text is worked on twice.

    `pass_no` says in which pass over the same answers a model is asked. `items` are all of the run, whichever
    of them are marked.
    """

    KEPT = 200_000
    """Results kept at most; the oldest half is let go, so memory stays flat however many answers come."""
    VECTORS = 50_000
    """Vectors kept at most, in the same way: 80 MB at 384 dimensions."""

    def __init__(self, desk: "Desk | None" = None, items: Iterable[Item] = ()) -> None:
        self._made: dict[tuple[object, str], object] = {}
        self._vectors: dict[tuple[object, str], Vectors] = {}
        self._desk = desk
        self.items = tuple(items)
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
        _make_room(self._made, self.KEPT)
        made = self._made[key] = recipe(text)
        return made

    def embed(
        self, encoder: Callable[[Sequence[str]], "Vectors"], texts: Iterable[str]
    ) -> dict[str, "Vectors"]:
        """The vector of each distinct text; the encoder reads what it has not read, in one call."""
        wanted = dict.fromkeys(texts)
        new = [text for text in wanted if (encoder, text) not in self._vectors]
        found = {t: self._vectors[encoder, t] for t in wanted if (encoder, t) in self._vectors}
        for text, vector in zip(new, encoder(new) if new else (), strict=True):
            _make_room(self._vectors, self.VECTORS)
            found[text] = self._vectors[encoder, text] = vector.copy()  # a row alone, not the whole array
        return found

    def reading(self, item: Item, text: str) -> Reading:
        """`formats.read(item, text)`, once for each distinct answer to the item."""
        return self.once(_Reader((item.benchmark, item.item, item.variant), item), text)

    def rng(self, row: Row, purpose: str) -> random.Random:
        """A generator seeded by the item, the repeat and the purpose, never by position."""
        item, response = row.item, row.response
        return random.Random(f"{item.benchmark}|{item.item}|{item.variant}|{response.repeat}|{purpose}")


def _make_room(kept: dict[tuple[object, str], T], most: int) -> None:
    if len(kept) >= most:
        for old in list(kept)[: most // 2]:
            del kept[old]


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


def probe_of(metric: Metric) -> "Probe | None":
    """What the metric needs to be asked of a model's probabilities; null for one that marks words."""
    found: Probe | None = getattr(metric, "probe", None)
    return found


def bound_to(metric: Metric, items: Sequence[Item]) -> Metric:
    """The metric as it marks a run of these items: its signature then says what it took from them."""
    own: Callable[[Sequence[Item]], Metric] | None = getattr(metric, "bound", None)
    return metric if own is None else own(items)


def marks(metric: Metric, item: Item) -> bool:
    """Whether the metric marks answers to this item."""
    own: Callable[[Item], bool] | None = getattr(metric, "marks", None)
    return item.format in metric.formats and (own is None or own(item))
