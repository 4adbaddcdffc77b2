"""A judge compared with people, beside people compared with each other: what a judge is worth.

There are no cut-offs for a coefficient: the yardstick is how far people agree with each other on the same
responses. Labels are as people gave them, before anybody settled differences. They also correct the judge's
means (prediction-powered inference), and tell how many more of them are needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.studies.bounded import Bounded, figure_text
from vivavoce.studies.comparing.yes_no import yes_no_rows, yes_no_sentences
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import (
    Estimate,
    by_coefficient,
    by_difference,
    by_jackknife,
    counts_text,
    mean_excess,
    too_few,
)
from vivavoce.studies.rater_scores import (
    INSIDE,
    Entries,
    LabelledScores,
    RaterRow,
    card_part,
    label_mismatch,
    labelled_scores,
    rater_row,
    raters_of,
    scores_of,
    whole_responses,
)
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import RESPONSE, ScoreTable, by_repeat, over_repeats

AGREEMENT: tuple[stats.AgreementCoefficient, ...] = ("alpha_ordinal", "percent")
BETWEEN = ("people and people", "difference")
ONE_PERSON = "no answer has the labels of two people: no ceiling to hold the judge against"
ONE_ANSWER = "no question has two candidates' answers that the same people labelled"
NOTHING_SHARED = "the judge and people scored no answer in common"
THIRDS = ("lowest third", "middle third", "highest third")
Z_95 = 1.959964
"""The normal quantile that turns a 95 % half-width into a standard error."""
HALF_WIDTH = 0.05
"""Half-width, as a share of equal scores, for which the number of labels is planned."""


@card_part
def human_agreement(scores: ScoreTable, margin: float | None) -> Entries:
    """Every rater and criterion against the labels, or a row that says why not.

    `contrast` tells what agrees: `judge and people`, `people and people`, and their `difference`, which is
    how much better the judge agrees with a person than another person does. For that each person is left
    out in turn, on the responses with labels of two or more; all pairs of people count alike. Above -margin
    with its whole interval, the judge is as good as a person within the margin.

    The figure `pearson_inside` has the same three contrasts of differences between answers to one question,
    see `_inside_questions`.

    Of a judge that says yes or no (1 and 0) `sensitivity` and `specificity`, see `yes_no_rows`.

    `bias` is the mean of judge less person, in all and by third of what people gave (a third is cut by one
    person's labels and measured by another's, where two labelled; else chance alone lifts the lowest third
    and lowers the highest); by candidate also `favour`, its bias less that of the others, with intervals that
    hold for all candidates together, and, where one of them leaves out 0, with `p` of
    `stats.member_permutation` and `p_adjusted` by Bonferroni: both must show it. `needed` are labels: for the
    difference known to the margin, and for a share of equal scores known to 5 points (there `margin` is
    that). `correction` turns each candidate's mean into what people would have given, which holds only if the
    labelled items were drawn at random.
    """
    short, is_corrected = labels(scores.measures), False
    for key in (key for rater in raters_of(scores) for key in rater.keys.values()):
        rows = list(_rows(scores, key, margin))
        yield from rows
        yield from _sentences(short[key_of(scores.measures[key])], rows)
        is_corrected |= any(r.figure == "corrected" and r.value is not None for r in rows)
    if is_corrected:
        yield (
            "The candidates' means as people would have given them, `corrected`, are in the rows; they hold "
            "only if the labelled questions were drawn at random."
        )


def _rows(scores: ScoreTable, key: int, margin: float | None) -> Iterator[RaterRow]:
    """The rows of one measure."""
    measure = scores.measures[key]
    compared = False
    for labelled in labelled_scores(scores, key):
        compared = True
        agreement = _agreement(labelled) | _inside_questions(labelled)
        yield from _agreement_rows(measure, labelled, agreement, margin)
        yield from yes_no_rows(measure, labelled, scores.labels.get(key))
        yield from _biases(measure, labelled)
        judged = scores_of(scores, key).filter(pl.col("benchmark") == labelled.benchmark)
        yield from _labels_needed(measure, labelled.benchmark, judged.height, agreement, margin)
        yield from _corrected(scores, key, labelled.benchmark)
    if not compared:
        reason = label_mismatch(scores, measure) or NOTHING_SHARED
        yield rater_row("people", "", measure, figure="alpha_ordinal", reason=reason)


def _agreement(labelled: LabelledScores) -> dict[tuple[str, str], Estimate]:
    """By contrast and coefficient: judge with people, people with people, and the difference.

    All three are of the same responses.
    """
    paired = labelled.double.height > 0
    rows = labelled.double if paired else labelled.single
    groups = rows["group"].to_numpy()
    # The judge takes the first person's place, so both agreements are with the same second person.
    judged = rows.select("judge", "second" if paired else "label").to_numpy()
    between = rows.select("first", "second").to_numpy() if paired else None
    estimates: dict[tuple[str, str], Estimate] = {}
    for figure in AGREEMENT:
        estimates["judge and people", figure] = by_coefficient(figure, judged, groups)
        for contrast in BETWEEN:
            estimates[contrast, figure] = Estimate(0, 0, reason=ONE_PERSON)
        if between is not None:
            estimates["people and people", figure] = by_coefficient(figure, between, groups)
            estimates["difference", figure] = by_coefficient(figure, judged, groups, less=between)
    # A response is in the rows once for each person or pair, so their number is not the number of units.
    n_units, n_groups = rows.unique(RESPONSE).height, rows["group"].n_unique()
    return {key: e._replace(n_units=n_units, n_groups=n_groups) for key, e in estimates.items()}


def _inside_questions(labelled: LabelledScores) -> dict[tuple[str, str], Estimate]:
    """Whether differences between candidates' answers to one question are people's too, by contrast.

    A score counts less the mean of the answers to the question that the same pair of people (or person)
    labelled: what a question is worth, and how strict somebody is, falls out, as it does in a comparison.
    """
    paired = labelled.double.height > 0
    rows, people = (labelled.double, ("first", "second")) if paired else (labelled.single, ("label",))
    block = ["item", "variant", "person", *(["second_person"] if paired else [])]
    rows = rows.filter(pl.col("role") == "candidate").filter(pl.col("candidate").n_unique().over(block) > 1)
    n = rows.unique(RESPONSE).height, rows["group"].n_unique()
    # Rounded: equal scores less their mean are equal up to rounding, which is no difference.
    less_mean = rows.select((pl.col(c) - pl.col(c).mean().over(block)).round(9) for c in ("judge", *people))
    groups = rows["group"].to_numpy()

    def estimate(*columns: str, less: Any = None) -> Estimate:
        if not rows.height:
            return Estimate(*n, reason=ONE_ANSWER)
        flat = [c for c in columns if not (less_mean[c] != 0).any()]
        side = "the judge gives" if flat and flat[0] == "judge" else "people give"
        undefined = f"{side} all answers to a question the same score"
        table = less_mean.select(columns).to_numpy()
        return by_coefficient("pearson", table, groups, less=less, undefined=undefined)._replace(
            n_units=n[0], n_groups=n[1]
        )

    judged = ("judge", people[-1])
    figures = {("judge and people", INSIDE): estimate(*judged)}
    for contrast in BETWEEN:
        figures[contrast, INSIDE] = Estimate(0, 0, reason=ONE_PERSON)
    if paired:
        ratings = less_mean.select(people).to_numpy() if rows.height else None
        figures["people and people", INSIDE] = estimate(*people)
        figures["difference", INSIDE] = estimate(*judged, less=ratings)
    return figures


def _agreement_rows(
    measure: Measure,
    labelled: LabelledScores,
    agreement: Mapping[tuple[str, str], Estimate],
    margin: float | None,
) -> Iterator[RaterRow]:
    paired = labelled.double.height > 0
    rows = labelled.double if paired else labelled.single
    n_raters = labelled.single["person"].n_unique()
    n_ratings = rows.unique([*RESPONSE, "person"]).height
    for (contrast, figure), estimate in agreement.items():
        yield rater_row(
            *("people", labelled.benchmark, measure),
            contrast=contrast,
            figure=figure,
            margin=margin if paired and contrast == "difference" else None,
            n_raters=n_raters,
            n_ratings=n_ratings,
            **estimate._asdict(),
        )


def _biases(measure: Measure, labelled: LabelledScores) -> Iterator[RaterRow]:
    """Judge less person, in all, by third of the labels, and by candidate."""

    def row(contrast: str, **values: Any) -> RaterRow:
        shared = {"figure": "bias", "contrast": contrast}
        return rater_row("people", labelled.benchmark, measure, **shared | values)

    responses = (
        labelled.single.group_by(*RESPONSE, "group", "judge", maintain_order=True)
        .agg(exact_mean(pl.col("label")))
        .with_columns(difference=pl.col("judge") - pl.col("label"))
    )
    differences, groups = responses["difference"].to_numpy(), responses["group"].to_numpy()
    yield row("judge less people", **by_difference(differences, groups)._asdict())
    for name, part in _thirds(labelled):
        bias = by_difference((part["judge"] - part["first"]).to_numpy(), part["group"].to_numpy())
        yield row(name, **bias._asdict() | {"n_units": part.unique(RESPONSE).height})

    candidates = responses["candidate"].to_numpy()
    names = sorted(set(candidates.tolist()))
    for name in names:
        at = candidates == name
        yield row("by candidate", candidate=name, **by_difference(differences[at], groups[at])._asdict())
    if len(names) < 2:
        return
    # A sentence names the candidates that stand out, so the intervals must hold for all together.
    level = stats.bonferroni_level(0.95, len(names))
    favours = [
        by_jackknife(
            lambda at, name=name: mean_excess(differences[at], candidates[at] == name),  # type: ignore[misc]
            groups,
            scale="raw",
            level=level,
            undefined="no label of this candidate or of the others",
        )
        for name in names
    ]
    p: list[float | None] = [None] * len(names)
    if any(_is_clear(favour) for favour in favours):
        # Where a judge errs in few answers a candidate without such an error has an error too small.
        p = [*stats.member_permutation(differences, candidates, groups).tolist()]
    for name, favour, p_alone in zip(names, favours, p, strict=True):
        adjusted = None if p_alone is None else min(1.0, p_alone * len(names))
        tested = {"p": p_alone, "p_adjusted": adjusted, "n_tests": len(names)}
        yield row("by candidate", figure="favour", candidate=name, **favour._asdict(), **tested)


def _thirds(labelled: LabelledScores) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows by third of what people gave, with the label to compare the judge with as `first`."""
    paired = labelled.double.height > 0
    rows = labelled.double if paired else labelled.single.rename({"label": "first"})
    # Sorted by one person, compared with another: one label for both would add regression to the mean.
    quality = rows["second" if paired else "first"]
    # Ranks rather than values, so that tied labels fall into one third.
    place = (quality.round(9).rank() - 0.5) / rows.height
    third = np.minimum((place * 3).floor().to_numpy(), 2)
    for n, name in enumerate(THIRDS):
        yield name, rows.filter(pl.Series(third == n))


