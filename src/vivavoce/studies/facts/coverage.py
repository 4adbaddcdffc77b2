"""Beside every score: what became of answers and facts, how long answers are, and what precision leaves open.

Precision is the share of right facts among those with a verdict that is a score: of each answer and then over
answers (macro), or over all facts at once (pooled), where long answers weigh more. What has no score is set
aside, and the bounds take it all for wrong, then all for right.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from vivavoce import stats
from vivavoce.facts.severity import severity
from vivavoce.studies.facts.fact_table import KINDS, LENGTHS, OTHER, WORDS, FactTable, by_item
from vivavoce.studies.facts.rows import FactsRow, facts_row
from vivavoce.studies.intervals import Estimate, by_mean, by_ratio
from vivavoce.studies.score_table import RESPONSE, item_of, weights_of

NO_FACT = "no answer with a fact that has a verdict"
LOST = "an answer failed before its facts were known: how many it has nobody can say"


def coverage(table: FactTable) -> Iterator[FactsRow]:
    """Counts of answers and units by what became of them, and the units of an answer, by candidate."""
    for candidate in table.candidates:
        part = table.of(candidate)
        n = part.answers.height
        yield facts_row(table, "coverage", "answers", candidate=candidate, value=n, n_answers=n)
        for kind in KINDS:
            number = part.answers.filter(pl.col("kind") == kind).height
            yield facts_row(table, "coverage", kind, candidate=candidate, value=number, n_answers=n)
        yield from _units(part, candidate)
        yield _units_per_answer(part, candidate)


def _units(part: FactTable, candidate: str) -> Iterator[FactsRow]:
    """How many units ended as each word; a word of no contract is counted as other."""
    words = dict(part.facts.group_by("word").len().iter_rows())
    yield facts_row(part, "units", "units", candidate=candidate, value=part.facts.height)
    for word in (*WORDS, *([OTHER] if OTHER in words else [])):
        number = words.get(word, 0)
        yield facts_row(part, "units", word, candidate=candidate, value=number, n_units=part.facts.height)


def _units_per_answer(part: FactTable, candidate: str) -> FactsRow:
    """The mean of units that a checker gave a verdict on, over answers that came through."""
    answered = part.answers.filter(pl.col("kind") == "answered")
    row = facts_row(part, "coverage", "units_per_answer", candidate=candidate, n_answers=answered.height)
    return _with(row, by_item(answered), "checked", high=None)


def lengths(table: FactTable) -> Iterator[FactsRow]:
    """The mean words, characters, tokens and facts of a candidate's answers that arrived.

    Facts are units as the splitter gave them. `n_answers` are the answers whose length is known.
    """
    for candidate in table.candidates:
        arrived = table.of(candidate).answers.filter(pl.col("kind") != "failed")
        for name in LENGTHS:
            yield _length(table, arrived, candidate, name, name)
        yield _length(table, arrived, candidate, "facts", "given")


def _length(table: FactTable, answers: pl.DataFrame, candidate: str, figure: str, column: str) -> FactsRow:
    part = answers.drop_nulls(column)
    row = facts_row(table, "lengths", figure, candidate=candidate, n_answers=part.height)
    if not part.height:
        return replace(row, reason=f"the {figure} of no answer are known")
    row = _with(row, by_item(part), column, high=None)
    if part.height == answers.height:
        return row
    share_known = f"known for {part.height:,} of {answers.height:,} answers"
    return replace(row, reason="; ".join(filter(None, (row.reason, share_known))))


def _with(row: FactsRow, items: pl.DataFrame, column: str, *, high: float | None = 1.0) -> FactsRow:
    """The row with the mean of a column over items that have it."""
    items = items.drop_nulls(column)
    if not items.height:
        return replace(row, reason=NO_FACT)
    groups = items["group"].to_numpy()
    estimate = by_mean(items[column].to_numpy(), groups, low=0.0, high=high, weights=weights_of(items))
    return replace(row, **estimated(estimate, groups))


def estimated(estimate: Estimate, groups: Any, sizes: Any = None) -> dict[str, Any]:
    """An estimate of one value per item as columns of a row; `sizes` are what each item is of a ratio."""
    return {
        **estimate.columns(),
        "n_items": len(groups),
        "effective_cases": stats.effective_groups(groups, weights=sizes) if len(groups) else None,
    }


def precision(table: FactTable) -> Iterator[FactsRow]:
    """Precision by candidate, macro and pooled, with bounds."""
    for candidate in table.candidates:
        part = table.of(candidate)
        yield precision_row(part, facts_row(table, "precision", "precision", candidate=candidate))
        yield _pooled(part, facts_row(table, "precision", "pooled_precision", candidate=candidate))


def by_category(table: FactTable) -> Iterator[FactsRow]:
    """Macro precision of each candidate in each category, no category held against another."""
    for candidate in table.candidates:
        part = table.of(candidate)
        categories = part.answers["category"].drop_nulls().unique().sort()
        for category in categories if len(categories) > 1 else ():
            in_category = pl.col("category") == category
            of_category = part._replace(
                facts=part.facts.filter(in_category), answers=part.answers.filter(in_category)
            )
            row = facts_row(table, "category", "precision", candidate=candidate, contrast=category)
            yield precision_row(of_category, row)


def precision_row(part: FactTable, row: FactsRow) -> FactsRow:
    """The row with the macro precision of a part, with its bounds."""
    items = by_item(part.answers)
    row = replace(row, n_answers=part.answers.height, n_units=int(part.answers["settled"].sum()))
    row = _with(row, items, "precision")
    bounded = items.drop_nulls(["low", "high"])
    if row.value is None or not bounded.height:
        return row
    low, high = (stats.exact_mean(bounded[side].to_numpy(), weights_of(bounded)) for side in ("low", "high"))
    return replace(row, bound_low=low, bound_high=high)


def _pooled(part: FactTable, row: FactsRow) -> FactsRow:
    answered = part.answers.filter(pl.col("kind") == "answered")
    row = replace(row, n_answers=part.answers.height, n_units=int(answered["settled"].sum()))
    row = with_ratio(row, by_item(answered))
    if row.value is None:
        return row
    if part.answers.filter((pl.col("kind") == "failed") & (pl.col("given") == 0)).height:
        return replace(row, reason="; ".join(filter(None, (row.reason, f"no bounds: {LOST}"))))
    items = by_item(part.answers)
    open_ = items["claims"] - items["settled"]
    # A ratio of means over items is the ratio of sums, and items with several repeats count once.
    low, high, claims = (
        stats.exact_mean(column.to_numpy(), weights_of(items))
        for column in (items["right"], items["right"] + open_, items["claims"])
    )
    return replace(row, bound_low=low / claims, bound_high=high / claims)


def with_ratio(row: FactsRow, items: pl.DataFrame) -> FactsRow:
    """The row with the right facts over those with a score."""
    items = items.filter(pl.col("settled") > 0)  # an item without a fact is no case that tells anything
    if not items.height:
        return replace(row, reason=NO_FACT)
    groups = items["group"].to_numpy()
    sides = items["right"].to_numpy(), items["settled"].to_numpy()
    estimate = by_ratio(*sides, groups, low=0.0, high=1.0, weights=weights_of(items))
    return replace(row, **estimated(estimate, groups, sides[1]))


def by_severity(table: FactTable) -> Iterator[FactsRow]:
    """Pooled precision of each kind of fact by what an error in it would do, no kind held against another."""
    scored = table.facts.drop_nulls("value")
    kinds = {text: severity(text).kind for text in scored["text"].unique()}
    scored = scored.with_columns(kind=pl.col("text").replace_strict(kinds, return_dtype=pl.String))
    came_through = table.answers.filter(pl.col("kind") == "answered")
    place = [*item_of(came_through), "candidate"]
    answers = came_through.select(*place, "repeat", n=pl.len().over(place))
    joined = scored.drop("group", "category").join(answers, on=RESPONSE, validate="m:1")
    for (candidate, kind), part in sorted(joined.group_by("candidate", "kind"), key=lambda entry: entry[0]):
        items = (
            part.group_by(place)
            .agg(right=pl.col("value").sum() / pl.col("n").first(), settled=pl.len() / pl.col("n").first())
            .sort(place)
        )
        row = facts_row(table, "severity", "pooled_precision", candidate=candidate, contrast=str(kind))
        yield with_ratio(replace(row, n_units=part.height), items)
