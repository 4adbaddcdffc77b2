"""Compare: A against B on the same questions, and what may be said of it.

Two passes: first each pair by itself, then the family of all pairs, metrics and criteria of the call, which
corrects the p values and widens the intervals that the verdicts rest on. Inside, differences are turned
once so that above 0 favours A; rows give them in the metric's own direction.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.errors import SelectionError
from vivavoce.records import Finding, Measure
from vivavoce.studies import ITEM, resolve, span
from vivavoce.studies.words import basis, footnote, sentence

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "compare", "pairs_of"]

COLUMNS = (
    *("benchmark", "a", "b", "metric", "criterion", "difference", "low", "high", "low_family", "high_family"),
    *("p", "p_adjusted", "p_flip", "n_items", "n_groups", "n_different", "wins", "ties", "losses", "mde"),
    *("mde_family", "margin", "margin_source", "n_needed", "set_low", "set_high", "bound_low", "bound_high"),
    *("family", "looks", "verdict", "verdict_code", "favours", "basis", "reason"),
)
ALL_PAIRS = 3
"""Up to so many candidates every pair is compared; beyond, each with the first named."""


def pairs_of(candidates: Sequence[str]) -> list[tuple[str, str]]:
    """Which candidates are compared: all pairs of two or three; of four or more, the first with each
    other.
    """
    if len(candidates) <= ALL_PAIRS:
        return list(combinations(candidates, 2))
    return [(candidates[0], other) for other in candidates[1:]]


def compare(
    scores: "pl.DataFrame",
    measures: Mapping[int, Measure],
    candidates: Sequence[str],
    *,
    margin: float | None = None,
    looks: int = 1,
) -> Finding:
    """One row of `COLUMNS` per pair, benchmark, metric and criterion, and the sentences.

    `scores` are score rows with `measure_id`. `margin`, in the criterion's units, is the least difference
    that matters; without it a criterion's declared `smallest_difference` serves. `looks` counts the
    comparisons made on this run, this one included. Figures of a pair that cannot be compared are null,
    with a `reason`.
    """
    if margin is not None and not 0 < margin < float("inf"):
        raise SelectionError(f"a margin is a number above 0 in the metric's units, not {margin}.")
    pairs = list(_pairs(scores, measures, candidates, margin))
    family = max(1, sum(pair.seen is not None for pair in pairs))
    rows = [_row(pair, family, looks) for pair in _corrected(pairs)]
    text = "\n\n".join(" ".join(filter(None, (row["basis"], row["verdict"]))) for row in rows)
    return Finding(study="compare", rows=tuple(rows), text=text, notes=(footnote(family, looks, margin),))


class _Pair(NamedTuple):
    """Two candidates on one criterion of one benchmark. Without `seen` they cannot be compared, for a
    `reason`.

    `items` has a row per common item: `d` as seen, `d_low` and `d_high` with the failed marks filled worst
    and best for A, all turned so that above 0 favours A.
    """

    benchmark: str
    a: str
    b: str
    measure: Measure
    margin: float | None
    margin_source: str | None
    reason: str | None = None
    failed: int = 0
    items: "pl.DataFrame | None" = None
    means: tuple[float, float] = (0.0, 0.0)
    seen: stats.Paired | None = None
    fillings: tuple[stats.Paired, stats.Paired] | None = None
    p_seen: float | None = None
    p_fillings: float | None = None

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


def _pairs(
    scores: "pl.DataFrame", measures: Mapping[int, Measure], candidates: Sequence[str], margin: float | None
) -> Iterator[_Pair]:
    """Every pair on every criterion and benchmark, each by itself."""
    import polars as pl

    lines: dict[tuple[str, str], dict[int, Measure]] = {}
    for key, measure in measures.items():
        lines.setdefault((measure.metric, measure.criterion.criterion), {})[key] = measure
    for versions in lines.values():
        own = scores.filter(pl.col("measure_id").is_in(list(versions)))
        for benchmark in own.get_column("benchmark").unique(maintain_order=True):
            here = own.filter((pl.col("benchmark") == benchmark) & (pl.col("edit") == ""))
            for a, b in pairs_of(candidates):
                yield _pair(here, versions, benchmark, a, b, margin)


def _pair(
    here: "pl.DataFrame",
    versions: Mapping[int, Measure],
    benchmark: str,
    a: str,
    b: str,
    margin: float | None,
) -> _Pair:
    """Two candidates by the latest version of the measure that marked both."""
    import polars as pl

    marked = {name: set(here.filter(pl.col("candidate") == name)["measure_id"]) for name in (a, b)}
    both = marked[a] & marked[b]
    key = max(both or marked[a] | marked[b] or versions)
    least = versions[key].criterion.smallest_difference
    source = "--margin" if margin is not None else "declared by the metric" if least is not None else None
    pair = _Pair(benchmark, a, b, versions[key], least if margin is None else margin, source)
    for name in (a, b):
        if not marked[name]:
            return pair._replace(reason=f"{name} has no marks by {pair.measure.metric} on {benchmark}")
    if not both:
        return pair._replace(reason=f"they were marked by different versions of {pair.measure.metric}")
    return _seen(pair, here.filter((pl.col("measure_id") == key) & pl.col("candidate").is_in([a, b])))


def _seen(pair: _Pair, marks: "pl.DataFrame") -> _Pair:
    """The pair with its differences by item, as seen and under the two fillings."""
    import polars as pl

    values = resolve(marks, pair.measure.criterion)
    one, other = (pair.a, pair.b) if pair.sign > 0 else (pair.b, pair.a)  # the second is taken from the first
    items = (
        values.filter(pl.col("candidate") == one)
        .join(values.filter(pl.col("candidate") == other), on=ITEM, suffix="_2", validate="1:1")
        .with_columns(
            d=pl.col("observed") - pl.col("observed_2"),
            d_low=pl.col("low") - pl.col("high_2"),
            d_high=pl.col("high") - pl.col("low_2"),
        )
    )
    failed = marks.filter(pl.col("status") == "failed").height
    common = items.filter(pl.col("d").is_not_null())
    if not common.height:
        lost = "every mark on the questions they share failed" if failed else "no question has marks of both"
        return pair._replace(reason=lost)
    if common.n_unique("group") < 2:
        return pair._replace(reason="all they share is one case, and one case says nothing about the next")
    first, second = (float(np.mean(common[name].to_numpy())) for name in ("observed", "observed_2"))
    means = (first, second) if pair.sign > 0 else (second, first)
    pair = pair._replace(items=items, failed=failed, means=means)
    pair = pair._replace(seen=stats.paired(*pair.arrays("d")))
    if failed and not (items["d_low"].is_nan().any() or items["d_high"].is_nan().any()):
        pair = pair._replace(
            fillings=(stats.paired(*pair.arrays("d_low")), stats.paired(*pair.arrays("d_high")))
        )
    return pair


def _corrected(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs with Holm's p over the family: of what was seen, and of the worse of the two fillings."""
    there = [pair for pair in pairs if pair.seen]
    seen = [pair.seen.p for pair in there if pair.seen]
    worse = [
        max(f.p for f in pair.fillings) if pair.fillings else p for pair, p in zip(there, seen, strict=True)
    ]
    adjusted = iter(zip(stats.holm(seen).tolist(), stats.holm(worse).tolist(), strict=True))
    made = []
    for pair in pairs:
        p, p_fillings = next(adjusted) if pair.seen else (None, None)
        made.append(pair._replace(p_seen=p, p_fillings=p_fillings))
    return made


