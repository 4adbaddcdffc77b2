"""Examples: the items on which the scores of arguments differ most. Their texts stay with the answers."""

from collections.abc import Iterator

import numpy as np

from vivavoce.systems.ranking.study.ranks import Lineup
from vivavoce.systems.ranking.study.rows import ArgumentsRow, family_row

MOST = 5


def example_rows(lineup: Lineup) -> Iterator[ArgumentsRow]:
    """By item and source the mean over runs, for the items with the widest range over sources.

    Ties go by the name of the item, so that nobody picks what convinces.
    """
    table = lineup.scores
    if len(table.sources) < 2 or not table.items:
        return
    ranges = np.round(np.ptp(table.means, axis=0), 9)
    order = sorted(np.flatnonzero(ranges > 0).tolist(), key=lambda at: (-ranges[at], table.items[at]))
    for at in order[:MOST]:
        item, variant = table.items[at]
        for source, name in enumerate(table.sources):
            yield family_row(
                table,
                "examples",
                "score",
                item=f"{item}|{variant}" if variant else item,
                candidate=name,
                role=table.roles[name],
                value=float(table.means[source, at]) * table.sign,
                n_failed=int(table.failed[source, at]),
            )
