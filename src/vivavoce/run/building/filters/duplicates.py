"""Questions that repeat others: of this exam, and of published ones."""

import re
from collections.abc import Iterator, Mapping, Sequence

from vivavoce.benchmarks import load
from vivavoce.core.cases import place_of
from vivavoce.core.errors import InputError
from vivavoce.core.item_content import content_text
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.language.invariants import invariants
from vivavoce.language.scripts import WORD
from vivavoce.run.building.filters.base import Decision, Filter
from vivavoce.run.building.filters.minhash import near_duplicates
from vivavoce.run.building.step import Lab

_WORD = re.compile(WORD)


@step("duplicates")
class Duplicates(Filter):
    """Questions that another one of the exam repeats, word for word or nearly.

    Equal ones, whatever their case, spaces and punctuation, would be dropped but for the first; those whose
    5-grams of characters have a Jaccard similarity of `threshold` or more are put before a person. Two items
    of one group, such as a question and its translation, are no duplicates.
    """

    threshold: float = 0.8

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """Later ones of equal items, and of items that are alike."""
        decisions = dict(self._repeats(items))
        places = [place for place in range(len(items)) if place not in decisions]
        texts = [_text(items[place]) for place in places]
        for near in near_duplicates(texts, self.threshold):
            first, second = items[places[near.first]], items[places[near.second]]
            if _groups(first) != _groups(second):
                numbers = invariants(first.question).numbers == invariants(second.question).numbers
                what = "it is nearly another question" if numbers else "it is another question, numbers aside"
                detail = f"{first.name} ({near.similarity:.2f})"
                decisions.setdefault(places[near.second], Decision("review", what, detail))
        return decisions

    def _repeats(self, items: Sequence[Item]) -> Iterator[tuple[int, Decision]]:
        """The items that an earlier one of another group equals."""
        first: dict[object, Item] = {}
        for place, item in enumerate(items):
            content = place_of(item).content
            earlier = first.setdefault((item.format, content), item)
            if content is not None and earlier is not item and _groups(earlier) != _groups(item):
                yield place, Decision("drop", "it repeats another question", earlier.name)


def _groups(item: Item) -> tuple[str, ...]:
    return (*item.outer_groups, item.group)


def _text(item: Item) -> str:
    return " ".join(filter(None, (item.context, item.question, *sorted(item.options))))


@step("overlap")
class Overlap(Filter):
    """Questions that share `words` words in a row with a published exam: a model may have read them.

    `against` are benchmarks, such as "medqa(data=DIR)". Case and punctuation do not count. 13 words are the
    usual measure of contamination (Brown and others, 2020, appendix C).
    """

    against: tuple[str, ...]
    words: int = 13

    def __post_init__(self) -> None:
        if self.words < 3:
            raise ValueError("words: overlap counts from 3 words")

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """The items that share a run of words, each with the exam that it shares it with."""
        published = {
            run: f"{item.benchmark}: {item.name}"
            for item in reversed(self._published(lab.benchmark))  # of several the first is named
            for run in self._runs(item)
        }
        reason = f"{self.words} words in a row stand in another benchmark"
        shared = {k: next(filter(None, map(published.get, self._runs(i))), "") for k, i in enumerate(items)}
        return {place: Decision("drop", reason, name) for place, name in shared.items() if name}

    def _published(self, benchmark: str) -> list[Item]:
        """The items of the published exams. Raises `InputError` for this exam itself."""
        items = [item for spec in self.against for item in _items(spec)]
        if any(item.benchmark == benchmark for item in items):
            raise InputError(f"--against: {benchmark} overlaps with itself; name other exams.")
        return items

    def _runs(self, item: Item) -> Iterator[int]:
        for text in (item.context, item.question):
            words = _WORD.findall(content_text(text or ""))
            yield from (hash(tuple(words[k : k + self.words])) for k in range(len(words) - self.words + 1))


def _items(spec: str) -> tuple[Item, ...]:
    loaded = load(spec)
    return (*loaded.items, *loaded.others)
