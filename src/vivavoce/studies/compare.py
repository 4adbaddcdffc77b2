"""Compare: A against B on the same questions, and what may be said of it.

Two passes: first each pair by itself, then the family of all pairs, metrics and criteria of the call, which
corrects the p values and widens the intervals that the verdicts rest on. Criteria that are one number in
several forms are one of that family. Inside, differences are turned once so that above 0 favours A; rows give
them in the metric's own direction.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from vivavoce import stats
from vivavoce.errors import SelectionError
from vivavoce.records import Finding, Measure
from vivavoce.studies import NO_LIMIT, SAMPLED, span
from vivavoce.studies.pair import Apart, Compared, Figures, Pair, Population
from vivavoce.studies.pairs import pairs, pairs_of
from vivavoce.studies.pooling import NO_FILLING, on_log_scale
from vivavoce.studies.words import basis, footnote, forms_told, logs_told, sentence

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "Gate", "compare", "gate"]

COLUMNS = (
    *("benchmark", "a", "b", "metric", "criterion", "rater", "difference", "low", "high", "low_family"),
    *("high_family", "p", "p_adjusted", "p_flip", "n_items", "n_groups", "n_different", "wins", "ties"),
    *("losses", "n_only_a", "n_only_b", "mde"),
    *("mde_family", "margin", "margin_source", "n_needed", "set_low", "set_high", "bound_low", "bound_high"),
    *("difference_answered", "low_answered", "high_answered", "n_answered", "population", "q"),
    *("family", "looks", "scale", "form_of", "verdict", "verdict_code", "favours", "basis", "reason"),
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
    answered. A pooled criterion is compared by its figures as a whole, each case left out of both in turn;
    a perplexity on the log scale (`scale` is log, else null), where differences, their intervals and margins
    are natural logarithms of how many times A's figure is B's. Of criteria that are one number in several
    forms one is in the family; each of the others is corrected as if it stood in its place, and has its name
    as `form_of`, else null.
    """
    if margin is not None and not 0 < margin < float("inf"):
        raise SelectionError(f"a margin is a number above 0 in the metric's units, not {margin}.")
    if population not in get_args(Population):
        raise SelectionError(f"a population is {' or '.join(get_args(Population))}, not {population!r}.")
    asked = pairs_of(candidates, against)
    found = list(pairs(scores, measures, asked, margin=margin, population=population))
    there = [pair for pair in found if isinstance(pair, Compared)]
    leads = _leads(there)
    family, corrected = max(1, len(set(leads))), iter(_corrected(there, leads))
    rows = [
        _apart(one, family, looks) if isinstance(one, Apart) else _row(one, next(corrected), family, looks)
        for one in found
    ]
    text = "\n\n".join(
        " ".join(filter(None, (of, row["basis"], row["verdict"])))
        for of, row in zip(_what_of(rows), rows, strict=True)
    )
    notes = (
        footnote(family, looks, margin),
        *forms_told((row["form_of"], row["criterion"]) for row in rows if row["form_of"]),
        *logs_told(one.pair.measure.criterion for one in there),
        *([SAMPLED] if "weight" in scores.columns else []),
    )
    return Finding(study="compare", rows=tuple(rows), text=text, notes=notes)


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


def _leads(pairs: Sequence[Compared]) -> list[int]:
    """For each pair the place of the one that is in the family for it, mostly its own.

    Of the forms of one number that is the first that is no exponential, else the first.
    """
    return [
        min(
            (j for j, other in enumerate(pairs) if j == k or one.form_of(other)),
            key=lambda j: (on_log_scale(pairs[j].pair.measure.criterion), j),
        )
        for k, one in enumerate(pairs)
    ]


class _Corrected(NamedTuple):
    """p over the family, Holm: of what was seen and of the worse filling; and q, BH.

    `form_of` is the criterion that is in the family for this one; null where it is there itself.
    """

    seen: float
    fillings: float
    q: float
    form_of: str | None


