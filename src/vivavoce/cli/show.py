"""`viva show`: what a name means."""

from typing import Annotated

import typer

from vivavoce.cli.options import Json, Plugin
from vivavoce.cli.output import as_text, print_json, print_table
from vivavoce.core.registry import load_plugin


def show(
    spec: Annotated[str, typer.Argument(help='What to show, such as "rouge(n=L)" or sample.')],
    plugin: Plugin = [],
    json: Json = False,
) -> None:
    """Show a metric, benchmark, variation or rubric: its settings, signature, criteria or card.

    Example: `viva show "rouge(n=L)"`
    """
    from vivavoce.pipeline.catalogue import describe

    for path in plugin:
        load_plugin(path)
    facts = describe(spec)
    if json:
        print_json("show", None, [facts])
        return
    card = facts.pop("card", {})  # its fields are rows like the others
    lines = [[name, as_text(fact)] for name, fact in (facts | card).items() if fact not in (None, [], "")]
    print_table(["", spec], lines)
