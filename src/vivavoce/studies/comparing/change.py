"""One criterion under an old and a new measure, and the rows that a diff gives of it, part by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.stats import ALPHA
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import item_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """A row of a diff: its part, which criterion of which raters it is about, and the columns of its part."""

    part: str
    benchmark: str
    criterion: str
    rater_one: str
    rater_other: str
    n_both: int | None = None
    n_only_one: int | None = None
    n_only_other: int | None = None
    n_neither: int | None = None
    status_one: str | None = None
    status_other: str | None = None
    method: str | None = None
    intercept: float | None = None
    slope: float | None = None
    p_slope: float | None = None
    residual: float | None = None
    r: float | None = None
    furthest: str | None = None
    furthest_by: float | None = None
    n_values: int | None = None
    item: str | None = None
    candidate: str = ""
    against: str | None = None
    coefficient: str | None = None
    point: str | None = None
    one: float | None = None
    other: float | None = None
    value: float | None = None
    difference: float | None = None
    difference_one: float | None = None
    difference_other: float | None = None
    low: float | None = None
    high: float | None = None
    clipped: bool | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family: int | None = None
    kendall: float | None = None
    n_answers: int | None = None
    n_moved: int | None = None
    n_up: int | None = None
    n_down: int | None = None
    n_candidates: int | None = None
    n_items: int | None = None
    n_items_moved: int | None = None
    n_groups: int | None = None
    margin: float | None = None
    n_by_margin: int | None = None
    n_pairs: int | None = None
    n_same: int | None = None
    n_swapped: int | None = None
    n_tied: int | None = None
    n_swapped_told_apart: int | None = None
    n_told_apart_one: int | None = None
    n_told_apart_other: int | None = None
    n_told_apart_alike: int | None = None
    n_changed: int | None = None
    n_verdicts_changed: int | None = None
    rank_one: float | None = None
    rank_other: float | None = None
    swapped: bool | None = None
    better_one: str | None = None
    better_other: str | None = None
    change: float | None = None
    p_change: float | None = None
    reason: str | None = None

    @property
    def verdict_changed(self) -> bool:
        """Of a pair, whether its change is shown and another candidate is better, or one where none was.

        A test that finds something and one that does not are no difference by themselves.
        """
        return self.better_one != self.better_other and self.change_shown

    @property
    def change_shown(self) -> bool:
        """Of a pair, whether a test shows that the difference of the two is another."""
        return self.p_change is not None and self.p_change <= ALPHA

    def columns(self) -> dict[str, Any]:
        """The columns of its part with their values."""
        return {name: getattr(self, name) for name in (*_PLACE, *PARTS[self.part], "reason")}


_PLACE = ("part", "benchmark", "criterion", "rater_one", "rater_other")
_TEST = ("difference", "low", "high", "p", "p_adjusted", "family", "n_items", "n_groups")
PARTS: Mapping[str, tuple[str, ...]] = {
    # How many responses each of the two scored, and how many have which status under each.
    "overlap": ("n_both", "n_only_one", "n_only_other", "n_neither"),
    "status": ("status_one", "status_other", "n_answers"),
    # How many scores are not what they were, and the items that moved most.
    "moved": (
        *("n_answers", "n_moved", "n_up", "n_down", "n_items", "n_items_moved", "n_groups", "margin"),
        "n_by_margin",
    ),
    "item": ("item", "candidate", "one", "other", "difference", "n_answers"),
    # How far the two agree, and the mean shift: of all candidates ('') or of one.
    "agreement": ("candidate", "coefficient", "value", "low", "high", "n_answers", "n_groups"),
    "level": ("candidate", "one", "other", *_TEST),
    # A candidate's shift less the mean shift of the others.
    "beyond": ("candidate", *_TEST),
    # How the order of the candidates changed, and each one's mean and rank under both.
    "order": (
        *("kendall", "n_candidates", "n_items", "n_groups", "n_pairs", "n_same", "n_swapped", "n_tied"),
        *("n_swapped_told_apart", "n_told_apart_one", "n_told_apart_other", "n_told_apart_alike"),
        *("n_changed", "n_verdicts_changed"),
    ),
    "rank": ("candidate", "one", "other", "rank_one", "rank_other"),
    # How far the first is ahead under both, and who was shown better ('': neither); `change` is how much
    # further ahead it is under the new one, on the scale of the new, with p by Holm over all pairs.
    "pair": (
        *("candidate", "against", "difference_one", "difference_other", "swapped", "better_one"),
        *("better_other", "change", "p_change"),
    ),
    # A line from candidates' old means to their new ones (p_slope: of slope 1), and what an old mean
    # corresponds to.
    "bridge": (
        *("method", "intercept", "slope", "p_slope", "residual", "r", "furthest", "furthest_by", "n_values"),
        *("n_candidates", "n_items", "n_groups"),
    ),
    "carried": ("method", "candidate", "point", "one", "other", "low", "high", "clipped"),
}
"""The columns of each part, beside its name, the place and the `reason`."""


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

    def row(self, part: str, **columns: Any) -> DiffRow:
        """A row of this change."""
        return DiffRow(
            part=part,
            benchmark=self.benchmark,
            criterion=self.old.criterion.criterion,
            rater_one=self.old.rater,
            rater_other=self.new.rater,
            **columns,
        )

    @property
    def both(self) -> pl.DataFrame:
        """The responses that both have a score for."""
        return self.responses.drop_nulls(["one", "other"])

    @property
    def items(self) -> pl.DataFrame:
        """The means over repeats of what both scored: a row per item and candidate, `d` the difference."""
        return (
            self.both.group_by(*item_of(self.responses), "name", "candidate", maintain_order=True)
            .agg(exact_mean(pl.col("one", "other")), n=pl.len())
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

    @property
    def ratio(self) -> float | None:
        """How many units of the new scale one of the old is; null where they differ and one has no limits."""
        old, new = self.old.criterion, self.new.criterion
        if (old.low, old.high) == (new.low, new.high):
            return 1.0
        if old.low is None or old.high is None or new.low is None or new.high is None:
            return None
        return (new.high - new.low) / (old.high - old.low)