def _corrected(pairs: Sequence[Compared], leads: Sequence[int]) -> list[_Corrected]:
    """The p values of the pairs, corrected over the family; other forms of a number in its place there."""
    seen = np.array([pair.seen.p for pair in pairs])
    worse = np.array([max(f.p for f in pair.fillings) if pair.fillings else pair.seen.p for pair in pairs])
    family = np.array(sorted(set(leads)), dtype=int)
    found = []
    for k, lead in enumerate(leads):
        own = np.where(family == lead, k, family)
        at = own.tolist().index(k)
        found.append(
            _Corrected(
                seen=float(stats.holm(seen[own])[at]),
                fillings=float(stats.holm(worse[own])[at]),
                q=float(stats.benjamini_hochberg(seen[own])[at]),
                form_of=None if lead == k else pairs[lead].pair.measure.criterion.criterion,
            )
        )
    return found


def _shared(pair: Pair, family: int, looks: int) -> dict[str, Any]:
    """The columns that a pair has whether or not it can be compared."""
    return dict.fromkeys(COLUMNS) | {
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
        "scale": "log" if on_log_scale(pair.measure.criterion) else None,
    }


def _apart(one: Apart, family: int, looks: int) -> dict[str, Any]:
    """All columns of a pair that cannot be compared."""
    verdict = stats.Verdict("incomparable")
    row = _shared(one.pair, family, looks) | {"reason": one.reason} | _counts(one.common)
    said = sentence(row, verdict, one.pair.measure.criterion, one.failed)
    return row | {"verdict_code": verdict.code, "verdict": said}


def _row(found: Compared, corrected: _Corrected, family: int, looks: int) -> dict[str, Any]:
    """All columns of a pair that was compared."""
    pair, seen, level = found.pair, found.seen, stats.bonferroni_level(0.95, family)
    verdict = _verdict(found, corrected, level)
    row = _shared(pair, family, looks) | {
        "difference": seen.difference * pair.sign,
        **_ends(pair, seen.interval(), "low", "high"),
        **_ends(pair, seen.interval(level=level), "low_family", "high_family"),
        "p": seen.p,
        "p_adjusted": corrected.seen,
        "q": corrected.q,
        "form_of": corrected.form_of,
        "p_flip": _p_flip(found),
        "n_only_a": found.n_only[0],
        "n_only_b": found.n_only[1],
        **_counts(seen),
        **_when_answered(found),
        "mde": stats.mde(seen.se, seen.df + 1),
        "mde_family": stats.mde(seen.se, seen.df + 1, k=family),
        "n_needed": _needed(found, family),
        "verdict_code": verdict.code,
        "favours": verdict.favours,
    }
    row |= _bounds(found, row)
    pooled = isinstance(found.by, Figures)
    nulls = (
        (row["set_low"] is None or row["set_high"] is None, NO_FILLING if pooled else NO_LIMIT),
        (row["mde"] is None, "all cases differ alike: without spread no detectable difference can be told"),
    )
    row["reason"] = "; ".join(why for null, why in nulls if null) or None
    row["basis"] = basis(row, found.means, pair.measure.criterion)
    return row | {"verdict": sentence(row, verdict, pair.measure.criterion, found.failed)}


def _counts(seen: stats.Paired | None) -> dict[str, int]:
    """Questions and cases in common, and who was better on how many questions; 0 where none are shared."""
    n, up, down = (seen.n_items, seen.n_higher, seen.n_lower) if seen else (0, 0, 0)
    groups, different = (seen.n_groups, seen.n_different) if seen else (0, 0)
    return {"n_items": n, "n_groups": groups, "n_different": different,
            "wins": up, "ties": n - up - down, "losses": down}  # fmt: skip


def _when_answered(found: Compared) -> dict[str, Any]:
    """The difference on what both answered, beside the headline and never instead of it."""
    pair, seen = found.pair, found.answered
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


