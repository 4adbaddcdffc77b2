"""Estimators of one candidate on one criterion: its mean, its bad end, its pooled figure.

Each gives the same `Figures`: an estimate with its interval, what the scores that failed could make of it,
how much it rests on, and why a figure is null.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.bounded import NOTHING, Bounded, Filled, reasons
from vivavoce.studies.intervals import in_cases
from vivavoce.studies.item_means import ItemMeans
from vivavoce.studies.pooling import NO_FILLING, Counts, pooled_figure
from vivavoce.studies.score_table import NO_LIMIT, absent_sections, no_overall, weights_of
from vivavoce.studies.study import as_mapping
from vivavoce.studies.text import count

_NO_BOUNDS = stats.Bounds(None, None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """An estimate with what failed scores could make of it, what it rests on, and why a figure is null."""

    filled: Filled = NOTHING
    n_items: int = 0
    n_groups: int = 0
    effective_cases: float | None = None
    n_vetoed: int | None = None
    estimate_kind: str = "scores"
    n_labelled: int | None = None
    lambda_: float | None = None
    estimate_judge: float | None = None
    estimate_people: float | None = None
    reason: str | None = None

    @classmethod
    def of_rows(cls, rows: pl.DataFrame, reason: str | None = None, **columns: Any) -> "Figures":
        """The figures on these rows by item, without an estimate."""
        return cls(**{"n_items": rows.height, "n_groups": rows.n_unique("group"), "reason": reason} | columns)

    @property
    def estimate(self) -> float | None:
        """The estimate as observed."""
        return self.filled.observed.value

    def with_estimate(self, estimate: stats.Estimate | stats.Pooled) -> "Figures":
        """The figures with an estimate and the reason that it may have no interval."""
        filled, reason = (
            Filled(Bounded.from_figure(estimate)),
            reasons(self.reason, in_cases(estimate.reason)),
        )
        return replace(self, filled=filled, effective_cases=estimate.df + 1, reason=reason)

    def with_bounds(self, bounds: stats.Bounds | None, no_bound: str = NO_LIMIT) -> "Figures":
        """The figures with what failed scores could make of them; of null, where none failed, themselves.

        `no_bound` says why a side may have no bound.
        """
        if bounds is None:
            return replace(self, filled=Filled.complete(self.filled.observed))
        filled = Filled.from_bounds(self.filled.observed, bounds)
        return replace(
            self, filled=filled, reason=reasons(self.reason, None if filled.is_bounded else no_bound)
        )

    def with_reason(self, reason: str | None) -> "Figures":
        """The figures with one more reason."""
        return replace(self, reason=reasons(self.reason, reason))

    def columns(self) -> dict[str, Any]:
        """The columns of a row."""
        columns = as_mapping(self)
        del columns["filled"]
        return columns | self.filled.columns("estimate")


def mean_of(values: pl.DataFrame, criterion: Criterion, *, failed: bool, why_none: str) -> Figures:
    """The mean of one value per item (rows of `resolve`); `why_none` says why there may be none.

    `failed` says whether the two fillings differ from what was observed.
    """
    means, limits = ItemMeans(values), (criterion.low, criterion.high)
    rows = means.observed
    if not rows.height:
        figures = Figures.of_rows(rows, why_none)
    elif absent := absent_sections(rows):
        figures = Figures.of_rows(rows, no_overall(absent))
    else:
        figures = Figures.of_rows(rows).with_estimate(means.arrays().mean(*limits))
    return figures.with_bounds(means.bounds(*limits) if failed else None)


def worst_of(values: pl.DataFrame, criterion: Criterion, *, k: int, failed: bool) -> Figures:
    """The mean over items of the expected worst of `k` responses, from one value each (`by_repeat`).

    Items with fewer than `k` responses that count are left out, and the reason says how many.
    """
    if criterion.direction == "lower":
        return _turn_back(worst_of(_negated(values), _upward(criterion), k=k, failed=failed))
    name = pl.struct("item", "variant").rank("dense")  # a number: joined texts of two items may be one
    means, complete = ItemMeans(values.with_columns(name=name)), pl.len().over("name") >= k
    rows, n_items = means.observed.filter(complete), means.observed.n_unique("name")
    figures = Figures.of_rows(rows, n_items=rows.n_unique("name"))
    if rows.height:
        if figures.n_items < n_items:
            short = f"{n_items - figures.n_items} of {count(n_items, 'question')}"
            figures = figures.with_reason(f"{short} left out: fewer than {k} answers that count")
        values_of, names = rows["observed"].to_numpy(), rows["name"].to_numpy()
        limits: Any = {"weights": weights_of(rows), "low": criterion.low, "high": criterion.high}
        worst = stats.worst_at_k(values_of, names, groups=rows["group"].to_numpy(), k=k, **limits)
        figures = figures.with_estimate(worst)
    else:
        figures = figures.with_reason(f"no question has {k} answers that count")
    if not failed:
        return figures.with_bounds(None)
    # Counted again with failures filled in: they may bring an item up to k responses.
    filled = means.items.filter(pl.col("low").is_not_null()).filter(complete)
    if not filled.height:
        return figures.with_bounds(_NO_BOUNDS, no_bound=f"no question has {k} answers that count")
    return figures.with_bounds(_worst_bounds(ItemMeans(filled), criterion, k))


def _worst_bounds(filled: ItemMeans, criterion: Criterion, k: int) -> stats.Bounds:
    """The bounds of the expected worst of `k` from its values under the two fillings."""
    rows = filled.items
    names = rows["name"].to_numpy()
    worst, best = (
        stats.worst_of_k(rows[end].to_numpy(), names, k=k) if filled.has_end(end) else None
        for end in ("low", "high")
    )
    if worst is None and best is None:
        return _NO_BOUNDS
    # `worst_of_k` returns items in the order of sorted names, and so does `np.unique`.
    _, first = np.unique(names, return_index=True)
    groups, weights = rows["group"].to_numpy()[first], weights_of(rows)
    weights = None if weights is None else weights[first]
    return stats.bounds(worst, best, groups, weights=weights, low=criterion.low, high=criterion.high)


def tail_of(
    values: pl.DataFrame, criterion: Criterion, *, share: float, failed: bool, why_none: str
) -> Figures:
    """The mean of the worst `share` of the items, from one value per item (`resolve`).

    The sides of `bound_…` are the ends of the two fillings' own intervals.
    """
    if criterion.direction == "lower":
        upward = _upward(criterion)
        return _turn_back(tail_of(_negated(values), upward, share=share, failed=failed, why_none=why_none))

    def tail(rows: pl.DataFrame, column: str) -> stats.Estimate | None:
        if not rows.height or rows[column].is_nan().any():
            return None
        limits: Any = {"weights": weights_of(rows), "low": criterion.low, "high": criterion.high}
        return stats.lower_tail_mean(rows[column].to_numpy(), rows["group"].to_numpy(), share=share, **limits)

    observed = ItemMeans(values).observed
    estimate = tail(observed, "observed")
    figures = Figures.of_rows(observed)
    figures = figures.with_reason(why_none) if estimate is None else figures.with_estimate(estimate)
    if not failed:
        return figures.with_bounds(None)
    rows = values.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    # Each filling may put other items into the tail, so each needs an interval of its own.
    worst, best = (Bounded.from_figure(tail(rows, side)) for side in ("low", "high"))
    return figures.with_bounds(stats.Bounds(worst.value, best.value, worst.low, best.high))


def pooled_of(
    rows: pl.DataFrame | None, counted: Counts, criterion: Criterion, *, failed: bool, why_none: str
) -> Figures:
    """The pooled figure of a candidate's counts by item; without bounds where scores failed."""
    if rows is None:
        return Figures(reason=counted.reason)
    pooled = pooled_figure(rows, counted, criterion) if rows.height else why_none
    figures = Figures.of_rows(rows)
    figures = figures.with_reason(pooled) if isinstance(pooled, str) else figures.with_estimate(pooled)
    return figures.with_reason(NO_FILLING) if failed else figures.with_bounds(None)


def without_result(figures: Figures, reason: str) -> Figures:
    """The figures of a candidate of which no score is ok: only what failed scores could make of it stays."""
    _, lowest, highest = figures.filled
    # Silence that counts as worst has a mean, and no failed score could change it: that is no bound.
    if lowest.value is None or lowest.value == highest.value:
        return Figures(reason=reason)
    return Figures(reason=reason, filled=Filled(Bounded(), lowest, highest))


def _turn_back(figures: Figures) -> Figures:
    return replace(figures, filled=-figures.filled)


def _negated(values: pl.DataFrame) -> pl.DataFrame:
    """The values turned, so that higher is better where lower was."""
    return values.with_columns(observed=-pl.col("observed"), low=-pl.col("high"), high=-pl.col("low"))


def _upward(criterion: Criterion) -> Criterion:
    """The criterion of negated values."""
    ends = -Bounded(None, criterion.low, criterion.high)
    return replace(criterion, direction="higher", low=ends.low, high=ends.high)