def _labels_needed(
    measure: Measure,
    benchmark: str,
    n_judged: int,
    agreement: Mapping[tuple[str, str], Estimate],
    margin: float | None,
) -> Iterator[RaterRow]:
    """Labels for a difference known to the margin, and for the share of equal scores known to 5 points."""
    difference, equal = agreement["difference", "alpha_ordinal"], agreement["judge and people", "percent"]
    n: int | None = None
    reason: str | None = "no margin: --margin says what difference would matter"
    if difference.value is None:
        reason = difference.reason
    elif margin is not None:
        # The target is a 95 % interval whose half width is the margin.
        n = stats.labels_for_coefficient(difference.n_units, difference.se, se_target=margin / Z_95)
        reason = None if n else "the labels show no spread: none can be reckoned with"
    of_equal, reason_of_equal = _labels_for_percent(equal, n_judged)
    for figure, half_width, estimate in (
        ("labels_for_margin", margin, difference._replace(value=n, reason=reason)),
        ("labels_for_percent", HALF_WIDTH, equal._replace(value=of_equal, reason=reason_of_equal)),
    ):
        yield rater_row(
            *("people", benchmark, measure),
            contrast="needed",
            figure=figure,
            value=estimate.value,
            n_units=estimate.n_units,
            n_groups=estimate.n_groups,
            margin=half_width,
            reason=estimate.reason,
        )