def _row(pair: _Pair, family: int, looks: int) -> dict[str, Any]:
    """All columns of one pair."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "benchmark": pair.benchmark,
        "a": pair.a,
        "b": pair.b,
        "metric": pair.measure.metric,
        "criterion": pair.measure.criterion.criterion,
        "margin": pair.margin,
        "margin_source": pair.margin_source,
        "family": family,
        "looks": looks,
        "reason": pair.reason,
    }
    if pair.seen is None:
        none = dict.fromkeys(("n_items", "n_groups", "n_different", "wins", "ties", "losses"), 0)
        verdict = stats.Verdict("incomparable")
        return row | none | {"verdict_code": verdict.code, "verdict": sentence(row, verdict, pair.failed)}
    seen, level = pair.seen, stats.bonferroni_level(0.95, family)
    verdict = _verdict(pair, level)
    row |= {
        "difference": seen.difference * pair.sign,
        **_ends(pair, seen.interval(), "low", "high"),
        **_ends(pair, seen.interval(level=level), "low_family", "high_family"),
        "p": seen.p,
        "p_adjusted": pair.p_seen,
        "p_flip": _p_flip(pair),
        "n_items": seen.n_items,
        "n_groups": seen.n_groups,
        "n_different": seen.n_different,
        "wins": seen.n_higher,
        "ties": seen.n_items - seen.n_higher - seen.n_lower,
        "losses": seen.n_lower,
        "mde": stats.mde(seen.se, seen.n_groups),
        "mde_family": stats.mde(seen.se, seen.n_groups, k=family),
        "n_needed": _needed(pair, family),
        "verdict_code": verdict.code,
        "favours": verdict.favours,
    }
    row |= _bounds(pair, row)
    row["basis"] = basis(row, pair.means, pair.measure.criterion)
    return row | {"verdict": sentence(row, verdict, pair.failed)}


def _ends(pair: _Pair, ends: tuple[float | None, float | None] | None, low: str, high: str) -> dict[str, Any]:
    """An interval of "better for A" in the metric's own direction."""
    first, last = ends or (None, None)
    if pair.sign < 0:
        first, last = (None if last is None else -last), (None if first is None else -first)
    return {low: first, high: last}


