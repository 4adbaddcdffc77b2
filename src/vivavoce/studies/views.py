"""Views of one criterion of one candidate: its mean, its bad end, its pooled figure.

Each gives the same figures: an estimate with its interval, what the marks that failed could make of it, how
much it rests on, and why a figure is null.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Criterion
from vivavoce.studies import NO_LIMIT, span
from vivavoce.studies.pooling import NO_FILLING, Counts, figures
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["mean_of", "pooled_of", "tail_of", "worst_of"]

ONE_GROUP = "one group only: no interval"
_BLANK = dict.fromkeys(
    ("estimate", "low", "high", "set_low", "set_high", "bound_low", "bound_high", "n_items", "n_groups")
)


def mean_of(values: "pl.DataFrame", criterion: Criterion, *, missing: bool, nothing: str) -> dict[str, Any]:
    """The mean of one value per item (rows of `resolve`); `nothing` says why there may be none.

    `missing` says whether the two fillings differ from what was seen.
    """
    import polars as pl

    low, high = criterion.low, criterion.high
    seen = values.filter(pl.col("observed").is_not_null())
    row: dict[str, Any] = _BLANK | {"n_items": seen.height, "n_groups": seen.n_unique("group")}
    reasons = [] if seen.height else [nothing]
    if seen.height:
        e = stats.estimate_mean(seen["observed"].to_numpy(), seen["group"].to_numpy(), low=low, high=high)
        row |= {"estimate": e.value, "low": e.low, "high": e.high}
        reasons += [ONE_GROUP] if e.low is None else []
    if not missing:
        return _whole(row, reasons)
    found = span(values["low"], values["high"], values["group"], low=low, high=high)
    return _bounded(row, found, reasons)


def worst_of(answers: "pl.DataFrame", criterion: Criterion, *, k: int, missing: bool) -> dict[str, Any]:
    """The mean over items of the expected worst of `k` answers, from one value per answer (`by_repeat`).

    Items with fewer than `k` answers that count are left out, and the reason says how many.
    """
    import polars as pl

    names = answers.select(pl.concat_str("item", "variant", separator="\n")).to_series().alias("name")
    sign, (low, high) = _turned(criterion)
    near, far = ("low", "high") if sign > 0 else ("high", "low")

    def enough(column: str) -> "tuple[pl.DataFrame, int]":
        there = answers.with_columns(names).filter(pl.col(column).is_not_null())
        return there.filter(pl.len().over("name") >= k), there.n_unique("name")

    seen, n = enough("observed")
    row: dict[str, Any] = _BLANK | {"n_items": seen.n_unique("name"), "n_groups": seen.n_unique("group")}
    reasons = []
    if seen.height:
        e = stats.worst_at_k(seen["observed"].to_numpy() * sign, seen["name"].to_numpy(),
                             groups=seen["group"].to_numpy(), k=k, low=low, high=high)  # fmt: skip
        row |= {"estimate": e.value * sign} | _ends(e.low, e.high, sign, "low", "high")
        if row["n_items"] < n:
            short = f"{n - row['n_items']} of {count(n, 'question')}"
            reasons.append(f"{short} left out: fewer than {k} answers that count")
        reasons += [ONE_GROUP] if e.low is None else []
    else:
        reasons.append(f"no question has {k} answers that count")
    if not missing:
        return _whole(row, reasons)
    filled, _ = enough("low")
    if not filled.height:
        return _bounded(row, stats.Bounds(None, None, None, None), reasons, why=reasons[0])
    _, first = np.unique(filled["name"].to_numpy(), return_index=True)

    def worst(column: str) -> "np.ndarray[Any, np.dtype[np.float64]] | None":
        if filled[column].is_nan().any():
            return None
        return stats.worst_of_k(filled[column].to_numpy() * sign, filled["name"].to_numpy(), k=k)

    found = stats.Bounds(None, None, None, None)
    ends = worst(near), worst(far)
    if ends[0] is not None or ends[1] is not None:
        groups = filled["group"].to_numpy()[first]
        found = stats.bounds(ends[0], ends[1], groups, low=low, high=high)
    return _bounded(row, _back(found, sign), reasons)


def tail_of(
    values: "pl.DataFrame", criterion: Criterion, *, share: float, missing: bool, nothing: str
) -> dict[str, Any]:
    """The mean of the worst `share` of the items, from one value per item (`resolve`).

    The sides of `bound_…` are the ends of the two fillings' own intervals.
    """
    import polars as pl

    sign, (low, high) = _turned(criterion)
    near, far = ("low", "high") if sign > 0 else ("high", "low")
    seen = values.filter(pl.col("observed").is_not_null())
    row: dict[str, Any] = _BLANK | {"n_items": seen.height, "n_groups": seen.n_unique("group")}

    def tail(rows: "pl.DataFrame", column: str) -> stats.Estimate | None:
        if not rows.height or rows[column].is_nan().any():
            return None
        return stats.lower_tail_mean(
            rows[column].to_numpy() * sign, rows["group"].to_numpy(), share=share, low=low, high=high
        )

    e = tail(seen, "observed")
    reasons = [nothing] if e is None else []
    if e is not None:
        row |= {"estimate": e.value * sign} | _ends(e.low, e.high, sign, "low", "high")
        if e.low is None:
            reasons.append("fewer than 2 groups in the tail: no interval")
    if not missing:
        return _whole(row, reasons)
    filled = values.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    worst, best = tail(filled, near), tail(filled, far)
    found = stats.Bounds(worst and worst.value, best and best.value, worst and worst.low, best and best.high)
    return _bounded(row, _back(found, sign), reasons)


def pooled_of(
    own: "pl.DataFrame | None", counted: Counts, criterion: Criterion, *, missing: bool, nothing: str
) -> dict[str, Any]:
    """The pooled figure of a candidate's counts by item; without bounds where marks failed."""
    row: dict[str, Any] = dict(_BLANK)
    if own is None:
        return row | {"n_items": 0, "n_groups": 0, "reason": counted.reason}
    row |= {"n_items": own.height, "n_groups": own.n_unique("group")}
    found = figures(own, counted, criterion) if own.height else nothing
    reasons = []
    if isinstance(found, str):
        reasons.append(found)
    else:
        row |= {"estimate": found.value, "low": found.low, "high": found.high}
        if found.low is None:
            reasons.append(
                "no interval: undefined without one of its groups" if found.n_undefined else ONE_GROUP
            )
    if missing:
        return row | {"reason": "; ".join([*reasons, NO_FILLING])}
    return _whole(row, reasons)


