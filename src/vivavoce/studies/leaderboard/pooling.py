"""Pooled criteria: counts summed over all answers and made one figure, such as corpus BLEU.

An answer's counts are its score's `parts`. Passes and then repeats are averaged within an item first, so that
an item counts alike however often it was answered. A silence has no counts, so a pooled criterion sets it
aside; the coverage beside it says how much that is.

A perplexity (`exp_ratio`) is exp of a ratio of sums. Its interval, and every comparison of two, is made of
the ratio, the figure's logarithm: there errors are even on both sides, and a difference is a factor.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.score_table import ITEM, item_of, weights_of

NO_FILLING = "marks failed, and what their counts could be has no bound"
"""Why the sides of the identified set of a pooled figure are null."""
TOO_LARGE = "pooled it is above the largest number there is"
"""Why a perplexity is null, though its logarithm is known."""

_ORDERS = range(1, 5)
_PARTS: Mapping[str, tuple[str, ...]] = {
    "ratio": ("numerator", "denominator"),
    "exp_ratio": ("numerator", "denominator"),
    "micro_f1": ("tp", "fp", "fn"),
    "bleu": (
        *(f"correct_{n}" for n in _ORDERS),
        *(f"total_{n}" for n in _ORDERS),
        *("length_answer", "length_reference"),
    ),
}
POOLS: Mapping[str, stats.PooledStatistic] = {
    "bleu": stats.corpus_bleu,
    "chrf": stats.corpus_chrf,
    "exp_ratio": stats.sum_ratio,
    "micro_f1": stats.micro_f1,
    "ratio": stats.sum_ratio,
}
"""How counts become a figure, by `Criterion.pool`; of one on the log scale, its logarithm."""


class Counts(NamedTuple):
    """A row per candidate and item with its mean counts; or, null, why there are none to sum."""

    items: pl.DataFrame | None
    names: tuple[str, ...] = ()
    reason: str | None = None

    def of(self, items: pl.DataFrame, ending: str = "") -> Any:
        """The counts in those rows as a table; `ending` is that of a join."""
        return items.select(f"{name}{ending}" for name in self.names).to_numpy()


def on_log_scale(criterion: Criterion) -> bool:
    """Whether the figure is exp of what its counts give, and compared before exp."""
    return criterion.pool == "exp_ratio"


def ratio_of(criterion: Criterion) -> bool:
    """Whether the figure, or its logarithm, is a sum over a sum of `numerator` and `denominator`."""
    return criterion.pool in ("ratio", "exp_ratio")


def figures_of(values: Iterable[float], criterion: Criterion) -> tuple[float, ...] | None:
    """What `POOLS` gives as figures on the criterion's own scale; null if one is too large for a float."""
    try:
        return tuple(map(math.exp, values) if on_log_scale(criterion) else values)
    except OverflowError:
        return None


def unpoolable(criterion: Criterion) -> str | None:
    """Why a criterion cannot be pooled as it is declared; null if it can."""
    if criterion.pool not in POOLS:
        pools = ", ".join(["mean", *POOLS])
        return f"it is declared to be pooled by {criterion.pool!r}, and only {pools} are known"
    if criterion.if_unanswered != "set_aside":
        return (
            f"silence counts as {criterion.if_unanswered}, but has no counts to be pooled: such a criterion "
            "is declared with if_unanswered='set_aside'"
        )
    return None


def counts(rows: pl.DataFrame, criterion: Criterion) -> Counts:
    """The counts by candidate and item, from the score rows of one pooled criterion with their `parts`.

    Only marks that are ok have counts; items without one are in no row.
    """
    reason = unpoolable(criterion)
    if reason:
        return Counts(None, (), reason)
    ok = rows.filter((pl.col("edit") == "") & (pl.col("status") == "ok"))
    place = (*item_of(rows), "candidate", "role")
    names = _names(criterion.pool, ok["parts"].drop_nulls().head(1).to_list())
    table = ok.select(*place, "repeat", "pass_no")
    if names:
        kinds = pl.Struct(dict.fromkeys(names, pl.Float64))
        parts = ok.select(pl.col("parts").str.json_decode(kinds)).unnest("parts")
        table = pl.concat([table, parts], how="horizontal")
    n_complete = table.filter(pl.all_horizontal(pl.col(*names).is_not_null())).height if names else 0
    if n_complete < ok.height:
        missing = f"{ok.height - n_complete} of {ok.height} marks lack the counts"
        return Counts(None, (), f"{missing} that {criterion.pool} is pooled from")
    by_item = (
        table.sort(*ITEM, "candidate", "repeat", "pass_no")
        .group_by(*place, "repeat", maintain_order=True)
        .agg(pl.col(name).mean() for name in names)
        .group_by(*place, maintain_order=True)
        .agg(pl.col(name).mean() for name in names)
        .sort(*ITEM, "candidate")
    )
    return Counts(by_item, names)


