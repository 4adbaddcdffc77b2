"""A pair of candidates on one criterion: their differences by item, as seen and as the failed marks could
make them.

Differences are turned once so that above 0 favours A. What they mean together with others is `compare`'s
affair.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtr

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import ITEM, repeats, resolve

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Pair", "Population", "pairs", "pairs_of"]

Population = Literal["sample", "fixed"]
ALL_PAIRS = 3
"""Up to so many candidates every pair is compared; beyond, each with the first named."""


class Pair(NamedTuple):
    """Two candidates on one criterion of one benchmark. Without `seen` they cannot be compared, for a
    `reason`.

    `items` has a row per common item: `d` as seen, `d_low` and `d_high` with the failed marks filled worst
    and best for A, all turned so that above 0 favours A.
    """

    benchmark: str
    a: str
    b: str
    measure: Measure
    population: Population
    margin: float | None
    margin_source: str | None
    reason: str | None = None
    failed: int = 0
    items: "pl.DataFrame | None" = None
    means: tuple[float, float] = (0.0, 0.0)
    seen: stats.Paired | None = None
    fillings: tuple[stats.Paired, stats.Paired] | None = None
    n_only: tuple[int, int] = (0, 0)
    answered: stats.Paired | None = None
    p_seen: float | None = None
    p_fillings: float | None = None
    q: float | None = None

    @property
    def sign(self) -> int:
        """1 if a higher value is better, -1 if a lower one is."""
        return 1 if self.measure.criterion.direction == "higher" else -1

    @property
    def width(self) -> float | None:
        """Width of the criterion's range; null without limits."""
        c = self.measure.criterion
        return None if c.low is None or c.high is None else c.high - c.low

    def arrays(self, column: str) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
        """A column of differences that are there, and their groups."""
        assert self.items is not None  # a pair that was seen has items
        there = self.items.filter(self.items[column].is_not_null())
        return there[column].to_numpy(), there["group"].to_numpy()


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
) -> Iterator[Pair]:
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
) -> Pair:
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
            return pair._replace(reason=f"{name} has no marks by {pair.measure.metric} on {benchmark}")
    if not both:
        return pair._replace(reason=f"they were marked by different versions of {pair.measure.metric}")
    return _seen(pair, here.filter((pl.col("measure_id") == key) & pl.col("candidate").is_in([a, b])))


def _seen(pair: Pair, marks: "pl.DataFrame") -> Pair:
    """The pair with its differences by item, as seen and under the two fillings."""
    import polars as pl

    values = resolve(marks, pair.measure.criterion)
    one, other = (pair.a, pair.b) if pair.sign > 0 else (pair.b, pair.a)  # the second is taken from the first
    items = (
        values.filter(pl.col("candidate") == one)
        .join(
            values.filter(pl.col("candidate") == other),
            on=ITEM,
            suffix="_2",
            validate="1:1",
            maintain_order="left",
        )
        .with_columns(
            d=pl.col("observed") - pl.col("observed_2"),
            d_low=pl.col("low") - pl.col("high_2"),
            d_high=pl.col("high") - pl.col("low_2"),
        )
    )
    shared = marks.join(items.select(*ITEM), on=list(ITEM), how="semi")  # others decide nothing here
    failed = shared.filter(pl.col("status") == "failed").height
    common = items.filter(pl.col("d").is_not_null())
    if not common.height:
        lost = "every mark on the questions they share failed" if failed else "no question has marks of both"
        return pair._replace(reason=lost)
    if common.n_unique("group") < 2:
        alone = "all they share is one case, and one case says nothing about the next"
        return pair._replace(reason=alone, items=items)
    first, second = (float(np.mean(common[name].to_numpy())) for name in ("observed", "observed_2"))
    means = (first, second) if pair.sign > 0 else (second, first)
    of_a, of_b = (
        set(values.filter(pl.col("candidate") == name).select(*ITEM).iter_rows()) for name in (pair.a, pair.b)
    )
    n_only = (len(of_a - of_b), len(of_b - of_a))
    pair = pair._replace(items=items, failed=failed, means=means, n_only=n_only)
    pair = pair._replace(seen=stats.paired(*pair.arrays("d")), answered=_answered(pair, marks))
    if failed and not (items["d_low"].is_nan().any() or items["d_high"].is_nan().any()):
        pair = pair._replace(
            fillings=(stats.paired(*pair.arrays("d_low")), stats.paired(*pair.arrays("d_high")))
        )
    return _fixed(pair, marks) if pair.population == "fixed" else pair


def _fixed(pair: Pair, marks: "pl.DataFrame") -> Pair:
    """The pair with the error of repeats alone in place of the error between cases."""
    assert pair.items is not None and pair.seen is not None  # noqa: PT018 - asked only of pairs that were seen
    error = _error_of_repeats(pair, marks, "d")
    if error.se is None:
        lacking = "a fixed exam is judged by repeats, and not every question has two of both"
        return pair._replace(seen=None, fillings=None, reason=lacking)
    if error.df is None:
        still = "their repeats do not vary, so nothing is known of chance"
        return pair._replace(seen=None, fillings=None, reason=still)

    def turned(paired: stats.Paired, error: stats.Fixed) -> stats.Paired | None:
        if error.se is None or error.df is None:
            return None
        se, df = 2 * error.se, max(1, int(error.df))
        p = 2 * float(stdtr(df, -abs(paired.difference) / se))
        direction: Any = int(np.sign(paired.difference))
        return paired._replace(se=se, df=df, p=p, test="t", direction=direction)

    worst = best = None
    if pair.fillings:
        c = pair.measure.criterion
        one, other = (pair.a, pair.b) if pair.sign > 0 else (pair.b, pair.a)
        low, high = (
            _filled(marks, ends) for ends in ({one: c.low, other: c.high}, {one: c.high, other: c.low})
        )
        worst = turned(pair.fillings[0], _error_of_repeats(pair, low, "d_low"))
        best = turned(pair.fillings[1], _error_of_repeats(pair, high, "d_high"))
    fillings = (worst, best) if worst and best else None
    return pair._replace(seen=turned(pair.seen, error), fillings=fillings)


def _error_of_repeats(pair: Pair, marks: "pl.DataFrame", column: str) -> stats.Fixed:
    """Half the error of the mean difference in that column, where only repeats vary.

    SE^2 = sum over the common items and both candidates of s_i^2 / R_i, divided by n^2: twice the SE of the
    mean over the two candidates' items taken as 2 n fixed ones, the second's with the sign turned.
    """
    import polars as pl

    assert pair.items is not None  # asked only of pairs that were seen
    common = pair.items.filter(pl.col(column).is_not_null()).select(*ITEM)
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
