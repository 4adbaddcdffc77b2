"""Precision on people's scale: a checker's verdicts on all facts, and people's on those of some cases."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.studies.bounded import Bounded
from vivavoce.studies.facts.fact_table import FactTable
from vivavoce.studies.facts.rows import FactsRow
from vivavoce.studies.intervals import in_cases, too_few
from vivavoce.studies.score_table import RESPONSE
from vivavoce.studies.text import count

RIGHT = 0.5
"""A verdict above it calls a fact right."""
ALL_CHECKED = "recorded verdicts cover every case: they are the figure"


def corrected(
    row: FactsRow, checker: FactTable, people: FactTable, pairs: pl.DataFrame
) -> Iterator[FactsRow]:
    """Sensitivity and specificity over all candidates, and the precision of each on people's scale.

    Candidates are corrected one by one: a checker that is kinder to one of them would favour it else.
    """
    judged = pairs.drop_nulls()
    yield _error(row, judged, "sensitivity", 1.0)
    yield _error(row, judged, "specificity", 0.0)
    # Whole cases: other answers of a case that people saw share its errors.
    checked_cases = people.facts["group"].unique()
    for candidate in checker.candidates:
        of_candidate = checker.of(candidate)
        answered = of_candidate.answers.filter(pl.col("kind") == "answered").select(RESPONSE)
        unlabelled = of_candidate.facts.filter(
            pl.col("value").is_not_null() & ~pl.col("group").is_in(checked_cases.implode())
        ).join(answered, on=RESPONSE, how="semi", maintain_order="left")
        labelled = judged.filter(pl.col("candidate") == candidate)
        yield _corrected(
            replace(row, figure="corrected_precision", candidate=candidate), labelled, unlabelled
        )


def _error(row: FactsRow, judged: pl.DataFrame, figure: str, truth: float) -> FactsRow:
    """The share of what people call true, or false, that the checker calls so too; or why there is none."""
    part = judged.filter(pl.col("second") == truth)
    row = replace(row, figure=figure, n_units=part.height)
    subject = f"{count(part.height, 'fact')} that people call {'true' if truth else 'false'}"
    # With fewer of the rarer kind its share is anything: too few errors to see how often they occur.
    if few := too_few(part["group"]):
        return replace(row, reason=f"{subject}, in {few}" if part.height else f"{subject}: too few to tell")
    right, groups = (part["first"] == truth).cast(pl.Float64).to_numpy(), part["group"].to_numpy()
    mean, estimate = stats.cluster_mean(right, groups), stats.estimate_mean(right, groups, low=0.0, high=1.0)
    row = replace(row, value=mean.value, se=mean.se, low=estimate.low, high=estimate.high)
    row = replace(row, n_groups=mean.n_groups, effective_cases=mean.effective_groups)
    return replace(row, reason=in_cases(estimate.reason))


def _corrected(row: FactsRow, labelled: pl.DataFrame, unlabelled: pl.DataFrame) -> FactsRow:
    """The prediction-powered share of right facts of one candidate, or the reason why there is none."""
    n_answers = unlabelled.select(RESPONSE).n_unique()
    row = replace(row, n_answers=n_answers, n_units=labelled.height + unlabelled.height)
    if not unlabelled.height:
        return replace(row, reason=ALL_CHECKED)
    if few := too_few(labelled["group"]):
        return replace(row, reason=f"recorded verdicts on facts of this candidate: {few}")
    verdicts = np.concatenate([labelled["first"].to_numpy(), unlabelled["value"].to_numpy()]) > RIGHT
    figure = stats.prediction_powered(
        verdicts.astype(np.float64),
        (labelled["second"].to_numpy() > RIGHT).astype(np.float64),
        labelled=np.arange(labelled.height),
        groups=np.concatenate([labelled["group"].to_numpy(), unlabelled["group"].to_numpy()]),
        low=0.0,
        high=1.0,
    )
    return replace(
        row,
        **Bounded.from_figure(figure).columns(),
        se=figure.se,
        full=figure.judge_mean,
        n_groups=figure.n_groups,
        effective_cases=figure.effective_labelled,
        reason=in_cases(figure.reason),
    )
