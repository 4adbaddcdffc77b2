"""Benchmarks: a card and items, one file each.

A benchmark is a frozen dataclass registered with `@benchmark(name)`. It has `card`, and `items()`, which
gives every item; with `selects(item)` a setting can narrow what is examined without making another
benchmark of it. With `keyed = False` it says that its items have no key: they can be asked, not marked.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

from vivavoce import formats, registry
from vivavoce.errors import InputError, VivaError
from vivavoce.records import Card, Item
from vivavoce.specs import Spec

__all__ = ["Benchmark", "Loaded", "load", "sampled"]


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

    def joined(self, made: Sequence[Item]) -> "Loaded":
        """The same with what a run made of these items."""
        bases = {item.item for item in self.items}
        return self._replace(items=(*self.items, *(item for item in made if item.item in bases)))


def load(spec: str | Spec) -> Loaded:
    """Read and check the benchmark that a spec names.

    Raises `InputError` for an item its format cannot use, an id given twice, an alias that is another
    item's id, or nothing selected.
    """
    made = registry.build("benchmark", spec)
    try:
        keyed = getattr(made, "keyed", True)  # one without keys has checked its items itself
        items = [formats.check(item) if keyed else item for item in made.items()]
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


def sampled(items: Sequence[Item], size: str) -> tuple[Item, ...]:
    """A sample of questions, stratified by category, each with the number of questions that it stands for.

    `size` is a number of questions or a share such as '10%'. Variants stay with their question. Every
    category gets its share, one question at least. Which are drawn follows from their ids alone, so a larger
    sample holds the smaller one. Raises `InputError` for a size that cannot be had.
    """
    strata: dict[str | None, list[str]] = {}
    for item in items:
        names = strata.setdefault(item.category, [])
        if item.item not in names:
            names.append(item.item)
    total = sum(map(len, strata.values()))
    share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", size.strip())
    number = float(share[1]) / 100 * total if share else float(size) if size.strip().isdigit() else -1.0
    if not 0 < number <= total:
        raise InputError(
            f"--sample {size}: write a share such as 10%, or a number of questions up to {total}."
        )
    if not share and number < len(strata):
        raise InputError(
            f"--sample {size}: there are {len(strata)} categories, and a sample holds at least one question "
            f"of each: ask for {len(strata)} or more."
        )
    weight: dict[str, float] = {}
    for names in strata.values():
        n = min(len(names), max(1, round(number * len(names) / total)))
        drawn = sorted(names, key=lambda name: hashlib.sha256(f"sample|{name}".encode()).digest())[:n]
        weight |= dict.fromkeys(drawn, len(names) / n)
    return tuple(replace(item, weight=weight[item.item]) for item in items if item.item in weight)
