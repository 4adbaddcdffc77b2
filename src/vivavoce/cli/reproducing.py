"""`viva reproduce`: published figures, recomputed from published data."""

from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli.options import Json, Quiet
from vivavoce.cli.output import print_json, print_table
from vivavoce.text import printable

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What was published: cliniqlink or hivmedqa.")],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder with the published data.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Recompute what a paper printed from its own data, and say what does not come out.

    Nothing is stored and nobody is asked. Recomputed figures stand beside the published ones, together with
    what the paper left out, and tests whose unit is the case.

    Example: `viva reproduce hivmedqa --data DIR`
    """
    from vivavoce.reproduce import reproduce as recompute

    found = recompute(name, data)
    if json:
        return print_json("reproduce", None, found.rows)
    if quiet:
        return None
    for table in found.tables:
        print_table(table.columns, table.rows, table.title)
    for note in found.notes:
        print(printable(note))
    return None
