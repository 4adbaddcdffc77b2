"""What a run holds of each part of its items: responses, and the scores of one metric."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from vivavoce.core.records import Item
from vivavoce.core.shards import shard_numbers
from vivavoce.run.shards.memory import Covered

Parts = Mapping[int, int]
"""By the key of an item the number of its part."""


def parts_of(items: Mapping[int, Item], of: int, benchmark: str | None = None) -> dict[int, int]:
    """The part of each item, or of each of one benchmark, where all are divided into so many."""
    chosen = {key: item for key, item in items.items() if benchmark in (None, item.benchmark)}
    return dict(zip(chosen, shard_numbers(list(chosen.values()), of), strict=True))


def scores_by_part(db: sqlite3.Connection, job: Mapping[str, Any], parts: Parts) -> Counter[tuple[int, bool]]:
    """How many scores of the job's metric and passes there are by part, and by whether they failed."""
    rows = db.execute(
        "SELECT r.item_id, s.status_id = 3, count(*) FROM scores s JOIN measures m USING (measure_id) "
        "JOIN responses r USING (response_id) WHERE m.signature = ? AND s.pass_no <= ? GROUP BY 1, 2",
        (job["signature"], job["passes"]),
    )
    return _by_part(rows, parts)


def responses_by_part(
    db: sqlite3.Connection, job: Mapping[str, Any], parts: Parts
) -> Counter[tuple[int, bool]]:
    """How many responses of the job's candidates, repeats and log-probabilities there are by part.

    Also by whether they failed.
    """
    probes = job.get("for") or [""]
    marks = ", ".join("?" * len(job["candidates"])), ", ".join("?" * len(probes))
    rows = db.execute(
        "SELECT r.item_id, r.status = 'failed', count(*) FROM responses r JOIN candidates c "
        f"USING (candidate_id) JOIN edits e USING (edit_id) WHERE c.candidate IN ({marks[0]}) "
        f"AND e.probe IN ({marks[1]}) AND r.repeat <= ? AND (e.probe != '' OR r.edit_id = 0) GROUP BY 1, 2",
        (*job["candidates"], *probes, job["repeats"]),
    )
    return _by_part(rows, parts)


def coverage_by_part(
    db: sqlite3.Connection, items: Mapping[int, Item], parts: Parts, probe: str, formats: Iterable[str]
) -> dict[int, Covered]:
    """What there is to score in each part by a metric of these formats, of words or of a probe."""
    rows = db.execute(
        "SELECT item_id, count(*) FROM responses JOIN edits USING (edit_id) WHERE probe = ? GROUP BY 1",
        (probe,),
    )
    names = tuple(sorted(formats))
    counts = Counter(dict.fromkeys(parts.values(), 0))
    for item, n in rows:
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
    rows = db.execute(
        "SELECT r.item_id, count(*) FROM responses r JOIN edits e USING (edit_id) WHERE e.probe = ? AND ("
        "SELECT count(DISTINCT s.pass_no) FROM scores s JOIN measures m USING (measure_id) "
        "WHERE s.response_id = r.response_id AND m.signature = ? AND s.pass_no <= ? AND s.status_id != 3"
        ") < ? GROUP BY 1",
        (probe, job["signature"], job["passes"], job["passes"]),
    )
    names = frozenset(formats)
    counts: Counter[int] = Counter()
    for item, n in rows:
        if item in parts and items[item].format in names:
            counts[parts[item]] += n
    return counts


def _by_part(rows: Iterable[tuple[int, int, int]], parts: Parts) -> Counter[tuple[int, bool]]:
    counts: Counter[tuple[int, bool]] = Counter()
    for item, failed, n in rows:
        if item in parts:
            counts[parts[item], bool(failed)] += n
    return counts
