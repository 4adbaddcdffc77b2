"""Length against score: whether longer answers are less right, and what dropping whole answers does."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.studies.facts.coverage import NO_FACT, estimated
from vivavoce.studies.facts.fact_table import FactTable
from vivavoce.studies.facts.rows import FactsRow, facts_row
from vivavoce.studies.intervals import (
    Bools,
    Estimate,
    Floats,
    by_coefficient,
    by_jackknife,
    by_mean,
    by_ratio,
)
from vivavoce.studies.score_table import ITEM_KEY

LENGTHS = {"settled": ("units", 1.0), "characters": ("characters", 100.0)}
"""By column of an answer what its length is called, and how much more of it a slope is for."""
ALL, INSIDE = "all answers", "inside questions"
NO_SPREAD = "the length, or the precision, does not vary"
NO_PAIR = "no two answers to compare"
NO_DROP = "no answer would stay"


def length(table: FactTable) -> Iterator[FactsRow]:
    """Rank correlation and slope of precision with length, by candidate.

    Over `all answers` harder questions may have longer answers. `inside questions` takes that out: each value
    less the mean of its question, over the repeats of a candidate, or without a candidate over all answers.
    """
    scored = table.answers.drop_nulls("precision")
    for candidate in table.candidates:
        answers = scored.filter(pl.col("candidate") == candidate)
        yield from _length_rows(table, answers, candidate, ALL)
        yield from _length_rows(table, answers, candidate, INSIDE)
        yield from _dropped(table, candidate)
    yield from _length_rows(table, scored, "", INSIDE)


def _length_rows(
    table: FactTable, answers: pl.DataFrame, candidate: str, contrast: str
) -> Iterator[FactsRow]:
    for column, (name, step) in LENGTHS.items():
        part = answers.drop_nulls(column)
        values = part.select(pl.col(column).cast(pl.Float64), "precision")
        if contrast == INSIDE:
            repeated = pl.len().over(ITEM_KEY) > 1
            part, values = part.filter(repeated), values.filter(part.select(repeated).to_series())
            values = values.with_columns(part.select(*ITEM_KEY)).select(
                pl.col(name) - pl.col(name).mean().over(ITEM_KEY) for name in (column, "precision")
            )
        columns, groups = values.to_numpy(), part["group"].to_numpy()
        row = facts_row(table, "length", "rank_correlation", candidate=candidate, contrast=contrast)
        row = replace(row, against=name, n_answers=part.height)
        yield _filled(row, _rank_correlation(columns, groups), groups)
        slope = _slope(columns, groups, step)
        yield _filled(replace(row, figure="slope", against=f"{step:g} {name}"), slope, groups)


def _filled(row: FactsRow, estimate: Estimate | str, groups: Any) -> FactsRow:
    if isinstance(estimate, str):
        return replace(row, reason=estimate)
    columns = estimated(estimate, groups)
    return replace(row, **{name: value for name, value in columns.items() if name != "n_items"})


def _rank_correlation(columns: Floats, groups: Any) -> Estimate | str:
    """Spearman's."""
    if not len(columns):
        return NO_PAIR
    if (np.ptp(columns, axis=0) < 1e-12).any():
        return NO_SPREAD
    return by_coefficient("spearman", columns, groups, undefined=NO_SPREAD)


def _slope(columns: Floats, groups: Any, step: float) -> Estimate | str:
    """Least squares, its error that of a ratio of sums by case: what `step` more of length goes with."""
    if not len(columns):
        return NO_PAIR
    if np.ptp(columns[:, 0]) < 1e-12:
        return NO_SPREAD
    x, y = (columns - columns.mean(axis=0)).T
    # The residuals of this ratio are those of the regression, so its error is the slope's.
    return by_ratio(step * x * y, x * x, groups)


def _dropped(table: FactTable, candidate: str) -> Iterator[FactsRow]:
    """The published score, of answers whose every checked fact has a verdict, beside the one by facts.

    An answer of n facts stays with the chance (1 - p)^n, p the share of verdicts that are none: `expected`
    is the share lost if no fact knew of another.
    """
    is_theirs = (pl.col("candidate") == candidate) & (pl.col("kind") == "answered") & (pl.col("checked") > 0)
    answers = table.answers.filter(is_theirs).with_columns(stays=pl.col("settled") == pl.col("checked"))
    row = facts_row(table, "dropped", "dropped_share", candidate=candidate, n_answers=answers.height)
    if not answers.height:
        yield replace(row, reason=NO_FACT)
        return
    groups, checked = answers["group"].to_numpy(), answers["checked"].to_numpy().astype(float)
    lost = (~answers["stays"]).cast(pl.Float64).to_numpy()
    yield _filled(row, by_mean(lost, groups, low=0.0, high=1.0), groups)
    # Of all facts, not the mean over answers: it is the chance of one more fact.
    p = 1 - float(answers["settled"].sum()) / float(checked.sum())
    row = replace(row, n_units=int(checked.sum()))
    yield replace(row, figure="bad_share", value=p)
    yield replace(row, figure="expected_dropped_share", value=stats.exact_mean(1 - (1 - p) ** checked))
    for figure, stays in (("units_kept", 0.0), ("units_dropped", 1.0)):
        part = checked[lost == stays]
        mean = stats.exact_mean(part) if len(part) else None
        yield replace(
            row, figure=figure, value=mean, n_answers=len(part), reason=None if len(part) else "none"
        )
    yield from _scores(row, answers, lost == 0.0)


def _scores(row: FactsRow, answers: pl.DataFrame, stays: Bools) -> Iterator[FactsRow]:
    """The published score, the one by facts on all answers, and the first less the second."""
    groups, precision = answers["group"].to_numpy(), answers["precision"].to_numpy()
    scored = ~np.isnan(precision)
    row = replace(row, n_units=None)
    for figure, members in (("published_score", stays), ("unit_score", scored)):
        part = replace(row, figure=figure, n_answers=int(members.sum()))
        if not members.any():
            yield replace(part, reason=NO_DROP)
            continue
        estimate = by_mean(precision[members], groups[members], low=0.0, high=1.0)
        yield _filled(part, estimate, groups[members])

    def difference(rows: Any) -> float | None:
        staying, every = (precision[rows][members[rows]] for members in (stays, scored))
        return stats.exact_mean(staying) - stats.exact_mean(every) if len(staying) and len(every) else None

    part = replace(row, figure="published_less_unit")
    if stays[scored].all() or not stays.any():
        yield replace(part, reason="no answer is dropped" if stays.any() else NO_DROP)
    else:
        yield _filled(part, by_jackknife(difference, groups, scale="raw", undefined=NO_DROP), groups)


def length_sentences(table: FactTable, rows: list[FactsRow]) -> Iterator[str]:
    """What dropping whole answers does, where any is dropped."""
    for candidate in table.candidates:
        of_it = [row for row in rows if row.candidate == candidate and row.part == "dropped"]
        if not of_it:
            continue
        by_figure = {row.figure: row.value for row in of_it}
        lost, expected = by_figure["dropped_share"], by_figure.get("expected_dropped_share")
        published, unit = by_figure.get("published_score"), by_figure.get("unit_score")
        if not lost or None in (published, unit):
            continue
        yield (
            f"{candidate} on {table.benchmark}, by {table.measure.rater}: one verdict that is none drops a "
            f"whole answer from the published score, {printed(lost, '.1%')} of them "
            f"({printed(expected, '.1%')} expected from their "
            "lengths): "
            f"{printed(published, '.3f')} published, {printed(unit, '.3f')} by facts."
        )
