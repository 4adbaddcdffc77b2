"""`viva` alone: the runs in this folder, how far they are, and what comes next."""

from pathlib import Path
from shlex import quote

from vivavoce.cli.options import open_run
from vivavoce.cli.run_files import runs_in
from vivavoce.cli.status import print_lines
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import VivaError

MOST_RUNS = 3
"""Runs whose state is shown, the latest ones; of more only the names."""
_ALL = "`viva --help` lists the commands."


def show_runs(folder: Path) -> None:
    """Print the state of each run in a folder, the latest first; without one, how to get one."""
    runs = sorted(runs_in(folder), key=lambda run: run.stat().st_mtime, reverse=True)
    if not runs:
        echo(
            "No run lies in this folder. `viva demo` makes one to look at, `viva look FILE` says what a file "
            f"of yours is. {_ALL}"
        )
        return
    for run in runs[:MOST_RUNS]:
        echo(f"{run}:")
        _show(run)
        echo()
    if older := runs[MOST_RUNS:]:
        echo(f"Older: {', '.join(quote(str(run)) for run in older)}.")
    echo(_ALL)


def _show(run: Path) -> None:
    """The lines of a run's status; of one that cannot be read, why."""
    try:
        opened = open_run(run)
        print_lines(opened, opened.status().rows)
    except VivaError as error:
        echo(str(error))
