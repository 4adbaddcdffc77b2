"""Shards: the parts of a benchmark that several machines work on, each into a run of its own.

A hash of an item's case decides on its shard, so that every machine divides alike, whatever the order of the
items. Cases stay whole, and so do conversations and the variants of an item.
"""

import hashlib
import json
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple, Self

from vivavoce.core.cases import cases_of
from vivavoce.core.errors import InputError
from vivavoce.core.item_files import item_sequence
from vivavoce.core.records import Item

MOST_SHARDS = 100_000
ShardLimits = Literal["divided", "whole"]
"""Whether a shard keeps its part of the limits that all have in common, or all of them."""
_SHARD = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", re.ASCII)


class Shard(NamedTuple):
    """One part of so many: numbers from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard that `3/16` names. Raises `InputError` for anything else."""
        match = _SHARD.fullmatch(text)
        shard = cls(int(match[1]), int(match[2])) if match else None
        if shard is None:
            raise InputError(f"--shard {text}: write the number of the part and of all parts, such as 3/16.")
        check_number_of_shards(shard.of, f"--shard {text}")
        if not 1 <= shard.number <= shard.of:
            raise InputError(f"--shard {text}: the parts are numbered from 1 to {shard.of}.")
        return shard


def check_number_of_shards(of: int, option: str) -> None:
    """Raise `InputError` for a number of shards that nothing is divided into."""
    if not 1 <= of <= MOST_SHARDS:
        raise InputError(f"{option}: there are 1 to {MOST_SHARDS:,} parts, not {of:,}.")


def shard_numbers(items: Sequence[Item], of: int) -> list[int]:
    """By item the number of its shard of so many.

    What decides is the label of its case among the items of its benchmark: the first of the declared groups
    that are joined in it. Items of a shard alone are divided as they are among all.
    """
    labels = _labels(items)
    roots = _roots(items, labels)
    first: dict[Hashable, tuple[bool, str]] = {}
    for item, root, label in zip(items, roots, labels, strict=True):
        place = item.origin is not None, label  # what was made in a run decides nothing
        first[root] = min(first.get(root, place), place)
    return [_number(first[root][1], of) for root in roots]


def part_of(items: Sequence[Item], shard: Shard) -> Sequence[Item]:
    """The items of a shard, in their order; none where it has no case."""
    numbers = shard_numbers(items, shard.of)
    return item_sequence(item for item, number in zip(items, numbers, strict=True) if number == shard.number)


def _labels(items: Sequence[Item]) -> list[str]:
    """By item the label of its case among the items of its own benchmark."""
    positions: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        positions.setdefault(item.benchmark, []).append(position)
    labels = [""] * len(items)
    for of_benchmark in positions.values():
        joined = cases_of(items[position] for position in of_benchmark)
        for position, label in zip(of_benchmark, joined.labels, strict=True):
            labels[position] = label
    return labels


def _roots(items: Sequence[Item], labels: Sequence[str]) -> list[Hashable]:
    """By item what is equal for all items of its case, its conversation and its variants."""
    parents: dict[Hashable, Hashable] = {}
    for item, label in zip(items, labels, strict=True):
        node = ("item", item.benchmark, item.item)
        _join(parents, ("case", item.benchmark, label), node)
        if item.follows is not None:
            _join(parents, ("item", item.benchmark, item.follows), node)
    return [_root(parents, ("item", item.benchmark, item.item)) for item in items]


def _join(parents: dict[Hashable, Hashable], node: Hashable, neighbour: Hashable) -> None:
    root, joined = _root(parents, node), _root(parents, neighbour)
    if root != joined:
        parents[joined] = root


def _root(parents: dict[Hashable, Hashable], node: Hashable) -> Hashable:
    while (parent := parents.setdefault(node, node)) != node:
        parents[node] = node = parents[parent]
    return node


def _number(label: str, of: int) -> int:
    """The shard of a case: the first 64 bits of a hash of its label, in proportion to the shards."""
    digest = hashlib.sha256(f"shard|{label}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") * of // 2**64 + 1


def exam_digest(items: Iterable[Item]) -> str:
    """A digest of a whole exam: its items with their groups and weights, without what was made in a run."""
    exam = [
        (i.item, i.variant, i.group, i.hash, i.weight, *i.outer_groups) for i in items if i.origin is None
    ]
    return hashlib.sha256(json.dumps(sorted(exam)).encode()).hexdigest()[:16]
