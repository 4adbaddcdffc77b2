"""The null of `viva study RUN rubrics`: versions of a judge's rubric that agree with people as well."""

from itertools import combinations

import numpy as np

from false_alarms import Maker, Null, Rng
from nulls_units import WORTH, Named, grades, person, scored, values_of
from vivavoce import stats
from vivavoce.core.records import Finding, Measure
from vivavoce.studies.score_table import ScoreTable


def version(name: str) -> Measure:
    """One judge by a rubric of this name."""
    signature = f"judge(model=j1,rubric={name})@1"
    return Measure(metric="judge", signature=signature, criterion=WORTH, rater="j1")


def versions(n_versions: int, n: int, n_candidates: int = 3) -> Maker:
    """People's grades, and a judge by several rubrics that err as often.

    Planted: by the first rubric the judge errs half as much.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        shape = (n_candidates, n)
        worth = 2.5 + rng.standard_normal(n) + 0.7 * rng.standard_normal(shape)
        named: list[Named] = [(person("ann"), grades(worth + 0.4 * rng.standard_normal(shape)))]
        for k in range(n_versions):
            slip = 0.4 if planted and k == 0 else 0.9
            named.append((version(f"r{k}"), grades(worth + slip * rng.standard_normal(shape))))
        return scored(named)

    return make


def stands_above(finding: Finding) -> bool:
    """Whether the chosen rubric's interval against another lies above 0."""
    return any(row["figure"] == "difference" and (row["low"] or 0.0) > 0 for row in finding.rows)


def plain_differences(table: ScoreTable) -> bool:
    """The squared errors of two rubrics by paired t, each answer for itself; Bonferroni over pairs."""
    people, *judged = (values_of(table, key).ravel() for key in table.measures)
    errors = [(values - people) ** 2 for values in judged]
    pairs = list(combinations(errors, 2))
    level = stats.bonferroni_level(0.95, len(pairs))
    intervals = (stats.estimate_mean(a - b, np.arange(len(a)), level=level) for a, b in pairs)
    return any(one.low is not None and (one.low > 0 or one.high < 0) for one in intervals)


NULLS = {
    "rubrics": Null(
        study="rubrics",
        cells={
            "2 rubrics, 60 cases": versions(2, 60),
            "5 rubrics, 60 cases": versions(5, 60),
            "5 rubrics, 200 cases": versions(5, 200),
        },
        plain=plain_differences,
        named={"rubrics.best": stands_above},
    )
}
