"""Views of one criterion of one candidate: its mean, its bad end, its pooled figure.

Each gives the same figures: an estimate with its interval, what the marks that failed could make of it, how
much it rests on, and why a figure is null.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Criterion
from vivavoce.studies import NO_LIMIT, span, weights_of
from vivavoce.studies.pooling import NO_FILLING, Counts, figures
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["mean_of", "pooled_of", "tail_of", "worst_of"]

ONE_GROUP = "one group only: no interval"
_NO_BOUNDS = stats.Bounds(None, None, None, None)
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
        e = stats.estimate_mean(seen["observed"].to_numpy(), seen["group"].to_numpy(),
                                weights=weights_of(seen), low=low, high=high)  # fmt: skip
        row |= {"estimate": e.value, "low": e.low, "high": e.high}
        reasons += [ONE_GROUP] if e.low is None else []
    if not missing:
        return _whole(row, reasons)
    weights = values["weight"] if "weight" in values.columns else None
    found = span(values["low"], values["high"], values["group"], weights=weights, low=low, high=high)
    return _bounded(row, found, reasons)


def worst_of(answers: "pl.DataFrame", criterion: Criterion, *, k: int, missing: bool) -> dict[str, Any]:
    """The mean over items of the expected worst of `k` answers, from one value per answer (`by_repeat`).

    Items with fewer than `k` answers that count are left out, and the reason says how many.
    """
    import polars as pl

    name = pl.struct("item", "variant").rank("dense")  # a number: joined texts of two items may be one
    up = _upwards(answers.with_columns(name=name), criterion)
    enough = pl.len().over("name") >= k
    there = up.values.filter(pl.col("observed").is_not_null())
    seen, n = there.filter(enough), there.n_unique("name")
    row: dict[str, Any] = _BLANK | {"n_items": seen.n_unique("name"), "n_groups": seen.n_unique("group")}
    reasons = []
    if seen.height:
        e = stats.worst_at_k(seen["observed"].to_numpy(), seen["name"].to_numpy(),
                             groups=seen["group"].to_numpy(), k=k, weights=weights_of(seen),
                             low=up.low, high=up.high)  # fmt: skip
        row |= {"estimate": e.value, "low": e.low, "high": e.high}
        if row["n_items"] < n:
            short = f"{n - row['n_items']} of {count(n, 'question')}"
            reasons.append(f"{short} left out: fewer than {k} answers that count")
        reasons += [ONE_GROUP] if e.low is None else []
    else:
        reasons.append(f"no question has {k} answers that count")
    if not missing:
        return up.back(_whole(row, reasons))
    filled = up.values.filter(pl.col("low").is_not_null()).filter(enough)
    if not filled.height:
        return up.back(_bounded(row, _NO_BOUNDS, reasons, why=reasons[0]))
    names = filled["name"].to_numpy()
    worst, best = (
        None if filled[end].is_nan().any() else stats.worst_of_k(filled[end].to_numpy(), names, k=k)
        for end in ("low", "high")
    )
    if worst is None and best is None:
        return up.back(_bounded(row, _NO_BOUNDS, reasons))
    _, first = np.unique(names, return_index=True)
    groups, weights = filled["group"].to_numpy()[first], weights_of(filled)
    found = stats.bounds(worst, best, groups, weights=None if weights is None else weights[first],
                         low=up.low, high=up.high)  # fmt: skip
    return up.back(_bounded(row, found, reasons))


def tail_of(
    values: "pl.DataFrame", criterion: Criterion, *, share: float, missing: bool, nothing: str
) -> dict[str, Any]:
    """The mean of the worst `share` of the items, from one value per item (`resolve`).

    The sides of `bound_…` are the ends of the two fillings' own intervals.
    """
    import polars as pl

    up = _upwards(values, criterion)
    seen = up.values.filter(pl.col("observed").is_not_null())
    row: dict[str, Any] = _BLANK | {"n_items": seen.height, "n_groups": seen.n_unique("group")}

    def tail(rows: "pl.DataFrame", column: str) -> stats.Estimate | None:
        if not rows.height or rows[column].is_nan().any():
            return None
        return stats.lower_tail_mean(
            *(rows[column].to_numpy(), rows["group"].to_numpy()),
            share=share, weights=weights_of(rows), low=up.low, high=up.high,
        )  # fmt: skip

    e = tail(seen, "observed")
    reasons = [nothing] if e is None else []
    if e is not None:
        row |= {"estimate": e.value, "low": e.low, "high": e.high}
        if e.low is None:
            reasons.append("fewer than 2 groups in the tail: no interval")
    if not missing:
        return up.back(_whole(row, reasons))
    filled = up.values.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    worst, best = tail(filled, "low"), tail(filled, "high")
    found = stats.Bounds(worst and worst.value, best and best.value, worst and worst.low, best and best.high)
    return up.back(_bounded(row, found, reasons))


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
            reasons.append(_no_interval(found))
    if missing:
        return row | {"reason": "; ".join([*reasons, NO_FILLING])}
    return _whole(row, reasons)


def _no_interval(found: stats.Pooled) -> str:
    if found.n_undefined:
        return "no interval: undefined without one of its groups"
    return (
        ONE_GROUP if found.n_groups < 2 else "no interval: its upper end is above the largest number there is"
    )


class _Upwards(NamedTuple):
    """Values with their limits, so that higher is better: the sign is turned where lower was."""

    values: "pl.DataFrame"
    low: float | None
    high: float | None
    turned: bool

    def back(self, row: dict[str, Any]) -> dict[str, Any]:
        """The figures in the criterion's own direction."""
        if not self.turned:
            return row
        return row | {name: _minus(row[other]) for name, other in _OPPOSITE.items()}


_OPPOSITE = {"estimate": "estimate", "low": "high", "high": "low", "set_low": "set_high",
             "set_high": "set_low", "bound_low": "bound_high", "bound_high": "bound_low"}  # fmt: skip


def _upwards(values: "pl.DataFrame", criterion: Criterion) -> _Upwards:
    import polars as pl

    low, high = criterion.low, criterion.high
    if criterion.direction == "higher":
        return _Upwards(values, low, high, turned=False)
    columns = {name: -pl.col(other) for name, other in (("observed",) * 2, ("low", "high"), ("high", "low"))}
    return _Upwards(values.with_columns(**columns), _minus(high), _minus(low), turned=True)


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


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
    # The headline's interval is Wilson's and these are t: what is missing must not seem to add certainty.
    ends = {
        "bound_low": _outer(min, found.bound_low, row["low"]),
        "bound_high": _outer(max, found.bound_high, row["high"]),
    }
    return row | found._asdict() | ends | {"reason": "; ".join(reasons) or None}


def _outer(farther: Callable[[float, float], float], bound: float | None, end: float | None) -> float | None:
    """The bound, or the end of the interval where that lies farther out; null is no bound and stays so."""
    return bound if bound is None or end is None else farther(bound, end)
