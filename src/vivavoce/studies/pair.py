"""A pair of candidates on one criterion, and what can be known of it.

Differences are turned once so that above 0 favours A. A pooled criterion has no differences by item: its
figure is compared as a whole, a perplexity by its logarithm.
"""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import weights_of
from vivavoce.studies.pooling import on_log_scale, ratio_of, sums

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Apart", "Arrays", "Compared", "Differences", "Figures", "Pair", "Population"]

Population = Literal["sample", "fixed"]


class Pair(NamedTuple):
    """Who is compared with whom: on which benchmark, by which measure, on what terms."""

    benchmark: str
    a: str
    b: str
    measure: Measure
    population: Population
    margin: float | None
    margin_source: str | None

    @property
    def sign(self) -> int:
        """1 if a higher value is better, -1 if a lower one is."""
        return 1 if self.measure.criterion.direction == "higher" else -1

    @property
    def width(self) -> float | None:
        """Width of the criterion's range; null without limits."""
        c = self.measure.criterion
        return None if c.low is None or c.high is None else c.high - c.low

    @property
    def turned(self) -> tuple[str, str]:
        """The candidate from whose values the other's are taken, so that above 0 favours A; and the other."""
        return (self.a, self.b) if self.sign > 0 else (self.b, self.a)


class Arrays(NamedTuple):
    """Differences by item, their groups, and their weights where they differ."""

    differences: "np.ndarray[Any, Any]"
    groups: "np.ndarray[Any, Any]"
    weights: "np.ndarray[Any, Any] | None"

    def paired(self) -> stats.Paired:
        """What the groups say."""
        return stats.paired(self.differences, self.groups, weights=self.weights)

    def sums(self) -> "np.ndarray[Any, Any]":
        """The sum of each group, for flips of signs."""
        return stats.group_sums(self.differences, self.groups, weights=self.weights)

    def margin_interval(self, *, span: float | None, level: float) -> stats.Interval | None:
        """The interval on which a margin is judged."""
        return stats.margin_interval(
            self.differences, self.groups, weights=self.weights, span=span, level=level
        )


class Differences(NamedTuple):
    """A row per common item: `d` as seen, `d_low` and `d_high` with the failed marks worst and best for A."""

    items: "pl.DataFrame"

    def arrays(self, column: str) -> Arrays:
        """The differences of a column that are there."""
        there = self.items.filter(self.items[column].is_not_null())
        return Arrays(there[column].to_numpy(), there["group"].to_numpy(), weights_of(there))

    def paired(self, column: str) -> stats.Paired:
        """What the groups say of a column of differences."""
        return self.arrays(column).paired()


class Figures(NamedTuple):
    """Two pooled figures: the counts by item of the first of `turned`, of the other, and their groups.

    `statistic` makes a figure of counts; on the log scale, its logarithm, and that is what is compared.
    """

    first: "np.ndarray[Any, Any]"
    second: "np.ndarray[Any, Any]"
    groups: "np.ndarray[Any, Any]"
    statistic: stats.PooledStatistic
    weights: "np.ndarray[Any, Any] | None" = None

    def paired(self) -> stats.Paired | None:
        """Each group left out of both in turn."""
        return stats.pooled_paired(*self[:4], weights=self.weights)

    def swaps(self, rng: np.random.Generator) -> stats.SignFlips:
        """The check: the answers of whole cases swapped."""
        return stats.pooled_swaps(*self[:4], weights=self.weights, rng=rng)

    def swapped(self) -> "Figures":
        """The same the other way round."""
        return self._replace(first=self.second, second=self.first)

    def of_the_sums_of(self, other: "Figures") -> bool:
        """Whether what is divided is the same in both, item by item, but for the unit that it is told in.

        The first column of both is a numerator. What it is divided by may differ.
        """
        ours, theirs = (np.concatenate([x.first[:, 0], x.second[:, 0]]) for x in (self, other))
        if ours.shape != theirs.shape or not (ours.any() and theirs.any()):
            return False
        largest = int(np.argmax(np.abs(ours)))
        return bool(np.allclose(ours * theirs[largest], theirs * ours[largest], rtol=1e-9, atol=0))

    def means(self) -> tuple[float, float]:
        """The two figures, as `statistic` gives them."""
        one, other = (self.statistic(sums(x, self.weights)) for x in self[:2])
        return float(one[0]), float(other[0])


class Apart(NamedTuple):
    """A pair that cannot be compared, why, and what it has in common nevertheless."""

    pair: Pair
    reason: str
    common: stats.Paired | None = None
    failed: int = 0


class Compared(NamedTuple):
    """A pair that was compared, by its differences by item or by its pooled figures."""

    pair: Pair
    seen: stats.Paired
    by: Differences | Figures
    means: tuple[float, float]
    n_only: tuple[int, int]
    failed: int = 0
    fillings: tuple[stats.Paired, stats.Paired] | None = None
    answered: stats.Paired | None = None

    def form_of(self, other: "Compared") -> bool:
        """Whether two criteria of one call are one number in two forms, so that both ask one thing.

        They divide the same sums by other sizes, and one of them at least is a perplexity: nats per word and
        per byte, or their exponentials. Precision and recall share what they divide, and ask two things.
        """
        pairs = (self.pair, other.pair)
        one, two = ((p.benchmark, p.a, p.b, p.measure.signature, p.measure.rater) for p in pairs)
        criteria = [p.measure.criterion for p in pairs]
        return (
            one == two
            and all(map(ratio_of, criteria))
            and any(map(on_log_scale, criteria))
            and isinstance(self.by, Figures)
            and isinstance(other.by, Figures)
            and self.by.of_the_sums_of(other.by)
        )
