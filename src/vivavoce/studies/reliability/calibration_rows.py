"""Rows of calibration, and what a promise over all categories keeps in each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.studies.bounded import Bounded
from vivavoce.studies.intervals import in_cases
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.study import MeasureRow

CATEGORY = NamingSentence(
    code="calibration.category",
    templates=(
        "The promise does not hold in {category}: {share} % of the {n} answers of {candidate} that stand "
        "there are wrong (p = {p}, Holm over {tests}).",
    ),
    names=("candidate", "category"),
    family="all categories, candidates and kinds of confidence of the call that have a threshold",
    correction="Holm",
    null="promises",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRow(MeasureRow):
    """One figure of one candidate by one kind of confidence; in a category, or with '' over all.

    The measure is that of correctness. Rows of `bin` have the share right as their value beside the mean
    `confidence`; rows of `curve` the risk beside the least `confidence` that is answered and the `coverage`.
    """

    candidate: str
    of: str
    category: str
    figure: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    coverage: float | None = None
    n: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    effective_cases: float | None = None
    n_without_confidence: int | None = None
    n_failed: int | None = None
    risk: float | None = None
    level: float | None = None
    n_needed: int | None = None
    p_adjusted: float | None = None
    reason: str | None = None


def arrays_of(rows: pl.DataFrame) -> tuple[Any, Any, Any]:
    """Confidence, right or wrong, and case of each answer."""
    return rows["confidence"].to_numpy(), rows["correct"].to_numpy(), rows["group"].to_numpy()


def mean_row(row: CalibrationRow, figure: str, answers: pl.DataFrame, values: pl.Series) -> CalibrationRow:
    """A mean of one value per answer with its interval by case, as a row of that figure."""
    mean = stats.estimate_mean(
        values.to_numpy(),
        answers["group"].to_numpy(),
        weights=answers["weight"].to_numpy(),
        low=0.0,
        high=1.0,
    )
    ends = Bounded.from_figure(mean).columns()
    return replace(row, figure=figure, **ends, reason=in_cases(mean.reason))


def errors_at_threshold(
    answers: pl.DataFrame, row: CalibrationRow, promise: CalibrationRow
) -> Iterator[CalibrationRow]:
    """Errors in a category among the answers that the threshold over all categories lets stand.

    `p_adjusted` is not adjusted yet.
    """
    least = (promise.value or 0.0) - 1e-9
    standing = answers.filter(~pl.col("failed") & (pl.col("confidence") >= least))
    if not standing.height:
        return
    _, correct, groups = arrays_of(standing)
    p = stats.risk_above(correct, groups, risk=promise.risk or 0.0, weights=standing["weight"])
    errors = mean_row(row, "errors_at_threshold", standing, 1 - standing["correct"])
    yield replace(
        errors,
        confidence=promise.value,
        n=standing.height,
        n_items=standing.select("item", "variant").n_unique(),
        n_groups=standing["group"].n_unique(),
        risk=promise.risk,
        level=promise.level,
        p_adjusted=p,
    )


def adjusted_rows(rows: Sequence[CalibrationRow]) -> list[CalibrationRow]:
    """The rows with the p of all that test one figure adjusted together."""
    tested = [row for row in rows if row.p_adjusted is not None]
    by_figure = {
        figure: iter(stats.holm([row.p_adjusted or 0.0 for row in tested if row.figure == figure]).tolist())
        for figure in {row.figure for row in tested}
    }
    return [
        row if row.p_adjusted is None else replace(row, p_adjusted=next(by_figure[row.figure]))
        for row in rows
    ]


def broken_promise(rows: Sequence[CalibrationRow], n_tests: int) -> Iterator[str]:
    """The category in which the promise is broken most surely; none where no test shows one."""
    worst = min(rows, key=lambda row: row.p_adjusted or 0.0, default=None)
    if worst is None or worst.p_adjusted is None or worst.p_adjusted > stats.ALPHA:
        return
    yield CATEGORY.text(
        category=worst.category,
        share=printed(100 * (worst.value or 0.0), ".0f"),
        n=f"{worst.n:,}",
        candidate=worst.candidate,
        p=f"{worst.p_adjusted:.2g}",
        tests="1 category" if n_tests == 1 else f"{n_tests} categories",
    )