def _bounds(pair: _Pair, row: Mapping[str, Any]) -> dict[str, Any]:
    """What the failed marks could make of the difference; the figures themselves when nothing failed."""
    if not pair.failed or pair.items is None:
        whole = row["difference"]
        return {"set_low": whole, "set_high": whole, "bound_low": row["low"], "bound_high": row["high"]}
    width = pair.width
    found = span(
        pair.items["d_low"],
        pair.items["d_high"],
        pair.items["group"],
        low=None if width is None else -width,
        high=width,
    )
    return _ends(pair, found[:2], "set_low", "set_high") | _ends(pair, found[2:], "bound_low", "bound_high")


def _verdict(pair: _Pair, level: float) -> stats.Verdict:
    """The row of the table that applies to what was seen and to what the failed marks could be."""
    assert pair.seen is not None  # asked only of pairs that were seen
    margin = pair.margin

    def interval(column: str) -> stats.Interval | None:
        return stats.margin_interval(*pair.arrays(column), span=pair.width, level=level)

    def evidence(p: stats.Paired, value: float | None, direction: Any, low: str, high: str) -> stats.Evidence:
        near, far = (interval(low), interval(high)) if margin is not None else (None, None)
        known = near is not None and far is not None
        return stats.Evidence(
            n_groups=p.n_groups,
            n_different=p.n_different,
            direction=direction,
            p_adjusted=value,
            margin_low=near.low if known and near else None,
            margin_high=far.high if known and far else None,
        )

    seen = evidence(pair.seen, pair.p_seen, pair.seen.direction, "d", "d")
    if not pair.failed:
        return stats.verdict(seen, margin=margin)
    if pair.fillings is None:
        # A metric without a limit: nothing bounds what failed, so only "too few" can be said without it.
        alone = stats.verdict(seen, margin=margin)
        return alone if alone.code in ("too_few", "incomparable") else stats.Verdict("depends")
    worst, best = pair.fillings
    direction = stats.common_direction(worst.direction, best.direction)
    return stats.verdict(seen, evidence(worst, pair.p_fillings, direction, "d_low", "d_high"), margin=margin)


def _p_flip(pair: _Pair) -> float:
    """Sign flips of whole groups, a check on the t test; the same whichever of the two is named
    first.
    """
    names = "|".join((pair.benchmark, pair.measure.metric, pair.measure.criterion.criterion,
                      *sorted((pair.a, pair.b))))  # fmt: skip
    seed = int.from_bytes(hashlib.sha256(names.encode()).digest()[:8], "big")
    return stats.sign_flips(stats.group_sums(*pair.arrays("d")), rng=np.random.default_rng(seed)).p


def _needed(pair: _Pair, family: int) -> int | None:
    """Questions it would take to find a difference of the margin four times in five; null without a
    margin.
    """
    seen = pair.seen
    if pair.margin is None or seen is None or not seen.se:
        return None
    variance = stats.group_variance(seen.se, seen.n_groups, n_items=seen.n_items)
    groups = stats.groups_needed(pair.margin, variance, k=family)
    return groups and stats.items_needed(groups, n_items=seen.n_items, n_groups=seen.n_groups)
