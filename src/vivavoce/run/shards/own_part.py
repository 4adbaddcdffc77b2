"""What a run that is a shard has to score: its part of the items, though it may hold those of others too."""

from collections.abc import Mapping

from vivavoce.core.records import ItemKey
from vivavoce.core.shards import Shard, part_of
from vivavoce.run.shards.memory import own_shards
from vivavoce.store.read import items_by_id
from vivavoce.store.view import View
from vivavoce.studies.score_table import ScoreTable

ItemsByMeasure = Mapping[int, frozenset[ItemKey]]


def items_to_score(view: View, table: ScoreTable) -> ItemsByMeasure:
    """By measure the items that it scores here, where that is not all of its formats.

    Of one by which the run is scored as a shard, those of that part, unless other parts have scores too.
    """
    shards = {work.job["signature"]: work.shard for work in own_shards(view) if work.verb == "score"}
    only = dict(table.only)
    parts: dict[Shard, frozenset[ItemKey]] = {}
    for key, measure in table.measures.items():
        if (shard := shards.get(measure.signature)) is None:
            continue
        if shard not in parts:
            parts[shard] = _part(view, shard)
        if _scored(table, key) <= parts[shard]:
            only[key] = parts[shard] & only.get(key, parts[shard])
    return only


def _part(view: View, shard: Shard) -> frozenset[ItemKey]:
    items = list(view.fetch(items_by_id).values())
    return frozenset((item.benchmark, item.item, item.variant) for item in part_of(items, shard))


def _scored(table: ScoreTable, key: int) -> frozenset[ItemKey]:
    """The items of which a measure has scores."""
    of_measure = table.scores.lazy().filter(measure_id=key).select("benchmark", "item", "variant").unique()
    return frozenset(of_measure.collect().iter_rows())
