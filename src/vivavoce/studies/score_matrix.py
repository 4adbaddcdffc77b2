"""Score matrices: one criterion as a table of candidates by items, which most studies work on."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.measure_names import distinguished, earlier_versions, measure_name, metric_name
from vivavoce.core.records import Measure
from vivavoce.core.specs import signed
from vivavoce.studies.pooling import counts, ratio_of
from vivavoce.studies.row_parts import PART, by_benchmark, by_candidate, distinct, select_rows
from vivavoce.studies.score_table import (
    FILLED,
    ITEM,
    ScoreTable,
    by_answer,
    item_of,
    resolve,
    weights_of,
    with_group_codes,
    with_results,
)

Floats = np.ndarray[Any, np.dtype[np.float64]]


class ScoreMatrix(NamedTuple):
    """One criterion on one benchmark: `values` is candidates x items, 0 where `present` is False.

    `items` are (item, variant), `groups` (numbers in the order of their labels) and `categories` stand beside
    them; a missing category is ''. So do
    `weights`, null where all items count alike. A criterion pooled as a ratio of sums has the ratio of each
    item as its value (of a perplexity the logarithm), and in `sizes` what that was divided by. `benchmarks`
    is the benchmark of each item where several lie `side_by_side`. Matrices of one call of `grids` number
    groups alike: two numbers are equal where the case is the same, also on two benchmarks.
    """

    benchmark: str
    measure: Measure
    candidates: tuple[str, ...]
    items: tuple[tuple[str, str], ...]
    groups: np.ndarray[Any, Any]
    categories: np.ndarray[Any, Any]
    values: Floats
    present: np.ndarray[Any, np.dtype[np.bool_]]
    weights: Floats | None = None
    sizes: Floats | None = None
    benchmarks: np.ndarray[Any, Any] | None = None

    @property
    def place(self) -> dict[str, Any]:
        """The columns of a row that say which benchmark, criterion and rater it is about."""
        return place_of(self.benchmark, self.measure)

    @property
    def sign(self) -> int:
        """1 if a higher value is better, -1 if a lower one is."""
        return 1 if self.measure.criterion.direction == "higher" else -1

    @property
    def complete(self) -> "ScoreMatrix":
        """The matrix on the items that every candidate has a value for."""
        members = np.all(self.present, axis=0)
        return self if members.all() else self.on(members)

    def on(self, members: np.ndarray[Any, Any]) -> "ScoreMatrix":
        """The matrix on some of its items: a mask of them, or their columns in another order."""
        columns = np.flatnonzero(members) if members.dtype == np.bool_ else members
        return self._replace(
            items=tuple(self.items[column] for column in columns),
            groups=self.groups[columns],
            categories=self.categories[columns],
            values=self.values[:, columns],
            present=self.present[:, columns],
            weights=None if self.weights is None else self.weights[columns],
            sizes=None if self.sizes is None else self.sizes[:, columns],
            benchmarks=None if self.benchmarks is None else self.benchmarks[columns],
        )

    @property
    def columns(self) -> dict[tuple[str, str], int]:
        """The column of each item."""
        return {item: column for column, item in enumerate(self.items)}

    def even(self) -> Floats:
        """The values, none of them absent; for a ratio of sums, values with its mean and its error.

        theta + b (y - theta) / mean b with y the item's ratio and b its size: the linearised ratio.
        """
        if self.sizes is None:
            return self.values
        theta = np.array([stats.exact_mean(y, b) for y, b in zip(self.values, self.sizes, strict=True)])[
            :, None
        ]
        return np.asarray(theta + self.sizes * (self.values - theta) / self.sizes.mean(axis=1, keepdims=True))

    def means(self) -> Floats:
        """The candidates' means over its items, at least one; no value is absent."""
        return stats.exact_means(self.values, self.weights)

    def own_mean(self, row: int) -> float:
        """The mean of a candidate over the items that it has a value for, at least one."""
        present = self.present[row]
        weights = None if self.weights is None else self.weights[present]
        return stats.exact_mean(self.values[row, present], weights)

    def of(self, candidates: Sequence[str]) -> "ScoreMatrix":
        """The matrix of some of its candidates, in that order."""
        rows = [self.candidates.index(name) for name in candidates]
        return self._replace(
            candidates=tuple(candidates),
            values=self.values[rows],
            present=self.present[rows],
            sizes=None if self.sizes is None else self.sizes[rows],
        )


