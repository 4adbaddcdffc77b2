"""Reviewed items: what each rater said of each, and what came of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from math import comb
from typing import Literal, NamedTuple

from vivavoce.core.records import ItemKey


class RaterBackground(NamedTuple):
    """What a rater says of themselves; null where they said nothing."""

    profession: str = ""
    years: float | None = None
    paid: bool | None = None
    author: bool | None = None


class Notes(NamedTuple):
    """How many raters wrote a comment or proposed an edit of an item, and how many disputed it."""

    comments: int = 0
    disputes: int = 0


class Reviews(NamedTuple):
    """What people said of items in their first pass, and in a second where items were put to them again.

    `disputed` gives the tasks in which an item has an open dispute; `adjudicated` what adjudications said, 1
    for correct. `notes` counts what was written of an item in a task, and `difficulty` is what most raters
    call one in any. `backgrounds` are those of the raters who gave one.
    """

    items: "tuple[ReviewedItem, ...]"
    again: "tuple[SecondReview, ...]" = ()
    disputed: Mapping[ItemKey, Collection[str]] = {}
    adjudicated: Mapping[ItemKey, float] = {}
    backgrounds: Mapping[str, RaterBackground] = {}
    notes: Mapping[tuple[ItemKey, str], Notes] = {}
    difficulty: Mapping[ItemKey, str] = {}


class ReviewedItem(NamedTuple):
    """An item with its case, category and format, and what each rater said of it in a `task`.

    `correct` is 0 or 1, `relevance` 1 to 5; `further` holds what else the task asks, 0 or 1, by criterion.
    `categories` holds the one that each rater names; `category` is the item's own where nobody does.
    """

    place: ItemKey
    group: str
    category: str
    correct: Mapping[str, float]
    relevance: Mapping[str, float]
    task: str = "review"
    format: str = ""
    further: Mapping[str, Mapping[str, float]] = {}
    categories: Mapping[str, str] = {}

    @property
    def raters(self) -> set[str]:
        """Who reviewed it: who said anything of it, if only how relevant it is."""
        return {*self.correct, *self.relevance, *chain.from_iterable(self.further.values())}

    def at_least(self, k: int) -> float:
        """The chance that k or more of three raters drawn of its own call it correct; with three 0 or 1."""
        m, yes = len(self.correct), round(sum(self.correct.values()))
        return sum(comb(yes, j) * comb(m - yes, 3 - j) for j in range(k, 4)) / comb(m, 3)

    @property
    def alike(self) -> float:
        """The chance that three raters drawn of its own say the same; with two or fewer 0 or 1."""
        if len(self.correct) < 3:
            return float(len(set(self.correct.values())) == 1)
        return self.at_least(3) + 1 - self.at_least(1)

    @property
    def majority(self) -> float | None:
        """What most raters say, null for a tie and where nobody said anything."""
        yes = sum(self.correct.values())
        return None if 2 * yes == len(self.correct) else float(2 * yes > len(self.correct))


class SecondReview(NamedTuple):
    """An item that was put to a rater again: what they said first and then."""

    place: ItemKey
    group: str
    rater: str
    first: float
    second: float
    task: str = "review"


def category_of(names: Iterable[str], of_item: str) -> str:
    """The name that most raters give, the first by name where several are; without any the item's."""
    counts = Counter(name for name in names if name)
    return min(counts, key=lambda name: (-counts[name], name)) if counts else of_item


def items_by(
    items: Sequence[ReviewedItem], column: Literal["category", "format"]
) -> dict[str, list[ReviewedItem]]:
    """The items of each category or format, in the order of names."""
    parts: dict[str, list[ReviewedItem]] = {}
    for item in items:
        parts.setdefault(getattr(item, column), []).append(item)
    return dict(sorted(parts.items()))
