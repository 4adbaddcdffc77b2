"""Counterfactual variants: the pairs to compare, and presentations of one item as other patients.

`bias:TYPE` is compared with `neutral:TYPE` of its base item, else with `neutral`, and only if neither exists
with the base item: any added sentence has an effect of its own, so what is left then is a drop and no bias.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.row_parts import distinct
from vivavoce.studies.score_table import by_repeat, over_repeats

Contrast = Literal["bias", "drop", "sentence"]
NO_FLOOR = "all repeats are the same text: what differs between repeats is not known"
NO_SPREAD = "all cases differ alike: without spread neither interval nor detectable effect can be told"


class VariantPair(NamedTuple):
    """A variant of an item and the variant it is compared with; `kind` is the part behind its colon."""

    benchmark: str
    item: str
    contrast: Contrast
    kind: str
    variant: str
    partner: str


def variant_pairs(scores: pl.DataFrame) -> tuple[VariantPair, ...]:
    """Every twin among the items of score rows whose partner is there too, whoever answered them."""
    place = ["benchmark", "item", "variant"]
    variants_of: dict[tuple[str, str], set[str]] = {}
    for benchmark, item, variant in distinct(scores, *place).sort(place).iter_rows():
        variants_of.setdefault((benchmark, item), set()).add(variant)
    pairs = []
    for (benchmark, item), variants in variants_of.items():
        for variant in sorted(variants):
            contrast, partner = _partner(variant, variants)
            if contrast is not None:
                kind = variant.partition(":")[2]
                pairs.append(VariantPair(benchmark, item, contrast, kind, variant, partner))
    return tuple(pairs)


def _partner(variant: str, variants: set[str]) -> tuple[Contrast | None, str]:
    """The contrast and partner of a variant among the variants of its item; null if there is none."""
    sort, _, kind = variant.partition(":")
    neutral = next((name for name in (f"neutral:{kind}", "neutral") if name in variants), None)
    if sort == "bias" and neutral:
        return "bias", neutral
    if sort in ("bias", "neutral") and "" in variants:
        return ("drop" if sort == "bias" else "sentence"), ""
    return None, ""


def values_of(rows: pl.DataFrame, criterion: Criterion) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The values of one criterion by repeat, and by item over repeats with the number of failed scores."""
    responses = by_repeat(rows, criterion)
    failed = (
        rows.filter((pl.col("edit") == "") & (pl.col("status") == "failed"))
        .group_by("candidate", "benchmark", "item", "variant")
        .agg(failed=pl.len())
    )
    values = over_repeats(responses).join(
        failed, on=["candidate", "benchmark", "item", "variant"], how="left", maintain_order="left"
    )
    return responses, values.with_columns(pl.col("failed").fill_null(0))


def pair_differences(values: pl.DataFrame, pairs: Sequence[VariantPair], *, higher: bool) -> pl.DataFrame:
    """A row per candidate and pair with a value on both sides: how much worse the twin is than its partner.

    `value` is the twin's, `other` the partner's; `d` is above 0 where the twin is worse. `d_low` and `d_high`
    have the failed scores where they make it best and worst; `failed` counts them. A pair whose scores all
    failed has no `d`; one that is set aside is left out.
    """
    place = ["benchmark", "item", "variant"]
    rows = [tuple(pair) for pair in pairs]
    table = pl.DataFrame(rows, schema=dict.fromkeys(VariantPair._fields, pl.String), orient="row")
    partners = values.select(
        *("candidate", "benchmark", "item"),
        pl.col("variant").alias("partner"),
        *(pl.col(column).alias(f"{column}_other") for column in ("observed", "low", "high", "failed")),
    )
    paired = (
        table.join(values, on=place, how="inner")
        .join(partners, on=["candidate", "benchmark", "item", "partner"], how="inner")
        # Null limits say that the score is set aside; a failed one has limits.
        .filter(pl.col("low").is_not_null() & pl.col("low_other").is_not_null())
    )

    def worse(twin: str, partner: str) -> pl.Expr:
        difference = pl.col(f"{partner}_other") - pl.col(twin)
        return difference if higher else -difference

    # The twin at its best limit and its partner at the worst give the smallest difference.
    smallest, largest = worse("high", "low"), worse("low", "high")
    return paired.select(
        *VariantPair._fields,
        *("group", "candidate"),
        value="observed",
        other="observed_other",
        d=worse("observed", "observed"),
        # Where lower is better the sign of `worse` turns, and the two ends change places.
        d_low=smallest if higher else largest,
        d_high=largest if higher else smallest,
        failed=pl.col("failed") + pl.col("failed_other"),
    ).sort("candidate", *place)


def flip_rates(responses: pl.DataFrame, pairs: pl.DataFrame, *, copied: bool) -> stats.Flips | None:
    """How often the outcome differs between a twin and its partner, and between repeats of the same words.

    `responses` are one candidate's values by repeat, all 0 or 1, `pairs` its rows of `pair_differences`.
    `copied`: its repeats are one text, so the rate between repeats is not known. Null without a pair of which
    both sides have an outcome.
    """
    numbered = pairs.select("benchmark", "item", "group", "variant", "partner").with_row_index("pair")
    sides = pl.concat(
        [
            numbered.select("pair", "benchmark", "item", "group", variant=side, side=pl.lit(side))
            for side in ("partner", "variant")
        ]
    )
    outcomes = responses.filter(pl.col("observed").is_not_null()).select(
        "benchmark", "item", "variant", "repeat", "observed"
    )
    rows = (
        sides.join(outcomes, on=["benchmark", "item", "variant"], how="inner")
        # A pair with outcomes on one side only has nothing to flip against.
        .filter(pl.col("side").n_unique().over("pair") == 2)
        .sort("pair", "side", "repeat")
    )
    if not rows.height:
        return None
    return stats.flip_rates(
        rows["observed"].to_numpy(),
        rows["pair"].to_numpy(),
        versions=rows["side"].to_numpy(),
        groups=rows["group"].to_numpy(),
        repeats="copied" if copied else "drawn",
    )


