"""`viva merge`: several runs into one."""

from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli.options import Json, Quiet, RunPath, open_run
from vivavoce.cli.output import print_json
from vivavoce.core.text import printable


def merge(
    run: RunPath,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs to merge into the first.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Merge other runs' answers, scores, findings and calls into a run, each run completely or not at all.

    Example: `viva merge all.viva site-a.viva site-b.viva`
    """
    merged = open_run(run).merge(*runs)
    if json:
        print_json("merge", run, [source._asdict() for source in merged])
    elif not quiet:
        for source in merged:
            print(
                printable(
                    f"{source.source}: {source.items} items, {source.responses} answers, "
                    f"{source.scores} marks, {source.findings} findings and {source.calls} calls are new, "
                    f"{source.replaced} failed answers replaced."
                )
            )
