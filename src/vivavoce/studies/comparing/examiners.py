"""The card of each rater: what a run can tell of the judges and people who scored it.

`part` names what is asked: `people` (against labels) and the `stamp` that follows from those, `retest` (the
same response again), `judges` (another model with the same rubric), `reference` (with and without it),
`saturation`, `halo`, `length`, `position`, `family`, `bounds` (ceiling and floor). The unit is the response
unless a part says otherwise, and every interval is by group: items of one case count as one.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.errors import SelectionError
from vivavoce.core.measure_names import rubric_name
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.core.specs import Spec, signed
from vivavoce.studies.bounded import Bounded, figure_text, interval_text
from vivavoce.studies.comparing.human_agreement import human_agreement
from vivavoce.studies.comparing.judge_biases import NO_BALLOTS, length_bias, position_bias, self_preference
from vivavoce.studies.comparing.rating_behaviour import HALO, ceiling_and_floor, halo, saturation
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import Estimate, by_coefficient, by_difference, counts_text
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.rater_scores import (
    CardPart,
    Entries,
    Rater,
    RaterRow,
    RaterScores,
    by_benchmark,
    card_part,
    rater_row,
    raters_of,
    scores_of,
)
from vivavoce.studies.reliability.agreement import AgreementRow, agreement_rows, retests
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import RESPONSE, ScoreTable, by_answer, unweighted
from vivavoce.studies.study import Study, as_mapping, typed_row
from vivavoce.studies.text import count
from vivavoce.studies.validation_status import PEOPLE_ALPHA, validation_status

ABSENT = {
    "retest": "no second pass, and no recorded scores of a text that was answered twice",
    "judges": "no other judge or rater with the same settings",
    "reference": "no twin that differs in the reference alone",
    "saturation": "no scores of candidates",
    "halo": "one criterion, or no answer with scores on two",
    "length": "no answers to count words in",
    "position": NO_BALLOTS,
    "family": "no scores",
    "bounds": "no ceiling and no floor in this run",
}
"""Why a rater has no figures in a part."""


FAVOUR = NamingSentence(
    code="examiners.favour",
    templates=(
        "{judge} against people on {benchmark}: more generous (or, below 0, stricter) than with "
        "the others to {names}.",
    ),
    names=("candidate", "metric", "rater"),
    family="all candidates of one criterion",
    correction="Bonferroni",
    null="favour",
)
YES_NO = NamingSentence(
    code="examiners.yes_no",
    templates=(
        "{judge} against people on {benchmark}: {figure} differs for {candidate}: {counts}, with "
        "the other candidates {rest} (p {p}, {family}).",
    ),
    names=("candidate", "metric", "rater"),
    family="both figures of all candidates",
    correction="Holm",
    null="yes or no",
)
STAMP = NamingSentence(
    code="examiners.stamp",
    templates=(
        "{judge} on {benchmark}: shown within {margin} on {labels} ({people}; between answers to one "
        "question {figure}) ({criteria}).",
    ),
    names=("metric", "rater"),
    family="each judge and criterion alone",
    correction="none",
    null="stamp",
)
SATURATED = NamingSentence(
    code="examiners.saturated",
    templates=(
        "{measure} on {benchmark}: saturated, {share} of {scores} are {value}; it hardly tells "
        "candidates apart and belongs in no mean over criteria.",
    ),
    names=("metric", "rater"),
    counts="the share of scores at one value, and whether it is 95 % or more",
)


@study("examiners")
class Examiners(Study):
    """The card of every rater of a run."""

    about = (
        "Whether a rater agrees with itself, with other raters and with people, and what it favours; "
        "a judge's stamp rests on the agreement with people alone."
    )
    row = RaterRow
    sentences = (FAVOUR, YES_NO, STAMP, SATURATED, HALO)
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
                "No judge and no rater has scored this run, and rules have no card here: the study `audit` "
                "examines them.",
                notes,
            )
        rows: list[RaterRow] = []
        sentences: list[str] = []
        if not scores.people:
            sentences.append(
                "No labels were given (--labels METRIC): nothing here shows that a judge scores as people do."
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


@card_part
def _retest(scores: ScoreTable) -> Entries:
    """Scores of one rater on the same response, or on a candidate's same text: as `agreement` has them."""
    short = labels(scores.measures)
    of_responses = select_rows(scores.scores, pl.col("unit") == "")
    for key in (key for rater in raters_of(scores) for key in rater.keys.values()):
        measure = scores.measures[key]
        for table in retests(scores._replace(scores=of_responses, measures={key: measure})):
            for row in agreement_rows(table):
                of_card = {"part": "retest", "figure": row.coefficient, "signature": measure.signature}
                yield typed_row(RaterRow, as_mapping(row) | of_card)
                if row.coefficient == "alpha_ordinal":
                    yield _retest_text(short[key_of(measure)], row)


