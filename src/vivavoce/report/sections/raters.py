"""Raters of a run: what each scored, what it could not score and why, and its validation status."""

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from vivavoce.core.records import Measure
from vivavoce.core.specs import signed
from vivavoce.report.data import ReportData
from vivavoce.studies.comparing.status import scores_rows
from vivavoce.studies.row_parts import by_candidate, distinct, select_rows
from vivavoce.studies.score_matrix import row_labels
from vivavoce.studies.score_table import MISSING, RESPONSE, JudgedCriterion
from vivavoce.studies.validation_status import UNVALIDATED

MOST_CAUSES = 3
_FIGURES = ("expected", "never_asked", "responses", "unscored", "ok", *MISSING)


def examiners(
    scores: pl.DataFrame,
    measures: Mapping[int, Measure],
    stamps: Mapping[JudgedCriterion, str],
    saturated: Collection[JudgedCriterion] = (),
) -> list[dict[str, Any]]:
    """A row per criterion of each rater, in the order they came.

    `origin` is `computed` (a rule of this program), `asked of a model` (a judge that was asked here) or
    `given elsewhere` (imported scores). `stamp` is the validation status against people, by benchmark where
    that differs; criteria that are not among `stamps` are unvalidated. `saturated`: on some benchmark nearly
    all its scores are the same. `coverage` is the share of its scores that are ok; `n_set_aside` counts
    what enters no mean though nothing failed: scores set aside, and non-responses if the criterion sets them
    aside. `causes` are the commonest reasons of failures. Scores of edited answers
    do not count.
    """
    scores = select_rows(scores, pl.col("edit") == "")
    by_status = scores.group_by("measure_id", "status").agg(pl.len())
    counts = {(key, status): n for key, status, n in by_status.iter_rows()}
    causes = _causes(scores)
    on_benchmarks = distinct(scores, "measure_id", "benchmark").group_by("measure_id")
    benchmarks = dict(on_benchmarks.agg(pl.col("benchmark").sort()).iter_rows())
    rows = []
    for key, m in measures.items():
        c = m.criterion
        places = [JudgedCriterion(b, m.signature, m.rater, c.criterion) for b in benchmarks.get(key, ())]
        n = {status: counts.get((key, status), 0) for status in ("ok", *MISSING)}
        silent, total = n["unanswered"] + n["unreadable"], sum(n.values())
        rows.append(
            {
                "metric": m.metric,
                "criterion": c.criterion,
                "rater": m.rater,
                "signature": m.signature,
                "version": signed(m.signature).version,
                "origin": _origin(m),
                "low": c.low,
                "high": c.high,
                "direction": c.direction,
                "if_unanswered": c.if_unanswered,
                "n_marks": total,
                **{f"n_{status}": count for status, count in n.items()},
                "n_set_aside": n["set_aside"] + (silent if c.if_unanswered == "set_aside" else 0),
                "coverage": n["ok"] / total if total else None,
                "causes": causes.get(key, {}),
                "stamp": _stamp({place.benchmark: stamps.get(place, UNVALIDATED) for place in places}),
                "saturated": any(place in saturated for place in places),
                "reason": None if total else "no scores on these items",
            }
        )
    return rows


def _causes(scores: pl.DataFrame) -> dict[int, dict[str, int]]:
    """By measure the commonest reasons of failures with how often they occur."""
    failed = scores.filter(pl.col("status") == "failed")
    counts = failed.group_by("measure_id", pl.col("note").fill_null("no answer was recorded")).agg(pl.len())
    by_measure: dict[int, dict[str, int]] = {}
    for key, note, n in sorted(counts.iter_rows(), key=lambda row: (-row[2], row[1])):
        reasons = by_measure.setdefault(key, {})
        if len(reasons) < MOST_CAUSES:
            reasons[note] = n
    return by_measure


def _origin(measure: Measure) -> str:
    if signed(measure.signature).recorded:
        return "given elsewhere"
    return "asked of a model" if measure.rater else "computed"


def _stamp(by_benchmark: Mapping[str, str]) -> str:
    """One stamp where all benchmarks have the same, else each with its benchmark."""
    if len(set(by_benchmark.values())) < 2:
        return next(iter(by_benchmark.values()), UNVALIDATED)
    return "; ".join(f"{benchmark}: {stamp}" for benchmark, stamp in by_benchmark.items())


def coverage(data: ReportData) -> list[dict[str, Any]]:
    """Coverage by candidate and measure; measures with the same figures share a row.

    `measures` are their short names, none before anything was scored. `causes` are the commonest reasons for
    what is not ok.
    """
    names = row_labels(data.measures)
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    tables = (data.responses, data.scores, data.measures, data.requests)
    for row in scores_rows(*tables, only=data.only, probes=data.probes):
        causes = tuple(row.causes.items())
        figures = {name: getattr(row, name) for name in _FIGURES}
        key = (row.about, row.benchmark, row.candidate, *figures.values(), causes)
        entry = merged.setdefault(
            key,
            {
                "of_variants": row.about == "variants",
                "benchmark": row.benchmark,
                "candidate": row.candidate,
                "measures": [],
                **figures,
                "causes": dict(causes[:MOST_CAUSES]),
                "n_more_causes": max(0, len(causes) - MOST_CAUSES),
            },
        )
        if row.criterion is not None:
            entry["measures"].append(names[row.metric or "", row.criterion, row.rater or ""])
    return list(merged.values())


def compliance(scores: pl.DataFrame, measures: Mapping[int, Measure]) -> list[dict[str, Any]]:
    """Parse success by candidate and format: answers that were read, unreadable, or not given.

    Imported scores do not count: other tools read the answers in their own way.
    """
    local_measures = [key for key, m in measures.items() if not signed(m.signature).recorded]
    # The reading of an answer is the same for every metric that is run here: one row per answer is enough.
    # What a metric sets aside was read.
    local = pl.col("measure_id").is_in(local_measures)
    statuses = scores.select(*RESPONSE, "format", "status", "measure_id", "edit")
    read_here = select_rows(statuses, local & (pl.col("edit") == "") & (pl.col("status") != "failed"))
    by_format = [
        of_candidate.unique(RESPONSE, keep="first", maintain_order=True)
        .with_columns(pl.col("status").replace("set_aside", "ok"))
        .group_by("candidate", "format")
        .agg(*((pl.col("status") == s).sum().alias(s) for s in ("ok", "unanswered", "unreadable")))
        for _, of_candidate in by_candidate(read_here)
    ]
    if not by_format:
        return []
    counted = pl.concat(by_format)
    return [
        row
        | {"readable": row["ok"] / (row["ok"] + row["unreadable"]) if row["ok"] + row["unreadable"] else None}
        for row in counted.sort("format", "candidate").iter_rows(named=True)
    ]
