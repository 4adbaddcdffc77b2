"""Who judges what: each rater a part of the questions, some of them two raters, a few the same rater again.

All follows from the seed and the ids, never from the order in which questions or raters come. A further rater
leaves the double questions as they are, and draws anew who judges what: fix the raters before they begin.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey

LEAST_TO_REPEAT = 20
"""A rater with fewer questions remembers them: none is put again."""


class Turn(NamedTuple):
    """A question in the order of one rater; `pass_no` is 2 where it is put for the second time."""

    place: ItemKey
    pass_no: int = 1


class Assignment(NamedTuple):
    """The places of each rater's questions, sorted, and those of questions that two raters judge."""

    raters: Mapping[str, tuple[ItemKey, ...]]
    double: frozenset[ItemKey]


def assign(
    categories: Mapping[ItemKey, str], raters: Sequence[str], *, double: float, seed: int
) -> Assignment:
    """Share questions out: one rater each, and two for the share `double` of them.

    `categories` gives the category of each question by its place, '' for none. Of n questions
    round(n * double) are double; in each category their number is within one of its own share. Loads differ
    by at most one question, and pairs of raters share about alike many. With one rater and `double` 0 that
    rater judges all; with no question nobody judges any. Raises `InputError` for a share outside 0 to 1, no
    rater, a rater twice, and double questions without a second rater.
    """
    _check(raters, double)
    names = sorted(raters)
    chosen = _double_places(categories, double, seed)
    lots = _Lots({name: [] for name in names}, Counter(), Counter(), seed)
    # Category by category, so that each rater and pair meets all of them.
    order = sorted(categories, key=lambda place: (categories[place], _digest(seed, "turn", *place)))
    for place in order:
        if place in chosen:
            lots.give_pair(place, categories[place])
    for place in order:
        if place not in chosen:
            lots.give(place, categories[place])
    return Assignment({name: tuple(sorted(places)) for name, places in lots.places.items()}, chosen)


def with_repeats(order: Sequence[ItemKey], rater: str, *, share: float, seed: int) -> tuple[Turn, ...]:
    """The questions of a rater in their `order`, with about `share` of them put again later.

    Of n questions round(n * share) are put again, none of fewer than 20, and at most half: they are drawn
    from the first half, and at least n // 2 other questions stand between the two. Raises `InputError` for a
    share outside 0 to 0.5.
    """
    if not 0 <= share <= 0.5:
        raise InputError(f"a share of {share:g} cannot be put again: take 0 to 0.5, such as 0.05.")
    n = len(order)
    half = n // 2
    n_repeats = min(round(n * share), half) if n >= LEAST_TO_REPEAT else 0
    repeats = sorted(order[:half], key=lambda place: _digest(seed, "repeat", rater, *place))[:n_repeats]
    turns: list[Turn] = []
    for position, place in enumerate(order):
        turns.append(Turn(place))
        if position >= half and order[position - half] in repeats:
            turns.append(Turn(order[position - half], 2))
    return tuple(turns)


def _check(raters: Sequence[str], double: float) -> None:
    if not 0 <= double <= 1:
        raise InputError(f"a double share of {double:g} cannot be: take 0 to 1, such as 0.45.")
    if not raters or len(set(raters)) < len(raters):
        raise InputError("name each rater once, and one at least: questions are shared out among them.")
    if double and len(raters) < 2:
        raise InputError(f"{raters[0]} is alone: questions that two judge need a second rater, or double 0.")


def _double_places(categories: Mapping[ItemKey, str], double: float, seed: int) -> frozenset[ItemKey]:
    """The double questions: of each category its share, rest to the largest remainders."""
    members: dict[str, list[ItemKey]] = {}
    for place in sorted(categories, key=lambda place: _digest(seed, "double", *place)):
        members.setdefault(categories[place], []).append(place)
    counts = {category: int(double * len(places)) for category, places in members.items()}
    n_more = round(double * len(categories)) - sum(counts.values())
    remainders = sorted(
        members, key=lambda c: (counts[c] - double * len(members[c]), _digest(seed, "remainder", c))
    )
    for category in remainders[:n_more]:
        counts[category] += 1
    return frozenset(place for category, places in members.items() for place in places[: counts[category]])


class _Lots(NamedTuple):
    """What each rater got so far; how often each pair met, and each rater a category."""

    places: dict[str, list[ItemKey]]
    pairs: Counter[tuple[str, str]]
    by_category: Counter[tuple[str, str]]
    seed: int

    def give(self, place: ItemKey, category: str) -> None:
        """The question goes to the rater with the fewest."""
        self._assign(self._ranked(place, category)[0], place, category)

    def give_pair(self, place: ItemKey, category: str) -> None:
        """The question goes to two raters: loads first, or they would not stay within one."""
        ranked = self._ranked(place, category)
        fewest = len(self.places[ranked[0]])
        lowest = [name for name in ranked if len(self.places[name]) == fewest]
        if len(lowest) > 1:
            pairs = [(a, b) if a < b else (b, a) for a, b in combinations(lowest, 2)]
        else:
            pairs = [(a, b) if a < b else (b, a) for a in lowest for b in ranked[1:]]
        pair = min(pairs, key=lambda pair: self.pairs[pair])
        self.pairs[pair] += 1
        for name in pair:
            self._assign(name, place, category)

    def _ranked(self, place: ItemKey, category: str) -> list[str]:
        return sorted(
            self.places,
            key=lambda name: (
                len(self.places[name]),
                self.by_category[name, category],
                _digest(self.seed, "rater", name, *place),
            ),
        )

    def _assign(self, rater: str, place: ItemKey, category: str) -> None:
        self.places[rater].append(place)
        self.by_category[rater, category] += 1


def _digest(seed: int, *ids: str) -> str:
    text = "\n".join((str(seed), *ids))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
