"""Stamps: in a few words what is known of a judge's marks. A report prints them wherever such marks are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.records import Measure
from vivavoce.studies import Marks
from vivavoce.studies.examined import Part, called, examiners, is_judge, row
from vivavoce.studies.figures import Row
from vivavoce.studies.labelled import unlike
from vivavoce.studies.words import count

__all__ = ["NOT_SHOWN", "UNVALIDATED", "Stamped", "saturated", "stamp_of", "stamped", "stamps", "weakest"]

UNVALIDATED = "unvalidated"
NOT_SHOWN = "checked, not shown"


class Stamped(NamedTuple):
    """What a stamp is on: one criterion as one judge marks it, on one benchmark."""

    benchmark: str
    signature: str
    rater: str
    criterion: str


def stamps(marks: Marks, against: Sequence[Row], margin: float | None) -> Part:
    """A row with its `stamp` per judge, criterion and benchmark, from the rows of `people.people`.

    *unvalidated* without labels of that criterion there; *shown within m on n labels* if the difference of
    alpha (ordinal) between judge and person and person and person lies above -m with its whole interval; else
    *checked, not shown*, as it always is without a margin or with one person's labels. A label is an answer
    that was labelled.
    """
    made = Part([], [])
    told: dict[tuple[str, str], list[str]] = {}
    found = {
        Stamped(r["benchmark"], r["signature"], r["rater"], r["criterion"]): r
        for r in against
        if r["contrast"] == "difference" and r["figure"] == "alpha_ordinal"
    }
    for examiner in examiners(marks):
        for key in examiner.keys.values():
            measure = marks.measures[key]
            if not is_judge(measure):
                continue
            own = marks.scores.filter(marks.scores["measure_id"] == key)
            for benchmark in own["benchmark"].unique().sort():
                place = Stamped(benchmark, measure.signature, measure.rater, measure.criterion.criterion)
                made.rows.append(_stamp(marks, place, measure, found.get(place), margin))
                where = f"{called(marks, examiner)} on {benchmark}"
                told.setdefault((where, made.rows[-1]["stamp"]), []).append(measure.criterion.criterion)
    if marks.people:  # a study without labels has nothing to say of them, and takes no earlier stamp away
        made.said.extend(f"{where}: {stamp} ({', '.join(names)})." for (where, stamp), names in told.items())
    return made


def _stamp(marks: Marks, place: Stamped, measure: Measure, apart: Row | None, margin: float | None) -> Row:
    one = row("stamp", place.benchmark, measure, margin=margin)
    if apart is None:
        reason = unlike(marks, measure) or "the judge and people marked no answer in common"
        return one | {"stamp": UNVALIDATED, "reason": reason}
    one |= {
        k: apart[k] for k in ("value", "low", "high", "se", "n_units", "n_groups", "n_raters", "n_ratings")
    }
    if apart["low"] is None:
        return one | {"stamp": NOT_SHOWN, "reason": apart["reason"]}
    if margin is None:
        return one | {"stamp": NOT_SHOWN, "reason": "no margin: --margin says what difference would matter"}
    if apart["low"] > -margin:
        return one | {"stamp": f"shown within {margin:g} on {count(apart['n_units'], 'label')}"}
    return one | {"stamp": NOT_SHOWN, "reason": "the interval reaches below the margin"}


def stamped(findings: Iterable[Mapping[str, Any]]) -> dict[Stamped, str]:
    """The newest stamp of each judge, criterion and benchmark in stored findings of this study.

    Findings are in the order they were made. One that had no labels takes no stamp away.
    """
    made: dict[Stamped, str] = {}
    for finding in findings:
        for r in finding["rows"]:
            if r.get("part") == "stamp" and r["stamp"] != UNVALIDATED:
                made[Stamped(r["benchmark"], r["signature"], r["rater"] or "", r["criterion"])] = r["stamp"]
    return made


def stamp_of(known: Mapping[Stamped, str], benchmark: str, measure: Measure) -> str | None:
    """The stamp on a measure's marks of a benchmark; null where no judge gave them."""
    if not is_judge(measure):
        return None
    place = Stamped(benchmark, measure.signature, measure.rater, measure.criterion.criterion)
    return known.get(place, UNVALIDATED)


def weakest(found: Iterable[str | None]) -> str | None:
    """Of several stamps the one that says least, null if there is none: what holds for all of them."""
    there = [stamp for stamp in found if stamp is not None]
    return min(there, key=lambda stamp: (stamp != UNVALIDATED, stamp != NOT_SHOWN), default=None)


def saturated(findings: Sequence[Mapping[str, Any]]) -> frozenset[Stamped]:
    """The criteria that the newest of stored findings of this study found to be saturated."""
    return frozenset(
        Stamped(r["benchmark"], r["signature"], r["rater"] or "", r["criterion"])
        for r in (findings[-1]["rows"] if findings else ())
        if r.get("part") == "saturation" and r["saturated"]
    )
