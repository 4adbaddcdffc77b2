"""`viva look`: what a file is, what it supports, and the command that comes next."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.options import Json, Plugin, Quiet
from vivavoce.cli.output import print_json, table_width
from vivavoce.cli.stdout import echo


def look(
    file: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="A file of any kind, a folder of logs, or several tables."),
    ],
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say what a file is, what it supports, and what comes next.

    Answers, exams, scores, reviews, logs of other tools, documents and runs are told apart. No run is made,
    and nothing is asked of a model. The exit code is 1 for a file that is not known, or that an import
    refuses.

    Example: `viva look answers.csv`

    Example: `viva look exam.jsonl answers.jsonl`

    Example: `viva look logs/ --json`
    """
    from vivavoce.run.look.verb import look as look_at

    finding = look_at(*file, plugins=plugin)
    if json:
        print_json("look", None, finding.rows, headline=finding.headline)
    elif not quiet:
        _print(finding.rows)
    if finding.rows[0]["kind"] in ("unknown", "refused"):
        raise typer.Exit(ExitCode.INCOMPLETE)


def _print(rows: Sequence[Mapping[str, Any]]) -> None:
    """The line on the file, how it is read, what it supports, and the next command."""
    (file, *more) = rows
    echo(fill(file["text"], table_width()))
    of_kind = {kind: [row for row in more if row["row"] == kind] for kind in ("read as", "open", "support")}
    for row in of_kind["read as"]:
        echo(fill(row["text"], table_width()))
    for row in of_kind["open"]:
        echo(fill(f"Left open: {row['text']}", table_width()))
    if of_kind["support"]:
        echo("What can be said with it:")
    for row in of_kind["support"]:
        head = f"  {row['supported']:6}"
        echo(fill(row["text"], table_width(), initial_indent=head, subsequent_indent=" " * len(head)))
    echo(f"Next: `{file['command']}`")
