"""Figures of rows with an interval by group, and how far raters agree: one way for every study."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from vivavoce import stats
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.text import cases, count

Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


class Estimate(NamedTuple):
    """A figure with its interval by group and what it rests on; a null value has a reason."""

    n_units: int
    n_groups: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    reason: str | None = None

    def columns(self) -> dict[str, Any]:
        """The columns of a row; what `n_units` counts stands in a column of another name."""
        return {name: value for name, value in self._asdict().items() if name != "n_units"}


def too_few(groups: Any) -> str | None:
    """Why so few groups give no figure; null where there are 10 effective ones. One label per unit."""
    n = len(set(np.asarray(groups).tolist()))
    effective = stats.effective_groups(groups) if n else 0.0
    return None if stats.enough_groups(effective) else f"{cases(n, effective)}: too few to tell"


NO_T = f"no interval: too few cases differ for one at this level, at least {LEAST_DIFFERENT} at 95 %"
ALIKE = "no interval: all cases differ alike, and nothing tells how the next would"
FLIPPED = "too few cases for an interval at this level: p is from a sign-flip permutation test"
NO_ENDS = {
    "swap": "too few effective cases for an interval: p is from a permutation test by swaps of answers"
}
"""Why a test without a standard error has no interval, by `Paired.test`; else `FLIPPED`."""
NO_JACKKNIFE = "leaving a case out makes it undefined or perfect: no interval"


def by_jackknife(
    statistic: Callable[[Any], float | None],
    groups: Any,
    *,
    scale: Any = "z",
    level: float = 0.95,
    undefined: str = "the scores do not vary",
) -> Estimate:
    """A statistic of rows with its interval, each group left out in turn; null below 10 groups.

    `statistic` takes the positions of the rows to keep. `undefined` is the reason where it has no value.
    """
    n = len(groups), len(set(groups.tolist()))
    if few := too_few(groups):
        return Estimate(*n, reason=few)
    return _estimate(n, stats.by_group_jackknife(statistic, groups, scale=scale, level=level), undefined)


def _estimate(n: tuple[int, int], figure: stats.Jackknife, undefined: str) -> Estimate:
    """A figure over `n` units and groups; `undefined` is the reason where it has no value."""
    reason = undefined if figure.value is None else None
    if figure.value is not None and figure.low is None:
        reason = NO_JACKKNIFE
    return Estimate(*n, figure.value, figure.low, figure.high, figure.se, reason)


def in_cases(reason: str | None) -> str | None:
    """A reason of the statistics in the words of studies, whose groups are cases."""
    return reason and reason.replace("group", "case")


def by_mean(
    values: Any, groups: Any, *, low: float | None = None, high: float | None = None, weights: Any = None
) -> Estimate:
    """The mean with its interval by group, in the units of the values; null below 10 groups.

    The interval is Wilson's where the values have the two limits `low` and `high`, else t.
    """
    n = len(values), len(set(groups.tolist()))
    if few := too_few(groups):
        return Estimate(*n, reason=few)
    mean = stats.estimate_mean(values, groups, low=low, high=high, weights=weights)
    return Estimate(*n, mean.value, mean.low, mean.high, mean.se, in_cases(mean.reason))


def by_ratio(
    numerators: Any,
    denominators: Any,
    groups: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    weights: Any = None,
) -> Estimate:
    """A sum over a sum with its interval by group; null where what is below lies in under 10 groups."""
    n = len(numerators), len(set(groups.tolist()))
    if few := too_few(groups):
        return Estimate(*n, reason=few)
    figure = stats.ratio(numerators, denominators, groups=groups, low=low, high=high, weights=weights)
    # A few cases may hold most of what is divided by: they alone then make the figure.
    if figure.value is not None and not stats.enough_groups(figure.df + 1):
        return Estimate(*n, reason=f"{cases(n[1], figure.df + 1)}: too few to tell")
    return Estimate(*n, figure.value, figure.low, figure.high, figure.se, in_cases(figure.reason))


def by_difference(differences: Any, groups: Any) -> Estimate:
    """The mean of paired differences and its interval, as `compare` has them; null below 10 groups."""
    n = len(differences), len(set(groups.tolist()))
    if few := too_few(groups):
        return Estimate(*n, reason=few)
    paired = stats.paired(differences, groups)
    low, high = paired.interval() or (None, None)
    reason = None if low is not None else NO_T if paired.se else ALIKE
    return Estimate(*n, paired.difference, low, high, paired.se, reason)


class Tested(Protocol):
    """A row that may hold a test."""

    @property
    def p(self) -> float | None:
        """Of its test alone."""


_Row = TypeVar("_Row", bound=Tested)


class FamilyEstimate(NamedTuple):
    """One of several figures that are tested together: p by Holm, and an interval that holds for all of them.

    The interval is at Bonferroni's level; where p is at most .05 it ends at 0 at worst. Null without any.
    """

    estimate: Estimate
    p: float | None = None
    low: float | None = None
    high: float | None = None


def by_differences(
    parts: Sequence[tuple[Any, Any]], exact: Sequence[float] | None = None
) -> list[FamilyEstimate]:
    """Each part's differences and groups as `by_difference` has them, and what holds for all parts together.

    Parts of fewer than 10 groups have no figure and are not in the family. `exact` are p values of parts that
    take items for independent: they take the place of a part's own where its items are cases of their own,
    and elsewhere p is the larger of both.
    """
    figures = [FamilyEstimate(by_difference(differences, groups)) for differences, groups in parts]
    tests = {k: stats.paired(*part) for k, part in enumerate(parts) if not too_few(part[1])}
    p_values = [test.p if exact is None else _exact_p(test, exact[k]) for k, test in tests.items()]
    for (k, test), p in zip(tests.items(), stats.holm(p_values).tolist(), strict=True):
        ends = test.interval(level=stats.bonferroni_level(0.95, len(tests)))
        low, high = (None, None) if ends is None else _as_p_says(ends, test.difference, p)
        figures[k] = figures[k]._replace(p=p, low=low, high=high)
    return figures


def _exact_p(test: stats.Paired, exact: float) -> float:
    """A p that takes items for independent, at least that by case where cases hold several."""
    return exact if test.n_groups == test.n_items else max(test.p, exact)


def _as_p_says(ends: stats.Interval, difference: float, p: float) -> tuple[float, float]:
    """The interval with 0 inside, or with 0 at its end: Holm, or an exact p, may show more than its level."""
    if p > stats.ALPHA:
        return min(ends.low, 0.0), max(ends.high, 0.0)
    return (max(ends.low, 0.0), ends.high) if difference > 0 else (ends.low, min(ends.high, 0.0))


def by_holm(rows: Sequence[_Row]) -> list[_Row]:
    """Rows with `p_adjusted` over all that have a `p`, and `n_tests` where they have such a column."""
    p = [row.p for row in rows if row.p is not None]
    adjusted = iter(stats.holm(p).tolist())
    counted = {"n_tests": len(p)} if rows and hasattr(rows[0], "n_tests") else {}
    return [
        row if row.p is None else replace(row, p_adjusted=next(adjusted), **counted)  # type: ignore[type-var]
        for row in rows
    ]


def by_coefficient(
    name: "stats.Association",
    values: Floats,
    groups: Any,
    missing: Bools | None = None,
    *,
    less: Floats | None = None,
    level: float = 0.95,
    undefined: str = "the scores do not vary",
) -> Estimate:
    """A coefficient of agreement over units by raters, or what it is more than for `less`; as `by_jackknife`.

    The values a score could take are those of the full table, whichever case is left out of it. `less` are
    other ratings of the same units.
    """
    n = len(groups), len(set(groups.tolist()))
    if few := too_few(groups.tolist()):
        return Estimate(*n, reason=few)
    figure = stats.agreement_interval(name, values, groups, missing=missing, less=less, level=level)
    reason = undefined if figure.value is None else None
    if figure.value is not None and figure.low is None:
        is_rare = figure.n_uncommon < stats.LEAST_UNCOMMON
        reason = f"too few cases of the rarer kind ({figure.n_uncommon})" if is_rare else NO_JACKKNIFE
    return Estimate(*n, figure.value, figure.low, figure.high, figure.se, reason)


def by_rank_inside_items(first: Floats, second: Floats, groups: Any) -> Estimate:
    """Spearman's correlation inside questions of two tables of candidates by questions, groups of questions.

    Values less the mean of their question are ranked among all of the table.
    """
    tables = [stats.at_level(table, table, level="item_centred").x for table in (first, second)]
    cells = np.tile(np.asarray(groups), len(first))
    figure = by_coefficient("spearman", np.column_stack(tables), cells, undefined="one side does not vary")
    return figure._replace(n_units=first.shape[1])


def minus(a: float | None, b: float | None) -> float | None:
    """`a - b`, or None if either is None."""
    return None if a is None or b is None else a - b


def mean_excess(values: Any, members: Any) -> float | None:
    """Mean of the members' values less the mean of all others; None where either side is empty."""
    if not members.any() or members.all():
        return None
    return stats.exact_mean(values[members]) - stats.exact_mean(values[~members])


class Counted(Protocol):
    """Anything that rests on units in groups."""

    @property
    def n_units(self) -> int | None:
        """How many units."""

    @property
    def n_groups(self) -> int | None:
        """How many groups they are in."""


def counts_text(row: Counted, unit: str) -> str:
    """What a row rests on: `12 answers in 10 cases`."""
    return f"{count(row.n_units or 0, unit)} in {count(row.n_groups or 0, 'case')}"
