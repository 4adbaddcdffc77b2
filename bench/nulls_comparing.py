"""Nulls of studies that compare candidates: profiles over categories, ranks, kinder judges and examiners."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from scipy.special import ndtri
from scipy.stats import f_oneway, fisher_exact, ttest_rel

from coverage_studies import of_scale
from false_alarms import Maker, Null, Rng
from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.score_matrix import grids
from vivavoce.studies.score_table import ScoreTable

Draw = Callable[[Rng, tuple[int, int]], np.ndarray]
"""Scores of candidates on items, by shape (K, n)."""


def candidate_table(
    values: np.ndarray, *, categories: np.ndarray | None = None, measure: Measure | None = None
) -> ScoreTable:
    """One metric's scores, (K, n), of candidates c0, c1 … on items that are each a case of their own."""
    n_candidates, n = values.shape
    items = np.arange(n)
    names = np.full(n, "") if categories is None else categories
    frame = pl.DataFrame(
        {
            "measure_id": np.ones(values.size, dtype=np.int64),
            "benchmark": "simulated",
            "item": np.tile([f"q{i:04}" for i in items], n_candidates),
            "variant": "",
            "group": np.tile([f"g{i:04}" for i in items], n_candidates),
            "category": np.tile(names.astype(str), n_candidates),
            "candidate": np.repeat([f"c{k}" for k in range(n_candidates)], n),
            "role": "candidate",
            "repeat": 1,
            "edit": "",
            "pass_no": 1,
            "unit": "",
            "ballot": "",
            "value": values.ravel().astype(float),
            "status": "ok",
        }
    )
    return ScoreTable(frame, {1: measure or of_scale("yes/no .5")})


def yes_no(p: float | np.ndarray) -> Draw:
    """Right or wrong, with a chance of each item; candidates resemble each other on an item."""

    def draw(rng: Rng, shape: tuple[int, int]) -> np.ndarray:
        z = np.sqrt(0.4) * rng.standard_normal(shape[1]) + np.sqrt(0.6) * rng.standard_normal(shape)
        return (z > ndtri(1 - p)).astype(float)

    return draw


def grades(rng: Rng, shape: tuple[int, int]) -> np.ndarray:
    """Scores of 0 to 5 around 3."""
    z = np.sqrt(0.4) * rng.standard_normal(shape[1]) + np.sqrt(0.6) * rng.standard_normal(shape)
    return np.clip(np.round(3 + 1.2 * z), 0, 5)


GRADES = Measure(
    metric="grade", signature="grade()@1", criterion=Criterion(criterion="grade", low=0.0, high=5.0)
)
YES_NO = Measure(
    metric="right", signature="right()@1", criterion=Criterion(criterion="right", low=0.0, high=1.0)
)


def profiles(draw: Draw, measure: Measure, n_candidates: int, sizes: Sequence[int]) -> Maker:
    """Candidates of one profile; planted: the first fails in three fifths of a quarter of the categories."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        values = draw(rng, (n_candidates, sum(sizes)))
        kinds = np.repeat(np.arange(len(sizes)), sizes)
        if planted:
            hit = (kinds < max(1, len(sizes) // 4)) & (rng.random(len(kinds)) < 0.6)
            values[0, hit] = 0.0
        names = np.array([f"kind {k:02}" for k in kinds])
        return candidate_table(values, categories=names, measure=measure)

    return make


def plain_profiles(table: ScoreTable) -> bool:
    """One-way analysis of variance of each candidate's profile, Holm over candidates."""
    (matrix,) = grids(table.scores, table.measures)
    centred = matrix.values - matrix.values.mean(axis=0)
    kinds = sorted(set(matrix.categories.tolist()))
    p = [f_oneway(*(row[matrix.categories == kind] for kind in kinds)).pvalue for row in centred]
    return bool((stats.holm(np.nan_to_num(p, nan=1.0)) <= stats.ALPHA).any())


def small(n_candidates: int, n: int, sizes: Sequence[int]) -> Maker:
    """A large category and small ones; planted: the first candidate fails all of the first small one."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        values = yes_no(0.8)(rng, (n_candidates, n + sum(sizes)))
        kinds = np.repeat(np.arange(len(sizes) + 1), [n, *sizes])
        if planted:
            values[0, kinds == 1] = 0.0
        return candidate_table(values, categories=np.array([f"kind {k:02}" for k in kinds]), measure=YES_NO)

    return make


def plain_small(table: ScoreTable) -> bool:
    """Fisher's exact test of each small category, one-sided, Bonferroni over all of them."""
    (matrix,) = grids(table.scores, table.measures)
    kinds = sorted(set(matrix.categories.tolist()))[1:]
    p = []
    for row in matrix.values:
        for kind in kinds:
            part = matrix.categories == kind
            counts = [[row[s].sum(), (1 - row[s]).sum()] for s in (part, ~part)]
            p.append(fisher_exact(counts, alternative="less").pvalue)
    return bool(min(p) * len(p) <= stats.ALPHA)


