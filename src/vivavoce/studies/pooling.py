"""Pooled criteria: counts summed over all answers and made one figure, such as corpus BLEU.

An answer's counts are its score's `parts`. Passes and then repeats are averaged within an item first, so that
an item counts alike however often it was answered. A silence has no counts unless its metric gives it some:
a pooled criterion sets it aside, and the coverage beside it says how much that is. An F1 may count silence as
worst, where the metric says what a silence misses.

A perplexity (`exp_ratio`) is exp of a ratio of sums. Its interval, and every comparison of two, is made of
the ratio, the figure's logarithm: there errors are even on both sides, and a difference is a factor.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import ITEM, item_of, weights_of

NO_FILLING = "scores failed, and what their counts could be has no bound"
"""Why the sides of the identified set of a pooled figure are null."""
GEOMETRIC = "geometric_mean"
"""The pool of times: a ratio says how much longer, whatever the unit, and a few long ones do not decide."""
TOO_LARGE = "pooled it is above the largest number there is"
"""Why a perplexity is null, though its logarithm is known."""
SILENT = ("unanswered", "unreadable")


class Pool(NamedTuple):
    """One way to make a figure of counts.

    `names` finds in the `parts` of all scores the counts that it takes, in the order of the columns that
    `figure` takes, from rows of sums to figures; of a figure on the log scale, to its logarithm. `fractions`
    gives numerators and denominators by item where the figure is a ratio of sums, whose error is linearised;
    the error of others is the jackknife's. `sizes` says what each item is of the figure, if not all alike.
    An estimate that `clips` is that of an unclipped figure, cut to 0 to 1 with its interval; two are compared
    unclipped. Where `is_sparse`, a count that an answer's parts lack is 0. Where `counts_silence`, a silence
    may have counts.
    """

    names: Callable[[pl.Series], tuple[str, ...]]
    figure: stats.PooledStatistic
    fractions: Callable[[Any], tuple[Any, Any]] | None = None
    sizes: Callable[[Any], Any] | None = None
    is_sparse: bool = False
    counts_silence: bool = False
    is_log: bool = False
    clips: bool = False


def _named(*names: str) -> Callable[[pl.Series], tuple[str, ...]]:
    return lambda parts: names


def _by_order(parts: pl.Series) -> tuple[str, ...]:
    """The counts of chrF, of as many orders as the first score has."""
    n = sum(key.startswith("match_") for text in parts.drop_nulls().head(1) for key in json.loads(text))
    return tuple(f"{kind}_{order}" for kind in ("hyp", "ref", "match") for order in range(1, n + 1))


def _by_label(parts: pl.Series) -> tuple[str, ...]:
    """The true positives of each label that any score counts, then its false ones, then its misses."""
    keys = {key for text in parts.drop_nulls().unique() for key in json.loads(text)}
    labels = sorted({label for label in map(label_of, keys) if label is not None})
    return tuple(f"{kind}:{label}" for kind in F1_COUNTS for label in labels)


def label_of(key: str) -> str | None:
    """The label that a count of `macro_f1` is of, as in `tp:yes`; null for another name."""
    kind, colon, label = key.partition(":")
    return label if colon and kind in F1_COUNTS else None


F1_COUNTS = ("tp", "fp", "fn")
_ORDERS = range(1, 5)
_RATIO = Pool(_named("numerator", "denominator"), stats.sum_ratio, lambda t: (t[:, 0], t[:, 1]))
_BLEU = (
    *(f"{kind}_{n}" for kind in ("correct", "total") for n in _ORDERS),
    "length_answer",
    "length_reference",
)
POOLS: Mapping[str, Pool] = {
    "bleu": Pool(_named(*_BLEU), stats.corpus_bleu),
    "chrf": Pool(_by_order, stats.corpus_chrf),
    "clipped_mean": Pool(_named("score", "answers"), stats.sum_ratio, counts_silence=True, clips=True),
    "exp_ratio": _RATIO._replace(is_log=True),
    "macro_f1": Pool(_by_label, stats.macro_f1, sizes=stats.label_sizes, is_sparse=True, counts_silence=True),
    # F1 is 2 tp / (2 tp + fp + fn), so the linearised error of a ratio applies.
    "micro_f1": Pool(
        _named(*F1_COUNTS),
        stats.micro_f1,
        lambda t: (2 * t[:, 0], 2 * t[:, 0] + t[:, 1] + t[:, 2]),
        counts_silence=True,
    ),
    "ratio": _RATIO,
}
"""Every pool by its name, which is that of `Criterion.pool`."""


class Counts(NamedTuple):
    """A row per candidate and item with its mean counts; or, null, why there are none to sum.

    The counts stand in the columns `columns`, and `names` says what each is called among the parts.
    """

    items: pl.DataFrame | None
    columns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    reason: str | None = None

    def of(self, items: pl.DataFrame, ending: str = "") -> Any:
        """The counts in those rows as a table; `ending` is that of a join."""
        return items.select(f"{column}{ending}" for column in self.columns).to_numpy()


def on_log_scale(criterion: Criterion) -> bool:
    """Whether the figure is exp of what its counts or its mean logarithm give, and compared before exp."""
    return is_geometric(criterion) or (criterion.pool in POOLS and POOLS[criterion.pool].is_log)


def is_geometric(criterion: Criterion) -> bool:
    """Whether score rows hold logarithms, the figure being exp of their mean."""
    return criterion.pool == GEOMETRIC


def as_means(measures: Mapping[int, Measure]) -> dict[int, Measure]:
    """The measures with the mean of logarithms in the place of a geometric mean, which has their order."""
    return {
        key: replace(m, criterion=replace(m.criterion, pool="mean")) if is_geometric(m.criterion) else m
        for key, m in measures.items()
    }


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
    if criterion.if_unanswered != "set_aside" and not _counts_silence(criterion):
        return (
            f"silence counts as {criterion.if_unanswered}, but has no counts to be pooled: such a criterion "
            "is declared with if_unanswered='set_aside'"
        )
    return None


def _counts_silence(criterion: Criterion) -> bool:
    return criterion.if_unanswered == "worst" and POOLS[criterion.pool].counts_silence


def counts(rows: pl.DataFrame, criterion: Criterion) -> Counts:
    """The counts by candidate and item, from the score rows of one pooled criterion with their `parts`.

    Scores that are ok have counts, and silences where they count as worst; items without one are in no row.
    """
    reason = unpoolable(criterion)
    if reason:
        return Counts(None, reason=reason)
    pool = POOLS[criterion.pool]
    # A silence without counts then lacks them, and there is no figure: it must not vanish.
    having = ("ok", *SILENT) if _counts_silence(criterion) else ("ok",)
    marks = rows.filter((pl.col("edit") == "") & pl.col("status").is_in(having))
    place = (*item_of(rows), "candidate", "role")
    names = pool.names(marks["parts"])
    # Numbered, because a label may be any text, also one that a join would give to another column.
    columns = tuple(f"count_{k}" for k in range(len(names))) if pool.is_sparse else names
    parts = _decoded(marks["parts"], names, columns)
    table = pl.concat([marks.select(*place, "repeat", "pass_no"), parts], how="horizontal")
    needed = pl.any_horizontal if pool.is_sparse else pl.all_horizontal
    n_complete = table.filter(needed(pl.col(*columns).is_not_null())).height if names else 0
    if n_complete < marks.height:
        missing = f"{marks.height - n_complete} of {marks.height} scores lack the counts"
        return Counts(None, reason=f"{missing} that {criterion.pool} is pooled from")
    by_item = (
        table.sort(*ITEM, "candidate", "repeat", "pass_no")
        .group_by(*place, "repeat", maintain_order=True)
        .agg(exact_mean(pl.col(column).fill_null(0.0)) for column in columns)
        .group_by(*place, maintain_order=True)
        .agg(exact_mean(pl.col(column)) for column in columns)
        .sort(*ITEM, "candidate")
    )
    return Counts(by_item, columns, names)


def _decoded(parts: pl.Series, names: tuple[str, ...], columns: tuple[str, ...]) -> pl.DataFrame:
    """The counts of these names in columns of their own; null where a score lacks one."""
    if not names:
        return pl.DataFrame()
    table = parts.str.json_decode(pl.Struct(dict.fromkeys(names, pl.Float64))).struct.unnest()
    return table.rename(dict(zip(names, columns, strict=True)))


def pooled_figure(rows: pl.DataFrame, counted: Counts, criterion: Criterion) -> stats.Pooled | str:
    """The pooled figure of these rows, at least one, with its interval; or why there is none.

    Ratios and F1 have the linearised error, a perplexity that of its logarithm, the others the jackknife's.
    """
    pool = POOLS[criterion.pool]
    table, groups, weights = counted.of(rows), rows["group"].to_numpy(), weights_of(rows)
    (figure,) = pool.figure(sums(table, weights)).tolist()
    if math.isnan(figure):  # 0 over 0
        return "what its counts are divided by is 0 in all answers"
    if pool.clips:
        return clipped_mean(stats.pooled(table, groups, pool.figure, weights=weights))
    on_own_scale = figures_of([figure], criterion)
    if on_own_scale is None:
        return TOO_LARGE
    low, high = criterion.low, criterion.high
    outside = _outside(on_own_scale[0], low, high)
    if outside:
        return outside
    if pool.fractions is None:
        sizes = pool.sizes(table) if pool.sizes else None
        return stats.pooled(table, groups, pool.figure, weights=weights, sizes=sizes, low=low, high=high)
    fractions = pool.fractions(table)
    if (fractions[1] < 0).any():
        return "an answer has a denominator below 0"
    if pool.is_log:
        return _perplexity(stats.exp_ratio(*fractions, groups=groups, weights=weights), low)
    ratio = stats.ratio(*fractions, groups=groups, weights=weights, low=low, high=high)
    return stats.Pooled(**ratio._asdict(), n_undefined=0)


def clipped_mean(figure: stats.Pooled) -> stats.Pooled:
    """The figure and the ends of its t interval, cut to 0 to 1."""

    def cut(value: float | None) -> float | None:
        return None if value is None else min(max(value, 0.0), 1.0)

    return figure._replace(value=cut(figure.value), low=cut(figure.low), high=cut(figure.high))


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


def sizes_of(pool: Pool, tables: Iterable[Any]) -> Any:
    """What each item is of figures that are compared, from the counts on each side; null if all are alike."""
    if pool.sizes:
        return sum(pool.sizes(table) for table in tables)
    if pool.fractions:
        return sum(pool.fractions(table)[1].clip(min=0.0) for table in tables)
    return None
