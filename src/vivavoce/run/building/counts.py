"""How many parts went into a step, were written and used up, came out and were dropped, and why."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from vivavoce.core.records import Item
from vivavoce.run.building.parts import REVIEW, Part, name_of
from vivavoce.run.building.step import StepResult


def step_counts(before: Sequence[Part], result: StepResult) -> dict[str, Any]:
    """The counts of a step; `n_in + n_written = n_out + dropped + n_used`.

    A part is told by its id: written is what was not there before, used up what is neither kept nor dropped.
    """
    names = {name_of(part) for part in before}
    after = [name_of(part) for part in (*result.parts, *(drop.part for drop in result.dropped))]
    return {
        "n_in": len(before),
        "n_written": sum(name not in names for name in after),
        "n_used": len(names - set(after)),
        "n_out": len(result.parts),
        "dropped": len(result.dropped),
        "failed": sum(drop.failed for drop in result.dropped) + result.unasked,
        "review": sum(map(_waits, result.parts)),
        "reasons": dict(Counter(drop.reason for drop in result.dropped)),
        "verdicts": dict(result.verdicts) or None,
    }


def _waits(part: Part) -> bool:
    """Whether a person should look at the part."""
    return isinstance(part, Item) and bool(part.meta.get(REVIEW))
