"""Few-shot examples: solved items shown before a question."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from vivavoce import formats
from vivavoce.core.cases import cases_of
from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.run.collect.seeds import seed_of
from vivavoce.store.forgotten import is_forgotten

_Kind = tuple[str, str | None]
"""A format and a category; without a category, all items of the format."""


class Example(NamedTuple):
    """An item with its key as a candidate would give it, and the case it belongs to."""

    item: Item
    answer: str
    case: str


class FewShot:
    """The examples of each item, drawn by its id: whatever is asked beside it, they are the same.

    They come from `split`, the benchmark's development split, where it has one: of the item's own category
    where that has enough of them. Otherwise they are other base items of the benchmark. An example has the
    item's format and is of another case, because a repeat of the question would give its key away. What the
    run was told to forget is none.
    """

    def __init__(self, items: Sequence[Item], split: Callable[[], Sequence[Item]] = tuple) -> None:
        self._items, self._split = items, split
        self._pools: dict[_Kind, list[Example]] | None = None
        self._cases: dict[tuple[str, str], str] = {}
        self._sizes: Counter[tuple[_Kind, str]] = Counter()

    def of(self, item: Item, shots: int) -> list[Example]:
        """So many examples. Raises `InputError` where fewer could serve."""
        if self._pools is None:
            self._pools = self._filled()
        case = self._cases[item.item, item.variant]
        n_others = 0
        for kind in ((item.format, item.category), (item.format, None)):
            pool, in_case = self._pools.get(kind, []), self._sizes[kind, case]
            n_others = len(pool) - in_case
            if n_others >= shots:
                # The item's own case is left out afterwards, so as many more are sampled: the rest is as
                # random as if the case had not been there.
                sample = random.Random(seed_of(item, "shots", 0)).sample(pool, shots + in_case)
                return [example for example in sample if example.case != case][:shots]
        raise InputError(
            f"{item.benchmark}, item {item.name!r}: {shots} examples are asked for, and only "
            f"{n_others} other {item.format} items could serve: lower --shots."
        )

    def _filled(self) -> dict[_Kind, list[Example]]:
        """The examples by what they may serve; beside it, the cases of the items."""
        # under another name, because a split may number its items as the benchmark does
        split = [replace(item, benchmark=f"{item.benchmark} (examples)") for item in self._split()]
        joined = cases_of([*self._items, *split])
        places = [(place.item, place.variant) for place in joined.places[: len(self._items)]]
        self._cases = dict(zip(places, joined.labels[: len(self._items)], strict=True))
        sources = split or self._items
        pools: dict[_Kind, list[Example]] = {}
        for item, case in zip(sources, joined.labels[-len(sources) :], strict=True):
            answer = formats.key(item)
            if answer and not item.variant and not is_forgotten(item.meta):
                # without a split the category decides nothing: examples are any other items of the format
                for category in {None, item.category} if split else {None}:
                    pools.setdefault((item.format, category), []).append(Example(item, answer, case))
                    self._sizes[(item.format, category), case] += 1
        return pools
