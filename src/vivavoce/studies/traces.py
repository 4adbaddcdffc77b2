"""Traces: what each probe of training data shows of a candidate, and what it is held against.

Only what can be held against something gives a test: a question against itself in other words, a candidate
against the others, a canary against decoys, the published order of options against the others.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import LEAST_GROUPS, resolve, weights_of
from vivavoce.studies.answering import bare
from vivavoce.studies.pooling import counts, figures
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["REWRITTEN", "Trace", "traces"]

REWRITTEN = "rewritten"
"""The variant, or the beginning of its name up to a colon, that says a question in other words."""
_PLACE = ("benchmark", "item", "group")


class Trace(NamedTuple):
    """One candidate's figure by one probe, and `against` what it is held ('': nothing).

    `value` is in the units of the measure, a difference where it is held against something; `ends` its 95 %
    interval. `seen` is the test, turned so that above 0 is what memory would do (`sign` turns it back). Of a
    canary `p` is exact, and `least` the smallest that so many `n_decoys` can give. Without a value there is a
    `reason`.
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
    """The mean share; and against the question in other words, and against the other candidates."""
    values = _observed(part, start.measure)
    own = values.filter(values["candidate"] == start.candidate)
    plain, _ = _sides(own)
    yield _mean(start, plain)
    yield _tested(start._replace(against=REWRITTEN), *_twins(own, ["observed"]))
    yield _others(start._replace(against="others"), _sides(values)[0])


def _bits(start: Trace, mine: "pl.DataFrame", part: "pl.DataFrame") -> Iterator[Trace]:
    """The pooled figure; and against the question in other words, where memory would need fewer bits."""
    counted = counts(mine, start.measure.criterion)
    names = list(counted.names)
    if counted.items is None or not counted.items.height:
        yield start._replace(reason=counted.reason or "every mark failed")
        return
    plain, _ = _sides(counted.items)
    found = figures(plain, counted, start.measure.criterion) if plain.height else "only rewritten questions"
    if isinstance(found, str):
        yield start._replace(reason=found)
    else:
        ends = _ends(found.low, found.high, found.n_groups)
        yield start._replace(value=found.value, ends=ends, n_items=found.n, n_groups=found.n_groups)
    both, reason = _twins(counted.items, names)
    start = start._replace(against=REWRITTEN, sign=-1)
    if reason or both is None:
        yield _untested(start, both, reason)
        return
    first, second = (both.select(f"{name}{end}" for name in names).to_numpy() for end in ("_twin", ""))
    seen = stats.pooled_paired(
        first, second, both["group"].to_numpy(), stats.sum_ratio, weights=weights_of(both)
    )
    yield start._replace(reason="the second halves have no bytes") if seen is None else _held(start, seen)


def _gap(start: Trace, mine: "pl.DataFrame", part: "pl.DataFrame") -> Iterator[Trace]:
    """Accuracy in the published order less the mean over the other rotations."""
    yield _tested(
        start._replace(probe="option_order", against="other orders"), _observed(mine, start.measure)
    )


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


def _twins(own: "pl.DataFrame", names: list[str]) -> "tuple[pl.DataFrame | None, str | None]":
    """A row per item that stands there in both wordings, `d` being the first less its rewordings' mean.

    The columns of `names` are there of both sides; or there is none, and a reason.
    """
    import polars as pl

    plain, rewritten = _sides(own)
    if not rewritten.height:
        return None, f"no question has a variant {REWRITTEN!r} with a mark"
    means = rewritten.group_by(_PLACE, maintain_order=True).agg(pl.col(names).mean())
    both = plain.filter(plain["variant"] == "").join(
        means, on=_PLACE, suffix="_twin", validate="1:1", maintain_order="left"
    )
    if not both.height:
        return None, "no question has marks in both wordings"
    return both.with_columns(d=pl.col(names[0]) - pl.col(f"{names[0]}_twin")), None


def _mean(start: Trace, own: "pl.DataFrame") -> Trace:
    if not own.height:
        return start._replace(reason="every mark failed" if start.n_failed else "only rewritten questions")
    c = start.measure.criterion
    found = stats.estimate_mean(
        own["observed"].to_numpy(), own["group"].to_numpy(), weights=weights_of(own), low=c.low, high=c.high
    )
    ends = _ends(found.low, found.high, found.n_groups)
    return start._replace(value=found.value, ends=ends, n_items=found.n, n_groups=found.n_groups)


def _others(start: Trace, values: "pl.DataFrame") -> Trace:
    """The candidate less the mean of the others, on the questions that all have marks on."""
    import polars as pl

    names = sorted(values["candidate"].unique())
    others = [name for name in names if name != start.candidate]
    if start.candidate not in names or not others:
        return start._replace(reason="no other candidate has marks" if not others else "every mark failed")
    key = [name for name in values.columns if name not in ("candidate", "role", "observed", "low", "high")]
    table = values.pivot("candidate", index=key, values="observed").drop_nulls(names)
    if not table.height:
        return start._replace(reason="no question has marks of all candidates")
    mean = pl.mean_horizontal(others)
    return _tested(start, table.with_columns(d=pl.col(start.candidate) - mean))


def _tested(start: Trace, items: "pl.DataFrame | None", reason: str | None = None) -> Trace:
    """The trace with the test of a column `d`, or else `observed`, of a row per item."""
    few = _untested(start, items, reason)
    if few.reason or items is None:
        return few
    column = "d" if "d" in items.columns else "observed"
    seen = stats.paired(items[column].to_numpy(), items["group"].to_numpy(), weights=weights_of(items))
    return _held(start, seen)


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
    if seen.n_groups < LEAST_GROUPS:
        few = f"{count(seen.n_groups, 'case')}: too few to tell"
        return start._replace(n_items=seen.n_items, n_groups=seen.n_groups, reason=few)
    value = start.sign * seen.difference
    return start._replace(value=value, seen=seen, p=seen.p, n_items=seen.n_items, n_groups=seen.n_groups)


def _ends(low: float | None, high: float | None, n_groups: int) -> tuple[float, float] | None:
    return None if low is None or high is None or n_groups < LEAST_GROUPS else (low, high)