def _retest_text(name: str, row: AgreementRow) -> str:
    candidate = f", {row.candidate}" if row.candidate else ""
    place = f"{name}, scored again ({row.contrast}{candidate}) on {row.benchmark}"
    if row.value is None:
        return f"{place}: {row.reason}."
    return (
        f"{place}: alpha (ordinal) {figure_text(row)}; {row.n_changed} of "
        f"{counts_text(row, 'unit')} were not scored alike."
    )


LEAST_CANDIDATES = 4
FREE = "_free"
"""The ending of a rubric's name that says it is scored without the reference."""

PAIR_COEFFICIENTS: tuple[stats.AgreementCoefficient, ...] = (
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "quadratic_kappa", "pearson", "percent"),
)
"""What says how far two raters agree who scored the same responses."""


@card_part
def judge_agreement(scores: ScoreTable) -> Entries:
    """Judge against judge: raters that differ in the model (or the rater) alone, two at a time."""
    for first, second in _matched(scores, _but_model):
        yield from _pair(scores, "judges", first, second, each=("difference",))


@card_part
def reference_effect(scores: ScoreTable) -> Entries:
    """The same model with the reference before it, and without: how the scores shift and agree.

    Two signatures match if they differ only in `reference=false`, or in a rubric `x` and its twin `x_free`.
    `difference` is the scores without the reference less those with it.
    """
    for pair in _matched(scores, _but_reference):
        without = {_reference_free(signed(rater.signature).spec): rater for rater in pair}
        if len(without) == 2:
            yield from _pair(scores, "reference", without[False], without[True], each=None)


def _but_model(rater: Rater) -> Hashable:
    """What judges that differ in the model alone share; so do raters of one measure."""
    signature = signed(rater.signature)
    settings = {k: str(v) for k, v in signature.spec.settings.items() if k != "model"}
    return signature.spec.name, tuple(settings.items()), signature.version


def _but_reference(rater: Rater) -> Hashable:
    """What a judge with the reference and its twin without share."""
    spec = signed(rater.signature).spec
    # A rubric without the reference is a file of its own, so names are compared without that ending.
    settings = {k: str(v) for k, v in spec.settings.items() if k not in ("reference", "rubric")}
    return spec.name, tuple(settings.items()), rubric_name(spec).removesuffix(FREE), rater.rater


def _reference_free(spec: Spec) -> bool:
    """True if the judge sees no reference."""
    return spec.settings.get("reference") is False or rubric_name(spec).endswith(FREE)


def _matched(scores: ScoreTable, shared: Callable[[Rater], Hashable]) -> Iterator[tuple[Rater, Rater]]:
    """The raters that share something, two at a time."""
    families: dict[Hashable, list[Rater]] = {}
    for rater in raters_of(scores):
        families.setdefault(shared(rater), []).append(rater)
    for family in families.values():
        yield from combinations(family, 2)


def _pair(
    scores: ScoreTable, part: str, first: Rater, second: Rater, *, each: Sequence[str] | None
) -> Entries:
    """What two raters have in common on each criterion that both score.

    `each` names the figures to give by candidate too; null is all of them.
    """
    for criterion in (name for name in first.keys if name in second.keys):
        key, second_key = first.keys[criterion], second.keys[criterion]
        name = labels(scores.measures)[key_of(scores.measures[second_key])]
        with_other = scores_of(scores, second_key).select(*RESPONSE, other="value")
        for scored in by_benchmark(scores, first._replace(keys={criterion: key})):
            shared = scored.rows.join(
                with_other, on=list(RESPONSE), how="inner", validate="1:1", maintain_order="left"
            )
            if shared.height:
                rows = list(_pair_rows(part, scored._replace(rows=shared), name, each=each))
                yield from rows
                by_figure = {r.figure: r for r in rows if r.candidate == ""}
                yield f"{scored.name} and {name} on {scored.benchmark}{_pair_text(part, by_figure)}"


