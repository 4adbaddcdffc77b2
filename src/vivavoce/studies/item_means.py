"""Item means: one value per item with its group and weight, as observed and with missing scores filled in.

A candidate's means, and the differences of two candidates', have the same columns, so that all statistics are
made of both alike.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.row_parts import by_candidate, distinct, select_rows
from vivavoce.studies.score_table import (
    FILLED,
    ITEM,
    ITEM_KEY,
    SECTION,
    Weighing,
    absent_sections,
    item_of,
    resolve,
    weighing_of,
    with_group_codes,
)  # fmt: skip

IntervalMethod = Callable[..., stats.Interval | None]
"""`stats.margin_interval` or `stats.gate_interval`."""


class Arrays(NamedTuple):
    """Values by item, their groups, and what they weigh where that differs."""

    values: np.ndarray[Any, Any]
    groups: np.ndarray[Any, Any]
    weighing: Weighing

    @classmethod
    def from_rows(cls, rows: pl.DataFrame, column: str = "observed") -> "Arrays":
        """A column of rows by item, without nulls."""
        rows = rows.filter(rows[column].is_not_null())
        return cls(rows[column].to_numpy(), rows["group"].to_numpy(), weighing_of(rows))

    def paired(self) -> stats.Paired:
        """What the groups say of differences."""
        return stats.paired(self.values, self.groups, **self.weighing)

    def mean(self, low: float | None = None, high: float | None = None) -> stats.Estimate:
        """The mean with its interval, on a scale with these limits."""
        return stats.estimate_mean(self.values, self.groups, **self.weighing, low=low, high=high)

    def cluster_mean(self) -> stats.Mean:
        """The mean with its error by group, where no cells were fixed."""
        return stats.cluster_mean(self.values, self.groups, weights=self.weighing["weights"])

    def sums(self) -> np.ndarray[Any, Any]:
        """The sum of each group, for flips of signs."""
        return stats.group_sums(self.values, self.groups, weights=self.weighing["weights"])

    def interval(self, method: IntervalMethod, *, span: float | None, level: float) -> stats.Interval | None:
        """The interval of differences by that method, on a scale so wide."""
        return method(self.values, self.groups, **self.weighing, span=span, level=level)


class ItemMeans(NamedTuple):
    """A row per item: `observed`, and with the missing scores at one end of the scale `low` and `high`.

    `observed` is null where nothing was observed, all three where nothing counts; NaN is a side without a
    limit. Beside them stand `ITEM`, and weight, section and share where there are any.
    """

    items: pl.DataFrame

    @property
    def observed(self) -> pl.DataFrame:
        """The items with a value that was observed."""
        return self.items.filter(pl.col("observed").is_not_null())

    def arrays(self, column: str = "observed") -> Arrays:
        """A column without the items that have no value there."""
        return Arrays.from_rows(self.items, column)

    def has_end(self, side: str) -> bool:
        """Whether every missing score has that end of the scale."""
        return not self.items[side].is_nan().any()

    @classmethod
    def differences(cls, joined: pl.DataFrame, *, complete: bool = False) -> "ItemMeans":
        """The first less the second of rows that hold both, the second under names that end in _2.

        `complete` if no score of these rows failed, so that nothing is filled in.
        """
        # Missing scores are filled against one side and for the other: all other fillings lie between.
        low, high = pl.col("low") - pl.col("high_2"), pl.col("high") - pl.col("low_2")
        observed = joined.with_columns(pl.col("observed") - pl.col("observed_2"))
        ends = {"low": "observed", "high": "observed"} if complete else {"low": low, "high": high}
        items = observed.with_columns(**ends)  # of complete rows all three are one column, held once
        return cls(items.select(name for name in items.columns if not name.endswith("_2")))

    def bounds(self, low: float | None, high: float | None, level: float = 0.95) -> stats.Bounds:
        """What the missing scores could make of the mean; a side without an end of the scale has no bound."""
        rows = self.items.drop_nulls(["low", "high"])
        lowest, highest = (rows[side].to_numpy() if self.has_end(side) else None for side in ("low", "high"))
        if not rows.height or (lowest is None and highest is None) or absent_sections(rows):
            return stats.Bounds(None, None, None, None)
        groups, weighing = rows["group"].to_numpy(), weighing_of(rows)
        return stats.bounds(lowest, highest, groups, **weighing, low=low, high=high, level=level)


class CandidateScores(NamedTuple):
    """The score rows of one measure on one benchmark, and the item means of each candidate.

    `rows` are the scores with groups as numbers. `items` gives each item a `number`, which stands for its
    names in the item means: `values` are `resolve` of a candidate's rows and `answered` of those that are ok.
    `failed` has a row for each score that failed. Of a large run the rows stand in memory once and an item
    mean takes 20 bytes.
    """

    rows: pl.DataFrame
    items: pl.DataFrame
    values: Mapping[str, pl.DataFrame]
    answered: Mapping[str, pl.DataFrame]
    failed: pl.DataFrame

    @classmethod
    def of(cls, rows: pl.DataFrame, criterion: Criterion) -> "CandidateScores":
        """The score rows of a criterion on a benchmark, resolved once for all pairs."""
        rows = with_group_codes(rows)
        items = distinct(rows, *ITEM).with_row_index(NUMBER)
        failed = select_rows(rows.select(*ITEM, "candidate", "status"), pl.col("status") == "failed")
        failed = failed.join(items, on=list(ITEM), validate="m:1").select(NUMBER, "candidate")
        values: dict[str, pl.DataFrame] = {}
        answered: dict[str, pl.DataFrame] = {}
        for name, part in by_candidate(rows):
            ok = select_rows(part, pl.col("status") == "ok")
            values[name] = _numbered(part, criterion, items)
            if ok.height:
                answered[name] = values[name] if ok.height == part.height else _numbered(ok, criterion, items)
        return cls(rows, items, values, answered, failed)

    def rows_of(self, name: str) -> pl.DataFrame:
        """The score rows of a candidate."""
        return select_rows(self.rows, pl.col("candidate") == name)

    def of_both(self, a: str, b: str) -> pl.DataFrame:
        """The score rows of two candidates."""
        return pl.concat([self.rows_of(a), self.rows_of(b)])

    def with_names(self, means: ItemMeans) -> ItemMeans:
        """Item means with the names of their items."""
        names = self.items.drop("group")
        return ItemMeans(means.items.join(names, on=NUMBER, validate="m:1", maintain_order="left"))


NUMBER = "number"
"""The column that stands for an item among those of one `CandidateScores`."""


def _numbered(rows: pl.DataFrame, criterion: Criterion, items: pl.DataFrame) -> pl.DataFrame:
    """The item means of a candidate, with a number for the names of each item."""
    means = resolve(rows, criterion)
    if means.select(ITEM).equals(items.select(ITEM)):
        means = means.with_columns(items[NUMBER], items["group"])  # columns that all candidates share
    else:
        means = means.join(items, on=list(ITEM), validate="1:1", maintain_order="left")
    if not (rows["status"] == "failed").any():  # what nothing fills in is one column, held once
        means = means.with_columns(low="observed", high="observed")
    # The parts of an overall are named with their benchmark.
    names = [name for name in item_of(means) if name not in ITEM_KEY or SECTION in means.columns]
    return means.select(NUMBER, *names, *FILLED)
