"""Canary: is the string that a benchmark marks its files with likelier to a model than others of its shape?

Some benchmarks put a token drawn at random, often a GUID, into their files, so that whoever collects training
data can leave these files out. A model that never read it holds it no likelier than others of the same
shape (the rank among them, and the exposure, of Carlini et al. 2019, "The Secret Sharer", USENIX Security).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vivavoce.formats import FORMATS
from vivavoce.metrics import Lab
from vivavoce.probes import Probe
from vivavoce.probes.recall import Canaries, decoys
from vivavoce.records import Criterion, Item, Row, Value
from vivavoce.registry import metric

TIE = 1e-6
"""By so much of itself a decoy's log-probability may lie below the canary's and count as equal."""
_MOST = 10_000


@metric("canary")
class Canary:
    """Whether a benchmark's canary string is likelier to a model than decoys that differ in its token alone.

    `text` is the string as the benchmark's files have it, with what stands before the token, which helps a
    model that has read it. `decoys`: how many, drawn by `seed`; by chance the canary is before all of them
    once in decoys + 1 times, so that 999 show something at p = .001 at best, which bears 50 tests made
    together. Each is one short call.

    `rank`: the share of decoys that are at least as likely, 0 to 1; near 0 is suspicious, 1/2 is chance.
    `exposure`: log2(decoys + 1) - log2(rank), rank counted from 1, in bits; log2(decoys + 1) is the most that
    so many decoys can show. By chance it lies below 1 as often as above, and is 1.44 on average.

    It is one fact of a benchmark and stands with its first item by id alone. `at` names these items, as
    'benchmark/item', and is filled in when a run is asked or marked; without it every item is marked.
    """

    text: str
    decoys: int = 999
    seed: int = 1
    at: tuple[str, ...] | None = None

    criteria = (
        Criterion(criterion="rank", if_unanswered="set_aside"),
        Criterion(criterion="exposure", high=None, direction="lower", if_unanswered="set_aside"),
    )
    formats = tuple(FORMATS)
    needs = ()

    def __post_init__(self) -> None:
        if not 1 <= self.decoys <= _MOST:
            raise ValueError(f"decoys is a number from 1 to {_MOST:,}, not {self.decoys}")
        decoys(self.text, 1, self.seed)

    @property
    def probe(self) -> Probe:
        """The likelihood of the canary and its decoys."""
        return Canaries(self.text, self.decoys, self.seed)

    def bound(self, items: Sequence[Item]) -> "Canary":
        """The metric for a run of these items: the first of each benchmark, made ones not counted."""
        first: dict[str, str] = {}
        for item in items:
            if item.origin is None:
                first[item.benchmark] = min(first.get(item.benchmark, item.item), item.item)
        return replace(self, at=tuple(f"{name}/{item}" for name, item in sorted(first.items())))

    def marks(self, item: Item) -> bool:
        """Whether the item is the first of its benchmark, in the framing of the exam itself."""
        if item.variant or item.origin is not None:
            return False
        return self.at is None or f"{item.benchmark}/{item.item}" in self.at

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """By row both figures; the parts of `rank` are `decoys`, and `at_least`, how many of them are at
        least as likely.

        A decoy that is as likely counts against the finding. A row fails where a probability is missing.
        """
        return [_values(row.reading.parsed) for row in rows]


def _values(told: Mapping[str, object]) -> dict[str, Value]:
    canary, others = told["canary"], told["decoys"]
    assert isinstance(others, list)  # as the probe tells it
    if not isinstance(canary, float | int) or not others or any(one is None for one in others):
        failed = Value(
            None, note="the model gave the canary or a decoy no finite probability", status="failed"
        )
        return dict.fromkeys(("rank", "exposure"), failed)
    before = sum(one >= canary - TIE * abs(canary) for one in others)
    n = len(others)
    exposure = math.log2(n + 1) - math.log2(before + 1)
    return {
        "rank": Value(before / n, {"at_least": before, "decoys": n}),
        "exposure": Value(max(exposure, 0.0)),
    }