def _labels_for_percent(equal: Estimate, n_judged: int) -> tuple[int | None, str | None]:
    """How many labels make the share of equal scores known to `HALF_WIDTH`, or why that is not known."""
    p = equal.value
    if p is None:
        return None, equal.reason
    if not 0 < p < 1:
        return None, "all scores are equal, or none: nothing to reckon with"
    # How much wider the interval is by group than if all responses were independent.
    independent = p * (1 - p) / equal.n_units
    design_effect = equal.se**2 / independent if equal.se else 1.0
    return stats.proportion_n(p, HALF_WIDTH, population=n_judged, design_effect=design_effect), None


def _corrected(scores: ScoreTable, key: int, benchmark: str) -> Iterator[RaterRow]:
    """By candidate the judge's mean, the step from it, the corrected mean, and the labels by themselves.

    Means are over items and count silence by the criterion's rule, as a leaderboard does. `se` is by group;
    `corrected_alone` takes items for independent, as figures elsewhere often do. Cases are drawn whole:
    labels of a part of one are left out.
    """
    measure = scores.measures[key]
    low, high = measure.criterion.low, measure.criterion.high
    if low is None or high is None:
        low = high = None
    for (candidate,), items in _label_steps(scores, key, benchmark).group_by(
        "candidate", maintain_order=True
    ):
        at = items["step"].is_not_null().to_numpy()
        groups = items["group"].to_numpy()
        row = rater_row(
            *("people", benchmark, measure),
            contrast="correction",
            candidate=str(candidate),
            n_units=int(at.sum()),
            n_groups=len(set(groups[at].tolist())),
            n_ratings=items.height,
        )
        if few := too_few(groups[at].tolist()):
            parted = items["parted"].sum()
            also = f"; {parted} labels lie in cases that people did not label wholly" if parted else ""
            yield replace(row, figure="corrected", reason=few + also)
            continue
        judged = items["observed"].to_numpy()
        people = judged[at] + items["step"].to_numpy()[at]
        places = np.flatnonzero(at)
        grouped = stats.prediction_powered(judged, people, labelled=places, groups=groups, low=low, high=high)
        # Published figures often take items for independent; beside the interval by group it shows the price.
        alone = stats.prediction_powered(judged, people, labelled=places, low=low, high=high)
        yield replace(row, figure="judge_mean", value=grouped.judge_mean)
        yield replace(row, figure="step", value=grouped.value - grouped.judge_mean)
        for figure, mean in (("corrected", grouped), ("corrected_alone", alone)):
            ends = Bounded.from_figure(mean).columns()
            yield replace(row, figure=figure, **ends, se=mean.se, reason=mean.reason)
        for figure, mean in (("labels_only", grouped), ("labels_only_alone", alone)):
            yield replace(row, figure=figure, value=mean.labels_mean, se=mean.labels_se)


