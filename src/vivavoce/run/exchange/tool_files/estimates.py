"""The means of a run with their intervals, as exports state them beside what they are means of."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from vivavoce.core.errors import SelectionError
from vivavoce.run.estimates import estimate_metric
from vivavoce.store.view import View

EstimateKey = tuple[str, ...]
"""Benchmark, candidate, signature, criterion, rater."""
_KEY = ("benchmark", "candidate", "signature", "criterion", "rater")


def mean_estimates(view: View, items: str | None) -> dict[EstimateKey, Mapping[str, Any]]:
    """The rows of the run's means and pooled figures on these items; none where nothing is scored."""
    with suppress(SelectionError):
        rows = estimate_metric(view, items=items).rows
        return {tuple(row[name] for name in _KEY): row for row in rows if row["view"] in ("mean", "pooled")}
    return {}
