"""`viva prompts`: the prompts and rubrics that a paper prints, out of your copy of it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.options import Json, Quiet, output_path
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.core import registry
from vivavoce.systems.papers.cutting import prompts_from


@registry.command("prompts")
def prompts(
    action: Annotated[Literal["from"], typer.Argument(metavar="from", help="Cut prompts out of a paper.")],
    paper: Annotated[Path, typer.Argument(metavar="PAPER", help="The paper as a PDF, or as its text.")],
    system: Annotated[
        str,
        typer.Option(help="Whose paper it is: dahl, hivmedqa, cliniqlink, ranking or bsc.", metavar="SYSTEM"),
    ],
    to: Annotated[
        Path,
        typer.Option(parser=output_path, metavar="DIR", help="Folder for the prompts and their places."),
    ],
    unverified: Annotated[
        bool,
        typer.Option(
            "--unverified", help="Also cut a prompt whose letters differ between its known beginning and end."
        ),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Cut the prompts and rubrics that a paper prints out of your copy of it.

    They are known by digests of their letters, not by their words, so line breaks, hyphenation and columns do
    not matter, and what differs in a letter is refused with its place. `SYSTEM.json` in the folder has page,
    line and hash of each. `--prompt`, `--system`, `prompt=` and `rubric=` take the files. Exit code 1 if a
    prompt of the paper could not be cut.

    Example: `viva prompts from dahl.pdf --system dahl --to prompts/dahl`
    """
    finding = prompts_from(paper, system, to, unverified=unverified)
    if json:
        print_json("prompts", None, list(finding.rows))
    elif not quiet:
        columns = ("prompt", "printed", "state", "page", "line", "use")
        print_table(
            columns, [["-" if row[name] is None else row[name] for name in columns] for row in finding.rows]
        )
        echo(str(finding))
    if any(row["expected"] and not row["file"] for row in finding.rows):
        raise typer.Exit(ExitCode.INCOMPLETE)
