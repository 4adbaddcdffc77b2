"""A plugin metric for tests: `perplexity` of an answer that is the stored text of a probe, as JSON."""

import json
from collections.abc import Mapping, Sequence

from vivavoce.core.records import Reading, Row, Value
from vivavoce.core.registry import metric
from vivavoce.logprobs.perplexity import Perplexity
from vivavoce.metrics import Metric, ScoringContext


@metric("told_perplexity")
class ToldPerplexity(Metric):
    """What `perplexity` makes of the answer."""

    criteria = Perplexity.criteria
    formats = ("short",)
    needs = ("references",)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        said = [row._replace(reading=Reading("ok", json.loads(row.response.text or ""))) for row in rows]
        return Perplexity().values(said, context)
