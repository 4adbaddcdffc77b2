"""A pair of candidates on one criterion: their differences by item, as seen and as the failed marks could
make them.

Differences are turned once so that above 0 favours A. What they mean together with others is `compare`'s
affair. A pooled criterion has no differences by item: its figure is compared as a whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtr

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import ITEM, repeats, resolve
from vivavoce.studies.pooling import POOLS, counts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Apart", "Compared", "Differences", "Figures", "Pair", "Population", "pairs", "pairs_of"]

Population = Literal["sample", "fixed"]
ALL_PAIRS = 3
"""Up to so many candidates every pair is compared; beyond, each with the first named."""


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


class Differences(NamedTuple):
    """A row per common item: `d` as seen, `d_low` and `d_high` with the failed marks worst and best for A."""

    items: "pl.DataFrame"

    def arrays(self, column: str) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
        """A column of differences that are there, and their groups."""
        there = self.items.filter(self.items[column].is_not_null())
        return there[column].to_numpy(), there["group"].to_numpy()

    def paired(self, column: str) -> stats.Paired:
        """What the groups say of a column of differences."""
        return stats.paired(*self.arrays(column))


class Figures(NamedTuple):
    """Two pooled figures: the counts by item of the first of `turned`, of the other, and their groups."""

    first: "np.ndarray[Any, Any]"
    second: "np.ndarray[Any, Any]"
    groups: "np.ndarray[Any, Any]"
    statistic: stats.PooledStatistic

    def paired(self) -> stats.Paired | None:
        """Each group left out of both in turn."""
        return stats.pooled_paired(*self)

    def swaps(self, rng: np.random.Generator) -> stats.SignFlips:
        """The check: the answers of whole cases swapped."""
        return stats.pooled_swaps(*self, rng=rng)

    def swapped(self) -> "Figures":
        """The same the other way round."""
        return self._replace(first=self.second, second=self.first)

    def means(self) -> tuple[float, float]:
        """The two figures."""
        one, other = (self.statistic(x.sum(axis=0, keepdims=True)) for x in self[:2])
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


def pairs_of(candidates: Sequence[str], against: str | None = None) -> list[tuple[str, str]]:
    """Which candidates are compared: `against` with each other one, if given.

    Else all pairs of two or three, and of four or more the first with each other one.
    """
    if against is None and len(candidates) <= ALL_PAIRS:
        return list(combinations(candidates, 2))
    first = candidates[0] if against is None else against
    return [(first, other) for other in candidates if other != first]


def pairs(
    scores: "pl.DataFrame",
    measures: Mapping[int, Measure],
    pairs: Sequence[tuple[str, str]],
    margin: float | None,
    population: Population,
) -> Iterator[Apart | Compared]:
    """Every pair on every criterion and benchmark, each by itself."""
    import polars as pl

    lines: dict[tuple[str, str, str], dict[int, Measure]] = {}
    for key, measure in measures.items():
        line = (measure.metric, measure.criterion.criterion, measure.rater)
        lines.setdefault(line, {})[key] = measure
    for versions in lines.values():
        own = scores.filter(pl.col("measure_id").is_in(list(versions)))
        for benchmark in own.get_column("benchmark").unique(maintain_order=True):
            here = own.filter((pl.col("benchmark") == benchmark) & (pl.col("edit") == ""))
            for a, b in pairs:
                yield _pair(here, versions, benchmark, a, b, margin, population)


def _pair(
    here: "pl.DataFrame",
    versions: Mapping[int, Measure],
    benchmark: str,
    a: str,
    b: str,
    margin: float | None,
    population: Population,
) -> Apart | Compared:
    """Two candidates by the latest version of the measure that marked both."""
    import polars as pl

    marked = {name: set(here.filter(pl.col("candidate") == name)["measure_id"]) for name in (a, b)}
    both = marked[a] & marked[b]
    key = max(both or marked[a] | marked[b] or versions)
    least = versions[key].criterion.smallest_difference
    source = "--margin" if margin is not None else "declared by the metric" if least is not None else None
    pair = Pair(benchmark, a, b, versions[key], population, least if margin is None else margin, source)
    for name in (a, b):
        if not marked[name]:
            return Apart(pair, f"{name} has no marks by {pair.measure.metric} on {benchmark}")
    if not both:
        return Apart(pair, f"they were marked by different versions of {pair.measure.metric}")
    marks = here.filter((pl.col("measure_id") == key) & pl.col("candidate").is_in([a, b]))
    if pair.measure.criterion.pool != "mean":
        return _pooled(pair, marks)
    found = _seen(pair, marks)
    return _fixed(found, marks) if population == "fixed" and isinstance(found, Compared) else found


def _joined(pair: Pair, table: "pl.DataFrame") -> "pl.DataFrame":
    """The rows by item of the first of `turned`, beside the other's with the ending _2."""
    import polars as pl

    one, other = (table.filter(pl.col("candidate") == name) for name in pair.turned)
    return one.join(other, on=ITEM, suffix="_2", validate="1:1", maintain_order="left")


