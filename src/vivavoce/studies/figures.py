"""Figures of rows with an interval by group, and how far raters agree: one way for every study."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.studies import LEAST_GROUPS
from vivavoce.studies.words import count

__all__ = [
    "COEFFICIENTS",
    "Floats",
    "Ratings",
    "Row",
    "by_coefficient",
    "by_jackknife",
    "by_mean",
    "ends",
    "less",
    "less_others",
    "too_few",
]

Row = dict[str, Any]
Floats = np.ndarray[Any, np.dtype[np.float64]]


def too_few(groups: Iterable[Any]) -> str | None:
    """Why nothing is said of so few groups; null where there are enough."""
    n = len(set(groups))
    return f"{count(n, 'case')}: too few to tell" if n < LEAST_GROUPS else None


def by_jackknife(
    statistic: Callable[[Any], float | None],
    groups: Any,
    *,
    scale: Any = "z",
    level: float = 0.95,
    undefined: str = "the marks do not vary",
) -> Row:
    """Value, interval and counts of a statistic of rows, each group left out in turn; null below 10 groups.

    `statistic` takes the positions of the rows to keep. `undefined` is the reason where it has no value.
    """
    n = {"n_units": len(groups), "n_groups": len(set(groups.tolist()))}
    if few := too_few(groups.tolist()):
        return {**n, "reason": few}
    found = stats.by_group_jackknife(statistic, groups, scale=scale, level=level)
    reason = undefined if found.value is None else None
    if found.value is not None and found.low is None:
        reason = "leaving a case out makes it undefined or perfect: no interval"
    return {
        **n,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "se": found.se,
        "reason": reason,
    }


def by_mean(values: Any, groups: Any, *, low: float | None = None, high: float | None = None) -> Row:
    """Mean, interval by group and counts, in the units of the values; null below 10 groups.

    The interval is Wilson's where the values have the two limits `low` and `high`, else t.
    """
    n = {"n_units": len(values), "n_groups": len(set(groups.tolist()))}
    if few := too_few(groups.tolist()):
        return {**n, "reason": few}
    mean = stats.estimate_mean(values, groups, low=low, high=high)
    return {**n, "value": mean.value, "low": mean.low, "high": mean.high, "se": mean.se}


class Ratings(NamedTuple):
    """Units by raters: the marks, where one is missing, and the kinds of marks there were to give.

    `missing` null says that none is, `kinds` null that there are no others than those that occur.
    """

    values: Floats
    missing: "np.ndarray[Any, np.dtype[np.bool_]] | None" = None
    kinds: Floats | None = None


COEFFICIENTS: Mapping[str, Callable[[Ratings], float | None]] = {
    "alpha_nominal": lambda r: stats.krippendorff_alpha(r.values, "nominal", missing=r.missing).value,
    "alpha_ordinal": lambda r: stats.krippendorff_alpha(r.values, "ordinal", missing=r.missing).value,
    "alpha_interval": lambda r: stats.krippendorff_alpha(r.values, "interval", missing=r.missing).value,
    "ac1": lambda r: stats.gwet_ac1(r.values, categories=r.kinds, missing=r.missing).value,
    "icc_a1": lambda r: stats.icc_a1(r.values, missing=r.missing).value,
    "quadratic_kappa": lambda r: stats.weighted_kappa(r.values).value,
    "pearson": lambda r: stats.pearson(r.values[:, 0], r.values[:, 1]),
    "percent": lambda r: stats.percent_agreement(r.values, missing=r.missing).value,
}
"""Agreement; and Pearson's r, which forgives any shift. That and kappa take two raters with all marks."""


def by_coefficient(
    name: str, values: Floats, groups: Any, missing: "np.ndarray[Any, np.dtype[np.bool_]] | None" = None
) -> Row:
    """One of `COEFFICIENTS` over units by raters, as `by_jackknife` gives it.

    The kinds of marks are those of the whole table, whichever case is left out of it.
    """
    how, kinds = COEFFICIENTS[name], np.unique(values if missing is None else values[~missing])

    def value(at: Any) -> float | None:
        return how(Ratings(values[at], None if missing is None else missing[at], kinds))

    return by_jackknife(value, groups, scale="raw" if name == "percent" else "z")


def less(a: float | None, b: float | None) -> float | None:
    """One figure less the other; null where either is."""
    return None if a is None or b is None else a - b


def less_others(values: Any, own: Any) -> float | None:
    """Mean of one's own values less that of all others; null where either has none."""
    if not own.any() or own.all():
        return None
    return float(values[own].mean() - values[~own].mean())


def ends(row: Mapping[str, Any], form: str = ".2f") -> str:
    """The interval of a row for a sentence, with a blank before it; nothing where there is none."""
    return "" if row["low"] is None else f" ({row['low']:{form}} to {row['high']:{form}})"
