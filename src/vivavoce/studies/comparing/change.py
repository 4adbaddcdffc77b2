"""One criterion under an old and a new measure, and the rows that a diff gives of it, part by part."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.studies.score_table import item_of
from vivavoce.studies.study import columns


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """What every row says of itself: its part, and which criterion of which raters it is about."""

    part: str
    benchmark: str
    criterion: str
    rater_one: str
    rater_other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapRow(PartRow):
    """How many responses each of the two scored."""

    part: str = "overlap"
    n_both: int
    n_only_one: int
    n_only_other: int
    n_neither: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRow(PartRow):
    """How many responses have this status under the one and under the other."""

    part: str = "status"
    status_one: str | None
    status_other: str | None
    n_answers: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRow(PartRow):
    """How many scores are not what they were."""

    part: str = "moved"
    n_answers: int
    n_moved: int | None = None
    n_up: int | None = None
    n_down: int | None = None
    n_items: int | None = None
    n_items_moved: int | None = None
    n_groups: int | None = None
    margin: float | None = None
    n_by_margin: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow(PartRow):
    """One of the items that moved most."""

    part: str = "item"
    item: str
    candidate: str
    one: float
    other: float
    difference: float
    n_answers: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow(PartRow):
    """How far the two agree on all responses ('') or on a candidate's."""

    part: str = "agreement"
    candidate: str
    coefficient: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n_answers: int
    n_groups: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRow(PartRow):
    """The mean shift of all candidates ('') or of one."""

    part: str = "level"
    candidate: str
    one: float | None = None
    other: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeyondRow(PartRow):
    """A candidate's shift less the mean shift of the others."""

    part: str = "beyond"
    candidate: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRow(PartRow):
    """How the order of the candidates changed."""

    part: str = "order"
    kendall: float | None = None
    n_candidates: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_pairs: int | None = None
    n_same: int | None = None
    n_swapped: int | None = None
    n_tied: int | None = None
    n_swapped_told_apart: int | None = None
    n_told_apart_one: int | None = None
    n_told_apart_other: int | None = None
    n_told_apart_alike: int | None = None
    n_verdicts_changed: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow(PartRow):
    """A candidate's mean and rank under both."""

    part: str = "rank"
    candidate: str
    one: float
    other: float
    rank_one: float
    rank_other: float
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow(PartRow):
    """Two candidates: how far the first is ahead under both, and who was shown better ('': neither)."""

    part: str = "pair"
    candidate: str
    against: str
    difference_one: float
    difference_other: float
    swapped: bool
    better_one: str | None
    better_other: str | None
    reason: str | None = None

    @property
    def verdict_changed(self) -> bool:
        """Whether another candidate was shown better, or one where none was."""
        return self.better_one != self.better_other


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeRow(PartRow):
    """A line from old values to new ones, by one method."""

    part: str = "bridge"
    method: str
    intercept: float | None = None
    se_intercept: float | None = None
    slope: float | None = None
    se_slope: float | None = None
    residual: float | None = None
    r: float | None = None
    furthest: str | None = None
    furthest_by: float | None = None
    n_values: int | None = None
    n_candidates: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedRow(PartRow):
    """What an old mean corresponds to by the line of a method."""

    part: str = "carried"
    method: str
    candidate: str
    point: str
    one: float
    other: float
    low: float | None
    high: float | None
    clipped: bool
    reason: str | None = None


_ROWS: tuple[type[PartRow], ...] = (
    *(OverlapRow, StatusRow, MovedRow, ItemRow, AgreementRow, LevelRow, BeyondRow, OrderRow, RankRow),
    *(PairRow, BridgeRow, CarriedRow),
)
_SHARED = {*columns(PartRow), "reason"}
PARTS = {
    row.__dataclass_fields__["part"].default: tuple(name for name in columns(row) if name not in _SHARED)
    for row in _ROWS
}
"""The columns of each part, beside the part's name, `benchmark`, `criterion`, the raters and `reason`."""


class Change(NamedTuple):
    """One criterion on one benchmark under two measures.

    `responses` has a row per response that either knows: `RESPONSE`, group, `name` of the item, where there
    is one weight, the scores `one` and `other` (null unless ok), `status_one` and `status_other` (null if
    that measure never scored it). `scores` are the score rows of the two.
    """

    benchmark: str
    old: Measure
    new: Measure
    responses: pl.DataFrame
    scores: tuple[pl.DataFrame, pl.DataFrame]

    @property
    def place(self) -> dict[str, Any]:
        """The columns of every row of this change."""
        return {
            "benchmark": self.benchmark,
            "criterion": self.old.criterion.criterion,
            "rater_one": self.old.rater,
            "rater_other": self.new.rater,
        }

    @property
    def both(self) -> pl.DataFrame:
        """The responses that both have a score for."""
        return self.responses.drop_nulls(["one", "other"])

    @property
    def items(self) -> pl.DataFrame:
        """The means over repeats of what both scored: a row per item and candidate, `d` the difference."""
        return (
            self.both.group_by(*item_of(self.responses), "name", "candidate", maintain_order=True)
            .agg(pl.col("one", "other").mean(), n=pl.len())
            # Rounded, because means that are equal may differ in their last digit.
            .with_columns(d=(pl.col("other") - pl.col("one")).round(9))
            .sort("item", "variant", "candidate")
        )

    @property
    def why_empty(self) -> str | None:
        """Why nothing can be said; null if something can."""
        return None if self.both.height else "no answer was scored by both"

    @property
    def why_not_subtracted(self) -> str | None:
        """Why the scales of the two keep their scores from being subtracted; null if they do not."""
        old, new = self.old.criterion, self.new.criterion
        if (old.low, old.high) != (new.low, new.high):
            ends = [
                " to ".join("no limit" if e is None else f"{e:g}" for e in (c.low, c.high))
                for c in (old, new)
            ]
            return f"the scales differ ({ends[0]}, then {ends[1]}): only the order is compared"
        if old.direction != new.direction:
            return f"{old.direction} was better and {new.direction} is now: only the order is compared"
        return None

    @property
    def width(self) -> float:
        """The most that a score can move."""
        c = self.new.criterion
        return float("inf") if c.low is None or c.high is None else c.high - c.low
