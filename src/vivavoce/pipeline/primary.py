"""The primary criterion of a run: what a user named, kept in the run, else what a card or the scores say."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.store import read
from vivavoce.studies.leaderboard.primary import Choice, Primary, primary_of
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.text import HEADLINES

Rows = Sequence[Mapping[str, Any]]
NAMED = "primary criterion"
"""The kind of event of a user who names the primary criterion; the latest counts."""


def stored_primary(db: sqlite3.Connection, table: ScoreTable) -> Primary | None:
    """The primary criterion of these scores of a run."""
    events = read.events(db, NAMED)
    choice = Choice(str(events[-1]["reference"]), str(events[-1]["why"])) if events else None
    declared = {b.benchmark: b.card.primary for b in read.benchmarks(db) if b.card.primary}
    return primary_of(table, choice=choice, declared=declared)


def primary_rows(primary: Primary | None, estimates: Rows) -> Rows:
    """The rows of the candidates' estimates on the primary criterion; of several versions the newest."""
    rows = [row for row in estimates if _on(primary, row) and row["view"] in HEADLINES]
    return [row for row in rows if row["signature"] == rows[-1]["signature"]]


def primary_pairs(primary: Primary | None, comparisons: Rows, *, selection: str | None) -> Rows:
    """The latest row of each pair compared on the primary criterion, on these items; none is made here."""
    pairs: dict[frozenset[str], Mapping[str, Any]] = {}
    for finding in comparisons:
        if finding["settings"].get("items") == selection:
            for row in finding["rows"]:
                if _on(primary, row):
                    pair = frozenset((row["a"], row["b"]))
                    pairs.pop(pair, None)
                    pairs[pair] = {**row, "made_at": finding["made_at"]}
    return list(pairs.values())


def _on(primary: Primary | None, row: Mapping[str, Any]) -> bool:
    """Whether a row is about the primary criterion."""
    names = ("benchmark", "metric", "criterion", "rater")
    return primary is not None and all((row[name] or "") == getattr(primary, name) for name in names)
