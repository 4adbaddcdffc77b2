"""Precision by kind of fact: what an error in a fact would do."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from vivavoce.facts.severity import severity
from vivavoce.studies.facts.coverage import with_ratio
from vivavoce.studies.facts.fact_table import FactTable
from vivavoce.studies.facts.rows import FactsRow, facts_row
from vivavoce.studies.score_table import RESPONSE, item_of


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
