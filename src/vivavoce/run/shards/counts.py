"""What a run holds of each part of its items: responses, and the scores of one metric."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from vivavoce.core.records import Item
from vivavoce.core.shards import shard_numbers
from vivavoce.run.shards.memory import Covered
from vivavoce.store.run_counts import (
    FailedCount,
    probe_counts,
    response_counts,
    score_counts,
    unsettled_counts,
)

Parts = Mapping[int, int]
"""By the key of an item the number of its part."""


def parts_of(items: Mapping[int, Item], of: int, benchmark: str | None = None) -> dict[int, int]:
    """The part of each item, or of each of one benchmark, where all are divided into so many."""
    chosen = {key: item for key, item in items.items() if benchmark in (None, item.benchmark)}
    return dict(zip(chosen, shard_numbers(list(chosen.values()), of), strict=True))


def scores_by_part(db: sqlite3.Connection, job: Mapping[str, Any], parts: Parts) -> Counter[tuple[int, bool]]:
    """How many scores of the job's metric and passes there are by part, and by whether they failed."""
    return _by_part(score_counts(db, job["signature"], job["passes"]), parts)


def responses_by_part(
    db: sqlite3.Connection, job: Mapping[str, Any], parts: Parts
) -> Counter[tuple[int, bool]]:
    """How many responses of the job's candidates, repeats and log-probabilities there are by part.

    Also by whether they failed.
    """
    probes = job.get("for") or [""]
    return _by_part(response_counts(db, job["candidates"], probes, job["repeats"]), parts)


def coverage_by_part(
    db: sqlite3.Connection, items: Mapping[int, Item], parts: Parts, probe: str, formats: Iterable[str]
) -> dict[int, Covered]:
    """What there is to score in each part by a metric of these formats, of words or of a probe."""
    names = tuple(sorted(formats))
    counts = Counter(dict.fromkeys(parts.values(), 0))
    for item, n in probe_counts(db, probe).items():
        if item in parts and items[item].format in names:
            counts[parts[item]] += n
    return {part: Covered(probe, names, n) for part, n in counts.items()}


def unscored_by_part(
    db: sqlite3.Connection,
    job: Mapping[str, Any],
    items: Mapping[int, Item],
    parts: Parts,
    probe: str,
    formats: Iterable[str],
) -> Counter[int]:
    """How many responses that a metric of these formats covers lack a settled score in some pass."""
    names = frozenset(formats)
    counts: Counter[int] = Counter()
    for item, n in unsettled_counts(db, probe, job["signature"], job["passes"]).items():
        if item in parts and items[item].format in names:
            counts[parts[item]] += n
    return counts


def _by_part(rows: Iterable[FailedCount], parts: Parts) -> Counter[tuple[int, bool]]:
    counts: Counter[tuple[int, bool]] = Counter()
    for item, failed, n in rows:
        if item in parts:
            counts[parts[item], failed] += n
    return counts
