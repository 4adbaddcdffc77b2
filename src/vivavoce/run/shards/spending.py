"""What a shard's run has spent so far: it counts for the shard's part of a plan's limit of cost."""

from vivavoce.core.numbers import finite
from vivavoce.run.shards.memory import first_work_at, shard_works
from vivavoce.store.call_log import calls_cost
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
        since = "" if any(work.verb == "collect" for work in works) else first_work_at(db)
        cost = calls_cost(db, since).cost
        estimates = (finite(row.get("guessed")) for row in provenance(db) if row["made_at"] >= since)
        return cost + sum(filter(None, estimates))