def _turned(criterion: Criterion) -> tuple[int, tuple[float | None, float | None]]:
    """The sign that makes higher better, and the limits after it."""
    low, high = criterion.low, criterion.high
    if criterion.direction == "higher":
        return 1, (low, high)
    return -1, (None if high is None else -high, None if low is None else -low)


def _ends(low: float | None, high: float | None, sign: int, *names: str) -> dict[str, float | None]:
    """An interval turned back into the criterion's own direction."""
    if sign < 0:
        low, high = (None if high is None else -high), (None if low is None else -low)
    return dict(zip(names, (low, high), strict=True))


def _back(found: stats.Bounds, sign: int) -> stats.Bounds:
    ends = _ends(*found[:2], sign, "set_low", "set_high") | _ends(*found[2:], sign, "bound_low", "bound_high")
    return stats.Bounds(**ends)


def _whole(row: dict[str, Any], reasons: list[str]) -> dict[str, Any]:
    """Nothing failed: the figures are their own bounds."""
    ends = {"set_low": row["estimate"], "set_high": row["estimate"],
            "bound_low": row["low"], "bound_high": row["high"]}  # fmt: skip
    return row | ends | {"reason": "; ".join(reasons) or None}


def _bounded(
    row: dict[str, Any], found: stats.Bounds, reasons: list[str], why: str = NO_LIMIT
) -> dict[str, Any]:
    if (found.set_low is None or found.set_high is None) and why not in reasons:
        reasons = [*reasons, why]
    return row | found._asdict() | {"reason": "; ".join(reasons) or None}
