"""The null of a promise of `viva study RUN calibration`: errors are as frequent in every category."""

import numpy as np
import polars as pl
from scipy.stats import binomtest

from false_alarms import Maker, Null, Rng
from nulls_comparing import candidate_table
from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.score_table import ScoreTable

RISK = 0.1
RIGHT = Measure(metric="accuracy", signature="accuracy()@1", criterion=Criterion(criterion="accuracy"))
SURE = Measure(
    metric="confidence(of=stated)",
    signature="confidence(of=stated)@1",
    criterion=Criterion(criterion="confidence", if_unanswered="set_aside"),
)


def answers(n: int, n_categories: int, *, wrong: float | None = None, size: int = 1) -> Maker:
    """Confidences of .7 to 1, right as often as they say, or wrong with one chance; cases of `size` alike.

    Planted: two in five are wrong in one category, however sure, so that the promise over all still holds.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        cases = np.arange(n) // size
        sure = 1 - 0.3 * rng.random(n)[cases] ** 3
        chance = np.full(n, wrong) if wrong is not None else 1 - sure
        categories = (cases % n_categories).astype(str)
        if planted:
            chance = np.where(categories == "0", np.maximum(chance, 0.4), chance)
        right = (rng.random(n)[cases] >= chance).astype(float)
        frames = []
        for key, values in ((1, right), (2, sure)):
            frame = candidate_table(values[None], categories=categories).scores
            group = pl.Series([f"g{case:04}" for case in cases])
            frames.append(frame.with_columns(group=group, measure_id=pl.lit(key, pl.Int64)))
        return ScoreTable(pl.concat(frames), {1: RIGHT, 2: SURE})

    return make


def plain_binomial(table: ScoreTable) -> bool:
    """Errors of each category above the promise at the threshold over all: exact binomial, Bonferroni."""
    right, sure = (table.scores.filter(measure_id=key)["value"].to_numpy() for key in (1, 2))
    categories = table.scores.filter(measure_id=1)["category"].to_numpy()
    groups = table.scores.filter(measure_id=1)["group"].to_numpy()
    threshold = stats.answer_threshold(sure, right, groups, risk=RISK).threshold
    if threshold is None:
        return False
    names = sorted(set(categories.tolist()))
    p = []
    for name in names:
        wrong = 1 - right[(categories == name) & (sure >= threshold - 1e-9)]
        test = binomtest(int(wrong.sum()), len(wrong), RISK, alternative="greater") if len(wrong) else None
        p.append(test.pvalue if test else 1.0)
    return bool(min(p) * len(names) <= stats.ALPHA)


NULLS = {
    "promises": Null(
        study="calibration",
        cells={
            "10 categories of 60 answers": answers(600, 10),
            "10 categories of 60 answers, .03 wrong": answers(600, 10, wrong=0.03),
            "8 categories, 300 cases of 3 alike": answers(900, 8, wrong=0.02, size=3),
        },
        share=0.3,
        plain=plain_binomial,
    )
}
