"""The rows of the study of facts, and the parts that they come in."""

from dataclasses import dataclass
from typing import Any

from vivavoce.studies.facts.fact_table import FactTable
from vivavoce.studies.study import MeasureRow, measure_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsRow(MeasureRow):
    """A figure of the facts of one candidate, or of two raters; a null `value` has a `reason`."""

    signature: str
    part: str
    figure: str
    candidate: str = ""
    contrast: str = ""
    against: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    n_units: int | None = None
    n_answers: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_candidates: int | None = None
    effective_cases: float | None = None
    temperature: float | None = None
    full: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family: int | None = None
    margin: float | None = None
    verdict_code: str | None = None
    favours: str | None = None
    text: str | None = None
    reason: str | None = None


def facts_row(table: FactTable, part: str, figure: str, **values: Any) -> FactsRow:
    """A row of a measure on a benchmark; what `values` do not name is null or empty."""
    return FactsRow(
        benchmark=table.benchmark,
        signature=table.measure.signature,
        part=part,
        figure=figure,
        **measure_columns(table.measure),
        **values,
    )
