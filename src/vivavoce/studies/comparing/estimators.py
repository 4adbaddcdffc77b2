"""Estimators of one candidate on one criterion: its mean, its bad end, its pooled figure.

Each gives the same `Figures`: an estimate with its interval, what the scores that failed could make of it,
how much it rests on, and why a figure is null.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.intervals import in_cases
from vivavoce.studies.pooling import NO_FILLING, Counts, pooled_figure
from vivavoce.studies.score_table import (
    NO_LIMIT,
    absent_sections,
    no_overall,
    span,
    weighing_of,
    weights_of,
)
from vivavoce.studies.text import count

_NO_BOUNDS = stats.Bounds(None, None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """An estimate with its interval, what failed scores could make of it, and why a figure is null."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    set_low: float | None = None
    set_high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
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


def mean_of(values: pl.DataFrame, criterion: Criterion, *, failed: bool, why_none: str) -> Figures:
    """The mean of one value per item (rows of `resolve`); `why_none` says why there may be none.

    `failed` says whether the two fillings differ from what was observed.
    """
    low, high = criterion.low, criterion.high
    rows = values.filter(pl.col("observed").is_not_null())
    figures = Figures(n_items=rows.height, n_groups=rows.n_unique("group"))
    reasons = [] if rows.height else [why_none]
    if rows.height and (absent := absent_sections(rows)):
        reasons = [no_overall(absent)]
    elif rows.height:
        estimate = stats.estimate_mean(
            *(rows["observed"].to_numpy(), rows["group"].to_numpy()),
            **weighing_of(rows), low=low, high=high,
        )  # fmt: skip
        figures = _estimated(figures, estimate)
        reasons += _why_no_interval(estimate)
    if not failed:
        return with_no_failures(figures, reasons)
    return bounded(figures, span(values, low=low, high=high), reasons)


def worst_of(values: pl.DataFrame, criterion: Criterion, *, k: int, failed: bool) -> Figures:
    """The mean over items of the expected worst of `k` responses, from one value each (`by_repeat`).

    Items with fewer than `k` responses that count are left out, and the reason says how many.
    """
    name = pl.struct("item", "variant").rank("dense")  # a number: joined texts of two items may be one
    upward = _turn_upward(values.with_columns(name=name), criterion)
    complete = pl.len().over("name") >= k
    counted = upward.values.filter(pl.col("observed").is_not_null())
    rows, n_items = counted.filter(complete), counted.n_unique("name")
    figures = Figures(n_items=rows.n_unique("name"), n_groups=rows.n_unique("group"))
    reasons = []
    if rows.height:
        estimate = stats.worst_at_k(
            *(rows["observed"].to_numpy(), rows["name"].to_numpy()), groups=rows["group"].to_numpy(),
            k=k, weights=weights_of(rows), low=upward.low, high=upward.high,
        )  # fmt: skip
        figures = _estimated(figures, estimate)
        if figures.n_items < n_items:
            short = f"{n_items - figures.n_items} of {count(n_items, 'question')}"
            reasons.append(f"{short} left out: fewer than {k} answers that count")
        reasons += _why_no_interval(estimate)
    else:
        reasons.append(f"no question has {k} answers that count")
    if not failed:
        return upward.back(with_no_failures(figures, reasons))
    # Counted again with failures filled in: they may bring an item up to k responses.
    filled = upward.values.filter(pl.col("low").is_not_null()).filter(complete)
    if not filled.height:
        return upward.back(bounded(figures, _NO_BOUNDS, reasons, why=reasons[0]))
    return upward.back(bounded(figures, _worst_bounds(filled, upward, k), reasons))


def _worst_bounds(filled: pl.DataFrame, upward: "_Upward", k: int) -> stats.Bounds:
    """The bounds of the expected worst of `k` from its values under the two fillings."""
    names = filled["name"].to_numpy()
    worst, best = (
        None if filled[end].is_nan().any() else stats.worst_of_k(filled[end].to_numpy(), names, k=k)
        for end in ("low", "high")
    )
    if worst is None and best is None:
        return _NO_BOUNDS
    # `worst_of_k` returns items in the order of sorted names, and so does `np.unique`.
    _, first = np.unique(names, return_index=True)
    groups, weights = filled["group"].to_numpy()[first], weights_of(filled)
    return stats.bounds(
        *(worst, best, groups), weights=None if weights is None else weights[first],
        low=upward.low, high=upward.high,
    )  # fmt: skip