def ranked(draw: Draw, measure: Measure, n_candidates: int, n: int, worse: float) -> Maker:
    """Candidates of one distribution; planted: the last loses all in this share of the items."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        values = draw(rng, (n_candidates, n))
        if planted:
            values[-1, rng.random(n) < worse] = 0.0
        return candidate_table(values, measure=measure)

    return make


def rare_failures(rng: Rng, shape: tuple[int, int]) -> np.ndarray:
    """Nearly always 5; a whole failure in 3 % of answers, which no two candidates share."""
    return np.where(rng.random(shape) < 0.03, 0.0, 5.0)


def rare_losses(n_candidates: int, n: int, share: float) -> Maker:
    """The first candidate gains a little everywhere and loses all in this share of items: means are equal.

    Planted: the last loses all in a third of the items.
    """

    def make(rng: Rng, planted: bool) -> ScoreTable:
        z = 0.1 * rng.standard_normal(n) + 0.05 * rng.standard_normal((n_candidates, n))
        values = 5 * np.clip(0.7 + z, 0, 1)
        values[0] = np.where(rng.random(n) < share, 0.0, values[0] + 3.5 * share / (1 - share))
        if planted:
            values[-1, rng.random(n) < 1 / 3] = 0.0
        return candidate_table(values, measure=GRADES)

    return make


def apart_without_doubt(finding: Finding) -> bool:
    """Whether more pairs are told apart than whole losses that were not seen could undo."""
    n_doubtful = sum(row["n_doubtful"] or 0 for row in finding.rows) / 2
    return bool(finding.rows and (finding.rows[0]["n_shown"] or 0) > n_doubtful)


def first_without_doubt(finding: Finding) -> bool:
    """Whether a candidate is alone in first place, and no whole loss that was not seen could undo it."""
    return "alone in first place" in finding.headline and "could be undone" not in finding.headline


def plain_ranks(table: ScoreTable) -> bool:
    """Paired t of every pair, Holm."""
    (matrix,) = grids(table.scores, table.measures)
    k = len(matrix.values)
    p = [ttest_rel(matrix.values[i], matrix.values[j]).pvalue for i in range(k) for j in range(i + 1, k)]
    return bool((stats.holm(np.nan_to_num(p, nan=1.0)) <= stats.ALPHA).any())


NULLS = {
    "gaps": Null(
        "gaps",
        {
            "5 candidates, 21 categories of 12, yes/no": profiles(yes_no(0.7), YES_NO, 5, [12] * 21),
            "5 candidates, 21 categories of 12, grades": profiles(grades, GRADES, 5, [12] * 21),
            "5 candidates, 21 categories of 12, yes/no .4 to .95": profiles(
                yes_no(np.repeat(np.linspace(0.4, 0.95, 21), 12)), YES_NO, 5, [12] * 21
            ),
            "3 candidates, 4 categories of 30, yes/no": profiles(yes_no(0.7), YES_NO, 3, [30] * 4),
            "2 candidates, categories of 100, 40, 12, yes/no .9": profiles(
                yes_no(0.9), YES_NO, 2, [100, 40, 12]
            ),
        },
        plain=plain_profiles,
    ),
    "small categories": Null(
        "gaps",
        {
            "3 candidates, 94 and 6, yes/no .8": small(3, 94, [6]),
            "3 candidates, 60 and six of 5, yes/no .8": small(3, 60, [5] * 6),
        },
        plain=plain_small,
    ),
    "ranking": Null(
        "ranking",
        {
            "4 candidates, 60 grades": ranked(grades, GRADES, 4, 60, 0.3),
            "6 candidates, 100 yes/no": ranked(yes_no(0.7), YES_NO, 6, 100, 0.3),
            "4 candidates, 60, whole failures in 3 %": ranked(rare_failures, GRADES, 4, 60, 0.2),
            "4 candidates, 20, whole failures in 3 %": ranked(rare_failures, GRADES, 4, 20, 0.4),
            "2 candidates, 40, of one whole losses in 5 %": rare_losses(2, 40, 0.05),
            "4 candidates, 60, of one whole losses in 3 %": rare_losses(4, 60, 0.03),
        },
        plain=plain_ranks,
        named={"ranking.apart": apart_without_doubt, "ranking.first": first_without_doubt},
        planted=frozenset({"ranking.apart"}),
    ),
}
