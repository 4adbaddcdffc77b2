"""Grids: one criterion as a table of candidates by items, the shape studies of order and spread work on."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce.records import Measure
from vivavoce.specs import signed
from vivavoce.studies import ITEM, Marks, by_answer, item_of, resolve, settled, weights_of
from vivavoce.studies.pooling import counts, ratio_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PLAIN", "Grid", "common", "grids", "key_of", "labels", "left_out"]

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Grid(NamedTuple):
    """One criterion on one benchmark: `values` is candidates x items, 0 where `present` is False.

    `items` are (item, variant), `groups` and `categories` stand beside them; a missing category is ''. So do
    `weights`, null where all items count alike. A criterion pooled as a ratio of sums has the ratio of each
    item as its value (of a perplexity the logarithm), and in `sizes` what that was divided by.
    """

    benchmark: str
    measure: Measure
    candidates: tuple[str, ...]
    items: tuple[tuple[str, str], ...]
    groups: "np.ndarray[Any, Any]"
    categories: "np.ndarray[Any, Any]"
    values: Floats
    present: "np.ndarray[Any, np.dtype[np.bool_]]"
    weights: Floats | None = None
    sizes: Floats | None = None

    @property
    def complete(self) -> "Grid":
        """The grid on the items that every candidate has a value for."""
        return self.on(np.all(self.present, axis=0))

    def on(self, kept: "np.ndarray[Any, Any]") -> "Grid":
        """The grid on some of its items."""
        names = tuple(name for name, keep in zip(self.items, kept, strict=True) if keep)
        return self._replace(
            items=names,
            groups=self.groups[kept],
            categories=self.categories[kept],
            values=self.values[:, kept],
            present=self.present[:, kept],
            weights=None if self.weights is None else self.weights[kept],
            sizes=None if self.sizes is None else self.sizes[:, kept],
        )

    def even(self) -> Floats:
        """The values, all being there; of a ratio of sums such as have it for their mean and its error.

        theta + b (y - theta) / mean b with y the item's ratio and b its size: the linearised ratio.
        """
        if self.sizes is None:
            return self.values
        theta = np.average(self.values, axis=1, weights=self.sizes)[:, None]
        return np.asarray(theta + self.sizes * (self.values - theta) / self.sizes.mean(axis=1, keepdims=True))

    def means(self) -> Floats:
        """The candidates' means over its items, of which there is at least one; all are there."""
        return np.asarray(
            self.values.mean(axis=1)
            if self.weights is None
            else np.average(self.values, axis=1, weights=self.weights)
        )

    def of(self, candidates: Sequence[str]) -> "Grid":
        """The grid of some of its candidates, in that order."""
        rows = [self.candidates.index(name) for name in candidates]
        return self._replace(
            candidates=tuple(candidates),
            values=self.values[rows],
            present=self.present[rows],
            sizes=None if self.sizes is None else self.sizes[rows],
        )


def labels(measures: Mapping[int, Measure]) -> dict[tuple[str, str, str], str]:
    """The shortest names that tell the measures apart, by `key_of`.

    A metric goes by its bare name if no other has it, with its criterion where that says more, and its
    rater where several share both.
    """
    metrics: dict[str, set[str]] = {}
    for m in measures.values():
        metrics.setdefault(m.metric.split("(")[0], set()).add(m.metric)
    named = {}
    for m in measures.values():
        bare, criterion = m.metric.split("(")[0], m.criterion.criterion
        metric = bare if len(metrics[bare]) == 1 and "(" in m.metric and criterion not in PLAIN else m.metric
        named[key_of(m)] = metric if criterion in (m.metric, *PLAIN) else f"{metric}: {criterion}"
    named = _told_apart(named, {key: f" by {key[2]}" if key[2] else "" for key in named})
    # Another version of one measure, or one that was recorded and not run here.
    return _told_apart(named, {key: f" @{signed(key[0]).version}" for key in named})


def _told_apart(
    named: dict[tuple[str, str, str], str], endings: Mapping[tuple[str, str, str], str]
) -> dict[tuple[str, str, str], str]:
    """The names, those that stand there twice with their endings."""
    times = Counter(named.values())
    return {key: name + endings[key] if times[name] > 1 else name for key, name in named.items()}


PLAIN = ("f1", "accuracy", "value")
"""Names of criteria that say no more than their metric does."""


def key_of(measure: Measure) -> tuple[str, str, str]:
    """What tells a measure from all others: signature, criterion, rater."""
    return measure.signature, measure.criterion.criterion, measure.rater


