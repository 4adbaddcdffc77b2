"""Benchmarks: a card and items, one file each.

A benchmark is a frozen dataclass registered with `@benchmark(name)`. It has `card`, and `items()`, which
gives every item; with `selects(item)` a setting can narrow what is examined without making another
benchmark of it.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol, runtime_checkable

from vivavoce import formats, registry
from vivavoce.errors import InputError, VivaError
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

    Raises `InputError` for an item its format cannot use, an id given twice, an alias that is another
    item's id, or nothing selected.
    """
    made = registry.build("benchmark", spec)
    try:
        items = [formats.check(item) for item in made.items()]
    except VivaError:
        raise
    except Exception as error:  # a benchmark may be a stranger's code: name it
        raise InputError(
            f"{made} broke while its items were read: {type(error).__name__}: {error}."
        ) from error
    for item in items:
        if any(not reference.strip() for reference in item.references):
            raise InputError(f"{made}: item {item.name!r} has an empty reference: no answer could be right.")
    named: dict[tuple[str, str], Item] = {}
    aliased: dict[str, Item] = {}
    for item in items:
        if (item.item, item.variant) in named or item.alias in aliased:
            raise InputError(
                f"{made}: the id {item.name!r} stands there twice; every item needs an id of its own."
            )
        named[item.item, item.variant] = item
        if item.alias:
            aliased[item.alias] = item
    for alias, item in aliased.items():
        if named.get((alias, ""), item) is not item:
            raise InputError(f"{made}: the alias {alias!r} of {item.item!r} is the id of another item.")
    if len({item.benchmark for item in items}) > 1:
        raise InputError(f"{made}: its items name more than one benchmark: give all of them the same.")
    selects = getattr(made, "selects", lambda item: True)
    chosen = tuple(item for item in items if selects(item))
    if not chosen:
        raise InputError(f"{made} has no items." if not items else f"{made} selects none of its items.")
    others = tuple(item for item in items if not selects(item))
    return Loaded(str(made), registry.signature(made), made.card, chosen, others)
