"""Who marked: every examiner of a run, what it left unmarked, and how far it was checked."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from vivavoce.records import Measure
from vivavoce.specs import signed
from vivavoce.studies.stamps import UNVALIDATED, Stamped

if TYPE_CHECKING:
    import polars as pl

__all__ = ["examiners"]

MOST_CAUSES = 3
_STATUSES = ("ok", "unanswered", "unreadable", "failed")


def examiners(
    scores: "pl.DataFrame",
    measures: Mapping[int, Measure],
    stamps: Mapping[Stamped, str],
    saturated: Collection[Stamped] = (),
) -> list[dict[str, Any]]:
    """A row per criterion of each examiner, in the order they came.

    `origin` is `computed` (a rule of this program), `asked of a model` (a judge that was asked here) or
    `given elsewhere` (marks that were imported). `stamp` says how far it was held against people, by
    benchmark where that differs; what is not among `stamps` is unvalidated. `saturated`: on some benchmark
    nearly all its marks are the same. `coverage` is the share of its marks that are ok; `n_set_aside` counts
    silences that enter no mean. `causes` are the commonest reasons of failures. Marks of edited answers do
    not count.
    """
    import polars as pl

    scores = scores.filter(pl.col("edit") == "")
    counts = {
        (key, status): n
        for key, status, n in scores.group_by("measure_id", "status").agg(pl.len()).iter_rows()
    }
    failed = (
        scores.filter(pl.col("status") == "failed")
        .group_by("measure_id", pl.col("note").fill_null("no answer was recorded"))
        .agg(pl.len())
    )
    causes: dict[int, Counter[str]] = {}
    for key, note, n in failed.iter_rows():
        causes.setdefault(key, Counter())[note] = n
    benchmarks = scores.group_by("measure_id").agg(pl.col("benchmark").unique().sort())
    where = dict(benchmarks.iter_rows())
    made = []
    for key, m in measures.items():
        own = [Stamped(b, m.signature, m.rater, m.criterion.criterion) for b in where.get(key, ())]
        c, mark = m.criterion, signed(m.signature)
        n = {status: counts.get((key, status), 0) for status in _STATUSES}
        silent = n["unanswered"] + n["unreadable"]
        reasons = sorted(causes.get(key, Counter()).items(), key=lambda found: (-found[1], found[0]))
        total = sum(n.values())
        made.append(
            {
                "metric": m.metric,
                "criterion": c.criterion,
                "rater": m.rater,
                "signature": m.signature,
                "version": mark.version,
                "origin": _origin(m),
                "low": c.low,
                "high": c.high,
                "direction": c.direction,
                "if_unanswered": c.if_unanswered,
                "n_marks": total,
                **{f"n_{status}": count for status, count in n.items()},
                "n_set_aside": silent if c.if_unanswered == "set_aside" else 0,
                "coverage": n["ok"] / total if total else None,
                "causes": dict(reasons[:MOST_CAUSES]),
                "stamp": _stamp({place.benchmark: stamps.get(place, UNVALIDATED) for place in own}),
                "saturated": any(place in saturated for place in own),
                "reason": None if total else "no marks on these items",
            }
        )
    return made


def _origin(measure: Measure) -> str:
    if signed(measure.signature).recorded:
        return "given elsewhere"
    return "asked of a model" if measure.rater else "computed"


def _stamp(by_benchmark: Mapping[str, str]) -> str:
    """One stamp where all benchmarks have the same, else each with its benchmark."""
    if len(set(by_benchmark.values())) < 2:
        return next(iter(by_benchmark.values()), UNVALIDATED)
    return "; ".join(f"{benchmark}: {stamp}" for benchmark, stamp in by_benchmark.items())