class Fillings(NamedTuple):
    """A matrix with the failed scores at the criterion's lower limit, and at its upper.

    Both have the items that any candidate has a value or a failed score on; NaN where the criterion has no
    limit. `failed` counts the scores that failed, candidates x items.
    """

    low: ScoreMatrix
    high: ScoreMatrix
    failed: np.ndarray[Any, Any]

    def of(self, candidates: Sequence[str]) -> "Fillings":
        """The fillings of some of the candidates, in that order."""
        rows = [self.low.candidates.index(name) for name in candidates]
        return Fillings(self.low.of(candidates), self.high.of(candidates), self.failed[rows])

    @property
    def complete(self) -> "Fillings | None":
        """On the items that every candidate has a value or a failed score on; null where none failed there.

        A score that failed on an item that another candidate lacks decides nothing.
        """
        members = np.all(self.low.present, axis=0)
        failed = self.failed[:, members]
        return Fillings(self.low.on(members), self.high.on(members), failed) if failed.any() else None

    @property
    def n_failed(self) -> list[int]:
        """How many scores failed, by candidate."""
        return [int(n) for n in self.failed.sum(axis=1)]

    @property
    def unbounded(self) -> bool:
        """Whether a score failed on a side without a limit."""
        return bool(np.isnan(self.low.values).any() or np.isnan(self.high.values).any())

    @property
    def upward(self) -> tuple[Floats, Floats]:
        """The values at their worst and at their best, turned so that higher is better."""
        if self.low.measure.criterion.direction == "higher":
            return self.low.values, self.high.values
        return -self.high.values, -self.low.values


def place_of(benchmark: str, measure: Measure) -> dict[str, Any]:
    """The columns of a row that say which benchmark, criterion and rater it is about."""
    return {
        "benchmark": benchmark,
        "metric": measure.metric,
        "criterion": measure.criterion.criterion,
        "rater": measure.rater,
    }


def labels(measures: Mapping[int, Measure]) -> dict[tuple[str, str, str], str]:
    """The shortest names that tell the measures apart, by `key_of`.

    A metric goes by its bare name if no other has it, a judge by its rubric and model, with the criterion
    where that says more, and the rater where several share both. An earlier version of a metric says so.
    """
    metrics = Counter(_bare(metric) for metric in {m.metric for m in measures.values()})
    earlier = earlier_versions(measures)
    named = {
        key_of(m): _short_name(m, unique=metrics[_bare(m.metric)] == 1) + earlier.get(m.signature, "")
        for m in measures.values()
    }
    # One kind of ending at a time, so that a name grows no longer than it must.
    named = distinguished(named, {key: f" by {key[2]}" if key[2] else "" for key in named})
    # One that was recorded and not run here.
    return distinguished(named, {key: f" @{signed(key[0]).version}" for key in named})


def _short_name(measure: Measure, *, unique: bool) -> str:
    """The name of a measure without any ending; `unique` if no other metric has its bare name."""
    metric, bare = measure.metric, _bare(measure.metric)
    criterion = "" if measure.criterion.criterion in (metric, *PLAIN) else measure.criterion.criterion
    if unique and bare == metric_name(metric) != metric:
        return measure_name(metric, criterion, measure.rater)
    name = bare if unique and criterion else metric
    return f"{name}: {criterion}" if criterion else name


def _bare(metric: str) -> str:
    """A judge's rubric and model; the name of any other metric without its settings."""
    name = metric_name(metric)
    return metric.split("(")[0] if name == metric else name


PLAIN = ("f1", "accuracy", "value")
"""Names of criteria that say no more than their metric does."""


def row_labels(measures: Mapping[int, Measure]) -> dict[tuple[str, str, str], str]:
    """The `labels` by the columns of a row that name a measure: metric, criterion and rater.

    Where several versions share these three, no version's own label is used: the row may be of any.
    """
    short = labels(measures)
    names: dict[tuple[str, str, str], str] = {}
    for m in measures.values():
        key = (m.metric, m.criterion.criterion, m.rater)
        names[key] = measure_name(*key) if key in names else short[key_of(m)]
    return names


def key_of(measure: Measure) -> tuple[str, str, str]:
    """What identifies a measure: signature, criterion, rater."""
    return measure.signature, measure.criterion.criterion, measure.rater


def left_out(marks: ScoreTable, *, ratios: bool = False) -> tuple[str, ...]:
    """Lines on what has no place in a matrix: pooled criteria, and candidates without a result.

    `ratios` as in `grids`.
    """
    single = _matrix_measures(marks.measures, ratios)
    # A ratio that has a matrix must not be listed as left out.
    _, lines = by_answer(
        {k: m for k, m in marks.measures.items() if k not in single or m.criterion.pool == "mean"}
    )
    short = labels(marks.measures)
    unedited = select_rows(marks.scores, (pl.col("role") == "candidate") & (pl.col("edit") == ""))
    absent = []
    for key, measure in single.items():
        counted = (
            select_rows(unedited, pl.col("measure_id") == key)
            .group_by("benchmark", "candidate", maintain_order=True)
            .agg(counts=(pl.col("status") == "ok").any())
        )
        for (benchmark,), lost in counted.filter(~pl.col("counts")).group_by(
            "benchmark", maintain_order=True
        ):
            names = ", ".join(sorted(lost["candidate"]))
            absent.append(
                f"Left out of {short[key_of(measure)]} on {benchmark}, no result (no score is ok): {names}."
            )
    return (*lines, *absent)


