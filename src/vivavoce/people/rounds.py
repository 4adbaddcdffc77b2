"""Rounds of a panel: a pilot that everybody judges, and then the rest, without the categories left out."""

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.store import read
from vivavoce.store.write import put_event

ROUND_EVENT = "panel round opened"
MOST_REASON = 1_000
"""Characters of the reason for which a category is left out."""


class Round(NamedTuple):
    """What follows the pilot: `left_out` gives by category why it is asked no more."""

    left_out: Mapping[str, str]


def open_round(db: sqlite3.Connection, panel: str, left_out: Mapping[str, str]) -> None:
    """Open what follows the pilot, in a transaction of the caller; opened again, the last word counts.

    Raises `InputError` for a category without a reason, or with too long a one.
    """
    for category, reason in left_out.items():
        if not reason.strip() or len(reason) > MOST_REASON:
            raise InputError(
                f"say in 1 to {MOST_REASON:,} characters why {category or 'what has no category'} is left "
                "out: the reason is kept in the run."
            )
    put_event(db, ROUND_EVENT, {"panel": panel, "left_out": dict(left_out)})


def read_round(db: sqlite3.Connection, panel: str) -> Round | None:
    """The round after the pilot as it was opened last; null while it is closed."""
    rounds = [event for event in read.events(db, ROUND_EVENT) if event["panel"] == panel]
    return Round(rounds[-1]["left_out"]) if rounds else None
