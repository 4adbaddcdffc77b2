"""What a new version of a measure changes, on the responses that both versions scored."""

from collections.abc import Sequence
from typing import Any

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.tables.load import (
    load_scores,
    select_items,
    select_signatures,
    store_finding,
)
from vivavoce.run.tables.named_scores import metric_and_criterion
from vivavoce.store.view import View
from vivavoce.studies.comparing.diff import diff


def compare_measures(
    view: View, measures: Sequence[str], *, items: str | None, margin: float | None
) -> Finding:
    """What the second of two measures changes against the first, on the responses that both scored."""
    sides: list[str] = []
    criteria: list[str | None] = []
    for measure in measures:
        metric, criterion = metric_and_criterion(view, measure)
        criteria.append(criterion)
        signatures = select_signatures(view, metric) or []
        if len(signatures) != 1:
            raise SelectionError(
                f"{measure} has several versions here: name one by its signature, {' or '.join(signatures)}."
            )
        sides += signatures
    table = load_scores(view, sides, select_items(view, items))
    finding = diff(table, *sides, criteria=(criteria[0], criteria[1]), margin=margin)
    settings: dict[str, Any] = {"one": sides[0], "other": sides[1], "items": items, "margin": margin}
    settings |= {"criteria": criteria} if any(criteria) else {}
    return store_finding(view, "diff", settings, finding)
