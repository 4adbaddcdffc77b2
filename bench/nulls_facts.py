"""Nulls of `viva study RUN facts`: equal candidates and a checker kinder to one; a model at temperatures."""

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import polars as pl
from scipy.stats import ttest_ind

from false_alarms import Maker, Null, Rng
from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.score_table import ScoreTable

CRITERION = Criterion(criterion="supported", pool="unit", if_unanswered="set_aside")
CHECKER = Measure(
    metric="atomic_facts",
    signature="atomic_facts(checker=judge/m,splitter=judge/s)@1",
    rater="judge/m",
    criterion=CRITERION,
)
PERSON = Measure(
    metric="atomic_facts",
    signature="atomic_facts(checker=recorded(file=a.jsonl,rater=ann),splitter=recorded(file=a.jsonl))@1",
    rater="ann",
    criterion=CRITERION,
)
RIGHT = 0.8
"""The share of right facts of every candidate."""


def checked(n_cases: int, n_checked: int, kinder: float, n_facts: int = 5, n_candidates: int = 3) -> Maker:
    """Facts of equal candidates, by a checker on all cases and a person on some.

    The checker calls .9 of right facts right, and of wrong ones .3; of the first candidate `kinder` more of
    them. Planted: the last candidate is right in .5 of its facts.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        chances = np.full((n_candidates, 1), RIGHT)
        if planted:
            chances[-1] = 0.5
        of_cases = np.clip(chances + 0.15 * rng.standard_normal((n_candidates, n_cases)), 0, 1)
        truth = rng.random((n_candidates, n_cases, n_facts)) < of_cases[:, :, None]
        wrongly = np.full((n_candidates, 1, 1), 0.3)
        wrongly[0] += kinder
        said = rng.random(truth.shape) < np.where(truth, 0.9, wrongly)
        units = pl.concat([_facts(1, said), _facts(2, truth[:, :n_checked])])
        return ScoreTable(units.head(0), {}, units=units, unit_measures={1: CHECKER, 2: PERSON})

    return make


def heated(n_temperatures: int, n_cases: int, n_facts: int = 5) -> Maker:
    """Facts of one model that is as precise at every temperature; planted: less so at the hottest."""
    names = [f"m(temperature={k / 4:g})" for k in range(n_temperatures)]

    def make(rng: Rng, planted: bool) -> ScoreTable:
        chances = np.full((n_temperatures, 1), RIGHT)
        if planted:
            chances[-1] = 0.65
        of_cases = (
            chances + 0.15 * rng.standard_normal(n_cases) + 0.1 * rng.standard_normal((len(names), n_cases))
        )
        right = rng.random((*of_cases.shape, n_facts)) < np.clip(of_cases, 0, 1)[:, :, None]
        units = _facts(1, right, names)
        return ScoreTable(units.head(0), {}, units=units, unit_measures={1: CHECKER})

    return make


def plain_neighbours(table: ScoreTable) -> bool:
    """Welch's t of the facts of two neighbours, each fact for itself; Bonferroni."""
    by = [part["value"].to_numpy() for _, part in table.units.group_by("candidate", maintain_order=True)]
    p = [ttest_ind(a, b, equal_var=False).pvalue for a, b in pairwise(by)]
    return bool(min(p) * len(p) <= stats.ALPHA)


def _facts(key: int, right: np.ndarray, candidates: Sequence[str] | None = None) -> pl.DataFrame:
    candidate, case, fact = (x.ravel() for x in np.indices(right.shape))
    words = ["true" if r else "false" for r in right.ravel()]
    names = [f"q{k:03}" for k in case]
    return pl.DataFrame(
        {
            "measure_id": key,
            "benchmark": "simulated",
            "item": names,
            "variant": "",
            "group": names,
            "category": "",
            "candidate": [candidates[k] if candidates else f"c{k}" for k in candidate],
            "role": "candidate",
            "repeat": 1,
            "edit": "",
            "pass_no": 1,
            "unit": [str(k + 1) for k in fact],
            "text": [f"Fact {chr(65 + k)} holds." for k in fact],
            "unit_weight": 1.0,
            "value": right.ravel().astype(float),
            "status": "ok",
            "note": words,
        }
    )


def corrected(finding: Finding) -> list[tuple[float, float]]:
    """The intervals of the corrected precisions."""
    rows = [row for row in finding.rows if row["figure"] == "corrected_precision"]
    return [(row["low"], row["high"]) for row in rows if row["low"] is not None]


def stands_apart(finding: Finding) -> bool:
    """Whether the intervals of two candidates have nothing in common."""
    return any(max(a[0], b[0]) > min(a[1], b[1]) for a, b in combinations(corrected(finding), 2))


def plain_checker(table: ScoreTable) -> bool:
    """Whether intervals of the checker's own precisions, by case, have nothing in common."""
    rows = table.units.filter(measure_id=1)
    means = [
        stats.estimate_mean(part["value"].to_numpy(), part["group"].to_numpy(), low=0.0, high=1.0)
        for _, part in rows.group_by("candidate", maintain_order=True)
    ]
    return any(max(a.low, b.low) > min(a.high, b.high) for a, b in combinations(means, 2))


NULLS = {
    "facts": Null(
        study="facts",
        cells={
            "3 candidates, 60 cases, 30 checked, a checker kinder to one": checked(60, 30, 0.6),
            "3 candidates, 150 cases, 40 checked, a checker kinder to one": checked(150, 40, 0.6),
            "3 candidates, 100 cases, 30 checked, a fair checker": checked(100, 30, 0.0),
        },
        plain=plain_checker,
        named={"facts.corrected": stands_apart},
        planted=frozenset({"facts.corrected"}),
    ),
    "temperatures": Null(
        study="facts",
        cells={
            "3 temperatures, 60 cases": heated(3, 60),
            "5 temperatures, 60 cases": heated(5, 60),
            "2 temperatures, 20 cases": heated(2, 20),
        },
        plain=plain_neighbours,
    ),
}
