"""Traces: what each probe of training data shows of a candidate, and what it is held against.

Only what can be held against something gives a test: a candidate against the others, a question against
itself in other words beside what these do to the others, a canary against decoys, the published order of
options against the others.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import ITEM, LEAST_GROUPS, resolve, weights_of
from vivavoce.studies.answering import bare
from vivavoce.studies.figures import Floats
from vivavoce.studies.pooling import counts, figures
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["REWRITTEN", "Trace", "traces"]

REWRITTEN = "rewritten"
"""The variant, or the beginning of its name up to a colon, that says a question in other words."""
LEAST_AT_A_PLACE = 5
"""Cases in which the key must stand at a place: by then a mean has an error that holds (type I error of a
place preference without memory 1 to 3 % on memory's side, simulated with 24 to 120 questions)."""
ALONE = (
    "a question may be easier to go on with than its rewording, and only other candidates with both wordings "
    "can tell that from memory"
)
"""Why a candidate without others is not tested against other words."""
_PLACE = ("benchmark", "item", "group")


class Trace(NamedTuple):
    """One candidate's figure by one probe, and `against` what it is held ('': nothing).

    `value` is in the units of the measure, a difference where it is held against something (`logs`: of
    natural logarithms); `ends` its 95 % interval. `seen` is the comparison, turned so that above 0 is what
    memory would do (`sign` turns it back), and a test where there is a `p`; `weak`: a larger or newer model
    does so too. Of a canary `p` is exact, and `least` the smallest that so many `n_decoys` can give. Without
    a value or a test there is a `reason`.
    """

    benchmark: str
    measure: Measure
    candidate: str
    probe: str
    against: str = ""
    value: float | None = None
    ends: tuple[float, float] | None = None
    seen: stats.Paired | None = None
    sign: int = 1
    logs: bool = False
    weak: bool = False
    p: float | None = None
    least: float | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_decoys: int | None = None
    n_failed: int = 0
    reason: str | None = None


def traces(scores: "pl.DataFrame", measures: Mapping[int, Measure]) -> Iterator[Trace]:
    """The traces in score rows of candidates, by measure, benchmark and candidate."""
    import polars as pl

    for key, measure in measures.items():
        how = _PROBES.get((bare(measure), measure.criterion.criterion))
        if how is None:
            continue
        own = scores.filter(pl.col("measure_id") == key).sort("benchmark", "candidate")
        for (benchmark,), part in own.group_by("benchmark", maintain_order=True):
            for candidate in part["candidate"].unique(maintain_order=True):
                mine = part.filter(pl.col("candidate") == candidate)
                failed = mine.filter(pl.col("status") == "failed").height
                start = Trace(str(benchmark), measure, candidate, bare(measure), n_failed=failed)
                yield from how(start, mine, part)


def _verbatim(start: Trace, mine: "pl.DataFrame", part: "pl.DataFrame") -> Iterator[Trace]:
    """The mean share; and how much of it other words take away, beside what they take from the others.

    Shares of tokens, of which each model has its own, are not held against other candidates' shares.
    """
    import polars as pl

    values = _observed(part, start.measure)
    yield _mean(start, _sides(values.filter(pl.col("candidate") == start.candidate))[0])
    # What is gone on with further loses more by other words: a larger model stands out here without memory.
    start = start._replace(against=REWRITTEN, weak=True)
    both = _twins(values, ["observed"], start.candidate)
    if isinstance(both, str):
        yield start._replace(reason=both)
        return
    own, *others = both
    gaps = [(one["observed"] - one["observed_twin"]).to_numpy() for one in both]
    difference = gaps[0] - np.mean(gaps[1:], axis=0) if others else gaps[0]
    seen = stats.paired(difference, own["group"].to_numpy(), weights=weights_of(own))
    yield _held(start, seen) if others else _alone(start, seen)


def _bits(start: Trace, mine: "pl.DataFrame", part: "pl.DataFrame") -> Iterator[Trace]:
    """The pooled figure; against the other candidates; and the factor that other words make beside theirs.

    Memory needs fewer bits, so the sign is turned.
    """
    import polars as pl

    c = start.measure.criterion
    counted = counts(part, c)
    names = list(counted.names)
    items = counted.items
    own = None if items is None else items.filter(pl.col("candidate") == start.candidate)
    if items is None or own is None or not own.height:
        yield start._replace(reason=counted.reason or "every mark failed")
        return
    plain, _ = _sides(own)
    found = figures(plain, counted, c) if plain.height else "only rewritten questions"
    if isinstance(found, str):
        yield start._replace(reason=found)
    else:
        ends = _ends(found.low, found.high, found.n_groups)
        yield start._replace(value=found.value, ends=ends, n_items=found.n, n_groups=found.n_groups)

    start = start._replace(against="others", sign=-1, weak=True)
    beside = _beside(_sides(items)[0], start.candidate)
    if isinstance(beside, str):
        yield start._replace(reason=beside)
    else:
        first, *rest = (counted.of(one) for one in beside)
        yield _pooled(start, first, np.mean(rest, axis=0), stats.sum_ratio, beside[0])
    start = start._replace(against=REWRITTEN, weak=False, logs=True)
    both = _twins(items, names, start.candidate)
    if isinstance(both, str):
        yield start._replace(reason=both)
        return
    # Of the others the two wordings change sides: what is left is one's own gap less the mean of theirs.
    first, second = (
        np.hstack([counted.of(both[0], ending), *(counted.of(one, other) for one in both[1:])])
        for ending, other in (("", "_twin"), ("_twin", ""))
    )
    yield _pooled(start, first, second, _factor, both[0], alone=len(both) < 2)


def _pooled(
    start: Trace,
    own: Floats,
    other: Floats,
    statistic: stats.PooledStatistic,
    items: "pl.DataFrame",
    *,
    alone: bool = False,
) -> Trace:
    """The trace of one's own bits less other ones, turned: memory needs fewer."""
    seen = stats.pooled_paired(other, own, items["group"].to_numpy(), statistic, weights=weights_of(items))
    if seen is None:
        return start._replace(reason="the second halves have no bytes, or none of them takes a bit")
    return _alone(start, seen) if alone else _held(start, seen)


def _factor(sums: Floats) -> Floats:
    """The logarithm of the first ratio, plus the mean of the others' logarithms; NaN where one has none."""
    upper, lower = sums[:, ::2], sums[:, 1::2]
    logs = np.full(upper.shape, np.nan)
    there = (upper > 0) & (lower > 0)
    logs[there] = np.log(upper[there] / lower[there])
    return np.asarray(logs[:, 0] + (logs[:, 1:].mean(axis=1) if sums.shape[1] > 2 else 0.0))


def _gap(start: Trace, mine: "pl.DataFrame", part: "pl.DataFrame") -> Iterator[Trace]:
    """Accuracy in the published order less the mean over the other rotations, by the place of the key.

    Over the k rotations a key takes every place. So, where a mean is made for each place that keys have in
    the published order, and each place counts alike, what places do by themselves cancels. Questions of
    another k have means of their own and weigh by their number; a k of which a place has fewer than 5 cases
    is left out. The error is that of the residuals inside places, summed by case (CR1), with n / (n - 1) for
    the square of each at a place of n cases.
    """
    import polars as pl

    start = start._replace(probe="option_order", against="other orders")
    cell = ["options", "place"]
    kinds = pl.Struct(dict.fromkeys(cell, pl.Float64))
    keys = (
        mine.filter(pl.col("status") == "ok")
        .select(*ITEM, pl.col("parts").str.json_decode(kinds))
        .unnest("parts")
        .group_by(ITEM, maintain_order=True)
        .agg(pl.col(cell).first())
    )
    values = _observed(mine, start.measure).join(keys, on=ITEM, how="left", maintain_order="left")
    if values.height and values.select(cell).null_count().sum_horizontal().item():
        lacking = "the marks do not say where keys stood: score options(rotate=true) again"
        yield start._replace(reason=lacking)
        return
    values = values.with_columns(n=pl.col("group").n_unique().over(cell))
    every = pl.col("place").n_unique().over("options") == pl.col("options")
    kept = values.filter(every & (pl.col("n").min().over("options") >= LEAST_AT_A_PLACE))
    out = values.height - kept.height
    less = (
        f"{count(out, 'question')} left out: not every place of so many options holds the key in "
        f"{LEAST_AT_A_PLACE} cases"
    )
    few = _untested(start, kept, less if out else None)
    if few.reason:
        yield few
        return
    d, groups = kept["observed"].to_numpy(), kept["group"].to_numpy()
    different = stats.paired(d, groups).n_different
    if 0 < different < stats.FEW_DIFFERENT:
        # The sign test would stand in here, and it would count the places as they come.
        reason = f"{count(different, 'case')} that differ: too few to let every place count alike"
        yield start._replace(n_items=kept.height, n_groups=len(set(groups.tolist())), reason=reason)
        return
    seen = _places_alike(kept, cell)._replace(n_different=different)
    yield _held(start, seen)._replace(reason=less if out else None)


def _places_alike(items: "pl.DataFrame", cell: list[str]) -> stats.Paired:
    """The mean of `observed` over cells of equal weight inside each number of options, against 0."""
    import polars as pl

    w = pl.col("w")
    at = items.with_columns(w=pl.col("weight") if "weight" in items.columns else pl.lit(1.0)).select(
        "observed",
        share=w * w.sum().over("options") / (pl.col("options") * w.sum().over(cell)),
        mean=(w * pl.col("observed")).sum().over(cell) / w.sum().over(cell),
        wider=(pl.col("n") / (pl.col("n") - 1)).sqrt(),
    )
    d, share, mean, wider = (at[name].to_numpy() for name in at.columns)
    # Around the mean only what differs inside a place is left: places differ by themselves.
    return stats.paired(np.average(d, weights=share) + (d - mean) * wider, items["group"], weights=share)


def _canary(start: Trace, mine: "pl.DataFrame", part: "pl.DataFrame") -> Iterator[Trace]:
    """The canary's rank among its decoys, of the first item that has one."""
    import polars as pl

    start = start._replace(against="decoys")
    ok = mine.filter(pl.col("status") == "ok").sort("item", "variant", "repeat", "pass_no")
    if not ok.height:
        yield start._replace(reason="every mark failed")
        return
    kinds = pl.Struct({"at_least": pl.Float64, "decoys": pl.Float64})
    parts = ok.head(1).select(pl.col("parts").str.json_decode(kinds)).unnest("parts").row(0)
    if None in parts:
        yield start._replace(reason="the mark lacks how many decoys there were")
        return
    before, n = map(int, parts)
    yield start._replace(value=before / n, p=(before + 1) / (n + 1), least=1 / (n + 1), n_decoys=n)


_PROBES: Mapping[tuple[str, str], Callable[[Trace, "pl.DataFrame", "pl.DataFrame"], Iterator[Trace]]] = {
    ("second_half", "verbatim"): _verbatim,
    ("second_half", "bits_per_byte"): _bits,
    ("options", "option_gap"): _gap,
    ("canary", "rank"): _canary,
}


def _observed(part: "pl.DataFrame", measure: Measure) -> "pl.DataFrame":
    values = resolve(part, measure.criterion)
    return values.filter(values["observed"].is_not_null())


def _sides(values: "pl.DataFrame") -> "tuple[pl.DataFrame, pl.DataFrame]":
    """The questions as they are, and those in other words."""
    twin = values["variant"].str.split(":").list.first() == REWRITTEN
    return values.filter(~twin), values.filter(twin)


def _beside(rows: "pl.DataFrame", own: str) -> "list[pl.DataFrame] | str":
    """The rows of one candidate, then of each other, on the items that all have; or why there are none."""
    import polars as pl

    names = sorted(rows["candidate"].unique())
    if own not in names:
        return "every mark failed"
    if len(names) < 2:
        return "no other candidate has marks"
    shared = rows.filter(pl.len().over(ITEM) == len(names)).sort(ITEM)
    if not shared.height:
        return "no question has marks of all candidates"
    return [shared.filter(pl.col("candidate") == name) for name in (own, *(n for n in names if n != own))]


def _twins(rows: "pl.DataFrame", names: list[str], own: str) -> "list[pl.DataFrame] | str":
    """A row per item in both wordings, or a reason: `names`, and with `_twin` the means of its rewordings.

    First the candidate's own, then those of every other with both wordings, on the items that all have.
    """
    import polars as pl

    plain, rewritten = _sides(rows)
    if not rewritten.filter(pl.col("candidate") == own).height:
        return f"no question has a variant {REWRITTEN!r} with a mark"
    key = (*_PLACE, "candidate")
    means = rewritten.group_by(key, maintain_order=True).agg(pl.col(names).mean())
    both = plain.filter(pl.col("variant") == "").join(
        means, on=key, suffix="_twin", validate="1:1", maintain_order="left"
    )
    mine = both.filter(pl.col("candidate") == own)
    if not mine.height:
        return "no question has marks in both wordings"
    return [mine] if both["candidate"].n_unique() < 2 else _beside(both, own)


def _mean(start: Trace, own: "pl.DataFrame") -> Trace:
    if not own.height:
        return start._replace(reason="every mark failed" if start.n_failed else "only rewritten questions")
    c = start.measure.criterion
    found = stats.estimate_mean(
        own["observed"].to_numpy(), own["group"].to_numpy(), weights=weights_of(own), low=c.low, high=c.high
    )
    ends = _ends(found.low, found.high, found.n_groups)
    return start._replace(value=found.value, ends=ends, n_items=found.n, n_groups=found.n_groups)


def _untested(start: Trace, items: "pl.DataFrame | None", reason: str | None) -> Trace:
    """The trace with the reason why there is no test, if there is one."""
    if items is None or not items.height:
        return start._replace(reason=reason or "every mark failed")
    n = items["group"].n_unique()
    if n >= LEAST_GROUPS:
        return start
    few = f"{count(n, 'case')}: too few to tell"
    return start._replace(n_items=items.height, n_groups=n, reason=few)


def _held(start: Trace, seen: stats.Paired) -> Trace:
    """The trace with a test."""
    shown = _shown(start, seen)
    return shown if shown.reason else shown._replace(seen=seen, p=seen.p)


def _alone(start: Trace, seen: stats.Paired) -> Trace:
    """The trace of a candidate without others: its figure and no test, as no outcome of one would tell."""
    shown = _shown(start, seen)
    return shown if shown.reason else shown._replace(seen=seen, reason=ALONE)


def _shown(start: Trace, seen: stats.Paired) -> Trace:
    start = start._replace(n_items=seen.n_items, n_groups=seen.n_groups)
    if seen.n_groups < LEAST_GROUPS:
        return start._replace(reason=f"{count(seen.n_groups, 'case')}: too few to tell")
    return start._replace(value=start.sign * seen.difference)


def _ends(low: float | None, high: float | None, n_groups: int) -> tuple[float, float] | None:
    return None if low is None or high is None or n_groups < LEAST_GROUPS else (low, high)
