"""The null of `viva study RUN correlation`: two measures of answers whose candidates do not differ."""

import polars as pl
from scipy.stats import kendalltau

from false_alarms import Maker, Null, Rng
from nulls_comparing import candidate_table
from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.score_table import ScoreTable


def two_measures(n_candidates: int, n_items: int, able: float = 0.3) -> Maker:
    """Two measures that share the quality of each answer; planted: candidates differ with this sd."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        means = rng.normal(0, able if planted else 0.0, n_candidates)[:, None]
        quality = means + rng.normal(0, 0.7, n_items) + rng.normal(0, 0.7, (n_candidates, n_items))
        tables, measures = [], {}
        for number in (1, 2):
            name = f"measure{number}"
            criterion = Criterion(criterion=name, low=0.0, high=5.0)
            measures[number] = Measure(metric=name, signature=f"{name}()@1", criterion=criterion)
            values = 2.5 + quality + rng.normal(0, 0.5, quality.shape)
            tables.append(candidate_table(values).scores.with_columns(measure_id=pl.lit(number)))
        return ScoreTable(pl.concat(tables), measures, cards={})

    return make


def goes_together(finding: Finding) -> bool:
    """Whether the measures are said to order candidates alike: tau's p, or r's interval without 0."""
    system = [row for row in finding.rows if row["level"] == "system"]
    return any(row["p"] is not None and row["p"] <= stats.ALPHA for row in system) or any(
        row["low"] is not None and row["low"] > 0 for row in system
    )


def plain_tau(table: ScoreTable) -> bool:
    """Kendall's tau of the means over all cases, as SciPy tests it."""
    means = (
        table.scores.group_by("measure_id", "candidate")
        .agg(pl.col("value").mean())
        .sort("measure_id", "candidate")
    )
    first, second = (part["value"] for _, part in means.group_by("measure_id", maintain_order=True))
    return bool(kendalltau(first, second).pvalue <= stats.ALPHA)


NULLS = {
    "correlation": Null(
        study="correlation",
        cells={
            "8 candidates, 60 items": two_measures(8, 60),
            "12 candidates, 100 items": two_measures(12, 100),
        },
        plain=plain_tau,
        named={"correlation.systems": goes_together},
    )
}
"""Each measure has an own noise of .5 beside the .7 that an answer's quality varies."""
