"""Presentations: one question about different patients, and whether answers differ more than repeats do.

The largest difference between presentations grows with their number, so it is no test. What is tested is
the variance between them less what repeats of the same words would give.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Criterion
from vivavoce.studies.twins import NO_FLOOR, why

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Presented", "Spread", "presentations", "presented", "spread"]


class Presented(NamedTuple):
    """What was found of one candidate: of a sort such as 'sex', or of one presentation, 'sex=female'."""

    benchmark: str
    candidate: str
    kind: str
    figures: dict[str, Any]


class Spread(NamedTuple):
    """Variance between presentations of an item beyond that of repeats, one for each, and the groups."""

    variances: "np.ndarray[Any, Any]"
    groups: "np.ndarray[Any, Any]"


def presented(scores: "pl.DataFrame") -> "pl.DataFrame":
    """The presentations of each item in its demographic twins: `sort` (sex) and `shown` (female), by variant.

    An item with one twin of a sort is held against its base, whose `shown` is 'as asked'; one with neither
    is left out.
    """
    import polars as pl

    items = scores.select("benchmark", "item", "variant").unique()
    twins = (
        items.filter(pl.col("variant").str.starts_with("demographic:"))
        .with_columns(pl.col("variant").str.strip_prefix("demographic:").str.splitn("=", 2).alias("parts"))
        .unnest("parts")
        .rename({"field_0": "sort", "field_1": "shown"})
        .with_columns(pl.col("shown").fill_null(""))
    )
    lone = twins.group_by("benchmark", "item", "sort").len().filter(pl.col("len") == 1)
    base = (
        lone.join(items.filter(variant=""), on=["benchmark", "item"], how="inner")
        .with_columns(shown=pl.lit("as asked"))
        .select(twins.columns)
    )
    return (
        pl.concat([twins, base])
        .filter(pl.len().over("benchmark", "item", "sort") > 1)
        .sort("benchmark", "sort", "item", "shown", "variant")
    )


def spread(answers: "pl.DataFrame") -> Spread:
    """Of one candidate's answers by repeat to the presentations of items: what each presentation adds.

    Per item the variance of its presentations' means less the mean of s^2 / R of their repeats: without
    bias, so it may fall below 0. Its largest difference would grow with the number of presentations; this
    does not. Items with fewer than two presentations of two repeats or more are left out.
    """
    import polars as pl

    known = answers.filter(pl.col("observed").is_not_null())
    cells = (
        known.group_by("item", "group", "variant")
        .agg(mean=pl.col("observed").mean(), noise=pl.col("observed").var() / pl.len(), n=pl.len())
        .filter(pl.col("n") > 1)
    )
    found = (
        cells.sort("item", "variant")
        .group_by("item", "group", maintain_order=True)
        .agg(extra=pl.col("mean").var() - pl.col("noise").mean(), n=pl.len())
        .filter(pl.col("n") > 1)
        .sort("item")
    )
    return Spread(found["extra"].to_numpy(), found["group"].to_numpy())


def presentations(
    answers: "pl.DataFrame", shown: "pl.DataFrame", criterion: Criterion, *, identical: frozenset[str]
) -> Iterator[Presented]:
    """Of every candidate and sort the variance between presentations, then each presentation's mean.

    `answers` are values by repeat, `shown` what `presented` gives. The variance is `difference`, null where
    no repeats tell how much of it is chance; a presentation has `value`. Intervals are by group.
    """
    import polars as pl

    found = (
        shown.join(answers, on=["benchmark", "item", "variant"], how="inner")
        .filter(pl.col("observed").is_not_null())
        .sort("benchmark", "sort", "candidate", "shown", "item", "repeat")
    )
    for (benchmark, sort, candidate), part in found.group_by(
        "benchmark", "sort", "candidate", maintain_order=True
    ):
        place = str(benchmark), str(candidate)
        yield Presented(*place, str(sort), _variance(spread(part), copied=candidate in identical))
        for (value,), said in part.group_by("shown", maintain_order=True):
            means = said.group_by("item", "group", maintain_order=True).agg(y=pl.col("observed").mean())
            e = stats.estimate_mean(
                means["y"].to_numpy(), means["group"].to_numpy(), low=criterion.low, high=criterion.high
            )
            figures = {"value": e.value, "low": e.low, "high": e.high, "n_pairs": e.n, "n_groups": e.n_groups}
            yield Presented(*place, f"{sort}={value}" if value else str(sort), figures)


def _variance(extra: Spread, *, copied: bool) -> dict[str, Any]:
    if copied or not len(extra.variances):
        reason = NO_FLOOR if copied else "no question with two repeats of two presentations each"
        return {"n_pairs": len(extra.variances), "reason": reason}
    (drop,) = stats.drops([extra.variances], [extra.groups])
    seen = drop.paired
    return {
        "difference": seen.difference,
        "low": drop.low if seen.se else None,
        "high": drop.high if seen.se else None,
        "p": seen.p,
        "mde": drop.mde,
        "n_pairs": seen.n_items,
        "n_groups": seen.n_groups,
        "n_different": seen.n_different,
        "reason": why(drop),
    }
