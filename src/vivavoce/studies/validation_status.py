"""Validation status: a few words on what is known of a judge, printed wherever a report shows its scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from vivavoce.core.measure_names import metric_name
from vivavoce.core.numbers import printed
from vivavoce.core.records import Measure
from vivavoce.studies.rater_scores import (
    INSIDE,
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
INSIDE_TEXT = "between answers to one question"
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
    between judge and person and person and person lies above -m with its whole interval, and if both hold of
    differences between answers to one question (`r_inside`): the judge's r with people lies above 0 with its
    whole interval, and its difference from people's own above -m. Else *checked, not
    shown*, as it always is without a margin or with one person's labels. A label is a response that was
    labelled. Beside people who agree by chance alone a judge that guesses is as good as any of them; one that
    knows the question alone agrees with people, and is of no use in a comparison.
    """
    differences, people = (
        _figures(agreement, c, "alpha_ordinal") for c in ("difference", "people and people")
    )
    judges, judge_differences = (_figures(agreement, c, INSIDE) for c in ("judge and people", "difference"))
    criteria_of: dict[tuple[str, str], list[str]] = {}
    for where, key, place in _judged(scores):
        row = _status_row(scores, scores.measures[key], place, differences.get(place), margin)
        if differs := judges.get(place):
            row = replace(row, r_inside=differs.value, r_inside_low=differs.low, r_inside_high=differs.high)
        if row.stamp == SHOWN:
            row = _beside_people(row, people[place], people_alpha)
        if str(row.stamp).startswith(SHOWN):
            row = _inside_questions(row, judges[place].reason, judge_differences[place])
        yield row
        criteria_of.setdefault((where, str(row.stamp)), []).append(place.criterion)
    if scores.people:  # a study without labels has nothing to say of them, and takes no earlier status away
        for (where, status), criteria in criteria_of.items():
            yield f"{where}: {status} ({', '.join(criteria)})."


def _figures(agreement: Sequence[RaterRow], contrast: str, figure: str) -> dict[JudgedCriterion, RaterRow]:
    """The rows of a figure by what it is of."""
    return {
        JudgedCriterion(r.benchmark, r.signature, r.rater, r.criterion): r
        for r in agreement
        if r.contrast == contrast and r.figure == figure
    }


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
    ends = "" if people.low is None else f", {printed(people.low)} to {printed(people.high)}"
    agreement = f"people's alpha {printed(people.value)}{ends}"
    row = replace(row, people=people.value, people_low=people.low, people_high=people.high)
    if people.low is None or people.low <= least:
        reason = f"people agree too little with each other: {agreement}, not above {least:g}"
        return replace(row, stamp=NOT_SHOWN, reason=reason)
    labels = count(row.n_units or 0, "label")
    return replace(row, stamp=f"{SHOWN} within {row.margin:g} on {labels} ({agreement}, above {least:g}")


def _inside_questions(row: RaterRow, undefined: str | None, difference: RaterRow) -> RaterRow:
    """The row of a judge, its stamp kept if it tells answers to one question apart as people do."""
    if row.r_inside is None or row.r_inside_low is None:
        return replace(row, stamp=NOT_SHOWN, reason=f"{INSIDE_TEXT}: {undefined}")
    figure = f"r {printed(row.r_inside)}, {printed(row.r_inside_low)} to {printed(row.r_inside_high)}"
    if row.r_inside_low <= 0:
        reason: str | None = "the judge is not shown to go with people"
    elif difference.low is None:
        reason = difference.reason
    elif difference.low <= -(row.margin or 0.0):
        reason = "the interval of its difference from people's own reaches below the margin"
    else:
        return replace(row, stamp=f"{row.stamp}; {INSIDE_TEXT} {figure})")
    return replace(row, stamp=NOT_SHOWN, reason=f"{INSIDE_TEXT} {figure}: {reason}")


def validation_statuses(findings: Iterable[Mapping[str, Any]]) -> dict[JudgedCriterion, str]:
    """The newest status of each judge, criterion and benchmark in stored findings of the study `examiners`.

    Findings are in the order they were made. One that had no labels takes no status away. A stamp of before
    0.2 does not say how the judge tells answers to one question apart: it counts as *checked, not shown*.
    """
    return {
        _place(r): NOT_SHOWN if r["stamp"].startswith(SHOWN) and r.get("r_inside") is None else r["stamp"]
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
