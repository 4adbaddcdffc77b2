"""What a new version of a measure changes, on the responses that both versions scored."""

from collections.abc import Sequence

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.tables.load import (
    load_scores,
    select_items,
    select_signatures,
    store_finding,
)
from vivavoce.store.view import View
from vivavoce.studies.comparing.diff import diff


def compare_measures(
    view: View, measures: Sequence[str], *, items: str | None, margin: float | None
) -> Finding:
    """What the second of two measures changes against the first, on the responses that both scored."""
    sides: list[str] = []
    for measure in measures:
        signatures = select_signatures(view, measure) or []
        if len(signatures) != 1:
            raise SelectionError(
                f"{measure} has several versions here: name one by its signature, {' or '.join(signatures)}."
            )
        sides += signatures
    finding = diff(load_scores(view, sides, select_items(view, items)), *sides, margin=margin)
    settings = {"one": sides[0], "other": sides[1], "items": items, "margin": margin}
    return store_finding(view, "diff", settings, finding)
