"""`viva list`: what is registered."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Json, Plugin
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.core.registry import KINDS, load_plugin

LISTED = (*KINDS, "languages", "rubrics")


def _kind(word: str) -> str:
    if word not in LISTED:
        raise typer.BadParameter(f"{word!r} is not one of {', '.join(map(repr, LISTED))}.")
    return word


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            parser=_kind,
            metavar="KIND",
            autocompletion=completion.words(*LISTED),
            help=f"What to list: {', '.join(LISTED)}.",
        ),
    ],
    plugin: Plugin = [],
    json: Json = False,
) -> None:
    """List everything of a kind that can be named, such as metrics, benchmarks or studies.

    Languages are listed with what is read in each: yes, listed words (no other word may stand beside an
    option), or not known.

    Example: `viva list metrics`

    Example: `viva list languages`
    """
    from vivavoce.run.catalogue import listing

    for path in plugin:
        load_plugin(path)
    rows = listing(kind)
    if json:
        print_json("list", None, rows)
    elif not rows:
        echo(f"No {kind} are registered.")
    else:
        _print(rows)


def _print(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table with the long text last; where a name comes from only if it is not ours."""
    ours = all(row.get("origin") in (None, "vivavoce") for row in rows)
    columns = sorted(rows[0], key=lambda name: name == "what")
    columns = [name for name in columns if not (ours and name == "origin")]
    cells = [[row[name] for name in columns] for row in rows]
    print_table(columns, [[", ".join(c) if isinstance(c, list) else c for c in line] for line in cells])
