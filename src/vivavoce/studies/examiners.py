"""The examiner's card: what a run can tell of the judges and raters that marked it.

`part` names what is asked: `people` (against labels) and the `stamp` that follows from those, `retest` (the
same answer again), `judges` (another model with the same rubric), `reference` (with and without it),
`saturation`, `halo`, `length`, `position`, `family`, `bounds` (ceiling and floor). The unit is the response
unless a part says otherwise, and every interval is by group: questions on one case count as one.
"""

from collections.abc import Iterator

from vivavoce.errors import SelectionError
from vivavoce.records import Finding
from vivavoce.studies import Marks, by_answer, unweighted
from vivavoce.studies.agreement import coefficients, retests
from vivavoce.studies.examined import COLUMNS, Examiner, Part, examiners, row
from vivavoce.studies.favours import family, position
from vivavoce.studies.figures import Row, ends
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.habits import bounds, halo, length, saturation
from vivavoce.studies.people import people
from vivavoce.studies.stamps import stamps
from vivavoce.studies.twos import judges, reference
from vivavoce.studies.words import count

__all__ = ["COLUMNS", "findings"]

ABSENT = {
    "retest": "no second pass, and no recorded marks of a text that was answered twice",
    "judges": "no other judge or rater with the same settings",
    "reference": "no twin that differs in the reference alone",
    "saturation": "no marks of candidates",
    "halo": "one criterion, or no answer with marks on two",
    "length": "no answers to count words in",
    "position": "no ballots: answers were marked one at a time",
    "family": "no marks",
    "bounds": "no ceiling and no floor in this run",
}
"""Why an examiner has no figures in a part."""


def findings(marks: Marks, margin: float | None = None) -> Finding:
    """The card of every examiner of the run, as rows of `COLUMNS`; each has a row in every part.

    `marks.people` are the labels and are examined by none; `margin` is the least difference of agreement
    (alpha, where 1 is perfect) that would matter, see `people` and `stamps`. A figure that cannot be had is
    null with a reason, below 10 groups always. Marks that are not ok enter nothing but corrected means.
    Raises `SelectionError` if the margin is not between 0 and 1.
    """
    if margin is not None and not 0 < margin < 1:  # NaN is neither
        raise SelectionError(
            f"--margin {margin:g}: it is a difference of alpha, which is 1 at most: between 0 and 1 it says "
            "something."
        )
    single, notes = by_answer(marks.measures)
    marks = marks._replace(measures=single)
    found = examiners(marks)
    if not found:
        return Finding(
            study="examiners",
            rows=(),
            text="No judge and no rater has marked this run: marks that a rule computes need no card.",
            notes=notes,
        )
    against = people(marks, margin)
    parts = {
        "stamp": stamps(marks, against.rows, margin),
        "people": against,
        "retest": _retest(marks),
        "judges": judges(marks),
        "reference": reference(marks),
        "saturation": saturation(marks),
        "halo": halo(marks),
        "length": length(marks),
        "position": position(marks),
        "family": family(marks),
        "bounds": bounds(marks),
    }
    rows = [one for name, part in parts.items() for one in (*part.rows, *_absent(name, marks, found, part))]
    said = [line for part in parts.values() for line in part.said]
    if not marks.people:
        said.insert(
            0, "No labels were given (--labels METRIC): nothing here shows that a judge marks as people do."
        )
    return Finding(
        study="examiners",
        rows=tuple(rows),
        text="\n".join(said),
        notes=(*notes, *unweighted(marks.scores, "these figures count")),
    )


def _absent(name: str, marks: Marks, found: list[Examiner], part: Part) -> Iterator[Row]:
    """For each examiner that has no figures in a part one row that says so."""
    there = {(r["signature"], r["rater"]) for r in part.rows}
    if name in ("judges", "reference"):  # a row of two is the card of both
        there |= {_named(marks, r["other"]) for r in part.rows}
    for examiner in found:
        if name in ABSENT and (examiner.signature, examiner.rater) not in there:
            measure = marks.measures[next(iter(examiner.keys.values()))]
            yield row(name, "", measure, criterion="", reason=ABSENT[name])


def _named(marks: Marks, name: str) -> tuple[str, str]:
    """The examiner of the measure with this short name."""
    short = labels(marks.measures)
    return next((m.signature, m.rater) for m in marks.measures.values() if short[key_of(m)] == name)


def _retest(marks: Marks) -> Part:
    """Marks of one examiner on the same response, or on a candidate's same text: as `agreement` has them."""
    import polars as pl

    made = Part([], [])
    short = labels(marks.measures)
    ok = marks.scores.filter((pl.col("edit") == "") & (pl.col("unit") == "") & (pl.col("status") == "ok"))
    for examiner in examiners(marks):
        for key in examiner.keys.values():
            measure = marks.measures[key]
            for table in retests(ok, marks._replace(measures={key: measure})):
                for found in coefficients(table):
                    kept = {k: v for k, v in found.items() if k in COLUMNS}
                    figure = {"figure": found["coefficient"]}
                    made.rows.append(row("retest", table.benchmark, measure) | kept | figure)
                    if found["coefficient"] == "alpha_ordinal":
                        made.said.append(_of_retest(short[key_of(measure)], made.rows[-1]))
    return made


def _of_retest(name: str, found: Row) -> str:
    who = f", {found['candidate']}" if found["candidate"] else ""
    where = f"{name}, marked again ({found['contrast']}{who}) on {found['benchmark']}"
    if found["value"] is None:
        return f"{where}: {found['reason']}."
    return (
        f"{where}: alpha (ordinal) {found['value']:.2f}{ends(found)}; {found['n_changed']} of "
        f"{count(found['n_units'], 'unit')} in {count(found['n_groups'], 'case')} were not marked alike."
    )
