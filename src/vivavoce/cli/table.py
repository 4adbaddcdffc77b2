"""`viva table`: a table of a run for a paper."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from vivavoce.cli.options import Json, Plugin, Quiet, RunPath, open_run, output_path
from vivavoce.cli.output import print_json
from vivavoce.cli.run_files import check_output_path
from vivavoce.cli.stdout import echo


def table(
    run: RunPath,
    content: Annotated[
        Literal["estimates", "comparisons", "agreement", "flow"],
        typer.Argument(
            metavar="TABLE",
            help="estimates, comparisons, agreement, or flow: what became of the answers that were expected.",
        ),
    ],
    format: Annotated[
        Literal["latex", "markdown", "csv"],
        typer.Option(help="latex (booktabs), markdown or csv.", metavar="latex|markdown|csv"),
    ] = "latex",
    metric: Annotated[
        list[str], typer.Option(help="A measure that is in it; by default all. Repeatable.", metavar="METRIC")
    ] = [],
    path: Annotated[
        Path | None,
        typer.Option(
            "--to", parser=output_path, metavar="FILE", help="File to write; by default it is printed."
        ),
    ] = None,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Print a table for a paper: estimates, comparisons and more.

    Intervals, numbers of questions and cases, coverage, and how the figures were made stand in it; the notes
    below name the version. Comparisons are those of `viva compare`, and count as one.

    Example: `viva table exam.viva estimates`

    Example: `viva table exam.viva flow --format markdown --to flow.md`
    """
    from vivavoce.core.private_files import write_private
    from vivavoce.run.paper_table import paper_table

    if path is not None:
        check_output_path(path)
    text = paper_table(open_run(run, plugin), content, format=format, metric=metric)
    if path is not None:
        write_private(path, text)
    if json:
        print_json("table", run, [{"content": content, "format": format, "text": text}])
    elif path is not None and not quiet:
        echo(str(path))
    elif not quiet:
        echo(text, end="")
