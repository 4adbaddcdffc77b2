"""Runs without texts: what `viva export --format run --redact` wrote, and what cannot be done with it."""

import json
import sqlite3

from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey
from vivavoce.store.hashes import database_path

VERB = "redact"
"""The verb of provenance under which a redacted run says that it is one."""


def redaction(db: sqlite3.Connection, schema: str = "main") -> str | None:
    """The record of a run's redaction, as JSON; null for a run with its texts."""
    row = db.execute(f"SELECT body FROM {schema}.provenance WHERE verb = ? LIMIT 1", (VERB,)).fetchone()
    return row and str(row[0])


def refuse_redacted(db: sqlite3.Connection, consequence: str, schema: str = "main") -> None:
    """Raise `InputError` for a redacted run: without texts there is this `consequence`."""
    if redaction(db, schema) is not None:
        raise InputError(
            f"{database_path(db, schema) or 'this run'} is a redacted copy: its texts are gone, and "
            f"{consequence}. Use the run that it was made of. Its figures can be read, compared and reported "
            "as ever."
        )


def unscored_items(db: sqlite3.Connection) -> dict[str, frozenset[ItemKey]]:
    """By signature the items that a metric does not score, as they were before redaction took their texts."""
    body = redaction(db)
    unscored = json.loads(body)["unscored"] if body else {}
    return {name: frozenset((b, i, v) for b, i, v in keys) for name, keys in unscored.items()}
