"""A candidate's mean on people's scale: another rater's scores of all cases, corrected by people's of some.

A candidate without enough labels stays on the judge's scale, and no order joins the two. Where people scored
another benchmark alone, a judged share of yes and no is corrected by how the judge did there: Rogan and
Gladen's estimate takes sensitivity and specificity as the same for every candidate. A judge that is kinder to
one breaks that, so it corrects shares and no comparison.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.comparing.estimators import Figures, bounded, with_no_failures
from vivavoce.studies.intervals import in_cases
from vivavoce.studies.labels import (
    CHOSEN_BY_HAND,
    NO_LABELS,
    LabelledValues,
    labels_by_item,
    people_scores,
    unlabelled_words,
    with_labels,
)
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, Labels, by_repeat, weights_of

INCONSISTENT = "the judge's share, its sensitivity and its specificity contradict each other"
_NAMES = {"observed": "d", "low": "d_low", "high": "d_high"}


class Validation(NamedTuple):
    """How often a judge says yes where people do, and no where they do; and on how many answers."""

    sensitivity: stats.Mean
    specificity: stats.Mean
    n_labelled: int


class PeopleMeans(NamedTuple):
    """The labels of every candidate by item, or the reason why people's scores correct no mean."""

    by_item: pl.DataFrame | None
    reason: str | None = None
    labels: Labels | None = None
    validation: Validation | None = None

    def of(self, values: pl.DataFrame) -> LabelledValues | str | None:
        """The values of one candidate (rows of `resolve`) with its labels; null without any labels."""
        if self.by_item is None or self.labels is None:
            return self.reason
        by_item = self.by_item.filter(candidate=values["candidate"][0]).drop("candidate")
        return with_labels(values.rename(_NAMES), by_item, self.labels)


def people_means(
    labels: Labels | str | None,
    part: pl.DataFrame,
    criterion: Criterion,
    elsewhere: pl.DataFrame,
) -> PeopleMeans:
    """What corrects the means of these candidates.

    `part` are the score rows of a criterion on a benchmark, `elsewhere` those on other benchmarks.
    """
    if not isinstance(labels, Labels):
        return PeopleMeans(None, labels)
    if labels.scores.join(part, on="benchmark", how="semi").is_empty():
        validation = judge_validation(labels, elsewhere, criterion)
        if isinstance(validation, str):
            return PeopleMeans(None, validation)
        return PeopleMeans(None, validation=validation)
    by_item = labels_by_item(labels, part, criterion)
    return PeopleMeans(by_item, labels=labels)


def on_peoples_scale(
    figures: Figures, values: pl.DataFrame, means: PeopleMeans, criterion: Criterion, *, failed: bool
) -> Figures:
    """The figures of one candidate, corrected by people's scores; as they were, with the reason, without."""
    if means.validation:
        return by_validation(figures, values, means.validation, failed=failed)
    labelled = means.of(values) if figures.estimate is not None else None
    if labelled is None:
        return figures
    if isinstance(labelled, str):
        why_not = f"not corrected by people's scores: {labelled}"
        return replace(figures, reason="; ".join(filter(None, (figures.reason, why_not))))
    low, high = _limits(criterion)
    powered = labelled.powered(low=low, high=high)
    corrected = replace(
        figures,
        estimate=powered.value,
        low=powered.low,
        high=powered.high,
        estimate_kind="prediction_powered",
        n_labelled=labelled.n_labelled,
        lambda_=powered.lambda_,
        estimate_judge=figures.estimate,
        estimate_people=powered.labels_mean,
    )
    reasons = [reason] if (reason := in_cases(powered.reason)) else []
    reasons += [unlabelled_words(labelled.n_unlabelled)] if labelled.n_unlabelled else []
    if not failed and not labelled.n_unlabelled:
        return with_no_failures(corrected, reasons)
    return bounded(corrected, _bounds(labelled, low, high), reasons)


def _limits(criterion: Criterion) -> tuple[float | None, float | None]:
    """Both limits of a scale, or none."""
    both = criterion.low is not None and criterion.high is not None
    return (criterion.low, criterion.high) if both else (None, None)


