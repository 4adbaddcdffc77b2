"""The verb that holds two measures beside each other."""

from typing import Annotated

import typer

from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, opened
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.text import printable

__all__ = ["diff"]


def diff(
    run: RunPath,
    one: Annotated[
        str, typer.Argument(metavar="SIGNATURE", help="The old measure: its signature, or its metric.")
    ],
    other: Annotated[
        str, typer.Argument(metavar="SIGNATURE", help="The new measure: its signature, or its metric.")
    ],
    margin: Annotated[
        float | None, typer.Option(help="Least move of a mark that matters, in the criterion's units.")
    ] = None,
    items: Items = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say what a new judge, rubric or version of a metric changes.

    On the answers that both marked: which marks moved, how far the two agree, how level and order shifted,
    and what old means correspond to if the old one is retired. Nothing is marked again.

    Example: `viva diff exam.viva "judge(rubric=medgpt, model=old)" "judge(rubric=medgpt, model=new)"`
    """
    found = opened(run, plugin).diff(one, other, items=items, margin=margin)
    if json:
        print_json("diff", run, found.rows)
        return
    if quiet:
        return
    print(printable(found.text))
    print()
    moved = [
        (row["criterion"], row["item"], row["candidate"], figure(row["one"]), figure(row["other"]),
         figure(row["difference"]))
        for row in found.rows if row["part"] == "item"
    ]  # fmt: skip
    ranks = [
        (row["criterion"], row["candidate"], figure(row["one"]), figure(row["other"]), row["rank_one"],
         row["rank_other"])
        for row in found.rows if row["part"] == "rank"
    ]  # fmt: skip
    if moved:
        print_table(("criterion", "item", "candidate", "old", "new", "moved"), moved, "Moved most")
    if ranks:
        columns = ("criterion", "candidate", "old mean", "new mean", "old rank", "new rank")
        print_table(columns, ranks, "Order")
    for note in found.notes:
        print(printable(note))
