"""A candidate's mean on people's scale: another rater's scores of all cases, corrected by people's of some.

A candidate without enough labels stays on the judge's scale, and no order joins the two. Where people scored
another benchmark alone, a judged share of yes and no is corrected by how the judge did there: Rogan and
Gladen's estimate takes sensitivity and specificity as the same for every candidate. A judge that is kinder to
one breaks that, so it corrects shares and no comparison.
"""

from dataclasses import replace
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.bounded import Bounded, Filled, outermost, reasons
from vivavoce.studies.comparing.estimators import Figures
from vivavoce.studies.intervals import in_cases
from vivavoce.studies.item_means import Arrays
from vivavoce.studies.labels import (
    CHOSEN_BY_HAND,
    NO_LABELS,
    LabelledValues,
    labels_by_item,
    people_scores,
    unlabelled_words,
    with_labels,
)
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, Labels, ScoreTable, by_repeat

INCONSISTENT = "the judge's share, its sensitivity and its specificity contradict each other"


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
        return with_labels(values, by_item, self.labels)


def people_means(scores: ScoreTable, key: int, part: pl.DataFrame) -> PeopleMeans:
    """What corrects the means by a measure; `part` are its score rows on one benchmark."""
    labels, criterion = scores.labels.get(key), scores.measures[key].criterion
    if not isinstance(labels, Labels):  # without labels the rows are not read: most runs have none
        return PeopleMeans(None, labels)
    if labels.scores.join(part, on="benchmark", how="semi").height:
        return PeopleMeans(labels_by_item(labels, part, criterion), labels=labels)
    elsewhere = scores.scores.filter(measure_id=key).join(part, on="benchmark", how="anti")
    validation = judge_validation(labels, elsewhere, criterion)
    if isinstance(validation, str):
        return PeopleMeans(None, validation)
    return PeopleMeans(None, validation=validation)


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
        return figures.with_reason(f"not corrected by people's scores: {labelled}")
    has_both = criterion.low is not None and criterion.high is not None
    limits = (criterion.low, criterion.high) if has_both else (None, None)
    powered, n_unlabelled = labelled.powered(*limits), labelled.n_unlabelled
    corrected = replace(
        figures,
        filled=Filled(Bounded.from_figure(powered)),
        estimate_kind="prediction_powered",
        n_labelled=labelled.n_labelled,
        lambda_=powered.lambda_,
        estimate_judge=figures.estimate,
        estimate_people=powered.labels_mean,
        reason=reasons(in_cases(powered.reason), unlabelled_words(n_unlabelled) if n_unlabelled else None),
    )
    return corrected.with_bounds(_bounds(labelled, *limits) if failed or n_unlabelled else None)


def _bounds(labelled: LabelledValues, low: float | None, high: float | None) -> stats.Bounds:
    """What the failed scores could make of it: the two fillings, each corrected by the labels."""
    # Each has its own lambda, so labels may put the fillings in another order, and what was observed outside.
    sides = [side for side in ("low", "high") if labelled.has_end(side)]
    fillings = [Bounded.from_figure(labelled.powered(low, high, side)) for side in ("observed", *sides)]
    bounds = outermost(fillings)
    least = (bounds.set_low, bounds.bound_low) if "low" in sides else (None, None)
    most = (bounds.set_high, bounds.bound_high) if "high" in sides else (None, None)
    return stats.Bounds(least[0], most[0], least[1], most[1])


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
    share = Arrays.from_rows(rows.with_columns(observed=pl.col("judge") == pl.col("label"))).cluster_mean()
    return share if stats.enough_groups(share.df + 1) else None


def by_validation(figures: Figures, values: pl.DataFrame, validation: Validation, *, failed: bool) -> Figures:
    """The share corrected by the validation, with the bounds of its failed scores."""
    if figures.estimate is None:
        return figures

    def share(column: str) -> Bounded:
        # The scale of a share has limits, so a failed score has both fillings.
        judged, (sensitivity, specificity, _) = Arrays.from_rows(values, column).cluster_mean(), validation
        return Bounded.from_figure(
            stats.rogan_gladen(judged, sensitivity=sensitivity, specificity=specificity)
        )

    observed = share("observed")
    if observed.value is None:
        return replace(figures, reason=INCONSISTENT)
    corrected = replace(
        figures,
        filled=Filled(observed),
        estimate_kind="rogan_gladen",
        n_labelled=validation.n_labelled,
        estimate_judge=figures.estimate,
        reason=INCONSISTENT if observed.low is None else None,
    )
    if not failed:
        return corrected.with_bounds(None)
    worst, best = share("low"), share("high")
    return corrected.with_bounds(stats.Bounds(worst.value, best.value, worst.low, best.high))
