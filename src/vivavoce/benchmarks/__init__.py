"""Benchmarks: a card and items, one file each.

A benchmark is a frozen dataclass registered with `@benchmark(name)`. It has `card`, and `items()`, which
gives every item; with `selects(item)` a setting can narrow what is examined without making another
benchmark of it.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol, runtime_checkable

from vivavoce import formats, registry
from vivavoce.errors import InputError
from vivavoce.records import Card, Item
from vivavoce.specs import Spec

__all__ = ["Benchmark", "Loaded", "load"]


@runtime_checkable
class Benchmark(Protocol):
    """What a benchmark offers."""

    @property
    def card(self) -> Card:
        """Source, revision, licence, access, citation and known faults."""
        ...

    def items(self) -> Iterable[Item]:
        """Every item, in the benchmark's own order. Raises `InputError` for data it cannot use."""
        ...


class Loaded(NamedTuple):
    """A benchmark's items, checked: those its settings select, and the others it has."""

    spec: str
    signature: str
    card: Card
    items: tuple[Item, ...]
    others: tuple[Item, ...]


def load(spec: str | Spec) -> Loaded:
    """Read and check the benchmark that a spec names.

    Raises `InputError` for an item its format cannot use, an id given twice, or nothing selected.
    """
    made = registry.build("benchmark", spec)
    items = [formats.check(item) for item in made.items()]
    seen: dict[tuple[str, str], Item] = {}
    for item in items:
        for key in {("item", f"{item.item}\n{item.variant}"), ("alias", item.alias or "")} - {("alias", "")}:
            if key in seen:
                raise InputError(
                    f"{made}: the id {item.name!r} stands there twice; every item needs an id of its own."
                )
            seen[key] = item
    selects = getattr(made, "selects", lambda item: True)
    chosen = tuple(item for item in items if selects(item))
    if not chosen:
        raise InputError(f"{made} has no items." if not items else f"{made} selects none of its items.")
    others = tuple(item for item in items if not selects(item))
    return Loaded(str(made), registry.signature(made), made.card, chosen, others)
