"""The base class of filters: a decision about each item, on which a filter acts when it is told to."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vivavoce.core.records import Item
from vivavoce.run.building.parts import Part, for_review
from vivavoce.run.building.step import Drop, Lab, Step, StepResult, items_of

Verdict = Literal["keep", "review", "drop", "repair"]


class Decision(NamedTuple):
    """What a filter would do with an item, the reason, one of few, and what it is about this item."""

    verdict: Verdict
    reason: str = ""
    detail: str = ""
    failed: bool = False


@dataclass(frozen=True, kw_only=True)
class Filter(Step):
    """A step that decides about each item by itself or beside the others.

    `act` drops what it would drop, and repairs what it can. Without it, all of it stays and is put before a
    person: an item's `meta["review"]` names the reasons.
    """

    act: bool = False

    @abstractmethod
    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """By place in `items` the decisions; an item without one is kept."""

    def repaired(self, item: Item) -> Item:
        """The item that a decision to repair makes of this one."""
        return item

    def notes(self, items: Sequence[Item]) -> Sequence[str]:
        """Sentences about all items together."""
        return ()

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The parts with what was decided; passages stay as they are."""
        items = items_of(parts)
        decisions = self.decisions(items, lab)
        by_item = {id(items[place]): decision for place, decision in decisions.items()}
        counts = Counter(decision.verdict for decision in decisions.values())
        counts["keep"] += len(items) - len(decisions)
        verdicts = {verdict: counts[verdict] for verdict in ("keep", "review", "drop", "repair")}
        outcomes = (self._outcome(part, by_item.get(id(part))) for part in parts)
        unasked = sum(d.failed for d in decisions.values() if d.verdict == "review")
        return StepResult.of(outcomes, self.notes(items), verdicts)._replace(unasked=unasked)

    def _outcome(self, part: Part, decision: Decision | None) -> Part | Drop:
        """What becomes of a part by a decision; null keeps it."""
        if decision is None or decision.verdict == "keep" or not isinstance(part, Item):
            return part
        if self.act and decision.verdict == "drop":
            return Drop(part, decision.reason, decision.detail, decision.failed)
        if self.act and decision.verdict == "repair":
            return self.repaired(part)
        reason = f"{decision.reason}: {decision.detail}" if decision.detail else decision.reason
        return for_review(part, reason)
