"""What a shard's run has spent so far: it counts for the shard's part of a plan's limit of cost."""

import sqlite3

from vivavoce.core.numbers import finite
from vivavoce.run.shards.memory import VERB, shard_works
from vivavoce.store.read import provenance
from vivavoce.store.runfile import RunFile


def shard_spending(run: RunFile) -> float:
    """The cost of the calls that a run made as a shard; 0 for a run that is none, or not there yet.

    A call whose reply stated no tokens counts by the estimate that the verb stored at its end.
    """
    if not run.exists:
        return 0.0
    with run.reading() as db:
        works = shard_works(db, since_merge=True)
        if not works:
            return 0.0
        # A run that collects as a shard holds nothing else. Clocks of two nodes may differ: no time counts.
        since = "" if any(work.verb == "collect" for work in works) else _first_work_at(db)
        (cost,) = db.execute("SELECT total(cost) FROM calls WHERE made_at >= ?", (since,)).fetchone()
        estimates = (finite(row.get("guessed")) for row in provenance(db) if row["made_at"] >= since)
        return float(cost) + sum(filter(None, estimates))


def _first_work_at(db: sqlite3.Connection) -> str:
    """When the run first did its part of a shard, since other runs came into it."""
    (at,) = db.execute(
        "SELECT min(made_at) FROM provenance WHERE verb = ? AND provenance_id > "
        "(SELECT coalesce(max(provenance_id), 0) FROM provenance WHERE verb = 'merge')",
        (VERB,),
    ).fetchone()
    return str(at)
