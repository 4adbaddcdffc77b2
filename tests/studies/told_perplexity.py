"""A plugin metric for tests: `perplexity` of an answer that is the stored text of a probe, as JSON."""

import json
from collections.abc import Mapping, Sequence

from vivavoce.metrics import Lab
from vivavoce.metrics.perplexity import Perplexity
from vivavoce.records import Reading, Row, Value
from vivavoce.registry import metric


@metric("told_perplexity")
class ToldPerplexity:
    """What `perplexity` makes of the answer."""

    criteria = Perplexity.criteria
    formats = ("short",)
    needs = ("references",)

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        said = [row._replace(reading=Reading("ok", json.loads(row.response.text or ""))) for row in rows]
        return Perplexity().values(said, lab)
