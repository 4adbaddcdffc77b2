"""Names in a run that is not checked: nothing is written, and no file is made beside it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

_QUERIES = {
    "candidate": "SELECT candidate FROM candidates LIMIT ?",
    "metric": "SELECT DISTINCT metric FROM measures LIMIT ?",
}


def unchecked_names(path: Path, kind: Literal["candidate", "metric"], limit: int) -> list[str]:
    """The candidates or metrics of the run at a path, `limit` at most: they may be a stranger's texts.

    Raises what SQLite raises where the file is no run, or is busy for longer than a fifth of a second.
    """
    path = path.resolve()
    live = all(Path(f"{path}{suffix}").exists() for suffix in ("-wal", "-shm"))
    # Opened so, SQLite makes no file beside the run; a run that is written now has both already.
    address = f"{path.as_uri()}?mode=ro{'' if live else '&immutable=1'}"
    with closing(sqlite3.connect(address, uri=True, timeout=0.2)) as db:
        db.execute("PRAGMA trusted_schema = OFF")  # a stranger's view may run no function
        return [str(name) for (name,) in db.execute(_QUERIES[kind], (limit,))]
