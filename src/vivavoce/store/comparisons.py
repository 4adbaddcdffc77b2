"""Comparisons that were made on a run: each on its data once, and how many of them are tests."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.store import read
from vivavoce.store.damage import decoding
from vivavoce.store.write import put_event, put_finding

AGAIN = "compared again"
"""The kind of event of a comparison that was made again on unchanged data, with the same result."""


def comparisons(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """The comparisons of a run, those made last at the end.

    `made_at` is when each was made last with this result, `first_at` when it was made first.
    """
    repeat_times: dict[str, str] = {}
    findings = read.findings(db, "compare")
    with decoding("a comparison"):
        for event in read.events(db, AGAIN):
            repeat_times[event["digest"]] = event["made_at"]
        latest = {finding["settings"].get("digest"): k for k, finding in enumerate(findings)}
    for k, finding in enumerate(findings):
        finding["first_at"] = finding["made_at"]
        digest = finding["settings"].get("digest")
        if digest in repeat_times and latest[digest] == k:
            finding["made_at"] = max(finding["made_at"], repeat_times[digest])
    return sorted(findings, key=lambda finding: finding["made_at"])


def headline_findings(
    findings: Sequence[Mapping[str, Any]], family: str | None, items: str | None
) -> Sequence[Mapping[str, Any]]:
    """The comparisons that a headline is made of: those of the family, else all that were asked on `items`.

    A family is named by its data, so that other words for the same items are the same family.
    """
    of_family = [f for f in findings if family is not None and f["settings"].get("family") == family]
    return of_family or [f for f in findings if f["settings"].get("items") == items]


def current_findings(
    findings: Sequence[Mapping[str, Any]],
    items: str | None,
    provenance: Sequence[Mapping[str, Any]],
    *,
    of_family: bool,
) -> list[Mapping[str, Any]]:
    """The comparisons of a family on these items, or all others, that are not overtaken; newest first."""
    return [
        finding
        for finding in reversed(findings)
        if bool(finding["settings"].get("family")) is of_family
        and finding["settings"].get("items") == items
        and not is_overtaken(finding, provenance)
    ]


def is_overtaken(
    finding: Mapping[str, Any], provenance: Sequence[Mapping[str, Any]], *, metric: str | None = None
) -> bool:
    """Whether answers arrived, or were scored (by this metric, if one is given), after the finding."""
    changes = [p for p in provenance if p["changed"]]
    return any(
        p["made_at"] > finding["made_at"] and (metric is None or p.get("metric", metric) == metric)
        for p in changes
    )


def comparison_tests(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tests among these comparisons, a name for each, in the order in which they were first made.

    A comparison on unchanged data is the same test, and so are all interim analyses of one plan. One in which
    no pair could be compared is none. A run file of an earlier version says nothing of its data: there each
    comparison is a test.
    """
    names: dict[str, None] = {}
    for k, finding in enumerate(findings):
        if any(row.get("difference") is not None for row in finding["rows"]):
            settings = finding["settings"]
            with decoding("a comparison"):
                names[settings.get("test") or settings.get("digest") or f"comparison {k}"] = None
    return list(names)


def put_comparison(
    db: sqlite3.Connection, study: str, settings: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Store a comparison (`study` is "compare").

    Where its latest result on the same data was the same, an event alone says that it was made again.
    """
    earlier = [
        f["rows"] for f in read.findings(db, "compare") if f["settings"].get("digest") == settings["digest"]
    ]
    if earlier and earlier[-1] == [dict(row) for row in rows]:
        put_event(db, AGAIN, {"digest": settings["digest"]})
    else:
        put_finding(db, "compare", settings, rows)


def has_comparison(db: sqlite3.Connection) -> bool:
    """Whether the run holds a comparison."""
    return db.execute("SELECT 1 FROM findings WHERE study = 'compare' LIMIT 1").fetchone() is not None
