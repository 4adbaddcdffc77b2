"""Item means: one value per item with its group and weight, as observed and with missing scores filled in.

A candidate's means, and the differences of two candidates', have the same columns, so that all statistics are
made of both alike.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.studies.score_table import Weighing, absent_sections, weighing_of

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
    def differences(cls, joined: pl.DataFrame) -> "ItemMeans":
        """The first less the second of rows that hold both, the second under names that end in _2."""
        # Missing scores are filled against one side and for the other: all other fillings lie between.
        return cls(
            joined.with_columns(
                observed=pl.col("observed") - pl.col("observed_2"),
                low=pl.col("low") - pl.col("high_2"),
                high=pl.col("high") - pl.col("low_2"),
            )
        )

    def bounds(self, low: float | None, high: float | None, level: float = 0.95) -> stats.Bounds:
        """What the missing scores could make of the mean; a side without an end of the scale has no bound."""
        rows = self.items.drop_nulls(["low", "high"])
        lowest, highest = (rows[side].to_numpy() if self.has_end(side) else None for side in ("low", "high"))
        if not rows.height or (lowest is None and highest is None) or absent_sections(rows):
            return stats.Bounds(None, None, None, None)
        groups, weighing = rows["group"].to_numpy(), weighing_of(rows)
        return stats.bounds(lowest, highest, groups, **weighing, low=low, high=high, level=level)
