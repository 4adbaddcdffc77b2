"""Which items of an exam may be frozen, by what people said of them."""

from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from vivavoce.core.records import Item, ItemKey
from vivavoce.run.building.parts import REVIEW, Part
from vivavoce.run.building.step import Drop, StepResult
from vivavoce.studies.reviewed_items import ReviewedItem, Reviews


class Terms(NamedTuple):
    """What is asked of an item: its mean relevance, its number of reviewers, and a look where one is due."""

    min_relevance: float = 0.0
    min_raters: int = 0
    unreviewed: bool = False


def select_reviewed(items: Sequence[Item], reviews: Reviews, terms: Terms) -> StepResult:
    """The items that may be frozen; the others are dropped, each with its reason."""
    by_place = {entry.place: entry for entry in reviews.items}
    parts: list[Part] = []
    dropped: list[Drop] = []
    for item in items:
        place: ItemKey = (item.benchmark, item.item, item.variant)
        entry = by_place.get(place) or ReviewedItem(place, item.group, "", {}, {})
        reason = _of_verdicts(entry, reviews) or _of_terms(item, entry, reviews, terms)
        if reason:
            dropped.append(Drop(item, *reason))
        else:
            parts.append(item)
    return StepResult(parts, dropped)


_Reason = tuple[str, str]
"""A reason, one of few, and what it is about this item."""


def _verdict(entry: ReviewedItem, reviews: Reviews) -> float | None:
    """1 for correct, 0 for wrong, by adjudication or majority; null where nothing is decided."""
    return reviews.adjudicated.get(entry.place, entry.majority)


def _of_verdicts(entry: ReviewedItem, reviews: Reviews) -> _Reason | None:
    """Why an item is left out by what people said of its key."""
    if entry.place in reviews.disputed:
        return "a dispute about it is open", ""
    verdict = _verdict(entry, reviews)
    if verdict == 0:
        return "people found it wrong", ""
    return ("people are divided about it", "") if entry.correct and verdict is None else None


def _of_terms(item: Item, entry: ReviewedItem, reviews: Reviews, terms: Terms) -> _Reason | None:
    """Why an item is left out by what is asked of every item."""
    if len(entry.correct) < terms.min_raters:
        return f"fewer than {terms.min_raters} people reviewed it", f"{len(entry.correct)}"
    relevance = mean(entry.relevance.values()) if entry.relevance else None
    if terms.min_relevance and relevance is None:
        return "nobody said how relevant it is", ""
    if relevance is not None and relevance < terms.min_relevance:
        return f"its mean relevance is below {terms.min_relevance:g}", f"{relevance:.2f}"
    waits = item.meta.get(REVIEW) and _verdict(entry, reviews) is None
    return ("it waits for a person", "; ".join(item.meta[REVIEW])) if waits and not terms.unreviewed else None
