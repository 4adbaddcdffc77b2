"""A row of the correlation study, and what rows within a benchmark and over benchmarks are made by alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from vivavoce import stats
from vivavoce.studies.score_matrix import ScoreMatrix

Coefficient = Literal["kendall", "spearman", "pearson"]
LEAST_CANDIDATES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationRow:
    """One coefficient of two measures at one level."""

    benchmark: str
    a: str
    b: str
    level: str
    coefficient: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    n: int | None = None
    n_candidates: int
    n_items: int
    n_groups: int
    same_order: int | None = None
    n_pairs: int | None = None
    told_apart_alike: int | None = None
    told_apart: int | None = None
    by_construction: bool
    turned: str
    cluster_support: float | None = None
    value_halves: float | None = None
    a_told_apart: int | None = None
    b_told_apart: int | None = None
    reason: str | None = None
    contrast: str = "measures"
    a_benchmark: str = ""
    b_benchmark: str = ""
    a_items: int | None = None
    b_items: int | None = None
    subset: str = ""
    loo_low: float | None = None
    loo_high: float | None = None
    n_families: int | None = None
    loo_family_low: float | None = None
    loo_family_high: float | None = None
    left_out: str = ""


def is_higher_better(matrix: ScoreMatrix) -> bool:
    """Whether the criterion of a matrix says that higher is better."""
    return matrix.measure.criterion.direction == "higher"


def without_each(row: CorrelationRow, means: Sequence[Any], families: Sequence[str]) -> CorrelationRow:
    """With the range of the coefficient without each candidate, and without each family."""
    if row.value is None:
        return row
    coefficient: Any = row.coefficient
    single = stats.leave_one_out(*means, coefficient=coefficient)
    by_family = stats.leave_one_out(*means, coefficient=coefficient, families=families)
    row = replace(row, loo_low=single.low, loo_high=single.high, n_families=by_family.n)
    if by_family.n in (1, single.n):  # all are one family, or each is its own
        return row
    return replace(row, loo_family_low=by_family.low, loo_family_high=by_family.high)
