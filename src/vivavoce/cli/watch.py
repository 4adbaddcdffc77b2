"""`viva status --watch`: how far the shards of a folder, or a run, are, again and again until Ctrl-C."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vivavoce.cli.output import counted, figure, print_json, print_table
from vivavoce.cli.stdout import echo, echo_json, own_stdout
from vivavoce.core.errors import InputError, RunNotFound, StoreError
from vivavoce.core.text import one_line

if TYPE_CHECKING:
    from vivavoce.run.shards.progress import ProgressRow

_CLEAR = "\x1b[H\x1b[2J"
LONGEST_NAME, LONGEST_ERROR = 255, 2_000
"""Characters that are shown: all of a file's name, and of what is wrong with it."""
_COLUMNS = (
    "run",
    "shard",
    "done",
    "failed",
    "left",
    "scores",
    "calls a minute",
    "time left",
    "cost",
    "as of (UTC)",
)


def show_progress(path: Path, *, watch: bool, every: float, json: bool, quiet: bool) -> None:
    """Print how far it is: once, or to `watch` it every so many seconds until Ctrl-C, an object a line.

    Raises `RunNotFound` where nothing lies at the path, and unless watched for a folder without a run.
    """
    from vivavoce.run.shards.progress import as_rows, snapshot

    if watch:
        if not 0.1 <= every <= 86_400:
            raise InputError(f"--every {every:g}: seconds between 0.1 and 86,400.")
        with suppress(KeyboardInterrupt):
            _watch(path, every, json=json)
        return
    rows = snapshot(path)
    if json:
        print_json("status", path, as_rows(rows))
    elif not quiet:
        _print_rows(rows)


def _watch(path: Path, every: float, *, json: bool) -> None:
    """Print how far it is until Ctrl-C, also while no run lies in a folder, or can be read.

    An error ends it at the first look alone, where the path may be mistyped, and in a folder never.
    """
    from vivavoce.run.shards.progress import ProgressRow, snapshot

    waits = path.is_dir()
    while True:
        trouble = None
        rows: list[ProgressRow] = []
        try:
            rows = snapshot(path)
        except RunNotFound:
            if not waits:
                raise
            trouble = f"No run here yet: {one_line(str(path), LONGEST_NAME)} is looked at again."
        except StoreError as error:
            if not waits:
                raise
            trouble = one_line(str(error), LONGEST_ERROR)
        waits = True
        _print_look(path, rows, trouble, json=json)
        time.sleep(every)


def _print_look(path: Path, rows: "Sequence[ProgressRow]", trouble: str | None, *, json: bool) -> None:
    """Print one look of a watch: the rows, or instead what is the `trouble`."""
    from vivavoce.run.shards.progress import as_rows

    if json:
        _print_line(path, as_rows(rows))
    else:
        if own_stdout().isatty():
            own_stdout().write(_CLEAR)
        if trouble:
            echo(trouble)
        else:
            _print_rows(rows)
    own_stdout().flush()


def _print_line(path: Path, rows: object) -> None:
    answer = {"schema": "viva.status/1", "run": str(path), "rows": rows}
    echo_json(answer)


def _print_rows(rows: "Sequence[ProgressRow]") -> None:
    """A table with a row for each run and for all; below it what could not be read, and what is missing."""
    lines = [
        (
            "all" if row.about == "total" else _name(row.run),
            row.shard,
            row.done,
            row.failed,
            row.remaining,
            row.scores,
            f"{row.rate:.0f}",
            _duration(row.seconds_left),
            figure(row.cost, 2),
            row.as_of and row.as_of[:16].replace("T", " "),
        )
        for row in rows
    ]
    n = len(_COLUMNS) - (not any(row.as_of for row in rows))
    print_table(_COLUMNS[:n], [line[:n] for line in lines])
    _print_remarks(rows)


def _print_remarks(rows: "Sequence[ProgressRow]") -> None:
    """What could not be read, what is there twice and what is missing."""
    for row in rows:
        if row.error:
            echo(one_line(row.error, LONGEST_ERROR))
        if row.copy_of:
            copy, holder = _name(row.run), _name(row.copy_of)
            echo(f"{copy} holds shard {row.shard}, as {holder} does: all counts it once.")
        if row.missing:
            verb = "has" if row.missing == 1 else "have"
            most = "At most " if any(row.error for row in rows) else ""
            echo(f"{most}{counted(row.missing, 'shard')} {verb} no run here yet.")


def _name(path: str) -> str:
    """The name of a file on one line: what follows a line end in it would pass for a row."""
    return one_line(Path(path).name, LONGEST_NAME)


def _duration(seconds: float | None) -> str | None:
    """Hours, minutes and seconds; null where nothing is known."""
    if seconds is None:
        return None
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