def left_out(marks: Marks, *, ratios: bool = False) -> tuple[str, ...]:
    """Lines on what has no place in a grid: pooled criteria, and candidates without a mark that counts.

    `ratios` as in `grids`.
    """
    import polars as pl

    single = _shown(marks.measures, ratios)
    _, lines = by_answer(
        {k: m for k, m in marks.measures.items() if k not in single or m.criterion.pool == "mean"}
    )
    short = labels(marks.measures)
    own = marks.scores.filter((pl.col("role") == "candidate") & (pl.col("edit") == ""))
    absent = []
    for key, measure in single.items():
        counted = (
            own.filter(pl.col("measure_id") == key)
            .group_by("benchmark", "candidate", maintain_order=True)
            .agg(there=settled(measure.criterion).is_not_null().any())
        )
        for (benchmark,), lost in counted.filter(~pl.col("there")).group_by("benchmark", maintain_order=True):
            names = ", ".join(sorted(lost["candidate"]))
            absent.append(
                f"Left out of {short[key_of(measure)]} on {benchmark}, without a mark that counts: {names}."
            )
    return (*lines, *absent)


def grids(scores: "pl.DataFrame", measures: Mapping[int, Measure], *, ratios: bool = False) -> Iterator[Grid]:
    """A grid for each benchmark and criterion that is not pooled; floor and ceiling are not candidates.

    With `ratios` also for those that are pooled as a ratio of sums, on the log scale where it is exp of one.
    """
    import polars as pl

    own = scores.filter(pl.col("role") == "candidate")
    for key, measure in _shown(measures, ratios).items():
        for (benchmark,), part in own.filter(pl.col("measure_id") == key).group_by(
            "benchmark", maintain_order=True
        ):
            yield _grid(str(benchmark), measure, part)


def _shown(measures: Mapping[int, Measure], ratios: bool) -> dict[int, Measure]:
    """The measures that a grid is made of."""
    single = by_answer(measures)[0]
    return {k: m for k, m in measures.items() if k in single or (ratios and ratio_of(m.criterion))}


def _values(part: "pl.DataFrame", measure: Measure) -> "pl.DataFrame":
    """A row per candidate and item with its value, `observed`, and `size` where that is a ratio."""
    import polars as pl

    if not ratio_of(measure.criterion):
        return resolve(part, measure.criterion).filter(pl.col("observed").is_not_null())
    counted = counts(part, measure.criterion).items
    if counted is None:
        counted = part.head(0).with_columns(numerator=pl.lit(0.0), denominator=pl.lit(0.0))
    there = counted.filter(pl.col("denominator") > 0)  # 0 over 0 says nothing
    return there.with_columns(
        observed=pl.col("numerator") / pl.col("denominator"), size=pl.col("denominator")
    )


def _grid(benchmark: str, measure: Measure, part: "pl.DataFrame") -> Grid:
    values = _values(part, measure)
    categories = part.unique(["item", "variant"]).select("item", "variant", "category")
    items = (
        values.select(*item_of(values))
        .unique()
        .join(categories, on=["item", "variant"], how="left", validate="1:1")
        .sort("item", "variant")
        .with_row_index("column")
    )
    candidates = sorted(values["candidate"].unique())
    rows = {name: row for row, name in enumerate(candidates)}
    table = np.zeros((len(candidates), items.height))
    present = np.zeros(table.shape, dtype=np.bool_)
    placed = values.join(items.select(*ITEM, "column"), on=list(ITEM), validate="m:1")
    at = (np.array([rows[name] for name in placed["candidate"]], dtype=int), placed["column"].to_numpy())
    table[at] = placed["observed"].to_numpy()
    present[at] = True
    sizes = None
    if "size" in placed.columns:
        sizes = np.ones(table.shape)
        sizes[at] = placed["size"].to_numpy()
    return Grid(
        benchmark=benchmark,
        measure=measure,
        candidates=tuple(candidates),
        items=tuple(items.select("item", "variant").iter_rows()),
        groups=items["group"].to_numpy(),
        categories=items["category"].fill_null("").to_numpy(),
        values=table,
        present=present,
        weights=weights_of(items),
        sizes=sizes,
    )


def common(one: Grid, other: Grid) -> tuple[Grid, Grid]:
    """Both grids on the candidates and items they share; cells that one of them lacks are absent in both."""
    names = [name for name in one.candidates if name in other.candidates]
    one, other = one.of(names), other.of(names)
    shared = sorted(set(one.items) & set(other.items))
    one, other = (_aligned(grid, shared) for grid in (one, other))
    both = one.present & other.present
    return one._replace(present=both), other._replace(present=both)


def _aligned(grid: Grid, items: Sequence[tuple[str, str]]) -> Grid:
    place = {name: column for column, name in enumerate(grid.items)}
    columns = np.array([place[name] for name in items], dtype=int)
    return grid._replace(
        items=tuple(items),
        groups=grid.groups[columns],
        categories=grid.categories[columns],
        values=grid.values[:, columns],
        present=grid.present[:, columns],
        weights=None if grid.weights is None else grid.weights[columns],
        sizes=None if grid.sizes is None else grid.sizes[:, columns],
    )
