"""A task: one metric in one pass over the responses of a run."""

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from vivavoce.core.records import Item, Measure
from vivavoce.logprobs.requests import requests_of
from vivavoce.metrics import Metric
from vivavoce.store.pending import Demand
from vivavoce.store.write import put_provenance


class Task(NamedTuple):
    """A metric, the items it applies to, its measures, each under its key, and the pass of so many."""

    metric: Metric
    items: Mapping[int, Item]
    measures: Mapping[int, Measure]
    pass_no: int = 1
    passes: int = 1

    @property
    def label(self) -> str:
        """The name under which progress hears of it."""
        return str(self.metric) if self.passes == 1 else f"{self.metric}, pass {self.pass_no}"

    @property
    def demand(self) -> Demand:
        """Which responses it scores."""
        return Demand(self.items, list(self.measures), self.pass_no, self.metric.needs_repeats)

    def record(self, db: sqlite3.Connection, total: int) -> None:
        """Store in the provenance that so many responses, or ballots, are to be scored."""
        signature = next(iter(self.measures.values())).signature
        body = {"metric": str(self.metric), "signature": signature, "rows": total}
        put_provenance(db, "score", body | ({"pass": self.pass_no} if self.passes > 1 else {}), changed=total)


def probe_of(metric: Metric) -> str:
    """The name of the log-probability requests that the metric scores; empty for generated text."""
    requests = requests_of(metric)
    return requests.name if requests else ""