def grids(
    scores: pl.DataFrame, measures: Mapping[int, Measure], *, ratios: bool = False
) -> Iterator[ScoreMatrix]:
    """A matrix for each benchmark and criterion that is not pooled; floor and ceiling are not candidates.

    Candidates without a result are in none. With `ratios` also for criteria that are pooled as a ratio of
    sums, on the log scale where it is exp of one.
    """
    for benchmark, measure, part in _parts(scores, _matrix_measures(measures, ratios)):
        yield _Cells.of(part, measure, "observed").matrix(benchmark, measure)


def grids_with_fillings(
    scores: pl.DataFrame, measures: Mapping[int, Measure]
) -> Iterator[tuple[ScoreMatrix, Fillings | None]]:
    """The matrices of `grids`, each with its fillings; null where no score failed."""
    for benchmark, measure, part in _parts(scores, by_answer(measures)[0]):
        failed = select_rows(part, (pl.col("status") == "failed") & (pl.col("edit") == ""))
        cells = _Cells.of(part, measure, *(FILLED if failed.height else ("observed",)))
        fillings = cells.fillings(benchmark, measure, failed) if failed.height else None
        yield cells.matrix(benchmark, measure), fillings


def _parts(
    scores: pl.DataFrame, measures: Mapping[int, Measure]
) -> Iterator[tuple[str, Measure, pl.DataFrame]]:
    """The score rows of the candidates that have a result, by measure and benchmark; groups as numbers."""
    # One numbering for all matrices, so that a case on two benchmarks has one number.
    of_candidates = with_group_codes(select_rows(scores, pl.col("role") == "candidate"))
    for key, measure in measures.items():
        for benchmark, part in by_benchmark(select_rows(of_candidates, pl.col("measure_id") == key)):
            yield benchmark, measure, with_results(part)


def _matrix_measures(measures: Mapping[int, Measure], ratios: bool) -> dict[int, Measure]:
    """The measures that have a matrix."""
    single = by_answer(measures)[0]
    return {k: m for k, m in measures.items() if k in single or (ratios and ratio_of(m.criterion))}


def _item_values(part: pl.DataFrame, measure: Measure) -> Iterator[pl.DataFrame]:
    """Rows by candidate and item with what was `observed`, and its `size` where that is a ratio.

    Those of a large table come a candidate at a time: names take many times the memory of a value.
    """
    if not ratio_of(measure.criterion):
        parts = [part] if part.height <= PART else (rows for _, rows in by_candidate(part))
        yield from (resolve(rows, measure.criterion) for rows in parts)
    elif (counted := counts(part, measure.criterion).items) is not None:
        ratio = pl.col("numerator") / pl.col("denominator")
        defined = counted.filter(pl.col("denominator") > 0)  # 0 over 0 says nothing
        yield defined.with_columns(observed=ratio, size=pl.col("denominator"))


