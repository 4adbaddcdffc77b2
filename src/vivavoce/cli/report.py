"""`viva report`: the HTML report of a run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from vivavoce.cli.options import Items, Json, Plugin, Primary, Quiet, Redact, RunPath, open_run, output_path
from vivavoce.cli.output import print_json
from vivavoce.cli.run_files import check_output_path
from vivavoce.cli.stdout import echo


def report(
    run: RunPath,
    to: Annotated[
        Path | None,
        typer.Option(
            parser=output_path, metavar="FILE", help="File to write; by default next to the run file."
        ),
    ] = None,
    items: Items = None,
    plots: Annotated[
        Path | None,
        typer.Option(parser=output_path, metavar="DIR", help="Folder that gets every chart as an SVG file."),
    ] = None,
    checklist: Annotated[
        Path | None,
        typer.Option(
            parser=output_path,
            metavar="FILE",
            help="Markdown file that gets the reporting checklists TRIPOD-LLM and CHART, filled in where the "
            "run knows.",
        ),
    ] = None,
    pages: Annotated[
        Literal["one", "all"],
        typer.Option(
            help="What paper shows: one is the answer and its details, all is everything.", metavar="one|all"
        ),
    ] = "all",
    redact: Redact = False,
    primary: Primary = None,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the report, a self-contained HTML file.

    Example: `viva report exam.viva`
    """
    for path in filter(None, (to, plots, checklist)):
        check_output_path(path)
    rows = open_run(run, plugin).report_rows(
        to, items=items, plots=plots, redact=redact, checklist=checklist, pages=pages, primary=primary
    )
    if json:
        print_json("report", run, rows)
    elif not quiet:
        for path in filter(None, (rows[0]["path"], plots, checklist)):
            echo(str(path))