def _n_only(pair: Pair, table: "pl.DataFrame") -> tuple[int, int]:
    """How many items only A has marks on, and only B."""
    import polars as pl

    of_a, of_b = (
        set(table.filter(pl.col("candidate") == name).select(*ITEM).iter_rows()) for name in (pair.a, pair.b)
    )
    return len(of_a - of_b), len(of_b - of_a)


def _failed(marks: "pl.DataFrame", items: "pl.DataFrame") -> int:
    """How many marks on these items failed; others decide nothing."""
    import polars as pl

    shared = marks.join(items.select(*ITEM), on=list(ITEM), how="semi")
    return shared.filter(pl.col("status") == "failed").height


def _nothing(pair: Pair, failed: int) -> Apart:
    lost = "every mark on the questions they share failed" if failed else "no question has marks of both"
    return Apart(pair, lost, failed=failed)


ALONE = "all they share is one case, and one case says nothing about the next"


def _seen(pair: Pair, marks: "pl.DataFrame") -> Apart | Compared:
    """The pair with its differences by item, as seen and under the two fillings."""
    import polars as pl

    values = resolve(marks, pair.measure.criterion)
    items = _joined(pair, values).with_columns(
        d=pl.col("observed") - pl.col("observed_2"),
        d_low=pl.col("low") - pl.col("high_2"),
        d_high=pl.col("high") - pl.col("low_2"),
    )
    differences, failed = Differences(items), _failed(marks, items)
    common = items.filter(pl.col("d").is_not_null())
    if not common.height:
        return _nothing(pair, failed)
    seen = differences.paired("d")
    if seen.n_groups < 2:
        return Apart(pair, ALONE, seen, failed)
    first, second = (float(np.mean(common[name].to_numpy())) for name in ("observed", "observed_2"))
    fillings = None
    if failed and not (items["d_low"].is_nan().any() or items["d_high"].is_nan().any()):
        fillings = differences.paired("d_low"), differences.paired("d_high")
    return Compared(
        pair=pair,
        seen=seen,
        by=differences,
        means=(first, second) if pair.sign > 0 else (second, first),
        n_only=_n_only(pair, values),
        failed=failed,
        fillings=fillings,
        answered=_answered(pair, marks),
    )


def _pooled(pair: Pair, marks: "pl.DataFrame") -> Apart | Compared:
    """The pair by its pooled figures on the items that both have counts for.

    Silence is set aside, so what was seen is what both answered; what failed has no fillings.
    """
    criterion = pair.measure.criterion
    counted = counts(marks, criterion)
    if counted.items is None:
        return Apart(pair, counted.reason or "")
    items = _joined(pair, counted.items)
    both = _joined(pair, resolve(marks, criterion))
    failed = _failed(marks, both)
    if not items.height:
        return _nothing(pair, failed)
    figures = Figures(
        counted.of(items), counted.of(items, "_2"), items["group"].to_numpy(), POOLS[criterion.pool]
    )
    seen = figures.paired()
    if seen is None:
        return Apart(pair, "what its counts are divided by is 0 in all answers of one of them", failed=failed)
    if seen.n_groups < 2:
        return Apart(pair, ALONE, seen, failed)
    if seen.se is None:
        return Apart(pair, "without one of their cases a pooled figure is undefined", seen, failed)
    if pair.population == "fixed":
        sampled = "a pooled criterion is compared on a sample of questions, not on a fixed exam"
        return Apart(pair, sampled, seen, failed)
    one, other = figures.means()
    return Compared(
        pair=pair,
        seen=seen,
        by=figures,
        means=(one, other) if pair.sign > 0 else (other, one),
        n_only=_n_only(pair, counted.items),
        failed=failed,
        answered=seen,
    )


