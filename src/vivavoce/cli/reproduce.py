"""`viva reproduce`: published figures, recomputed from published data."""

from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli.options import Json, Quiet
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.stdout import echo


def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The published system: {reproductions}.")],
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR|FILE", help="The folder or file with the published data.")
    ],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Recompute a paper's figures from its own data, and name those that differ.

    Nothing is stored and no model is called. Recomputed figures stand next to the published ones, together
    with what the paper left out and tests with the case as their unit.

    Example: `viva reproduce hivmedqa --data DIR`
    """
    from vivavoce.run.reproduce import reproduce as recompute

    reproduction = recompute(name, data)
    if json:
        print_json("reproduce", None, reproduction.rows)
    elif not quiet:
        for table in reproduction.tables:
            print_table(table.columns, table.rows, table.title)
        for note in reproduction.notes:
            echo(note)
