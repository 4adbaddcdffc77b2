"""The headline of a run as its family's last test gave it, for places that test nothing."""

import sqlite3

from vivavoce.run.tables.stored_findings import checked_findings, without_retired
from vivavoce.store import read
from vivavoce.store.comparisons import comparisons, is_overtaken
from vivavoce.studies.comparing.headline import comparison_headline, row_criterion
from vivavoce.studies.overall_design import OVERALL

OUTDATED = "Scores changed since the candidates were compared."


def stored_headline(db: sqlite3.Connection) -> str | None:
    """The first line of `viva compare RUN` on the scores as they are, in at most 200 characters.

    Null where the run's family was not tested; where scores changed since, that is said instead. Raises
    `DamagedValue` for a finding that no study wrote.
    """
    tests = without_retired(db, checked_findings(comparisons(db), "compare"), "compare")
    of_family = [f for f in tests if f["settings"].get("family") and f["settings"].get("items") is None]
    if not of_family:
        return None
    latest = of_family[-1]
    row, order = latest["rows"][0], latest["settings"].get("order")
    # An overall rests on several metrics: scores by any of them overtake it.
    metric = None if row["metric"] == OVERALL else row["metric"]
    if is_overtaken(latest, read.provenance(db), metric=metric):
        return OUTDATED
    criterion = row_criterion(row, (keyed.measure for keyed in read.measures(db)))
    return comparison_headline(latest["rows"], criterion, order=_names(order))


def _names(order: object) -> list[str]:
    """The candidates with the best first, as the comparison stored them; earlier versions stored none."""
    return [name for name in order if isinstance(name, str)] if isinstance(order, list) else []