def pooled_figure(rows: pl.DataFrame, counted: Counts, criterion: Criterion) -> stats.Pooled | str:
    """The pooled figure of these rows, at least one, with its interval; or why there is none.

    Ratios and F1 have the linearised error, a perplexity that of its logarithm, the others the jackknife's.
    """
    table, groups, weights = counted.of(rows), rows["group"].to_numpy(), weights_of(rows)
    (figure,) = POOLS[criterion.pool](sums(table, weights)).tolist()
    if math.isnan(figure):  # 0 over 0
        return "what its counts are divided by is 0 in all answers"
    on_own_scale = figures_of([figure], criterion)
    if on_own_scale is None:
        return TOO_LARGE
    low, high = criterion.low, criterion.high
    outside = _outside(on_own_scale[0], low, high)
    if outside:
        return outside
    fractions = fractions_of(table, criterion.pool)
    # BLEU and chrF are not one ratio of sums, so their error comes from the jackknife.
    if fractions is None:
        return stats.pooled(table, groups, POOLS[criterion.pool], weights=weights, low=low, high=high)
    if (fractions[1] < 0).any():
        return "an answer has a denominator below 0"
    if on_log_scale(criterion):
        return _perplexity(stats.exp_ratio(*fractions, groups=groups, weights=weights), low)
    ratio = stats.ratio(*fractions, groups=groups, weights=weights, low=low, high=high)
    return stats.Pooled(**ratio._asdict(), n_undefined=0)


def _outside(value: float, low: float | None, high: float | None) -> str | None:
    """The reason that a figure outside its criterion's range has no place; null if it is inside."""
    if (low is not None and value < low - 1e-9) or (high is not None and value > high + 1e-9):
        return f"pooled it is {value:g}, outside its declared range"
    return None


def _perplexity(ratio: stats.ExpRatio, low: float | None) -> stats.Pooled:
    """An interval without an upper end is none; its lower end is inside the range."""
    ends: tuple[float | None, float | None] = (None, None)
    if ratio.low is not None and ratio.high is not None:
        ends = (ratio.low if low is None else max(ratio.low, low), ratio.high)
    se = None if ratio.value is None or ratio.se_log is None else ratio.value * ratio.se_log
    return stats.Pooled(
        ratio.value, *ends, se, ratio.n, ratio.n_groups, 0, ratio.method, ratio.df, ratio.reason
    )


def sums(table: Any, weights: Any = None) -> Any:
    """The sums of counts, a row of one; weights are scaled to the mean 1."""
    return (table if weights is None else table * (weights / weights.mean())[:, None]).sum(
        axis=0, keepdims=True
    )


def fractions_of(table: Any, pool: str) -> tuple[Any, Any] | None:
    """Numerators and denominators by item, where the figure is a ratio of sums."""
    if pool in ("ratio", "exp_ratio"):
        return table[:, 0], table[:, 1]
    # F1 is 2 tp / (2 tp + fp + fn), so the linearised error of a ratio applies.
    if pool == "micro_f1":
        return 2 * table[:, 0], 2 * table[:, 0] + table[:, 1] + table[:, 2]
    return None


def _names(pool: str, first: Sequence[str]) -> tuple[str, ...]:
    """The names of the counts; chrF's orders are as many as the first mark has."""
    if not first:
        return ()
    if pool != "chrf":
        return _PARTS[pool]
    n = sum(name.startswith("match_") for name in json.loads(first[0]))
    return tuple(f"{kind}_{order}" for kind in ("hyp", "ref", "match") for order in range(1, n + 1))