def _bounds(labelled: LabelledValues, low: float | None, high: float | None) -> stats.Bounds:
    """What the failed scores could make of it: the two fillings, each corrected by the labels."""
    # Each has its own lambda, so labels may put the fillings in another order, and what was observed outside.
    items = labelled.items
    ends = {"d": ("d",), "d_low": ("d_low", "people_low"), "d_high": ("d_high", "people_high")}
    sides = {name: not any(items[end].is_nan().any() for end in ends[name]) for name in ends}
    fillings = [labelled.powered(name, low=low, high=high) for name, bounds in sides.items() if bounds]
    least = _outermost([(p.value, p.low) for p in fillings], min) if sides["d_low"] else (None, None)
    most = _outermost([(p.value, p.high) for p in fillings], max) if sides["d_high"] else (None, None)
    return stats.Bounds(least[0], most[0], least[1], most[1])


def _outermost(
    ends: Sequence[tuple[float, float | None]], choose: Callable[[Iterable[float]], float]
) -> tuple[float, float | None]:
    """The outermost of these values and of their ends; no end where one has none."""
    finite = [end for _, end in ends if end is not None]
    return choose(value for value, _ in ends), choose(finite) if len(finite) == len(ends) else None


def judge_validation(labels: Labels, judged: pl.DataFrame, criterion: Criterion) -> Validation | str:
    """From the answers that people and the judge both scored; or why they tell nothing.

    `judged` are the judge's score rows on the benchmarks that people scored. Scores must be 0 or 1, and each
    of the two rest on 10 effective cases. Labels that were chosen by hand, such as the doubtful ones, tell of
    no other answers.
    """
    if (criterion.low, criterion.high) != (0, 1) or judged.is_empty():
        return NO_LABELS
    answers = by_repeat(judged, criterion).drop_nulls("observed").rename({"observed": "judge"})
    scored = answers.join(people_scores(labels).drop_nulls("label"), on=RESPONSE, validate="1:1")
    joined = scored.join(labels.draw, on=ITEM_KEY, validate="m:1")
    if not joined.select(pl.all_horizontal(pl.col("judge", "label").is_in([0.0, 1.0])).all()).item():
        return NO_LABELS
    if joined["probability"].null_count():
        open_to_people = judged.filter(status="ok").join(joined, on="benchmark", how="semi")
        if open_to_people.join(joined, on=RESPONSE, how="anti").height:
            return CHOSEN_BY_HAND
    weight = pl.col("weight") if "weight" in joined.columns else pl.lit(1.0)
    joined = joined.with_columns(weight=weight / pl.col("probability").fill_null(1.0))
    sensitivity, specificity = (_agreement(joined.filter(label=label)) for label in (1.0, 0.0))
    if sensitivity is None or specificity is None:
        return NO_LABELS
    return Validation(sensitivity, specificity, joined.height)


def _agreement(rows: pl.DataFrame) -> stats.Mean | None:
    """The share of these answers that the judge scored as people did; null below 10 effective cases."""
    if not rows.height:
        return None
    right = (rows["judge"] == rows["label"]).to_numpy()
    share = stats.cluster_mean(right, rows["group"].to_numpy(), weights=weights_of(rows))
    return share if stats.enough_groups(share.df + 1) else None


def by_validation(figures: Figures, values: pl.DataFrame, validation: Validation, *, failed: bool) -> Figures:
    """The share corrected by the validation, with the bounds of its failed scores."""
    if figures.estimate is None:
        return figures
    share = _corrected(values, "observed", validation)
    if share.value is None:
        return replace(figures, reason=INCONSISTENT)
    reasons = [INCONSISTENT] if share.low is None else []
    corrected = replace(
        figures,
        estimate=share.value,
        low=share.low,
        high=share.high,
        estimate_kind="rogan_gladen",
        n_labelled=validation.n_labelled,
        estimate_judge=figures.estimate,
    )
    if not failed:
        return with_no_failures(corrected, reasons)
    worst, best = (_corrected(values, side, validation) for side in ("low", "high"))
    return bounded(corrected, stats.Bounds(worst.value, best.value, worst.low, best.high), reasons)


def _corrected(values: pl.DataFrame, column: str, validation: Validation) -> stats.RoganGladen:
    """The share by a column; its scale has limits, so a failed score has both fillings."""
    rows = values.filter(pl.col(column).is_not_null())
    judged = stats.cluster_mean(rows[column].to_numpy(), rows["group"].to_numpy(), weights=weights_of(rows))
    return stats.rogan_gladen(judged, sensitivity=validation.sensitivity, specificity=validation.specificity)
