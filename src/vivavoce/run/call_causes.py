"""What was asked of models, and the last cause of failure: how often it occurred, and what to do."""

import sqlite3
from typing import Any

from vivavoce.models.engine.advice import advice
from vivavoce.models.engine.refusals import unnumbered
from vivavoce.store.calls import failed_calls, spent


def calls_with_causes(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """The rows of `store.calls.spent`; where calls failed, with the last cause and what to do about it."""
    failed = failed_calls(db)
    rows = spent(db)
    for row in rows:
        calls = failed.get((row["model"], row["endpoint"], row["purpose"]))
        if calls is None:
            continue
        last = list(calls.causes)[-1]
        equal = [n for cause, n in calls.causes.items() if unnumbered(cause) == unnumbered(last)]
        row |= {
            "last_cause": last,
            "last_cause_calls": sum(equal),
            "answered_since": calls.answered_since,
            "advice": advice(last),
        }
    return rows
