"""The null of `viva study RUN resilience`: near ties, and wordings that only add noise."""

from itertools import combinations

import numpy as np
import polars as pl

from false_alarms import Maker, Null, Rng
from nulls_comparing import GRADES, candidate_table
from vivavoce.core.records import Finding
from vivavoce.studies.score_table import ScoreTable


def reworded(n_candidates: int, n_items: int, n_wordings: int, able: float) -> Maker:
    """Candidates whose true means have this sd, and wordings that move scores by .5 at random.

    Planted: the first is best as first answered, and worst in other words.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        means = rng.normal(0, able, n_candidates)[:, None]
        shift = np.zeros_like(means)
        if planted:
            means[0], shift[0] = means.max() + 0.3, means.min() - means.max() - 0.9
        shape = n_candidates, n_items
        quality = means + 0.7 * rng.standard_normal(n_items) + 0.7 * rng.standard_normal(shape)
        tables = [candidate_table(2.5 + quality + 0.3 * rng.standard_normal(shape), measure=GRADES)]
        for n in range(n_wordings):
            values = 2.5 + quality + shift + 0.5 * rng.standard_normal(shape)
            of_wording = candidate_table(values).scores.with_columns(edit=pl.lit(f"rephrase@m:{n + 1}"))
            tables.append(tables[0]._replace(scores=of_wording))
        return tables[0]._replace(scores=pl.concat(table.scores for table in tables))

    return make


def turns_round(finding: Finding) -> bool:
    """Whether a pair of candidates is said to be in another order in other words."""
    return any(row["n_turned"] for row in finding.rows if not row["candidate"] and not row["edit"])


def plain_means(table: ScoreTable) -> bool:
    """A pair of means that is in another order after."""
    rows = table.scores.with_columns(after=pl.col("edit") != "")
    means = rows.group_by("candidate", "after").agg(pl.col("value").mean()).sort("candidate")
    before, after = (means.filter(pl.col("after") == side)["value"].to_list() for side in (False, True))
    return any(
        (before[a] - before[b]) * (after[a] - after[b]) < 0 for a, b in combinations(range(len(before)), 2)
    )


NULLS = {
    "resilience": Null(
        study="resilience",
        cells={
            "6 candidates near ties, 60 items, 4 wordings": reworded(6, 60, 4, 0.05),
            "6 candidates, 60 items, 4 wordings": reworded(6, 60, 4, 0.2),
            "4 candidates near ties, 20 items, 1 wording": reworded(4, 20, 1, 0.05),
        },
        plain=plain_means,
        named={"resilience.order": turns_round},
    )
}
"""Wordings move no candidate, so the order of true means stays."""
