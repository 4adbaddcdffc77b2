"""A judged share of yes/no answers, corrected by how the judge did where people scored another benchmark.

Rogan and Gladen's estimate takes sensitivity and specificity as the same for every candidate. A judge that is
kinder to one breaks that, so it corrects shares and no comparison.
"""

from dataclasses import replace
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion
from vivavoce.studies.labels import CHOSEN_BY_HAND, NO_LABELS, people_scores
from vivavoce.studies.leaderboard.estimators import Figures, bounded, with_no_failures
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, Labels, by_repeat, weights_of

INCONSISTENT = "the judge's share, its sensitivity and its specificity contradict each other"


class Validation(NamedTuple):
    """How often a judge says yes where people do, and no where they do; and on how many answers."""

    sensitivity: stats.Mean
    specificity: stats.Mean
    n_labelled: int


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