def _label_steps(scores: ScoreTable, key: int, benchmark: str) -> pl.DataFrame:
    """The judge's value of each item, with `step` from it to people's where its case was labelled wholly.

    `parted` says that the item was labelled and another one of its case was not.
    """
    criterion = scores.measures[key].criterion.criterion
    rows = whole_responses(scores.scores).filter(pl.col("benchmark") == benchmark)

    def values(measure_id: int) -> pl.DataFrame:
        return by_repeat(
            rows.filter(pl.col("measure_id") == measure_id), scores.measures[measure_id].criterion
        )

    judged = values(key)
    same = [k for k in sorted(scores.people) if scores.measures[k].criterion.criterion == criterion]
    people = pl.concat(map(values, same)).group_by(*RESPONSE).agg(label=exact_mean(pl.col("observed")))
    steps = (
        judged.join(people, on=list(RESPONSE), validate="1:1")
        .group_by("item", "variant", "candidate")
        .agg(step=(pl.col("label") - pl.col("observed")).mean())
        .filter(pl.col("step").is_not_null())
    )
    return (
        over_repeats(judged)
        .filter(pl.col("observed").is_not_null())
        .join(steps, on=["item", "variant", "candidate"], how="left", validate="1:1", maintain_order="left")
        .with_columns(whole=pl.col("step").is_not_null().all().over("candidate", "group"))
        .with_columns(
            step=pl.when("whole").then("step"), parted=pl.col("step").is_not_null() & ~pl.col("whole")
        )
    )


