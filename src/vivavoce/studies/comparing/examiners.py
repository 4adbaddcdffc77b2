"""The card of each rater: what a run can tell of the judges and people who scored it.

`part` names what is asked: `people` (against labels) and the `stamp` that follows from those, `retest` (the
same response again), `judges` (another model with the same rubric), `reference` (with and without it),
`saturation`, `halo`, `length`, `position`, `family`, `bounds` (ceiling and floor). The unit is the response
unless a part says otherwise, and every interval is by group: items of one case count as one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.comparing.human_agreement import human_agreement
from vivavoce.studies.comparing.judge_biases import NO_BALLOTS, length_bias, position_bias, self_preference
from vivavoce.studies.comparing.pairwise_agreement import judge_agreement, reference_effect
from vivavoce.studies.comparing.rating_behaviour import ceiling_and_floor, halo, saturation
from vivavoce.studies.intervals import counts_text, interval_text
from vivavoce.studies.rater_scores import CardPart, Rater, RaterRow, rater_row, raters_of
from vivavoce.studies.reliability.agreement import AgreementRow, agreement_rows, retests
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import ScoreTable, by_answer, unweighted
from vivavoce.studies.study import Study
from vivavoce.studies.validation_status import PEOPLE_ALPHA, validation_status

ABSENT = {
    "retest": "no second pass, and no recorded marks of a text that was answered twice",
    "judges": "no other judge or rater with the same settings",
    "reference": "no twin that differs in the reference alone",
    "saturation": "no marks of candidates",
    "halo": "one criterion, or no answer with marks on two",
    "length": "no answers to count words in",
    "position": NO_BALLOTS,
    "family": "no marks",
    "bounds": "no ceiling and no floor in this run",
}
"""Why a rater has no figures in a part."""


@study("examiners")
class Examiners(Study):
    """The card of every rater of a run."""

    about = (
        "Whether a rater agrees with itself, with other raters and with people, and what it favours; "
        "a judge's stamp rests on the agreement with people alone."
    )
    row = RaterRow
    special = True
    needs = ("cards", "labels")
    cards: Path | None = None
    labels: str | None = None
    margin: float | None = None
    people_alpha: float = PEOPLE_ALPHA

    def findings(self, scores: ScoreTable) -> Finding:
        """The card of every rater of the run; each has a row in every part.

        `scores.people` are the labels, and no card is made of them; `margin` is the least difference of
        agreement (alpha, where 1 is perfect) that would matter, and `people_alpha` the agreement of people
        that a stamp asks for, see `human_agreement` and `validation_status`. A figure that cannot be had is
        null with a reason, below 10 groups always. Scores that are not ok enter nothing but corrected means.
        Raises `SelectionError` if one of the two is not between 0 and 1.
        """
        for name, value in (("--margin", self.margin), ("people_alpha", self.people_alpha)):
            if value is not None and not 0 < value < 1:  # NaN is neither
                raise SelectionError(
                    f"{name} {value:g}: it is a difference of alpha, which is 1 at most: between 0 and 1 it "
                    "says something."
                )
        single, notes = by_answer(scores.measures)
        scores = scores._replace(measures=single)
        raters = raters_of(scores)
        if not raters:
            return self.finding(
                (),
                "No judge and no rater has marked this run, and rules have no card here: the study `audit` "
                "examines them.",
                notes,
            )
        rows: list[RaterRow] = []
        sentences: list[str] = []
        if not scores.people:
            sentences.append(
                "No labels were given (--labels METRIC): nothing here shows that a judge marks as people do."
            )
        for name, part in _parts(scores, self.margin, self.people_alpha).items():
            rows += [*part.rows, *_absent_rows(name, scores, raters, part.rows)]
            sentences += part.sentences
        weighing = unweighted(scores.scores, "these figures count")
        return self.finding(rows, "\n".join(sentences), (*notes, *weighing))


def _parts(scores: ScoreTable, margin: float | None, people_alpha: float) -> dict[str, CardPart]:
    # The validation status follows from the agreement with people and from nothing else.
    people = human_agreement(scores, margin)
    return {
        "stamp": validation_status(scores, people.rows, margin, people_alpha),
        "people": people,
        "retest": _retest(scores),
        "judges": judge_agreement(scores),
        "reference": reference_effect(scores),
        "saturation": saturation(scores),
        "halo": halo(scores),
        "length": length_bias(scores),
        "position": position_bias(scores),
        "family": self_preference(scores),
        "bounds": ceiling_and_floor(scores),
    }


def _absent_rows(
    part: str, scores: ScoreTable, raters: Sequence[Rater], rows: Sequence[RaterRow]
) -> Iterator[RaterRow]:
    """For each rater without figures in a part one row that says so."""
    present = {(r.signature, r.rater) for r in rows}
    if part in ("judges", "reference"):  # a row of two raters is on the card of both
        short = labels(scores.measures)
        names = {r.other for r in rows}
        present |= {(m.signature, m.rater) for m in scores.measures.values() if short[key_of(m)] in names}
    for rater in raters:
        if part in ABSENT and (rater.signature, rater.rater) not in present:
            measure = scores.measures[next(iter(rater.keys.values()))]
            row = rater_row(part, "", measure, reason=ABSENT[part])
            yield replace(row, criterion="")


def _retest(scores: ScoreTable) -> CardPart:
    """Scores of one rater on the same response, or on a candidate's same text: as `agreement` has them."""
    card = CardPart([], [])
    short = labels(scores.measures)
    of_responses = select_rows(scores.scores, pl.col("unit") == "")
    for key in (key for rater in raters_of(scores) for key in rater.keys.values()):
        measure = scores.measures[key]
        for table in retests(scores._replace(scores=of_responses, measures={key: measure})):
            for row in agreement_rows(table):
                card.rows.append(
                    rater_row(
                        *("retest", table.benchmark, measure),
                        contrast=row.contrast,
                        candidate=row.candidate,
                        figure=row.coefficient,
                        value=row.value,
                        low=row.low,
                        high=row.high,
                        n_units=row.n_units,
                        n_groups=row.n_groups,
                        n_raters=row.n_raters,
                        n_ratings=row.n_ratings,
                        n_dropped=row.n_dropped,
                        n_changed=row.n_changed,
                        reason=row.reason,
                    )
                )
                if row.coefficient == "alpha_ordinal":
                    card.sentences.append(_retest_text(short[key_of(measure)], row))
    return card


def _retest_text(name: str, row: AgreementRow) -> str:
    candidate = f", {row.candidate}" if row.candidate else ""
    place = f"{name}, marked again ({row.contrast}{candidate}) on {row.benchmark}"
    if row.value is None:
        return f"{place}: {row.reason}."
    return (
        f"{place}: alpha (ordinal) {row.value:.2f}{interval_text(row)}; {row.n_changed} of "
        f"{counts_text(row, 'unit')} were not marked alike."
    )
