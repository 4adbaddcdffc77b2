"""Compare: A against B on the same questions, and what may be said of it.

Two passes: first each pair by itself, then the family of all pairs, metrics and criteria of the call, which
corrects the p values and widens the intervals that the verdicts rest on. Inside, differences are turned
once so that above 0 favours A; rows give them in the metric's own direction.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from vivavoce import stats
from vivavoce.errors import SelectionError
from vivavoce.records import Finding, Measure
from vivavoce.studies import NO_LIMIT, span
from vivavoce.studies.pairs import Pair, Population, pairs, pairs_of
from vivavoce.studies.words import basis, footnote, sentence

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "Gate", "compare", "gate"]

COLUMNS = (
    *("benchmark", "a", "b", "metric", "criterion", "rater", "difference", "low", "high", "low_family"),
    *("high_family", "p", "p_adjusted", "p_flip", "n_items", "n_groups", "n_different", "wins", "ties"),
    *("losses", "n_only_a", "n_only_b", "mde"),
    *("mde_family", "margin", "margin_source", "n_needed", "set_low", "set_high", "bound_low", "bound_high"),
    *("difference_answered", "low_answered", "high_answered", "n_answered", "population", "q"),
    *("family", "looks", "verdict", "verdict_code", "favours", "basis", "reason"),
)


def compare(
    scores: "pl.DataFrame",
    measures: Mapping[int, Measure],
    candidates: Sequence[str],
    *,
    margin: float | None = None,
    against: str | None = None,
    population: Population = "sample",
    looks: int = 1,
) -> Finding:
    """One row of `COLUMNS` per pair, benchmark, metric and criterion, and the sentences.

    `scores` are score rows with `measure_id`. `margin`, in the criterion's units, is the least difference
    that matters; without it a criterion's declared `smallest_difference` serves. `looks` counts the
    comparisons made on this run, this one included. Figures of a pair that cannot be compared are null,
    with a `reason`. With `population` fixed the exam is what it is and only repeats vary, for gates that ask
    whether a system has changed; else its items are a sample, by group. `…_answered` are on what both
    answered.
    """
    if margin is not None and not 0 < margin < float("inf"):
        raise SelectionError(f"a margin is a number above 0 in the metric's units, not {margin}.")
    if population not in get_args(Population):
        raise SelectionError(f"a population is {' or '.join(get_args(Population))}, not {population!r}.")
    found = list(pairs(scores, measures, pairs_of(candidates, against), margin, population))
    family = max(1, sum(pair.seen is not None for pair in found))
    rows = [_row(pair, family, looks) for pair in _corrected(found)]
    text = "\n\n".join(
        " ".join(filter(None, (of, row["basis"], row["verdict"])))
        for of, row in zip(_what_of(rows), rows, strict=True)
    )
    return Finding(study="compare", rows=tuple(rows), text=text, notes=(footnote(family, looks, margin),))


class Gate(NamedTuple):
    """Who is worse than the reference, and who cannot be judged, each with a sentence."""

    worse: tuple[str, ...]
    unclear: tuple[str, ...]


def gate(rows: Sequence[Mapping[str, Any]], reference: str) -> Gate:
    """What a gate on the pairs of the reference needs to know.

    Unclear is what no verdict can rest on: no comparison, marks that failed and decide it, questions that
    only the reference has marks on. Too few different cases are not: two systems that answer alike differ
    in none.
    """
    worse, unclear = [], []
    for row in rows:
        if row["a"] != reference:
            continue
        what = f"{row['b']} ({row['metric']}, {row['criterion']})"
        if row["favours"] == "a" and row["verdict_code"] in ("better", "better_by_margin"):
            worse.append(f"{what} is worse: {row['verdict']}")
        elif row["verdict_code"] in ("incomparable", "depends"):
            unclear.append(f"{what} cannot be judged: {row['verdict']}")
        elif row["n_only_a"]:
            lost = f"{row['n_only_a']} questions that {reference} has marks on"
            unclear.append(f"{what} has no marks on {lost}.")
    return Gate(tuple(worse), tuple(unclear))


def _what_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What each row is about, as far as the rows differ in it: 'harm by Ann on exam:', or nothing."""
    names = ("criterion", "rater", "benchmark")
    several = {name for name in names if len({row[name] for row in rows}) > 1}
    parts = [
        (
            row["criterion"] if several else "",
            f"by {row['rater']}" if "rater" in several and row["rater"] else "",
            f"on {row['benchmark']}" if "benchmark" in several else "",
        )
        for row in rows
    ]
    return [f"{' '.join(filter(None, words))}:" if several else "" for words in parts]


