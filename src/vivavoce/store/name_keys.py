"""Keys of the names that rows point to: benchmarks, candidates, edits and probes."""

import sqlite3


def benchmark_keys(db: sqlite3.Connection) -> dict[str, int]:
    """The key of each benchmark of the run."""
    return dict(db.execute("SELECT benchmark, benchmark_id FROM benchmarks"))


def candidate_keys(db: sqlite3.Connection) -> dict[str, int]:
    """The key of each candidate of the run."""
    return dict(db.execute("SELECT candidate, candidate_id FROM candidates"))


def edit_keys(db: sqlite3.Connection) -> dict[str, int]:
    """The key of each edit of answers in words; '' is an answer as it came."""
    return dict(db.execute("SELECT edit, edit_id FROM edits WHERE probe = ''"))


def probe_keys(db: sqlite3.Connection) -> dict[str, int]:
    """The key of each probe; '' is an answer in words, as it came."""
    return dict(db.execute("SELECT probe, edit_id FROM edits WHERE edit_id = 0 OR probe != ''"))
