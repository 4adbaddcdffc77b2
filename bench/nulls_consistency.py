"""The null of `viva study RUN consistency`: repeats that pay, or nearly so, and advice to do without them."""

import numpy as np
import polars as pl

from false_alarms import Maker, Null, Rng
from nulls_comparing import candidate_table
from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.studies.score_table import ScoreTable


def repeated(n_candidates: int, n_items: int, n_repeats: int, of_repeats: float) -> Maker:
    """Scores with a variance of 1 between candidates inside an item, and of `of_repeats` between repeats.

    The best number of repeats is the root of that. Planted: repeats hardly vary, so one is enough.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        items = rng.standard_normal(n_items) + rng.standard_normal((n_candidates, n_items))
        spread = np.sqrt(0.2 if planted else of_repeats)
        tables = [
            candidate_table(items + spread * rng.standard_normal(items.shape)).scores.with_columns(
                repeat=pl.lit(n + 1)
            )
            for n in range(n_repeats)
        ]
        return candidate_table(items)._replace(scores=pl.concat(tables))

    return make


def advises_questions(finding: Finding) -> bool:
    """Whether it says that questions help more than repeats."""
    return "buy questions" in finding.text


def plain_best(table: ScoreTable) -> bool:
    """The best number of repeats by the components of variance alone."""
    rows = table.scores.sort("candidate", "item", "repeat")
    shape = [rows[name].n_unique() for name in ("candidate", "item", "repeat")]
    parts = stats.crossed_variance(rows["value"].to_numpy().reshape(shape))
    budget = {"s2_interaction": parts.s2_interaction.value, "s2_within": parts.s2_within}
    best = stats.best_repeats(**budget, cost_item=1, cost_repeat=1)
    return best is not None and best < shape[2]


NULLS = {
    "consistency": Null(
        study="consistency",
        cells={
            "2 candidates, 12 items, 2 repeats": repeated(2, 12, 2, 3.0),
            "3 candidates, 20 items, 3 repeats": repeated(3, 20, 3, 7.0),
            "4 candidates, 60 items, 5 repeats": repeated(4, 60, 5, 22.0),
        },
        plain=plain_best,
        named={"consistency.advice": advises_questions},
    )
}
"""With these variances as many repeats as there are tell most: 3 ** .5 is 2, 7 ** .5 is 3, 22 ** .5 is 5."""
