"""A candidate's mean on people's scale: another rater's scores of all cases, corrected by people's of some.

Candidates are corrected all or none of them: means on two scales have no order.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.intervals import in_cases
from vivavoce.studies.labels import LabelledValues, labels_by_item, unlabelled_words, with_labels
from vivavoce.studies.leaderboard.estimators import Figures, bounded, with_no_failures
from vivavoce.studies.leaderboard.validated_share import Validation, by_validation, judge_validation
from vivavoce.studies.score_table import Labels

_NAMES = {"observed": "d", "low": "d_low", "high": "d_high"}


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
    values: pl.DataFrame,
    criterion: Criterion,
    elsewhere: pl.DataFrame,
) -> PeopleMeans:
    """What corrects the means of these candidates.

    `part` are the score rows of a criterion on a benchmark, `values` the same by item, `elsewhere` the score
    rows on other benchmarks. Floors and ceilings need no labels: they are in no order.
    """
    if not isinstance(labels, Labels):
        return PeopleMeans(None, labels)
    if labels.scores.join(part, on="benchmark", how="semi").is_empty():
        validation = judge_validation(labels, elsewhere, criterion)
        if isinstance(validation, str):
            return PeopleMeans(None, validation)
        return PeopleMeans(None, validation=validation)
    by_item = labels_by_item(labels, part, criterion).rename({"label": "people"})
    means = PeopleMeans(by_item, labels=labels)
    # One candidate without enough labels leaves all of them on the judge's scale.
    scored = values.filter((pl.col("role") == "candidate") & pl.col("observed").is_not_null())
    for (name,), rows in scored.group_by("candidate", maintain_order=True):
        reason = means.of(rows)
        if isinstance(reason, str):
            return PeopleMeans(None, f"{reason} ({name})")
    return means


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
    if not failed:
        return with_no_failures(corrected, reasons)
    return bounded(corrected, _bounds(labelled, low, high), reasons)


def _limits(criterion: Criterion) -> tuple[float | None, float | None]:
    """Both limits of a scale, or none."""
    both = criterion.low is not None and criterion.high is not None
    return (criterion.low, criterion.high) if both else (None, None)


def _bounds(labelled: LabelledValues, low: float | None, high: float | None) -> stats.Bounds:
    """What the failed scores could make of it: the two fillings, each corrected by the labels."""
    # Each has its own lambda, so labels may put the fillings in another order, and what was observed outside.
    sides = {name: not labelled.items[name].is_nan().any() for name in ("d", "d_low", "d_high")}
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
