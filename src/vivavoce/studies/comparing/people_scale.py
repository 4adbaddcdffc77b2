"""A pair on people's scale: another rater's differences on all cases, corrected by people's on some.

The figure is prediction-powered (PPI++): a judge that is kinder to one candidate biases its own comparison
without limit, and this one not at all. Where too few labelled cases differ for its error to be trusted, the
labels speak alone.
"""

from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.studies.comparing.candidate_scores import CandidateScores
from vivavoce.studies.comparing.paired import Compared, Correction, Differences
from vivavoce.studies.labels import labels_by_item, with_labels
from vivavoce.studies.score_table import ITEM_KEY, Labels


def on_peoples_scale(compared: Compared, labels: Labels, scores: CandidateScores) -> Compared:
    """The comparison corrected by the labels, or as it was with the reason in `uncorrected`."""
    pair, data = compared.pair, compared.data
    if pair.population == "fixed":
        return compared._replace(uncorrected="labels correct a sample of questions, not a fixed benchmark")
    # Counts are summed before they are divided, so no case has a difference of its own to correct.
    if not isinstance(data, Differences):
        return compared._replace(uncorrected="labels correct a mean, not a figure that pools counts")
    by_item = labels_by_item(labels, scores.of_both(pair.a, pair.b), pair.measure.criterion)
    values = with_labels(data.items, _differences(by_item, pair.better_first), labels)
    if isinstance(values, str):
        return compared._replace(uncorrected=values)
    of_people = Differences(values.of_people)
    people, powered = of_people.paired("d"), values.powered()
    change = Correction(
        lambda_=powered.lambda_,
        n_labelled=values.n_labelled,
        n_different=people.n_different,
        judge=compared.observed,
        difference_people=people.difference,
        by_word=labels.by_word,
        n_unlabelled=values.n_unlabelled,
    )
    is_open = bool(compared.failed or values.n_unlabelled) and values.is_bounded
    if powered.few_differ:  # no error is to be trusted, but sign flips of the labels are
        fillings = (of_people.paired("d_low"), of_people.paired("d_high")) if is_open else None
        return compared._replace(
            observed=people, data=of_people, failed=0, fillings=fillings, on_answered=None, correction=change
        )
    fillings = None
    if is_open:
        filled = (
            _paired(values.powered(column), compared.observed, of_people.paired(column))
            for column in ("d_low", "d_high")
        )
        # Each has its own lambda, so labels may put the fillings in another order.
        worst, best = sorted(filled, key=lambda paired: paired.difference)
        fillings = worst, best
    return compared._replace(
        observed=_paired(powered, compared.observed, people),
        data=values,
        fillings=fillings,
        on_answered=None,
        correction=change,
    )


def _differences(by_item: pl.DataFrame, better_first: tuple[str, str]) -> pl.DataFrame:
    """By item the differences of people and of the other rater, of candidates with labels of both."""
    first, second = (by_item.filter(candidate=name).drop("candidate") for name in better_first)
    return first.join(second, on=ITEM_KEY, suffix="_2", validate="1:1").select(
        *ITEM_KEY,
        "probability",
        drawn=pl.col("drawn") | pl.col("drawn_2"),
        silent=pl.col("silent") & pl.col("silent_2"),
        people=pl.col("people") - pl.col("people_2"),
        people_low=pl.col("people_low") - pl.col("people_high_2"),
        people_high=pl.col("people_high") - pl.col("people_low_2"),
        judge=pl.col("judge") - pl.col("judge_2"),
    )


def _paired(powered: stats.PredictionPowered, judge: stats.Paired, people: stats.Paired) -> stats.Paired:
    """The comparison on people's scale; counts of items and cases are those of the `judge`'s own.

    Where the judge is left aside and few labels differ, p is from sign flips of the labels.
    """
    direction: Any = int(np.sign(powered.value))
    change: dict[str, Any] = {"difference": powered.value, "se": powered.se, "df": powered.df}
    if powered.p is None:
        of_labels: dict[str, Any] = {"p": people.p, "test": people.test, "direction": people.direction}
        return judge._replace(**change, **of_labels, flipped=people.flipped)
    return judge._replace(**change, p=powered.p, test="t", direction=direction)