def tail_of(
    values: pl.DataFrame, criterion: Criterion, *, share: float, failed: bool, why_none: str
) -> Figures:
    """The mean of the worst `share` of the items, from one value per item (`resolve`).

    The sides of `bound_…` are the ends of the two fillings' own intervals.
    """
    upward = _turn_upward(values, criterion)
    observed = upward.values.filter(pl.col("observed").is_not_null())
    figures = Figures(n_items=observed.height, n_groups=observed.n_unique("group"))

    def tail(rows: pl.DataFrame, column: str) -> stats.Estimate | None:
        if not rows.height or rows[column].is_nan().any():
            return None
        return stats.lower_tail_mean(
            *(rows[column].to_numpy(), rows["group"].to_numpy()),
            share=share, weights=weights_of(rows), low=upward.low, high=upward.high,
        )  # fmt: skip

    estimate = tail(observed, "observed")
    reasons = [why_none] if estimate is None else []
    if estimate is not None:
        figures = _estimated(figures, estimate)
        reasons += _why_no_interval(estimate)
    if not failed:
        return upward.back(with_no_failures(figures, reasons))
    filled = upward.values.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    worst, best = tail(filled, "low"), tail(filled, "high")
    # Each filling may put other items into the tail, so each needs an interval of its own.
    bounds = stats.Bounds(worst and worst.value, best and best.value, worst and worst.low, best and best.high)
    return upward.back(bounded(figures, bounds, reasons))


def pooled_of(
    rows: pl.DataFrame | None, counted: Counts, criterion: Criterion, *, failed: bool, why_none: str
) -> Figures:
    """The pooled figure of a candidate's counts by item; without bounds where scores failed."""
    if rows is None:
        return Figures(reason=counted.reason)
    figures = Figures(n_items=rows.height, n_groups=rows.n_unique("group"))
    pooled = pooled_figure(rows, counted, criterion) if rows.height else why_none
    reasons = []
    if isinstance(pooled, str):
        reasons.append(pooled)
    else:
        figures = replace(
            figures,
            estimate=pooled.value,
            low=pooled.low,
            high=pooled.high,
            effective_cases=pooled.df + 1,
        )
        reasons += _why_no_interval(pooled)
    if failed:
        return replace(figures, reason="; ".join([*reasons, NO_FILLING]))
    return with_no_failures(figures, reasons)


def without_result(figures: Figures, reason: str) -> Figures:
    """The figures of a candidate of which no score is ok: only what failed scores could make of it stays."""
    empty = Figures(reason=reason)
    # Silence that counts as worst has a mean, and no failed score could change it: that is no bound.
    if figures.set_low is None or figures.set_low == figures.set_high:
        return empty
    names = ("set_low", "set_high", "bound_low", "bound_high")
    return replace(empty, **{name: getattr(figures, name) for name in names})


class _Upward(NamedTuple):
    """Values with their limits, so that higher is better: the sign is turned where lower was."""

    values: pl.DataFrame
    low: float | None
    high: float | None
    is_turned: bool

    def back(self, figures: Figures) -> Figures:
        """The figures in the criterion's own direction."""
        if not self.is_turned:
            return figures
        ends: dict[str, Any] = {
            name: _negated(getattr(figures, opposite)) for name, opposite in _OPPOSITE.items()
        }
        return replace(figures, **ends)


_OPPOSITE = {"estimate": "estimate", "low": "high", "high": "low", "set_low": "set_high",
             "set_high": "set_low", "bound_low": "bound_high", "bound_high": "bound_low"}  # fmt: skip


def _turn_upward(values: pl.DataFrame, criterion: Criterion) -> _Upward:
    if criterion.direction == "higher":
        return _Upward(values, criterion.low, criterion.high, is_turned=False)
    negated = values.with_columns(
        observed=-pl.col("observed"),
        low=-pl.col("high"),
        high=-pl.col("low"),
    )
    return _Upward(negated, _negated(criterion.high), _negated(criterion.low), is_turned=True)


def _negated(value: float | None) -> float | None:
    return None if value is None else -value


def _estimated(figures: Figures, estimate: stats.Estimate) -> Figures:
    return replace(
        figures,
        estimate=estimate.value,
        low=estimate.low,
        high=estimate.high,
        effective_cases=estimate.effective_groups,
    )


def _why_no_interval(figure: stats.Estimate | stats.Pooled) -> list[str]:
    reason = in_cases(figure.reason)
    return [reason] if reason else []


def with_no_failures(figures: Figures, reasons: Sequence[str]) -> Figures:
    """Nothing failed: the figures are their own bounds."""
    return replace(
        figures,
        set_low=figures.estimate,
        set_high=figures.estimate,
        bound_low=figures.low,
        bound_high=figures.high,
        reason="; ".join(reasons) or None,
    )


def bounded(figures: Figures, bounds: stats.Bounds, reasons: list[str], why: str = NO_LIMIT) -> Figures:
    """The figures with what the failed scores could make of them; `why` a side may have no bound."""
    if (bounds.set_low is None or bounds.set_high is None) and why not in reasons:
        reasons = [*reasons, why]
    return replace(
        figures,
        set_low=bounds.set_low,
        set_high=bounds.set_high,
        # Bounds use t, the headline Wilson. The wider end is taken, so that missing scores never narrow it.
        bound_low=_outer(min, bounds.bound_low, figures.low),
        bound_high=_outer(max, bounds.bound_high, figures.high),
        reason="; ".join(reasons) or None,
    )


def _outer(farther: Callable[[float, float], float], bound: float | None, end: float | None) -> float | None:
    """The bound, or the end of the interval where that lies farther out; null is no bound and stays so."""
    return bound if bound is None or end is None else farther(bound, end)
