"""`viva diff`: what a new version of a metric, judge or rubric changes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, open_run
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.cli.stdout import echo


def diff(
    run: RunPath,
    one: Annotated[
        str,
        typer.Argument(
            metavar="SIGNATURE",
            autocompletion=completion.metrics,
            help="The old measure: its signature, or its metric.",
        ),
    ],
    other: Annotated[
        str,
        typer.Argument(
            metavar="SIGNATURE",
            autocompletion=completion.metrics,
            help="The new measure: its signature, or its metric.",
        ),
    ],
    margin: Annotated[
        float | None,
        typer.Option(
            help="Smallest change of a score that matters, in the criterion's units.", metavar="NUMBER"
        ),
    ] = None,
    items: Items = None,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show what a new judge, rubric or version of a metric changes.

    The answers that both measures scored show which scores moved, how well the two agree, how level and order
    shifted, and what old means correspond to on the new scale. Nothing is scored again.

    Example: `viva diff exam.viva judge:rubric=medgpt,model=old judge:rubric=medgpt,model=new`
    """
    finding = open_run(run, plugin).diff(one, other, items=items, margin=margin)
    if json:
        print_json("diff", run, finding.rows)
    elif not quiet:
        echo(finding.text)
        echo()
        _print_changes(finding.rows)
        for note in finding.notes:
            echo(note)


def _print_changes(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of the scores that moved most, and one of the candidates' order."""
    items = [
        (
            row["criterion"],
            row["item"],
            row["candidate"],
            figure(row["one"]),
            figure(row["other"]),
            figure(row["difference"]),
        )
        for row in rows
        if row["part"] == "item"
    ]
    ranks = [
        (
            row["criterion"],
            row["candidate"],
            figure(row["one"]),
            figure(row["other"]),
            row["rank_one"],
            row["rank_other"],
        )
        for row in rows
        if row["part"] == "rank"
    ]
    if items:
        print_table(("criterion", "item", "candidate", "old", "new", "moved"), items, "Moved most", keys=3)
    if ranks:
        columns = ("criterion", "candidate", "old mean", "new mean", "old rank", "new rank")
        print_table(columns, ranks, "Order", keys=2)
