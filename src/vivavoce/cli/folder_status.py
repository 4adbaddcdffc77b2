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
    n_shown = 0
    older, broken = [], []
    for run in runs:
        if n_shown == MOST_RUNS:
            older.append(quote(str(run)))
        elif reason := _show(run):
            broken.append(reason)
        else:
            n_shown += 1
    if older:
        echo(f"Older: {', '.join(older)}.")
    for reason in broken:
        echo(reason)
    echo(_ALL)


def _show(run: Path) -> str:
    """Print the lines of a run's status below its name. Returns why it cannot be read, else ''."""
    try:
        opened = open_run(run)
        rows = opened.status().rows
    except VivaError as error:
        return str(error)
    echo(f"{run}:")
    print_lines(opened, rows)
    echo()
    return ""