class _Cells(NamedTuple):
    """Columns of item means as tables of candidates x items, NaN where there is no value.

    `items` are sorted by name, a row each. `filled` is where a value was observed or may be filled in.
    """

    candidates: tuple[str, ...]
    items: pl.DataFrame
    tables: Mapping[str, Floats]
    filled: np.ndarray[Any, np.dtype[np.bool_]]

    @classmethod
    def of(cls, part: pl.DataFrame, measure: Measure, *columns: str) -> "_Cells":
        """The columns of the item means of one measure on one benchmark."""
        categories = distinct(part, "item", "variant", "category").unique(["item", "variant"])
        items = (
            distinct(part, *item_of(part))
            .join(categories, on=["item", "variant"], how="left", validate="1:1")
            .sort("item", "variant")
            .with_row_index("column")
        )
        names = distinct(part, "candidate")["candidate"].sort()
        if ratio_of(measure.criterion):
            columns = (*columns, "size")
        tables = {column: np.full((len(names), items.height), np.nan) for column in columns}
        filled = np.zeros((len(names), items.height), dtype=np.bool_)
        for rows in _item_values(part, measure):
            placed = rows.join(items.select(*ITEM, "column"), on=list(ITEM), validate="m:1")
            row = placed["candidate"].cast(pl.Enum(names)).to_physical().to_numpy()
            cells = row, placed["column"].to_numpy()
            for column, table in tables.items():
                table[cells] = placed[column].to_numpy()
            filled[cells] = placed[columns[-1]].is_not_null().to_numpy()
        return cls(tuple(names), items, tables, filled)

    def matrix(self, benchmark: str, measure: Measure, column: str = "observed") -> ScoreMatrix:
        """The matrix of a column, of the candidates and items that have a value in it."""
        table, sizes = self.tables[column], self.tables.get("size")
        present = ~np.isnan(table) if column == "observed" else self.filled
        matrix = ScoreMatrix(
            benchmark=benchmark,
            measure=measure,
            candidates=self.candidates,
            items=tuple(self.items.select("item", "variant").iter_rows()),
            groups=self.items["group"].to_numpy(),
            categories=self.items["category"].fill_null("").to_numpy(),
            values=np.where(present, table, 0.0),
            present=present,
            weights=weights_of(self.items),
            sizes=None if sizes is None else np.where(present, sizes, 1.0),
        )
        if not present.any(axis=1).all():
            matrix = matrix.of(
                [name for name, row in zip(self.candidates, present, strict=True) if row.any()]
            )
        scored = np.any(present, axis=0)
        return matrix if scored.all() else matrix.on(scored)

    def fillings(self, benchmark: str, measure: Measure, failed_rows: pl.DataFrame) -> Fillings:
        """The matrices of both ends of the scale, and where how many scores failed."""
        low, high = (self.matrix(benchmark, measure, side) for side in ("low", "high"))
        failed, columns = np.zeros(low.values.shape, dtype=int), low.columns
        for candidate, *item in failed_rows.select("candidate", "item", "variant").iter_rows():
            failed[low.candidates.index(candidate), columns[tuple(item)]] += 1
        return Fillings(low, high, failed)


def common(first: ScoreMatrix, second: ScoreMatrix) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Both matrices on the candidates and items they share; a cell absent in one is absent in both."""
    names = [name for name in first.candidates if name in second.candidates]
    first, second = first.of(names), second.of(names)
    # A set has no fixed order, and the last digit of a mean depends on the order.
    shared = sorted(set(first.items) & set(second.items))
    places = [matrix.columns for matrix in (first, second)]
    first, second = (
        matrix.on(np.array([columns[item] for item in shared], dtype=int))
        for matrix, columns in zip((first, second), places, strict=True)
    )
    both = first.present & second.present
    return first._replace(present=both), second._replace(present=both)


def side_by_side(matrices: Sequence[ScoreMatrix]) -> ScoreMatrix:
    """The matrices of several benchmarks, at least one, as one: candidates x the items of all.

    It has the candidates that all of them have, in the order of the first. An item keeps its benchmark, in
    `benchmarks` and in its name: equal ids of two benchmarks are two items. Its group keeps its number, so
    that a case with items on two benchmarks stays one; the matrices must be of one call of `grids`. Its
    weight is how many items it stands for, 1 in a benchmark that was asked whole: the mean over all items is
    then weighted by the size of the benchmarks. The measure is that of the first.

    Raises `ValueError` where a benchmark comes twice, directions or limits differ, or a ratio of sums stands
    beside a mean.
    """
    names = [m.benchmark for m in matrices]
    if len(set(names)) < len(names) or len({_kind(m) for m in matrices}) > 1:
        raise ValueError(
            f"{', '.join(names)}: side by side lie different benchmarks, all by a criterion of one "
            "direction, one range and one way to pool"
        )
    parts = _on_common_candidates(matrices)
    return parts[0]._replace(
        benchmark=" + ".join(names),
        items=tuple((f"{m.benchmark}: {item}", variant) for m in parts for item, variant in m.items),
        groups=_joined(parts, "groups"),
        categories=_joined(parts, "categories"),
        values=_joined(parts, "values"),
        present=_joined(parts, "present"),
        weights=_joined(parts, "weights"),
        sizes=_joined(parts, "sizes"),
        benchmarks=np.repeat(np.array(names), [len(m.items) for m in parts]),
    )


def _on_common_candidates(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The matrices on the candidates that all of them have; all with weights, where any has."""
    names = [name for name in matrices[0].candidates if all(name in m.candidates for m in matrices)]
    parts = [m.of(names) for m in matrices]
    if all(m.weights is None for m in parts):
        return parts
    return [m._replace(weights=np.ones(len(m.items)) if m.weights is None else m.weights) for m in parts]


def _joined(parts: Sequence[ScoreMatrix], name: str) -> Any:
    """An array of all parts by item, the last of its dimensions; null where they have none."""
    arrays = [getattr(part, name) for part in parts]
    return None if arrays[0] is None else np.concatenate(arrays, axis=-1)


def _kind(matrix: ScoreMatrix) -> tuple[object, ...]:
    """What must be alike in matrices whose values lie in one row."""
    criterion = matrix.measure.criterion
    return criterion.direction, criterion.low, criterion.high, matrix.sizes is None