def _fixed(found: Compared, marks: "pl.DataFrame") -> Apart | Compared:
    """The pair with the error of repeats alone in place of the error between cases."""
    pair, differences = found.pair, found.by
    if isinstance(differences, Figures):
        return found

    def error_of(marks: "pl.DataFrame", column: str) -> stats.Fixed:
        return _error_of_repeats(pair, differences, marks, column)

    error = error_of(marks, "d")
    seen = _by_repeats(found.seen, error)
    if seen is None:
        lacking = "a fixed exam is judged by repeats, and not every question has two of both"
        still = "their repeats do not vary, so nothing is known of chance"
        return Apart(pair, lacking if error.se is None else still, found.seen, found.failed)
    fillings = None
    if found.fillings:
        c = pair.measure.criterion
        one, other = pair.turned
        low, high = (
            _filled(marks, ends) for ends in ({one: c.low, other: c.high}, {one: c.high, other: c.low})
        )
        worst = _by_repeats(found.fillings[0], error_of(low, "d_low"))
        best = _by_repeats(found.fillings[1], error_of(high, "d_high"))
        fillings = (worst, best) if worst and best else None
    return found._replace(seen=seen, fillings=fillings)


def _by_repeats(paired: stats.Paired, error: stats.Fixed) -> stats.Paired | None:
    """What was seen with half this error doubled; null where the repeats have none to be known."""
    if error.se is None or error.df is None:
        return None
    se, df = 2 * error.se, max(1, int(error.df))
    p = 2 * float(stdtr(df, -abs(paired.difference) / se))
    direction: Any = int(np.sign(paired.difference))
    return paired._replace(se=se, df=df, p=p, test="t", direction=direction)


def _error_of_repeats(
    pair: Pair, differences: Differences, marks: "pl.DataFrame", column: str
) -> stats.Fixed:
    """Half the error of the mean difference in that column, where only repeats vary.

    SE^2 = sum over the common items and both candidates of s_i^2 / R_i, divided by n^2: twice the SE of the
    mean over the two candidates' items taken as 2 n fixed ones, the second's with the sign turned.
    """
    import polars as pl

    common = differences.items.filter(pl.col(column).is_not_null()).select(*ITEM)
    own = repeats(marks, pair.measure.criterion).join(common, on=list(ITEM), how="semi")
    names = own.select(pl.concat_str("item", "variant", "candidate", separator="\n")).to_series()
    signs = np.where(own["candidate"].to_numpy() == pair.a, 1.0, -1.0)
    return stats.fixed_mean(own["y"].to_numpy() * signs, names.to_numpy())


def _filled(marks: "pl.DataFrame", ends: Mapping[str, float | None]) -> "pl.DataFrame":
    """The marks with each candidate's failed ones at the given end of the range."""
    import polars as pl

    failed = pl.col("status") == "failed"
    end = pl.col("candidate").replace_strict(ends, return_dtype=pl.Float64)
    return marks.with_columns(
        value=pl.when(failed).then(end).otherwise(pl.col("value")),
        status=pl.when(failed).then(pl.lit("ok")).otherwise(pl.col("status")),
    )


def _answered(pair: Pair, marks: "pl.DataFrame") -> stats.Paired | None:
    """The difference on what both answered: marks that are ok, on items where both have one."""
    import polars as pl

    values = resolve(marks.filter(pl.col("status") == "ok"), pair.measure.criterion)
    a, b = (values.filter(pl.col("candidate") == name) for name in (pair.a, pair.b))
    both = a.join(b, on=ITEM, suffix="_2", validate="1:1", maintain_order="left")
    if not both.height:
        return None
    differences = (both["observed"] - both["observed_2"]).to_numpy() * pair.sign
    return stats.paired(differences, both["group"].to_numpy())
