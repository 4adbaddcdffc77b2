"""`viva copy`: a compact copy of a run file."""

from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli.options import Json, Quiet, RunPath, open_run, output_path
from vivavoce.cli.output import print_json
from vivavoce.cli.stdout import echo


def copy(
    run: RunPath,
    to: Annotated[
        Path, typer.Argument(parser=output_path, metavar="TO", help="A path that does not exist yet.")
    ],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Copy a run into a compact file, also while other processes write to it.

    Example: `viva copy exam.viva backup.viva`
    """
    path = open_run(run).copy(to)
    if json:
        print_json("copy", run, [{"path": str(path), "bytes": path.stat().st_size}])
    elif not quiet:
        echo(str(path))
