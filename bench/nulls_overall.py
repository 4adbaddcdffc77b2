"""The null of `viva study RUN overall` of a group of benchmarks: equal candidates, not on all questions."""

import numpy as np
import polars as pl
from scipy.special import ndtr

from false_alarms import Maker, Null, Rng
from nulls_comparing import candidate_table, yes_no
from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.comparing.benchmark_groups import DECLARED
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.score_table import ScoreTable

ACCURACY = Measure(
    metric="accuracy",
    signature="accuracy()@1",
    criterion=Criterion(criterion="accuracy", low=0.0, high=1.0),
)
SHARES = np.array([0.5, 0.25, 0.15, 0.1])
"""What share of the questions each benchmark has, and how hard they are: right in .9 to .5 of them."""


def suite(n_candidates: int, n: int, lacking: float) -> Maker:
    """Equal candidates on the benchmarks of multimedqa; the second lacks this share, the hardest of all.

    Planted: the first is right in three tenths of what it would have had wrong.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        at = np.repeat(np.arange(4), np.round(SHARES * n).astype(int))
        chance = np.linspace(0.9, 0.5, 4)[at]
        values = yes_no(chance)(rng, (n_candidates, len(at)))
        if planted:
            values[0] = np.maximum(values[0], rng.random(len(at)) < 0.3)
        table = candidate_table(values, measure=ACCURACY)
        of_items = np.array(DECLARED["multimedqa"])[at]
        rows = table.scores.with_columns(
            benchmark=pl.Series(np.tile(of_items, n_candidates)),
            format=pl.lit("mcq"),
            note=pl.lit(""),
            parts=pl.lit(None, dtype=pl.String),
        )
        absent = set(rows["item"].unique().sort().to_list()[len(at) - round(lacking * len(at)) :])
        short = (pl.col("candidate") == "c1") & pl.col("item").is_in(absent)
        return table._replace(scores=rows.filter(~short))

    return make


def has_ranks(finding: Finding) -> bool:
    """Whether a rank is open to fewer than all candidates."""
    rows = [row for row in finding.rows if row["format"] == OVERALL and row["rank"] is not None]
    return any((row["rank_low"], row["rank_high"]) != (1, len(rows)) for row in rows)


def plain_means(table: ScoreTable) -> bool:
    """Two proportions of each candidate's own questions, Bonferroni over pairs: questions are no matter."""
    columns = table.scores.group_by("candidate").agg(pl.col("value").mean(), n=pl.len())
    p, n = (columns[name].to_numpy() for name in ("value", "n"))
    variances = p * (1 - p) / n
    first, second = np.triu_indices(len(p), 1)
    z = np.abs(p[first] - p[second]) / np.sqrt(variances[first] + variances[second])
    return bool(2 * ndtr(-z.max()) * len(first) <= stats.ALPHA)


NULLS = {
    "overall_group": Null(
        study="overall",
        cells={
            "4 candidates, 200 questions of 4 benchmarks": suite(4, 200, 0.0),
            "4 candidates, 200 questions, one lacks the 16 hardest": suite(4, 200, 0.08),
            "3 candidates, 800 questions, one lacks the 72 hardest": suite(3, 800, 0.09),
        },
        plain=plain_means,
        named={"overall.group": has_ranks},
    )
}
"""The candidate without the hardest questions has the better mean of its own, and no better rank."""