def _sentences(name: str, rows: Sequence[RaterRow]) -> Iterator[str]:
    for benchmark in dict.fromkeys(r.benchmark for r in rows if r.benchmark):
        place = f"{name} against people on {benchmark}"
        part = [r for r in rows if r.benchmark == benchmark]
        by_figure = {(r.contrast, r.figure): r for r in part if r.candidate == ""}
        yield f"{place} {_agreement_text(by_figure)}"
        yield f"{place}, differences between answers to one question {_inside_text(by_figure)}"
        yield from yes_no_sentences(place, part)
        tested = [r for r in part if r.figure == "favour" and r.value is not None]
        clear = [
            f"{r.candidate} by {figure_text(r, '+.2f')}"
            for r in tested
            if _is_clear(r) and r.p_adjusted is not None and r.p_adjusted <= stats.ALPHA
        ]
        if clear:
            yield (
                f"{place}: more generous (or, below 0, stricter) than with the others to {'; '.join(clear)}. "
                f"These intervals hold for all {len(tested)} candidates together."
            )


def _is_clear(row: RaterRow | Estimate) -> bool:
    """Whether a figure is not 0."""
    if row.low is None or row.high is None:
        # Without spread there is no interval, yet a judge as much kinder in every case is no accident.
        return row.se == 0 and bool(row.value)
    return row.low * row.high > 0


def _agreement_text(by_figure: Mapping[tuple[str | None, str | None], RaterRow]) -> str:
    bias = by_figure["judge less people", "bias"]
    return (
        f"{_beside_people(by_figure, 'alpha_ordinal', 'alpha (ordinal)')} Judge less person, on "
        f"average: {figure_text(bias, '+.2f')}."
    )


def _inside_text(by_figure: Mapping[tuple[str | None, str | None], RaterRow]) -> str:
    judge = by_figure["judge and people", INSIDE]
    return f"({judge.reason})." if judge.value is None else _beside_people(by_figure, INSIDE, "r")


def _beside_people(
    by_figure: Mapping[tuple[str | None, str | None], RaterRow], figure: str, name: str
) -> str:
    """The judge's agreement with people, people's own, and the difference."""
    judge, person, difference = (by_figure[c, figure] for c in ("judge and people", *BETWEEN))
    if person.value is None:
        among = str(person.reason)
    else:
        among = f"people among themselves {figure_text(person)}, the difference {figure_text(difference)}"
    return f"({counts_text(judge, 'answer')}): {name} {figure_text(judge)}; {among}."