def _bounds(found: Compared, row: Mapping[str, Any]) -> dict[str, Any]:
    """What the failed marks could make of the difference; the figures themselves when nothing failed."""
    if not found.failed:
        whole = row["difference"]
        return {"set_low": whole, "set_high": whole, "bound_low": row["low"], "bound_high": row["high"]}
    pair, width = found.pair, found.pair.width
    if isinstance(found.by, Figures):
        return {}
    items = found.by.items
    weights = items["weight"] if "weight" in items.columns else None
    ends = span(items["d_low"], items["d_high"], items["group"], weights=weights,
                low=None if width is None else -width, high=width)  # fmt: skip
    if pair.population == "fixed":
        worst, best = (f.interval() for f in found.fillings) if found.fillings else (None, None)
        ends = ends._replace(
            bound_low=None if worst is None or width is None else max(worst.low, -width),
            bound_high=None if best is None or width is None else min(best.high, width),
        )
    return _ends(pair, ends[:2], "set_low", "set_high") | _ends(pair, ends[2:], "bound_low", "bound_high")


def _verdict(found: Compared, corrected: _Corrected, level: float) -> stats.Verdict:
    """The row of the table that applies to what was seen and to what the failed marks could be."""
    pair, margin = found.pair, found.pair.margin

    def interval(column: str, paired: stats.Paired) -> stats.Interval | None:
        if pair.population == "fixed":
            return paired.interval(level=level)
        if isinstance(found.by, Figures):  # pseudo-groups of Agresti-Min have no counts to be pooled
            return paired.interval(level=level) if paired.test == "t" else None
        return found.by.arrays(column).margin_interval(span=pair.width, level=level)

    def evidence(
        p: stats.Paired, value: float, direction: Any, ends: Sequence[stats.Interval | None]
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

    own = interval("d", found.seen) if margin is not None else None
    seen = evidence(found.seen, corrected.seen, found.seen.direction, (own, own))
    if not found.failed:
        return stats.verdict(seen, margin=margin)
    if found.fillings is None:
        # Nothing bounds what failed, so only "too few" can be said without it.
        alone = stats.verdict(seen, margin=margin)
        return alone if alone.code in ("too_few", "incomparable") else stats.Verdict("depends")
    worst, best = found.fillings
    direction = stats.common_direction(worst.direction, best.direction)
    ends = (interval("d_low", worst), interval("d_high", best)) if margin is not None else (None, None)
    return stats.verdict(seen, evidence(worst, corrected.fillings, direction, ends), margin=margin)


def _p_flip(found: Compared) -> float | None:
    """Sign flips of whole groups, a check on the t test; of pooled figures, swaps of their answers.

    Flipping asks about a sample of cases, which a fixed exam is not. The same in either order of the pair.
    """
    pair = found.pair
    if pair.population == "fixed":
        return None
    names = "|".join((pair.benchmark, pair.measure.metric, pair.measure.criterion.criterion,
                      *sorted((pair.a, pair.b))))  # fmt: skip
    seed = int.from_bytes(hashlib.sha256(names.encode()).digest()[:8], "big")
    rng = np.random.default_rng(seed)
    if isinstance(found.by, Figures):
        return (found.by if pair.a < pair.b else found.by.swapped()).swaps(rng).p
    return stats.sign_flips(found.by.arrays("d").sums(), rng=rng).p


def _needed(found: Compared, family: int) -> int | None:
    """Questions it takes to find a difference of the margin four times in five; null without a margin."""
    pair, seen = found.pair, found.seen
    if pair.margin is None or not seen.se or pair.population == "fixed":
        return None
    variance = stats.group_variance(seen.se, seen.n_groups, n_items=seen.n_items)
    groups = stats.groups_needed(pair.margin, variance, k=family)
    return groups and stats.items_needed(groups, n_items=seen.n_items, n_groups=seen.n_groups)