def _corrected(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with p corrected over the family: Holm of what was seen and of the worse filling, and BH."""
    there = [pair for pair in pairs if pair.seen]
    seen = [pair.seen.p for pair in there if pair.seen]
    worse = [
        max(f.p for f in pair.fillings) if pair.fillings else p for pair, p in zip(there, seen, strict=True)
    ]
    columns = (stats.holm(seen), stats.holm(worse), stats.benjamini_hochberg(seen))
    adjusted = zip(*(column.tolist() for column in columns), strict=True)
    made = []
    for pair in pairs:
        p, p_fillings, q = next(adjusted) if pair.seen else (None, None, None)
        made.append(pair._replace(p_seen=p, p_fillings=p_fillings, q=q))
    return made


def _row(pair: Pair, family: int, looks: int) -> dict[str, Any]:
    """All columns of one pair."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "benchmark": pair.benchmark,
        "a": pair.a,
        "b": pair.b,
        "metric": pair.measure.metric,
        "criterion": pair.measure.criterion.criterion,
        "rater": pair.measure.rater,
        "margin": pair.margin,
        "margin_source": pair.margin_source,
        "population": pair.population,
        "family": family,
        "looks": looks,
        "reason": pair.reason,
    }
    if pair.seen is None:
        alone = None if pair.items is None else stats.paired(*pair.arrays("d"))
        verdict = stats.Verdict("incomparable")
        return (
            row
            | _counts(alone)
            | {
                "verdict_code": verdict.code,
                "verdict": sentence(row, verdict, pair.measure.criterion, pair.failed),
            }
        )
    seen, level = pair.seen, stats.bonferroni_level(0.95, family)
    verdict = _verdict(pair, level)
    row |= {
        "difference": seen.difference * pair.sign,
        **_ends(pair, seen.interval(), "low", "high"),
        **_ends(pair, seen.interval(level=level), "low_family", "high_family"),
        "p": seen.p,
        "p_adjusted": pair.p_seen,
        "q": pair.q,
        # Flipping the signs of cases asks about a sample of cases; on a fixed exam that is not the question.
        "p_flip": None if pair.population == "fixed" else _p_flip(pair),
        "n_only_a": pair.n_only[0],
        "n_only_b": pair.n_only[1],
        **_counts(seen),
        **_when_answered(pair),
        "mde": stats.mde(seen.se, seen.df + 1),
        "mde_family": stats.mde(seen.se, seen.df + 1, k=family),
        "n_needed": _needed(pair, family),
        "verdict_code": verdict.code,
        "favours": verdict.favours,
    }
    row |= _bounds(pair, row)
    nulls = (
        (row["set_low"] is None or row["set_high"] is None, NO_LIMIT),
        (row["mde"] is None, "all cases differ alike: without spread no detectable difference can be told"),
    )
    row["reason"] = "; ".join(why for null, why in nulls if null) or None
    row["basis"] = basis(row, pair.means, pair.measure.criterion)
    return row | {"verdict": sentence(row, verdict, pair.measure.criterion, pair.failed)}


def _counts(seen: stats.Paired | None) -> dict[str, int]:
    """Questions and cases in common, and who was better on how many questions; 0 where none are shared."""
    n, up, down = (seen.n_items, seen.n_higher, seen.n_lower) if seen else (0, 0, 0)
    groups, different = (seen.n_groups, seen.n_different) if seen else (0, 0)
    return {"n_items": n, "n_groups": groups, "n_different": different,
            "wins": up, "ties": n - up - down, "losses": down}  # fmt: skip


