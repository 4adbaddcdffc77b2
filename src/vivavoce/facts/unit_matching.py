"""Which units of two splits of one answer say the same: pairs, one to one."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vivavoce.language.invariants import changed
from vivavoce.language.words import clinical_tokens

LEAST_OVERLAP = 0.5
"""Share of words in common from which two units may be a pair."""


class UnitPair(NamedTuple):
    """A unit of either split, by its place from 0, and the share of words that the two have in common."""

    first: int
    second: int
    overlap: float


def match_units(
    first: Sequence[str], second: Sequence[str], *, least: float = LEAST_OVERLAP
) -> tuple[UnitPair, ...]:
    """The pairs of units that say the same, in the order of `first`; a unit is in one pair at most.

    Units of the same words in the same order are paired first, with an overlap of 1. Then pairs are taken
    greedily, the greatest overlap first, of ties the one that stands first. The overlap is that of the sets
    of clinical tokens (intersection over union, 0 to 1), and `least` itself is enough. Units with other
    numbers, other units of measure or another count of negations are never a pair, whatever their overlap.
    A unit without a word is in no pair. Empty for an empty split. Time grows with the product of the lengths.
    """
    words = [clinical_tokens(text) for text in first], [clinical_tokens(text) for text in second]
    pairs = _equal(*words)
    near = [
        pair
        for pair in _near(pairs, *words)
        if pair.overlap >= least and not changed(first[pair.first], second[pair.second])
    ]
    near.sort(key=lambda pair: (-pair.overlap, pair.first, pair.second))
    paired: tuple[set[int], set[int]] = (set(), set())
    for pair in near:
        if pair.first not in paired[0] and pair.second not in paired[1]:
            paired[0].add(pair.first)
            paired[1].add(pair.second)
            pairs.append(pair)
    return tuple(sorted(pairs))


def _near(pairs: Sequence[UnitPair], *words: Sequence[tuple[str, ...]]) -> Iterator[UnitPair]:
    """Every unit of the first split with every one of the second, of those that are in no pair."""
    equal = {pair.first for pair in pairs}, {pair.second for pair in pairs}
    preceding, following = (
        [(k, frozenset(tokens)) for k, tokens in enumerate(words[side]) if tokens and k not in equal[side]]
        for side in (0, 1)
    )
    for i, of_first in preceding:
        for j, of_second in following:
            yield UnitPair(i, j, len(of_first & of_second) / len(of_first | of_second))


def _equal(first: Sequence[tuple[str, ...]], second: Sequence[tuple[str, ...]]) -> list[UnitPair]:
    """The pairs of equal words, each the first one that is free."""
    places: dict[tuple[str, ...], list[int]] = {}
    for j in reversed(range(len(second))):
        places.setdefault(second[j], []).append(j)
    return [
        UnitPair(i, places[words].pop(), 1.0) for i, words in enumerate(first) if words and places.get(words)
    ]


def same_words(text: str) -> str:
    """The words, numbers and signs of a fact: facts are the same where these are."""
    return " ".join(clinical_tokens(text))
