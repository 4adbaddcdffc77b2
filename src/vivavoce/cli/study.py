"""`viva study`: what the scores of a run show."""

from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, open_run
from vivavoce.cli.output import print_json
from vivavoce.cli.stdout import echo


def study(
    run: RunPath,
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="[STUDY...]",
            autocompletion=completion.registered("studies"),
            help="Names or specs, such as examiners:margin=0.1, of {studies}. "
            "`viva list studies` describes them.",
        ),
    ] = [],
    items: Items = None,
    cards: Annotated[
        Path | None,
        typer.Option(
            help="size, contamination, correlation: a YAML file with model cards, added to the shipped ones.",
            metavar="FILE",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="examiners, rubrics, audit: the metric that holds people's scores in this run.",
            metavar="METRIC",
            autocompletion=completion.metrics,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="examiners: smallest loss of agreement (alpha, below 1) against people's that matters; "
            "facts: smallest difference of precision that matters; controls: smallest difference that "
            "matters, in the metric's units.",
            metavar="NUMBER",
        ),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            help="correlation: a table candidate,rating[,low,high] of ratings from elsewhere, such as Elo.",
            metavar="FILE",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="arguments: the alpha above which people agree enough on a task, fixed before the data are "
            "seen.",
            metavar="NUMBER",
        ),
    ] = None,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Study the scores of a run; without a name, run every study that the run has enough data for.

    Example: `viva study exam.viva ranking correlation`

    Example: `viva study exam.viva size --cards models.yaml`

    Example: `viva study exam.viva examiners --labels expert --margin 0.1`

    Example: `viva study exam.viva arguments --threshold 0.6`
    """
    findings = open_run(run, plugin).study(
        *studies, items=items, cards=cards, labels=labels, margin=margin, ratings=ratings, threshold=threshold
    )
    if json:
        rows = [{"study": name, **row} for name, finding in findings.items() for row in finding.rows]
        print_json("study", run, rows)
    elif not quiet:
        for name, finding in findings.items():
            echo(f"{name}\n{finding}\n")
