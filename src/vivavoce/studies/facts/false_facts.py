"""False facts that several candidates state: how many there are, and which come most often."""

from collections.abc import Iterator

import polars as pl

from vivavoce.facts.unit_matching import same_words
from vivavoce.studies.facts.fact_table import FactTable
from vivavoce.studies.facts.rows import FactsRow, facts_row
from vivavoce.studies.score_table import RESPONSE

MOST = 20
"""The false facts that have a row."""


def false_facts(table: FactTable) -> Iterator[FactsRow]:
    """How many different false facts there are and how many are shared, then those that come most often.

    Two facts are the same where they have the same words, numbers and signs in the same order.
    """
    wrong = table.facts.filter(pl.col("value") == 0.0)
    keys = {text: same_words(text) for text in wrong["text"].unique()}
    by_fact = (
        wrong.with_columns(key=pl.col("text").replace_strict(keys, return_dtype=pl.String))
        .filter(pl.col("key") != "")
        .group_by("key")
        .agg(
            text=pl.col("text").min(),
            candidates=pl.col("candidate").unique().sort(),
            n_answers=pl.struct(RESPONSE).n_unique(),
            n_items=pl.struct("item", "variant").n_unique(),
            n_groups=pl.col("group").n_unique(),
        )
        .with_columns(n_candidates=pl.col("candidates").list.len())
        .sort("n_candidates", "n_answers", "key", descending=[True, True, False])
    )
    n_shared = by_fact.filter(pl.col("n_candidates") > 1).height
    n = len(table.candidates)
    yield facts_row(
        table, "shared", "false_facts", value=by_fact.height, n_units=wrong.height, n_candidates=n
    )
    # A fact that only one candidate states is a fault of it; one that all state may be one of the checker.
    reason = "one candidate: nobody to share a false fact with" if n < 2 else None
    value = None if reason else n_shared
    yield facts_row(table, "shared", "shared_false_facts", value=value, n_candidates=n, reason=reason)
    for fact in by_fact.head(MOST).iter_rows(named=True):
        yield facts_row(
            *(table, "shared", "false_fact"),
            text=fact["text"],
            value=fact["n_answers"],
            contrast="; ".join(fact["candidates"]),
            **{name: fact[name] for name in ("n_answers", "n_items", "n_groups", "n_candidates")},
        )
