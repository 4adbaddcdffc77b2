"""A plugin for tests: a metric that depends on all items of an exam, by which no shard alone is scored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext


@metric("share")
class Share(Metric):
    """What one answer is of all: 1 by the number of items, which is filled in when a run is scored."""

    n_items: int = 0

    criteria = (Criterion(criterion="share"),)
    formats = ("short",)

    def bind(self, items: Sequence[Item]) -> "Share":
        """The metric for a run of these items."""
        return replace(self, n_items=len(items))

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The share of each answer."""
        return [{"share": Value(1 / self.n_items)} for _ in rows]
