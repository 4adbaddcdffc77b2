"""The scores of single facts of answers, which no mean over answers takes, for the study of them."""

from collections.abc import Iterable

import polars as pl

from vivavoce.core import specs
from vivavoce.core.records import ItemKey
from vivavoce.core.tables import restrict_to_items
from vivavoce.store import read
from vivavoce.store.evidence import evidence_rows
from vivavoce.store.view import View
from vivavoce.studies.score_table import ITEM, ScoreTable

FACTS = "atomic_facts"
"""The metric that scores facts."""
COLUMNS = (
    *("measure_id", *ITEM, "category", "weight", "candidate", "role", "repeat", "edit", "pass_no", "unit"),
    *("text", "unit_weight", "value", "status", "note"),
)


def with_units(
    view: View, table: ScoreTable, items: set[ItemKey] | None, *, facts: bool = True
) -> ScoreTable:
    """The table with the facts of the chosen items, null for all; or the points of rubrics instead.

    Only the columns that a study needs stay: there may be half a million facts.
    """
    measures = {
        keyed.key: keyed.measure
        for keyed in view.fetch(read.measures)
        if keyed.measure.criterion.pool == "unit" and _is_of_facts(keyed.measure.signature) == facts
    }
    if not measures:
        return table
    rows = read.scores(view.db, measures=list(measures), details=True, generated=False, unit_texts=True)
    columns = rows.select(name for name in COLUMNS if name in rows.columns)
    return table._replace(units=restrict_to_items(columns, items), unit_measures=measures)


def evidence_by_measure(view: View, measures: Iterable[int]) -> dict[int, pl.DataFrame]:
    """By measure the passages that its scores rest on."""
    return {key: evidence_rows(view.db, [key]) for key in measures}


def _is_of_facts(signature: str) -> bool:
    return specs.signed(signature).spec.name == FACTS
