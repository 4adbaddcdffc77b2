"""`viva list` and `viva show`: what can be named, and what a name means."""

from typing import Annotated, Literal

import typer

from vivavoce.cli.options import Json, Plugin
from vivavoce.cli.output import plain, print_json, print_table

__all__ = ["list_", "show"]


def list_(
    kind: Annotated[
        Literal["metrics", "benchmarks", "formats", "rubrics", "variations"],
        typer.Argument(help="What to list."),
    ],
    plugin: Plugin = [],  # noqa: B006 - typer reads the default, nothing changes it
    json: Json = False,
) -> None:
    """List what can be named: metrics, benchmarks, formats, rubrics of judges, variations of items.

    Example: `viva list metrics`
    """
    from vivavoce.catalogue import listing
    from vivavoce.registry import load_plugin

    for path in plugin:
        load_plugin(path)
    rows = listing(kind)
    if json:
        return print_json("list", None, rows)
    texts = [[", ".join(v) if isinstance(v, list) else v for v in row.values()] for row in rows]
    print_table(list(rows[0]), texts)


def show(
    spec: Annotated[str, typer.Argument(help='What to show, such as "rouge(n=L)" or hivmedqa.')],
    plugin: Plugin = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Show a metric, benchmark or variation: its settings, signature, criteria or card.

    Example: `viva show "rouge(n=L)"`
    """
    from vivavoce.catalogue import describe
    from vivavoce.registry import load_plugin

    for path in plugin:
        load_plugin(path)
    rows = describe(spec)
    if json:
        return print_json("show", None, [rows])
    card = rows.pop("card", {})  # its fields are rows like the others
    print_table(["", spec], [[k, plain(v)] for k, v in (rows | card).items() if v not in (None, [], "")])
