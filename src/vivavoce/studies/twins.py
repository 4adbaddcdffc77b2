"""Twins: questions with one thing changed, and the partner that each is held against.

`bias:TYPE` is held against `neutral:TYPE` of its base item, else against `neutral`, and only where neither
is there against the base item: the sentence costs something too, so what is left then is a drop and no bias.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from vivavoce import stats
from vivavoce.records import Criterion
from vivavoce.studies import by_repeat, over_repeats

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NO_FLOOR", "Contrast", "Twin", "couples", "flips", "partners", "values_of", "why"]

Contrast = Literal["bias", "drop", "sentence"]
NO_FLOOR = "all repeats are the same text: what differs between repeats is not known"
NO_SPREAD = "all cases differ alike: without spread neither interval nor detectable effect can be told"


class Twin(NamedTuple):
    """A variant of an item and the variant it is held against; `kind` is what stands behind its colon."""

    benchmark: str
    item: str
    contrast: Contrast
    kind: str
    variant: str
    partner: str


def partners(scores: "pl.DataFrame") -> tuple[Twin, ...]:
    """Every twin among the items of score rows that has a partner there, whoever answered them."""
    known: dict[tuple[str, str], set[str]] = {}
    for benchmark, item, variant in (
        scores.select("benchmark", "item", "variant")
        .unique()
        .sort("benchmark", "item", "variant")
        .iter_rows()
    ):
        known.setdefault((benchmark, item), set()).add(variant)
    found = []
    for (benchmark, item), variants in known.items():
        for variant in sorted(variants):
            sort, _, kind = variant.partition(":")
            neutral = next((n for n in (f"neutral:{kind}", "neutral") if n in variants), None)
            if sort == "bias" and neutral:
                found.append(Twin(benchmark, item, "bias", kind, variant, neutral))
            elif sort == "bias" and "" in variants:
                found.append(Twin(benchmark, item, "drop", kind, variant, ""))
            elif sort == "neutral" and "" in variants:
                found.append(Twin(benchmark, item, "sentence", kind, variant, ""))
    return tuple(found)


def values_of(rows: "pl.DataFrame", criterion: Criterion) -> "tuple[pl.DataFrame, pl.DataFrame]":
    """The values of one criterion by repeat, and by item over repeats, with how many marks failed there."""
    import polars as pl

    answers = by_repeat(rows, criterion)
    failed = (
        rows.filter((pl.col("edit") == "") & (pl.col("status") == "failed"))
        .group_by("candidate", "benchmark", "item", "variant")
        .agg(failed=pl.len())
    )
    values = over_repeats(answers).join(
        failed, on=["candidate", "benchmark", "item", "variant"], how="left", maintain_order="left"
    )
    return answers, values.with_columns(pl.col("failed").fill_null(0))


def couples(values: "pl.DataFrame", twins: Sequence[Twin], *, higher: bool) -> "pl.DataFrame":
    """A row per candidate and twin that both have a value: how much worse the twin is than its partner.

    `value` is the twin's, `other` the partner's; `d` is above 0 where the twin is worse. `d_low` and `d_high`
    have the failed marks where they make it best and worst; `failed` counts them. A couple whose marks all
    failed has no `d`; one that is set aside is left out.
    """
    import polars as pl

    place = ["benchmark", "item", "variant"]
    table = pl.DataFrame(
        [tuple(t) for t in twins], schema=dict.fromkeys(Twin._fields, pl.String), orient="row"
    )
    other = values.select(
        "candidate", "benchmark", "item", pl.col("variant").alias("partner"),
        *(pl.col(c).alias(f"{c}_other") for c in ("observed", "low", "high", "failed")),
    )  # fmt: skip
    both = (
        table.join(values, on=place, how="inner")
        .join(other, on=["candidate", "benchmark", "item", "partner"], how="inner")
        .filter(pl.col("low").is_not_null() & pl.col("low_other").is_not_null())
    )

    def worse(twin: str, partner: str) -> "pl.Expr":
        difference = pl.col(f"{partner}_other") - pl.col(twin)
        return difference if higher else -difference

    ends = (worse("high", "low"), worse("low", "high"))
    return both.select(
        *Twin._fields, "group", "candidate", value="observed", other="observed_other",
        d=worse("observed", "observed"), d_low=ends[0 if higher else 1], d_high=ends[1 if higher else 0],
        failed=pl.col("failed") + pl.col("failed_other"),
    ).sort("candidate", *place)  # fmt: skip


def flips(answers: "pl.DataFrame", pairs: "pl.DataFrame", *, copied: bool) -> stats.Flips | None:
    """How often the outcome differs between a twin and its partner, beside repeats of the same words.

    `answers` are one candidate's values by repeat, all 0 or 1, `pairs` its rows of `couples`. `copied`: its
    repeats are one text, and no floor is known. Null without a pair of which both have an outcome.
    """
    import polars as pl

    named = pairs.select("benchmark", "item", "group", "variant", "partner").with_row_index("pair")
    sides = pl.concat(
        [
            named.select("pair", "benchmark", "item", "group", variant=side, side=pl.lit(side))
            for side in ("partner", "variant")
        ]
    )
    seen = answers.filter(pl.col("observed").is_not_null()).select(
        "benchmark", "item", "variant", "repeat", "observed"
    )
    rows = (
        sides.join(seen, on=["benchmark", "item", "variant"], how="inner")
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


def why(drop: stats.Drop | None) -> str | None:
    """Why figures of a paired test are null; null where none is."""
    if drop is None:
        return "no pair was marked on both sides"
    if drop.paired.se is None:
        return "one case: nothing tells how far another would differ"
    return None if drop.paired.se else NO_SPREAD