def _pair_rows(
    part: str, scored: RaterScores, other: str, *, each: Sequence[str] | None
) -> Iterator[RaterRow]:
    """Every figure of the columns `value` and `other`, over all candidates and by candidate.

    `difference` is other less value, with a t interval by group. `tau_b` compares the candidates' means on
    the common responses; its unit is the candidate, and it has no interval.
    """
    shared: dict[str, Any] = {"contrast": part, "other": other, "n_raters": 2}
    names = scored.rows["candidate"].unique().sort()
    yield from (scored.row(part, **shared, **figure) for figure in _pair_figures(scored.rows, None))
    for name in names if len(names) > 1 or each is None else ():
        of_candidate = _pair_figures(scored.rows.filter(pl.col("candidate") == name), each)
        yield from (scored.row(part, candidate=name, **shared, **figure) for figure in of_candidate)
    yield scored.row(part, _tau_b(scored.rows), **shared, figure="tau_b")


def _pair_figures(rows: pl.DataFrame, names: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """The columns of coefficients and of the difference of two raters, or of those that are in `names`."""
    values, groups = rows.select("value", "other").to_numpy(), rows["group"].to_numpy()
    differences = values[:, 1] - values[:, 0]
    n_changed = int((np.abs(differences) > 1e-9).sum())
    counts = {"n_changed": n_changed, "n_ratings": 2 * len(values)}
    for name in PAIR_COEFFICIENTS:
        if names is None or name in names:
            yield {"figure": name, **by_coefficient(name, values, groups)._asdict(), **counts}
    yield {"figure": "difference", **by_difference(differences, groups)._asdict(), **counts}


def _tau_b(both: pl.DataFrame) -> Estimate:
    """Kendall's tau-b of the candidates' means in `value` and `other`, without ceilings and floors."""
    # Means over the common responses, so that what one rater left out does not order candidates.
    means = (
        both.filter(pl.col("role") == "candidate")
        .group_by("candidate")
        .agg(exact_mean(pl.col("value", "other")))
        .sort("candidate")
    )
    n = means.height, both["group"].n_unique()
    if means.height < LEAST_CANDIDATES:
        return Estimate(*n, reason=f"{count(means.height, 'candidate')}: too few to order")
    tau = stats.kendall(means["value"], means["other"])
    return Estimate(*n, tau, reason="one side does not vary" if tau is None else None)


def _pair_text(part: str, by: Mapping[str | None, RaterRow]) -> str:
    alpha, shift, tau = by["alpha_ordinal"], by["difference"], by["tau_b"]
    if shift.value is None:
        return f": {shift.reason}."
    order = ""
    if tau.value is not None:
        candidates = count(tau.n_units or 0, "candidate")
        order = f"; on what both scored they order {candidates} with tau-b {printed(tau.value)}"
    scores = "Without the reference the scores are" if part == "reference" else "The second scores"
    return (
        f" ({counts_text(shift, 'response')}): alpha (ordinal) {figure_text(alpha)}{order}. {scores} "
        f"{_shift_text(shift)}.{_hidden_shift(shift, by['pearson'])}"
    )


def _shift_text(shift: RaterRow) -> str:
    """A shift with its interval, both as seen from the side that is higher."""
    value = shift.value or 0.0
    if value >= 0:
        return f"{printed(abs(value))}{interval_text(shift)} higher"
    return f"{printed(abs(value))}{interval_text(-Bounded.from_figure(shift))} lower"


def _hidden_shift(shift: RaterRow, pearson: RaterRow) -> str:
    """That a correlation does not show the shift, where there is one."""
    if pearson.value is None or shift.low is None or shift.high is None or shift.low * shift.high <= 0:
        return ""
    return f" Their correlation (r {printed(pearson.value)}) does not show that shift."
