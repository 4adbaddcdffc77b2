"""Validation status: a few words on what is known of a judge, printed wherever a report shows its scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from vivavoce.core.measure_names import metric_name
from vivavoce.core.records import Measure
from vivavoce.studies.rater_scores import (
    Entries,
    RaterRow,
    card_part,
    is_judge,
    label_mismatch,
    rater_name,
    rater_row,
    raters_of,
)
from vivavoce.studies.row_parts import distinct
from vivavoce.studies.score_table import JudgedCriterion, ScoreTable
from vivavoce.studies.text import count

UNVALIDATED = "unvalidated"
NOT_SHOWN = "checked, not shown"
SHOWN = "shown"
PEOPLE_ALPHA = 0.667
"""The least agreement between people that a stamp asks for: Krippendorff (2019), Content Analysis, 4th ed.,
ch. 12, draws no conclusion from less."""


@card_part
def validation_status(
    scores: ScoreTable, agreement: Sequence[RaterRow], margin: float | None, people_alpha: float
) -> Entries:
    """A row with its `stamp` per judge, criterion and benchmark, from the rows of `human_agreement`.

    *unvalidated* without labels of that criterion there; *shown within m on n labels* if people agree with
    each other, alpha (ordinal) above `people_alpha` with its whole interval, and the difference of alpha
    between judge and person and person and person lies above -m with its whole interval; else *checked, not
    shown*, as it always is without a margin or with one person's labels. A label is a response that was
    labelled. Beside people who agree by chance alone a judge that guesses is as good as any of them.
    """
    differences, people = (
        {
            JudgedCriterion(r.benchmark, r.signature, r.rater, r.criterion): r
            for r in agreement
            if r.contrast == contrast and r.figure == "alpha_ordinal"
        }
        for contrast in ("difference", "people and people")
    )
    criteria_of: dict[tuple[str, str], list[str]] = {}
    for where, key, place in _judged(scores):
        row = _status_row(scores, scores.measures[key], place, differences.get(place), margin)
        if row.stamp == SHOWN:
            row = _beside_people(row, people[place], people_alpha)
        yield row
        criteria_of.setdefault((where, str(row.stamp)), []).append(place.criterion)
    if scores.people:  # a study without labels has nothing to say of them, and takes no earlier status away
        for (where, status), criteria in criteria_of.items():
            yield f"{where}: {status} ({', '.join(criteria)})."


def _judged(scores: ScoreTable) -> Iterator[tuple[str, int, JudgedCriterion]]:
    """The measures of judges by benchmark, each with the words for where it is."""
    for rater in raters_of(scores):
        for criterion, key in rater.keys.items():
            if not is_judge(scores.measures[key]):
                continue
            rows = scores.scores.filter(pl.col("measure_id") == key)
            for benchmark in distinct(rows, "benchmark")["benchmark"].sort():
                place = JudgedCriterion(benchmark, rater.signature, rater.rater, criterion)
                yield f"{rater_name(scores, rater)} on {benchmark}", key, place


def _status_row(
    scores: ScoreTable,
    measure: Measure,
    place: JudgedCriterion,
    difference: RaterRow | None,
    margin: float | None,
) -> RaterRow:
    if difference is None:
        reason = label_mismatch(scores, measure) or "the judge and people scored no answer in common"
        return rater_row("stamp", place.benchmark, measure, margin=margin, stamp=UNVALIDATED, reason=reason)
    row = replace(
        difference, part="stamp", contrast=None, figure=None, margin=margin, stamp=NOT_SHOWN, reason=None
    )
    if difference.low is None:
        return replace(row, reason=difference.reason)
    if margin is None:
        return replace(row, reason="no margin: --margin says what difference would matter")
    # Not worse than a person by the margin needs the whole interval, not the estimate alone.
    if difference.low <= -margin:
        return replace(row, reason="the interval reaches below the margin")
    return replace(row, stamp=SHOWN)


def _beside_people(row: RaterRow, people: RaterRow, least: float) -> RaterRow:
    """The row of a judge that agrees with people well enough, if their own alpha is above `least`."""
    ends = "" if people.low is None else f", {people.low:.2f} to {people.high:.2f}"
    agreement = f"people's alpha {people.value:.2f}{ends}"
    row = replace(row, people=people.value, people_low=people.low, people_high=people.high)
    if people.low is None or people.low <= least:
        reason = f"people agree too little with each other: {agreement}, not above {least:g}"
        return replace(row, stamp=NOT_SHOWN, reason=reason)
    labels = count(row.n_units or 0, "label")
    return replace(row, stamp=f"shown within {row.margin:g} on {labels} ({agreement}, above {least:g})")


def validation_statuses(findings: Iterable[Mapping[str, Any]]) -> dict[JudgedCriterion, str]:
    """The newest status of each judge, criterion and benchmark in stored findings of the study `examiners`.

    Findings are in the order they were made. One that had no labels takes no status away.
    """
    return {
        _place(r): r["stamp"]
        for finding in findings
        for r in finding["rows"]
        if r.get("part") == "stamp" and r["stamp"] != UNVALIDATED
    }


def saturated_criteria(findings: Sequence[Mapping[str, Any]]) -> frozenset[JudgedCriterion]:
    """The criteria that the newest of stored findings of the study `examiners` found to be saturated."""
    rows = findings[-1]["rows"] if findings else ()
    return frozenset(_place(r) for r in rows if r.get("part") == "saturation" and r["saturated"])


def _place(row: Mapping[str, Any]) -> JudgedCriterion:
    return JudgedCriterion(row["benchmark"], row["signature"], row["rater"] or "", row["criterion"])


def status_of(statuses: Mapping[JudgedCriterion, str], benchmark: str, measure: Measure) -> str | None:
    """The status of a measure's scores on a benchmark; null where no judge gave them."""
    if not is_judge(measure):
        return None
    place = JudgedCriterion(benchmark, measure.signature, measure.rater, measure.criterion.criterion)
    return statuses.get(place, UNVALIDATED)


def weakest_status(statuses: Iterable[str | None]) -> str | None:
    """The status that says least of several, null if there is none: what holds for all of them."""
    present = [status for status in statuses if status is not None]
    return min(present, key=lambda status: (status != UNVALIDATED, status != NOT_SHOWN), default=None)


def stamp_notes(rows: Iterable[tuple[str, str, str | None]]) -> Iterator[str]:
    """A line per judge and stamp with its criteria, from metric, criterion and stamp of rows."""
    criteria_of: dict[tuple[str, str], dict[str, None]] = {}
    for metric, criterion, stamp in rows:
        if stamp:
            criteria_of.setdefault((metric, stamp), {})[criterion] = None
    for (metric, stamp), criteria in criteria_of.items():
        yield f"{metric_name(metric)} against people: {stamp} ({', '.join(criteria)})."
