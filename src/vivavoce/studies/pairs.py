"""Every pair of candidates by itself: what was seen of it, and what the failed marks could make of that.

What pairs mean together with others is `compare`'s affair.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import ITEM, resolve, weighted_mean, weights_of
from vivavoce.studies.fixed import as_fixed
from vivavoce.studies.pair import Apart, Arrays, Compared, Differences, Figures, Pair, Population
from vivavoce.studies.pooling import POOLS, TOO_LARGE, counts, figures_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["pairs", "pairs_of"]

ALL_PAIRS = 3
"""Up to so many candidates every pair is compared; beyond, each with the first named."""


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
    asked: Sequence[tuple[str, str]],
    *,
    margin: float | None,
    population: Population,
) -> Iterator[Apart | Compared]:
    """Every pair that is asked for on every criterion and benchmark."""
    import polars as pl

    lines: dict[tuple[str, str, str], dict[int, Measure]] = {}
    for key, measure in measures.items():
        line = (measure.metric, measure.criterion.criterion, measure.rater)
        lines.setdefault(line, {})[key] = measure
    for versions in lines.values():
        own = scores.filter(pl.col("measure_id").is_in(list(versions)))
        for benchmark in own.get_column("benchmark").unique(maintain_order=True):
            here = own.filter((pl.col("benchmark") == benchmark) & (pl.col("edit") == ""))
            for a, b in asked:
                key, why = _version(here, versions, benchmark, a, b)
                pair = Pair(benchmark, a, b, versions[key], population, *_margin(versions[key], margin))
                marks = here.filter((pl.col("measure_id") == key) & pl.col("candidate").is_in([a, b]))
                yield Apart(pair, why) if why else _compared(pair, marks)


def _version(
    here: "pl.DataFrame", versions: Mapping[int, Measure], benchmark: str, a: str, b: str
) -> tuple[int, str | None]:
    """The latest version of the measure that marked both; or the latest there is, and why it will not do."""
    import polars as pl

    marked = {name: set(here.filter(pl.col("candidate") == name)["measure_id"]) for name in (a, b)}
    both = marked[a] & marked[b]
    key = max(both or marked[a] | marked[b] or versions)
    metric = versions[key].metric
    for name in (a, b):
        if not marked[name]:
            return key, f"{name} has no marks by {metric} on {benchmark}"
    return key, None if both else f"they were marked by different versions of {metric}"


def _margin(measure: Measure, asked: float | None) -> tuple[float | None, str | None]:
    """The least difference that matters, and who says so."""
    if asked is not None:
        return asked, "--margin"
    declared = measure.criterion.smallest_difference
    return declared, None if declared is None else "declared by the metric"


def _compared(pair: Pair, marks: "pl.DataFrame") -> Apart | Compared:
    return (_seen if pair.measure.criterion.pool == "mean" else _pooled)(pair, marks)


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
    weights = weights_of(common)
    first, second = (weighted_mean(common[name].to_numpy(), weights) for name in ("observed", "observed_2"))
    fillings = None
    if failed and not (items["d_low"].is_nan().any() or items["d_high"].is_nan().any()):
        fillings = differences.paired("d_low"), differences.paired("d_high")
    found = Compared(
        pair=pair,
        seen=seen,
        by=differences,
        means=(first, second) if pair.sign > 0 else (second, first),
        n_only=_n_only(pair, values),
        failed=failed,
        fillings=fillings,
        answered=_answered(pair, marks),
    )
    return as_fixed(found, differences, marks) if pair.population == "fixed" else found


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
        *(counted.of(items), counted.of(items, "_2"), items["group"].to_numpy(), POOLS[criterion.pool]),
        weights=weights_of(items),
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
    means = figures_of(figures.means(), criterion)
    if means is None:
        return Apart(pair, f"of one of them, {TOO_LARGE}", seen, failed)
    one, other = means
    return Compared(
        pair=pair,
        seen=seen,
        by=figures,
        means=(one, other) if pair.sign > 0 else (other, one),
        n_only=_n_only(pair, counted.items),
        failed=failed,
        answered=seen,
    )


def _answered(pair: Pair, marks: "pl.DataFrame") -> stats.Paired | None:
    """The difference on what both answered: marks that are ok, on items where both have one."""
    import polars as pl

    values = resolve(marks.filter(pl.col("status") == "ok"), pair.measure.criterion)
    both = _joined(pair, values)
    if not both.height:
        return None
    differences = (both["observed"] - both["observed_2"]).to_numpy()
    return Arrays(differences, both["group"].to_numpy(), weights_of(both)).paired()
