"""Precision and recall of the screen on pairs with known conflicts."""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.contrib.conflicts import KINDS, conflicts, parse

HERE = Path(__file__).parent


class Counts(NamedTuple):
    """Pairs or conflicts: how many were found, of how many there are, and how many were said in vain."""

    found: int
    there: int
    false: int

    @property
    def precision(self) -> float:
        """Share of what was said that is right."""
        return self.found / (self.found + self.false)

    @property
    def recall(self) -> float:
        """Share of what is there that was said."""
        return self.found / self.there


@cache
def pairs(name: str) -> list[dict[str, Any]]:
    """The pairs of a set: `id`, `reference`, `answer`, `conflicts` with `kind` and `span` (in the answer)."""
    lines = (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@cache
def by_pair(name: str) -> Counts:
    """A pair of a set counts as found if it holds a conflict and any is flagged."""
    rows = pairs(name)
    flagged = [bool(conflicts(parse(row["reference"]), parse(row["answer"]))) for row in rows]
    there = [bool(row["conflicts"]) for row in rows]
    hits = sum(f and t for f, t in zip(flagged, there, strict=True))
    return Counts(hits, sum(there), sum(flagged) - hits)


@cache
def by_kind(name: str) -> dict[str, Counts]:
    """A conflict of a set counts as found if one of its kind is flagged on a place that overlaps its span."""
    tally = {kind: [0, 0, 0] for kind in KINDS}
    for row in pairs(name):
        said = conflicts(parse(row["reference"]), parse(row["answer"]))
        right: set[int] = set()
        for known in row["conflicts"]:
            hits = {
                n
                for n, each in enumerate(said)
                if each.kind == known["kind"] and _overlap(row["answer"], each.answer, known["span"])
            }
            right |= hits
            tally[known["kind"]][0] += bool(hits)
            tally[known["kind"]][1] += 1
        for n, each in enumerate(said):
            tally[each.kind][2] += n not in right
    return {kind: Counts(*counts) for kind, counts in tally.items()}


def _overlap(answer: str, one: str, two: str) -> bool:
    """Whether two places of an answer overlap, at their first mention; by words where one is rewritten."""
    text = answer.casefold()
    i, j = text.find(one.casefold()), text.find(two.casefold())
    if i < 0 or j < 0:
        return bool({*one.casefold().split()} & {*two.casefold().split()})
    return i < j + len(two) and j < i + len(one)
