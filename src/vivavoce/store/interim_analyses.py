"""Interim analyses of a run: the journal of each comparison that is tested again while data grow."""

import math
import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from vivavoce.store import read
from vivavoce.store.damage import decoding
from vivavoce.store.write import put_event

INTERIM_EVENT = "interim analysis"


class PlanKey(NamedTuple):
    """What a plan tests again: a pair by a criterion, on these items. `a` comes before `b`."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    a: str
    b: str
    population: str
    items: str | None


class RecordedAnalysis(NamedTuple):
    """An analysis that was made: on which data, knowing how much, in a family of how many comparisons.

    `analyses` is the number that its plan declared, null for any number. `digest` is that of its data.
    `information` and `cases` are as in `stats.InterimAnalysis`.
    """

    plan: PlanKey
    analyses: int | None
    digest: str
    information: float | None
    cases: float
    family: int


def put_interim_analysis(db: sqlite3.Connection, analysis: RecordedAnalysis) -> None:
    """Append the analysis to the run's journal."""
    put_event(db, INTERIM_EVENT, {**analysis._asdict(), "plan": analysis.plan._asdict()})


def read_interim_analyses(db: sqlite3.Connection) -> dict[PlanKey, list[RecordedAnalysis]]:
    """The analyses of each plan in their order; those on the same data, as in a merged copy, are one."""
    plans: dict[PlanKey, list[RecordedAnalysis]] = {}
    for event in read.events(db, INTERIM_EVENT):
        with decoding("an interim analysis"):
            analysis = _analysis(event)
        of_plan = plans.setdefault(analysis.plan, [])
        if analysis.digest not in {earlier.digest for earlier in of_plan}:
            of_plan.append(analysis)
    return plans


def _analysis(event: Mapping[str, Any]) -> RecordedAnalysis:
    fields = {name: event[name] for name in RecordedAnalysis._fields if name != "plan"}
    analysis = RecordedAnalysis(plan=PlanKey(**event["plan"]), **fields)
    if not all(word is None or isinstance(word, str) for word in (*analysis.plan, analysis.digest)):
        raise TypeError("names are text")
    counts = (analysis.family, 1 if analysis.analyses is None else analysis.analyses)
    if not all(0 < int(n) == n for n in counts):
        raise ValueError("analyses and comparisons are counted from 1")
    if not all(map(math.isfinite, (analysis.information or 0.0, analysis.cases))):
        raise ValueError("information is a number")
    return analysis