def untested_reason(drop: stats.Drop | None) -> str | None:
    """Why figures of a paired test are null; null where none is."""
    if drop is None:
        return "no pair was scored on both sides"
    if drop.paired.se is None:
        return "one case: nothing tells how far another would differ"
    return None if drop.paired.se else NO_SPREAD


class PresentationEffect(NamedTuple):
    """Figures of one candidate: of a sort such as 'sex', or of one presentation, 'sex=female'."""

    benchmark: str
    candidate: str
    kind: str
    figures: dict[str, Any]


class ExtraVariance(NamedTuple):
    """Variance between presentations beyond that of repeats, one value per item, and the items' groups."""

    variances: np.ndarray[Any, Any]
    groups: np.ndarray[Any, Any]


def presentations(scores: pl.DataFrame) -> pl.DataFrame:
    """The presentations of each item in its demographic twins: `sort` (sex) and `shown` (female), by variant.

    An item with one twin of a sort is compared with its base, whose `shown` is 'as asked'; one with neither
    is left out.
    """
    items = distinct(scores, "benchmark", "item", "variant")
    twins = (
        items.filter(pl.col("variant").str.starts_with("demographic:"))
        .with_columns(pl.col("variant").str.strip_prefix("demographic:").str.splitn("=", 2).alias("parts"))
        .unnest("parts")
        .rename({"field_0": "sort", "field_1": "shown"})
        .with_columns(pl.col("shown").fill_null(""))
    )
    # One twin alone has nothing to differ from but the question as it was asked.
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


def extra_variance(responses: pl.DataFrame) -> ExtraVariance:
    """What each presentation adds, from one candidate's values by repeat on the presentations of items.

    Per item the variance of its presentations' means less the mean of s^2 / R of their repeats: without
    bias, so it may fall below 0. The largest difference between presentations grows with their number, so it
    is no test; this does not grow. Items with fewer than two presentations of two repeats or more are left
    out.
    """
    cells = (
        responses.filter(pl.col("observed").is_not_null())
        .group_by("item", "group", "variant")
        .agg(mean=exact_mean(pl.col("observed")), noise=pl.col("observed").var() / pl.len(), n=pl.len())
        .filter(pl.col("n") > 1)
    )
    items = (
        cells.sort("item", "variant")
        .group_by("item", "group", maintain_order=True)
        .agg(extra=pl.col("mean").var() - pl.col("noise").mean(), n=pl.len())
        .filter(pl.col("n") > 1)
        .sort("item")
    )
    return ExtraVariance(items["extra"].to_numpy(), items["group"].to_numpy())


def presentation_effects(
    responses: pl.DataFrame, presented: pl.DataFrame, criterion: Criterion, *, identical: frozenset[str]
) -> Iterator[PresentationEffect]:
    """For every candidate and sort the variance between presentations, then each presentation's mean.

    `responses` are values by repeat, `presented` what `presentations` gives. The variance is `difference`,
    null where no repeats tell how much of it is chance; a presentation has `value`. Intervals are by group.
    """
    rows = (
        presented.join(responses, on=["benchmark", "item", "variant"], how="inner")
        .filter(pl.col("observed").is_not_null())
        .sort("benchmark", "sort", "candidate", "shown", "item", "repeat")
    )
    for (benchmark, sort, candidate), part in rows.group_by(
        "benchmark", "sort", "candidate", maintain_order=True
    ):
        place = str(benchmark), str(candidate)
        variance = _variance_figures(extra_variance(part), copied=candidate in identical)
        yield PresentationEffect(*place, str(sort), variance)
        for (value,), presentation in part.group_by("shown", maintain_order=True):
            means = presentation.group_by("item", "group", maintain_order=True).agg(
                y=exact_mean(pl.col("observed"))
            )
            e = stats.estimate_mean(
                means["y"].to_numpy(), means["group"].to_numpy(), low=criterion.low, high=criterion.high
            )
            figures = {"value": e.value, "low": e.low, "high": e.high, "n_pairs": e.n, "n_groups": e.n_groups}
            yield PresentationEffect(*place, f"{sort}={value}" if value else str(sort), figures)


def _variance_figures(extra: ExtraVariance, *, copied: bool) -> dict[str, Any]:
    if copied or not len(extra.variances):
        reason = NO_FLOOR if copied else "no question with two repeats of two presentations each"
        return {"n_pairs": len(extra.variances), "reason": reason}
    (drop,) = stats.drops([extra.variances], [extra.groups])
    test = drop.paired
    return {
        "difference": test.difference,
        "low": drop.low if test.se else None,
        "high": drop.high if test.se else None,
        "p": test.p,
        "mde": drop.mde,
        "n_pairs": test.n_items,
        "n_groups": test.n_groups,
        "effective_cases": test.effective_groups,
        "n_different": test.n_different,
        "reason": untested_reason(drop),
    }