def _when_answered(pair: Pair) -> dict[str, Any]:
    """The difference on what both answered, beside the headline and never instead of it."""
    seen = pair.answered
    if seen is None:
        return {"n_answered": 0}
    return {
        "difference_answered": seen.difference * pair.sign,
        **_ends(pair, seen.interval(), "low_answered", "high_answered"),
        "n_answered": seen.n_items,
    }


def _ends(pair: Pair, ends: tuple[float | None, float | None] | None, low: str, high: str) -> dict[str, Any]:
    """An interval of "better for A" in the metric's own direction."""
    first, last = ends or (None, None)
    if pair.width is not None:  # no difference is wider than the range
        first = None if first is None else max(first, -pair.width)
        last = None if last is None else min(last, pair.width)
    if pair.sign < 0:
        first, last = (None if last is None else -last), (None if first is None else -first)
    return {low: first, high: last}


def _bounds(pair: Pair, row: Mapping[str, Any]) -> dict[str, Any]:
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
    if pair.population == "fixed":
        worst, best = (f.interval() for f in pair.fillings) if pair.fillings else (None, None)
        found = found._replace(
            bound_low=None if worst is None or width is None else max(worst.low, -width),
            bound_high=None if best is None or width is None else min(best.high, width),
        )
    return _ends(pair, found[:2], "set_low", "set_high") | _ends(pair, found[2:], "bound_low", "bound_high")


def _verdict(pair: Pair, level: float) -> stats.Verdict:
    """The row of the table that applies to what was seen and to what the failed marks could be."""
    assert pair.seen is not None  # asked only of pairs that were seen
    margin = pair.margin

    def interval(column: str, paired: stats.Paired) -> stats.Interval | None:
        if pair.population == "fixed":
            return paired.interval(level=level)
        return stats.margin_interval(*pair.arrays(column), span=pair.width, level=level)

    def evidence(
        p: stats.Paired, value: float | None, direction: Any, ends: Sequence[stats.Interval | None]
    ) -> stats.Evidence:
        near, far = ends
        known = near is not None and far is not None
        return stats.Evidence(
            n_groups=p.n_groups,
            n_different=p.n_different,
            direction=direction,
            p_adjusted=value,
            margin_low=near.low if known and near else None,
            margin_high=far.high if known and far else None,
        )

    own = interval("d", pair.seen) if margin is not None else None
    seen = evidence(pair.seen, pair.p_seen, pair.seen.direction, (own, own))
    if not pair.failed:
        return stats.verdict(seen, margin=margin)
    if pair.fillings is None:
        # A metric without a limit: nothing bounds what failed, so only "too few" can be said without it.
        alone = stats.verdict(seen, margin=margin)
        return alone if alone.code in ("too_few", "incomparable") else stats.Verdict("depends")
    worst, best = pair.fillings
    direction = stats.common_direction(worst.direction, best.direction)
    ends = (interval("d_low", worst), interval("d_high", best)) if margin is not None else (None, None)
    return stats.verdict(seen, evidence(worst, pair.p_fillings, direction, ends), margin=margin)


def _p_flip(pair: Pair) -> float:
    """Sign flips of whole groups, a check on the t test; the same in either order of the pair."""
    names = "|".join((pair.benchmark, pair.measure.metric, pair.measure.criterion.criterion,
                      *sorted((pair.a, pair.b))))  # fmt: skip
    seed = int.from_bytes(hashlib.sha256(names.encode()).digest()[:8], "big")
    return stats.sign_flips(stats.group_sums(*pair.arrays("d")), rng=np.random.default_rng(seed)).p


def _needed(pair: Pair, family: int) -> int | None:
    """Questions it takes to find a difference of the margin four times in five; null without a margin."""
    seen = pair.seen
    if pair.margin is None or seen is None or not seen.se or pair.population == "fixed":
        return None
    variance = stats.group_variance(seen.se, seen.n_groups, n_items=seen.n_items)
    groups = stats.groups_needed(pair.margin, variance, k=family)
    return groups and stats.items_needed(groups, n_items=seen.n_items, n_groups=seen.n_groups)
