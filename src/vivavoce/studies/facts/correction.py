"""Precision corrected for a checker's errors, as people's verdicts on some of its facts show them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from vivavoce import stats
from vivavoce.studies.facts.fact_table import FactTable
from vivavoce.studies.facts.rows import FactsRow
from vivavoce.studies.intervals import in_cases, too_few
from vivavoce.studies.text import count

ALL_CHECKED = "recorded verdicts cover every case: they are the figure"


def corrected(
    row: FactsRow, checker: FactTable, people: FactTable, pairs: pl.DataFrame
) -> Iterator[FactsRow]:
    """Sensitivity and specificity, and the precision of each candidate in the cases nobody checked.

    Rogan and Gladen: a checker's errors are taken as those of another set, so the cases that people checked
    have no part in what is corrected.
    """
    judged = pairs.drop_nulls()
    rows = [_error(row, judged, "sensitivity", 1.0), _error(row, judged, "specificity", 0.0)]
    yield from (filled for filled, _ in rows)
    errors = [error for _, error in rows]
    # Whole cases: other answers of a case that people saw share its errors.
    checked_cases = people.facts["group"].unique()
    for candidate in checker.candidates:
        answers = checker.of(candidate).answers
        unlabelled = answers.filter(
            (pl.col("kind") == "answered") & ~pl.col("group").is_in(checked_cases.implode())
        )
        yield _correction(replace(row, figure="corrected_precision", candidate=candidate), unlabelled, errors)


def _error(
    row: FactsRow, judged: pl.DataFrame, figure: str, truth: float
) -> tuple[FactsRow, stats.Mean | str]:
    """The share of what people call true, or false, that the checker calls so too; or why there is none."""
    part = judged.filter(pl.col("second") == truth)
    row = replace(row, figure=figure, n_units=part.height)
    subject = f"{count(part.height, 'fact')} that people call {'true' if truth else 'false'}"
    # With fewer of the rarer kind its share is anything: too few errors to see how often they occur.
    if few := too_few(part["group"]):
        reason = f"{subject}, in {few}" if part.height else f"{subject}: too few to tell"
        return replace(row, reason=reason), reason
    right, groups = (part["first"] == truth).cast(pl.Float64).to_numpy(), part["group"].to_numpy()
    mean, estimate = stats.cluster_mean(right, groups), stats.estimate_mean(right, groups, low=0.0, high=1.0)
    row = replace(row, value=mean.value, se=mean.se, low=estimate.low, high=estimate.high)
    row = replace(row, n_groups=mean.n_groups, effective_cases=mean.effective_groups)
    return replace(row, reason=in_cases(estimate.reason)), mean


def _correction(row: FactsRow, answers: pl.DataFrame, errors: Sequence[stats.Mean | str]) -> FactsRow:
    """The pooled precision, and corrected; null with the reason where the correction says nothing."""
    row = replace(row, n_answers=answers.height, n_units=int(answers["settled"].sum()))
    usable = [error for error in errors if isinstance(error, stats.Mean)]
    if len(usable) < len(errors):
        return replace(row, reason="; ".join(error for error in errors if isinstance(error, str)))
    scored = answers.filter(pl.col("settled") > 0)
    share = _share(scored) if scored.height else ALL_CHECKED
    if isinstance(share, str):
        return replace(row, reason=share)
    row = replace(row, full=share.value, n_groups=share.n_groups)
    figure = stats.rogan_gladen(share, sensitivity=usable[0], specificity=usable[1])
    return _with_figure(row, figure, has_errors=all(error.se for error in usable))


def _share(scored: pl.DataFrame) -> stats.Mean | str:
    """The pooled precision of answers with its error by case, or why it is none."""
    sides = (scored[name].to_numpy() for name in ("right", "settled"))
    share = stats.ratio(*sides, groups=scored["group"].to_numpy(), low=0, high=1)
    if share.value is None or not stats.enough_groups(share.df + 1):
        return f"{count(share.n_groups, 'case')} that nobody checked: too few to tell"
    return stats.Mean(share.value, share.se, share.n, share.n_groups, share.df)


def _with_figure(row: FactsRow, figure: stats.RoganGladen, *, has_errors: bool) -> FactsRow:
    """The row with the corrected share; `has_errors` is false where the checker made no error of one kind."""
    if figure.raw is None:
        return replace(
            row, reason="sensitivity and specificity add up to 1 or less: the checker tells nothing"
        )
    if not 0 <= figure.raw <= 1:
        cause = (
            f"corrected it is {figure.raw:.3f}, no share: the checker's errors are others in these answers"
        )
        return replace(row, reason=cause)
    if not has_errors:
        cause = "no error of one kind was seen, so how often it occurs is not known: no interval"
        return replace(row, value=figure.value, reason=cause)
    reason = None if figure.low is not None else "no interval inside 0 to 1"
    return replace(row, value=figure.value, se=figure.se, low=figure.low, high=figure.high, reason=reason)
